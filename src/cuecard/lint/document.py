"""A file as the rules see it: its header, its template, and what is known of its variables."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

from ..agents import AgentDefinition
from ..errors import PromptError
from ..files import Folder
from ..frontmatter import Document as Header
from ..language import Names, Node, Partials, Unit
from ..profile import Profile
from ..scanner import Part
from ..skills import Reading, check_header
from ..source import Diagnostic, Source, Span
from ..template import Template
from .bindings import Scopes
from .findings import Edit, Finding, Fix
from .flow import Flow
from .foreign import Foreign, find_foreign, reads_one_of
from .inferring import Inference
from .known import BUILT_IN
from .pieces import Piece, fenced_ranges, pieces_of
from .scoping import find_scopes
from .settings import Settings
from .shapes import TEXT, Shape, Variable

__all__ = ["MARK", "Document", "Kind"]

MARK = "\ufeff"
"""A byte order mark."""

Kind = Literal["agent", "skill", "template", "partial"]


class Document:
    """One file that is checked.

    Attributes:
        path: the file, as it was given.
        kind: what it is.
        text: all of it, but for a byte order mark.
        header: its front matter; None when that is missing or cannot be read.
        header_error: why the front matter cannot be read.
        agent: what an agent's header says; None for other files.
        agent_error: why an agent's header is refused.
        body: the template, with its place in the file.
        profile: how it is rendered.
        unit: its parts, its tree and its names; None when it cannot be read.
        failure: why it cannot be read or compiled.
        variables: what is known of the variables that something gives it, by name.
        closed: whether nothing else gives any.
        settings: what is configured.
        folder: where its partials are.
        mark: the byte order mark that the file begins with; "" when it has none.
    """

    def __init__(
        self,
        path: str,
        kind: Kind,
        text: str,
        *,
        header: Header | None,
        header_error: PromptError | None,
        agent: AgentDefinition | None,
        agent_error: PromptError | None,
        body: Source,
        profile: Profile,
        variables: Mapping[str, Variable],
        closed: bool,
        settings: Settings,
        folder: Folder | None,
        mark: str = "",
    ) -> None:
        self.path = path
        self.kind: Kind = kind
        self.text = text
        self.header = header
        self.header_error = header_error
        self.agent = agent
        self.agent_error = agent_error
        self.body = body
        self.profile = profile
        self.variables = variables
        self.closed = closed
        self.settings = settings
        self.folder = folder
        self.mark = mark

    def __repr__(self) -> str:
        return f"Document({self.path!r}, {self.kind})"

    # the template ------------------------------------------------------------------------------

    @cached_property
    def _read(self) -> tuple[Template | None, Unit | None, PromptError | None]:
        """The template, compiled by the engine, and its own unit; or why there is none."""
        from dataclasses import replace

        profile = replace(self.profile, fallback=False)
        try:
            template = Template(self.body, profile=profile, partials=self.folder)
        except PromptError as error:
            return None, None, error
        return template, template.unit, None

    @property
    def template(self) -> Template | None:
        """The template; None when it cannot be compiled."""
        return self._read[0]

    @property
    def unit(self) -> Unit | None:
        """Parts, tree and names of the template; None for text without tags."""
        return self._read[1]

    @property
    def failure(self) -> PromptError | None:
        """Why the template cannot be read or compiled."""
        return self._read[2]

    @property
    def parts(self) -> list[Part]:
        """The template's parts; none when it cannot be read."""
        return self.unit.parts if self.unit is not None else []

    @property
    def tree(self) -> Node | None:
        """The template's tree."""
        return self.unit.tree if self.unit is not None else None

    @property
    def names(self) -> Names | None:
        """The names that the template reads and binds."""
        return self.unit.names if self.unit is not None else None

    @cached_property
    def nodes_by_kind(self) -> Mapping[str, Sequence[Node]]:
        """Every node of the tree by its kind, in the order of the source."""
        found: dict[str, list[Node]] = {}
        for node in self.unit.nodes if self.unit is not None else ():
            found.setdefault(node.kind, []).append(node)
        return found

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """What the template prints by itself; nothing when it cannot be read."""
        if self.failure is not None:
            return ()
        return pieces_of(self.body.text, self.parts, self.profile)

    @cached_property
    def flow(self) -> Flow:
        """The order in which the pieces may be printed."""
        return Flow(self.body.text, self.pieces)

    @cached_property
    def fences(self) -> Sequence[tuple[int, int]]:
        """The ranges of the template that are code between Markdown's fences."""
        return fenced_ranges(self.body.text)

    # names ---------------------------------------------------------------------------------------

    @cached_property
    def partials(self) -> Mapping[str, Unit] | None:
        """The partials that the template names, and those that they name, by name.

        None when the name of one is computed, so that it may be any.
        """
        if self.unit is None or self.folder is None:
            return {}
        partials = Partials(self.folder, self.profile)
        try:
            return partials.units if partials.gather(self.unit) else None
        except PromptError:
            return None

    @cached_property
    def scopes(self) -> Scopes:
        """What the template's names stand for; nothing when it cannot be read."""
        if self.tree is None:
            return Scopes([], {}, {}, {}, None)
        blocks = "block" in self.nodes_by_kind
        return find_scopes(self.tree, self.profile.undefined, self.partials, blocks=blocks)

    @cached_property
    def given(self) -> Mapping[str, Variable]:
        """The variables that are known for certain.

        Whoever renders a file that declares nothing passes what it likes: the names of the
        built-in providers may stand for something else there, but for `tools`, `skills` and
        `todos` in an agent's file.
        """
        if self.closed:
            return self.variables
        is_agent = self.kind in ("agent", "skill")
        return {
            name: variable
            for name, variable in self.variables.items()
            if BUILT_IN.get(name) is not variable or (is_agent and variable.shape is not TEXT)
        }

    @cached_property
    def shapes(self) -> Inference:
        """What the values of expressions look like, as far as that is certain."""
        return Inference(self.scopes, self.given)

    @cached_property
    def guessed_shapes(self) -> Inference:
        """The same, if the names of the built-in providers stand for what these give."""
        unsure = self.variables.keys() - self.given.keys()
        if self.names is None or unsure.isdisjoint(self.names.variables):
            return self.shapes
        return Inference(self.scopes, self.variables)

    @property
    def is_open(self) -> bool:
        """Whether a template that it extends, or that includes it, may bind names for it."""
        return self.kind == "partial" or "extends" in self.nodes_by_kind

    @cached_property
    def foreign(self) -> tuple[Foreign, ...]:
        """Delimiters of other languages, in a file that is hardly meant as a template.

        None in a skill, which is never rendered, and none when nobody wants to hear of them:
        a file that does not parse has a syntax error then.
        """
        is_meant = self.closed or (self.agent is not None and bool(self.agent.inputs))
        if self.kind == "skill" or (is_meant and self.failure is None):
            return ()
        text = self.body.text
        if not self.settings.wants("P433", self.path) or "{" not in text:
            return ()
        found = tuple(find_foreign(text, self.parts, self.failure))
        if found and (is_meant or reads_one_of(text, self.variables)):
            return ()
        return found

    # the header --------------------------------------------------------------------------------

    @cached_property
    def skill(self) -> Reading | None:
        """What a skill's header gives, and its faults; None for other files."""
        if self.kind != "skill" or self.header is None or not self.header.has_header:
            return None
        folder = os.path.basename(os.path.dirname(os.path.abspath(self.path)))
        return check_header(self.header, self.path, folder)

    @cached_property
    def header_faults(self) -> tuple[Diagnostic, ...]:
        """What the readers of headers, agents and skills say of this one."""
        faults: list[Diagnostic] = []
        for error in (self.header_error, self.agent_error):
            if error is not None:
                faults.append(error.diagnostic())
        if self.skill is not None:
            faults.extend(self.skill.diagnostics)
        elif self.agent is not None:
            faults.extend(self.agent.diagnostics)
        elif self.header is not None:
            faults.extend(self.header.diagnostics)
        return tuple(faults)

    def told(self, code: str) -> Iterator[Finding]:
        """The faults of the header that have a code, as findings.

        One of a key that is missing stands at the line on which the header begins.
        """
        for fault in self.header_faults:
            if fault.code == code:
                place = fault.span or self.source.span(0, 3)
                yield Finding(fault.message, place, fault.hint, None, code, fault.severity)

    # places ------------------------------------------------------------------------------------

    @cached_property
    def source(self) -> Source:
        """The whole file, header included."""
        return Source(self.text, self.path)

    @property
    def body_start(self) -> int:
        """Offset in the file of the template's first character."""
        return len(self.text) - len(self.body.text)

    def found(
        self,
        message: str,
        start: int,
        end: int,
        hint: str | None = None,
        fix: Fix | None = None,
        **more: Any,
    ) -> Finding:
        """A finding at a range of the template."""
        return Finding(message, self.body.span(start, end), hint, fix, **more)

    def found_in_file(
        self,
        message: str,
        start: int,
        end: int,
        hint: str | None = None,
        fix: Fix | None = None,
        **more: Any,
    ) -> Finding:
        """A finding at a range of the whole file."""
        return Finding(message, self.source.span(start, end), hint, fix, **more)

    def found_at(
        self, message: str, place: Span | None, hint: str | None = None, **more: Any
    ) -> Finding:
        """A finding at a place that is known already, such as that of a key of the header."""
        return Finding(message, place, hint, None, **more)

    def edit(self, start: int, end: int, text: str) -> Edit:
        """A replacement of a range of the template."""
        return Edit(self.body_start + start, self.body_start + end, text)

    def shape_of(self, node: Node, bound: Mapping[str, Shape] | None = None) -> Shape | None:
        """What the value of a path looks like; None when nothing is known of its root.

        Args:
            node: a name, or attributes and items of one.
            bound: shapes of names that the template itself binds, such as loop variables.
        """
        if node.kind == "name":
            if bound is not None and node.value in bound:
                return bound[node.value]
            variable = self.variables.get(node.value)
            return None if variable is None else variable.shape
        if node.kind in ("attr", "item"):
            base = self.shape_of(node.children[0], bound)
            return None if base is None else base.inner(node)
        return None
