"""Templates: read once, checked, compiled, and rendered with plain data."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from time import perf_counter, thread_time
from typing import Any

from ..compiler import Compiled, compile_source
from ..engine import MAIN
from ..errors import (
    ContextError,
    FallbackWarning,
    PromptError,
    TemplateError,
    TemplateLimitError,
    TemplateNotFoundError,
)
from ..files import Folder
from ..language import Unit, read_newlines
from ..profile import STRICT, Profile
from ..prompt import Form, Marks, Outline, Prompt, Scope, widest
from ..scanner import WHITE_SPACE, has_tags, without_dropped_newline
from ..source import Diagnostic, Source
from ..values import Freezer, freeze_mapping
from .pieces import Pieces, pieces_of
from .tracing import (
    absent_names,
    end_form,
    find_marks,
    forms_of,
    trimmed_end,
    unread_scopes,
)

__all__ = ["NO_VARIABLES", "Template"]

NO_VARIABLES: dict[str, Any] = {}

_LONG = 0.1
"""Seconds after which the parts of a template are held against the whole."""


class Template:
    """A template of a system prompt.

    Args:
        source: the template's text, or a `Source` that knows its file and line.
        profile: how it is read and rendered.
        name: what errors call it.
        partials: a folder that `include`, `import` and `extends` may read from.
        scopes: how long the values of variables hold; those without may change every turn.

    Raises:
        TemplateError: the template is invalid, exceeds a limit, or does what its profile
            refuses. A profile with `fallback` raises nothing: `render` then gives the
            template as it stands.
        TemplateNotFoundError: a partial that it names does not exist.

    Examples:
        >>> import cuecard
        >>> template = cuecard.Template("{{ greeting | default('Hello') }} {{ name }}")
        >>> sorted(template.required), sorted(template.optional)
        (['name'], ['greeting'])
        >>> template.render(name="Ann")
        'Hello Ann'
    """

    __slots__ = (
        "_compiled",
        "_constant",
        "_failure",
        "_freezer",
        "_max_output",
        "_names",
        "_outline",
        "_partials",
        "_render",
        "_source",
        "_trims",
        "profile",
        "scopes",
    )

    def __init__(
        self,
        source: str | Source,
        *,
        profile: Profile = STRICT,
        name: str = "system",
        partials: Folder | None = None,
        scopes: Mapping[str, Scope] | None = None,
    ) -> None:
        if isinstance(source, str):
            source = Source(source, name)
        elif not isinstance(source, Source):
            raise TypeError(f"expected a template of type `str`, got `{type(source).__name__}`")
        if not isinstance(profile, Profile):
            raise TypeError(f"expected a `Profile`, got `{type(profile).__name__}`")
        if partials is not None and not isinstance(partials, Folder):
            raise TypeError(f"expected a `Folder`, got `{type(partials).__name__}`")
        source = read_newlines(source, profile)
        self._source = source
        self.profile = profile
        self.scopes: Mapping[str, Scope] = dict(scopes or {})
        self._partials = partials
        self._constant: str | None = None
        self._failure: PromptError | None = None
        self._compiled: Compiled | None = None
        self._max_output = profile.limits.output
        self._trims = profile.end == "one_newline"
        # What every render of a template without partials needs, at hand.
        self._render: Callable[..., str] | None = None
        self._names: tuple[str, ...] = ()
        self._freezer: Freezer | None = None
        self._outline: tuple[Compiled, Outline] | None = None
        if not has_tags(source.text):
            self._constant = self._finish(without_dropped_newline(source.text, profile))
            return
        try:
            self._compiled = _compile(source, profile, partials)
        except (TemplateError, TemplateNotFoundError) as error:
            if not profile.fallback:
                raise
            self._failure = error.without_frames()
            return
        if self._compiled.names is not None and partials is None:
            self._render = self._compiled.program.render
            self._names = self._compiled.names
            self._freezer = self._compiled.freezer

    def __repr__(self) -> str:
        return f"Template(name={self.name!r}, profile={self.profile.name!r})"

    @property
    def name(self) -> str:
        """What errors call the template."""
        return self._source.name

    @property
    def source(self) -> Source:
        """The template's text."""
        return self._source

    @property
    def partials(self) -> Folder | None:
        """The folder that its partials are read from."""
        return self._partials

    @property
    def failure(self) -> PromptError | None:
        """Why a template with `fallback` cannot be rendered at all; None when it can."""
        return self._failure

    @property
    def unit(self) -> Unit | None:
        """What the template says, as it was read; None for text without tags."""
        return self._compiled.units[MAIN] if self._compiled is not None else None

    # names -------------------------------------------------------------------------------------

    @property
    def variables(self) -> frozenset[str]:
        """Every name that the template and its partials read from the context."""
        return self._compiled.reads()[0] if self._compiled is not None else frozenset()

    def reads(self) -> frozenset[str] | None:
        """Every name that is read now, by partials as their files are; None when any may be."""
        if self._compiled is None:
            return frozenset()
        compiled = self._current()
        return None if compiled.names is None else compiled.reads()[0]

    @property
    def required(self) -> frozenset[str]:
        """Names without which a render fails, or would have to take absence for empty."""
        return self._compiled.reads()[1] if self._compiled is not None else frozenset()

    @property
    def optional(self) -> frozenset[str]:
        """Names of which every use is guarded, so that they may be absent."""
        return self.variables - self.required

    def places(self, name: str) -> tuple[tuple[str, int], ...]:
        """Where a name is read: the template's or partial's name, and the line from 1."""
        if self._compiled is None:
            return ()
        found = {
            (unit.source.name, unit.source.position(use.node.start)[0]): None
            for unit in self._compiled.units.values()
            for use in unit.names.uses
            if use.name == name
        }
        return tuple(found)

    # rendering -----------------------------------------------------------------------------------

    def render(self, context: Any = None, /, **variables: Any) -> str:
        """Render the template.

        Args:
            context: a mapping of names to values (or a record with such fields). Only the
                names that the template reads are looked at. A profile with `bind_value`
                takes any other value too, as the name `value`.
            **variables: more names, which override those of `context`.

        Returns:
            The text. A profile with `fallback` gives the template as it stands when the
            render fails, with a `FallbackWarning`.

        Raises:
            ContextError: a value that the template reads is not plain data.
            UndefinedVariableError: names that the template needs are absent.
            TemplateError: the render failed otherwise, or exceeded a limit.
        """
        if variables:
            return self._run(context, variables)
        return self._run(context)

    def _run(self, context: Any, variables: dict[str, Any] = NO_VARIABLES) -> str:
        render = self._render
        if render is None:
            return self._run_slowly(context, variables)
        values: dict[str, Any] = {}
        try:
            if variables or type(context) is not dict:
                context = self._context(context, variables, self._names)
            for name in self._names:
                if name in context:
                    value = context[name]
                    if type(value) is str and value.isascii():
                        values[name] = value
                    else:
                        values[name] = self._freezer.freeze(name, value)  # type: ignore[union-attr]
            text = render(MAIN, **values)
        except BaseException as error:
            return self._fail(error, context, values)
        if len(text) > self._max_output:
            return self._fail(self._too_large(), context, values)
        return self._finish(text) if self._trims else text

    def _run_slowly(self, context: Any, variables: dict[str, Any]) -> str:
        """A render that is not of the common kind: a constant, a failure, or with partials."""
        if self._constant is not None:
            return self._constant
        if self._failure is not None:
            return self._fall_back(self._failure)
        values: dict[str, Any] = {}
        try:
            compiled = self._current()
            context = self._context(context, variables, compiled.names)
            values = self._freeze(compiled, context)
            text = compiled.program.render(MAIN, **values)
            if len(text) > self._max_output:
                raise self._too_large()
        except BaseException as error:
            return self._fail(error, context, values)
        return self._finish(text)

    def _current(self) -> Compiled:
        """The compiled template, made anew when the file of a partial has changed."""
        assert self._compiled is not None
        if self._compiled.changed():
            self._compiled = _compile(self._source, self.profile, self._partials)
        return self._compiled

    def _freeze(self, compiled: Compiled, context: Mapping[str, Any]) -> dict[str, Any]:
        names = compiled.names
        if names is None:
            # Other keys than texts are no names that a template could read.
            keys: Iterable[object] = context
            names = tuple(key for key in keys if isinstance(key, str))
        freeze = compiled.freezer.freeze
        return {name: freeze(name, context[name]) for name in names if name in context}

    def _context(
        self, context: Any, variables: dict[str, Any], names: tuple[str, ...] | None
    ) -> Mapping[str, Any]:
        if context is None and (variables or not self.profile.bind_value):
            return variables
        if self.profile.bind_value and not isinstance(context, Mapping):
            return {"value": context, **variables}
        mapping = freeze_mapping(context)
        if type(mapping) is not dict and names is not None:
            try:
                mapping = {name: mapping[name] for name in names if name in mapping}
            except Exception as error:
                raise ContextError(
                    f"the context cannot be read: it raised `{type(error).__name__}`"
                ) from None
        return {**mapping, **variables}

    def _finish(self, text: str) -> str:
        if self.profile.end == "one_newline":
            return text.rstrip(WHITE_SPACE) + "\n"
        return text

    # tracing and binding ---------------------------------------------------------------------

    def trace(self, context: Any = None, /, **variables: Any) -> Prompt:
        """Render the template, and keep where each part of the text came from.

        Args:
            context: as for `render`.
            **variables: as for `render`.

        Returns:
            The prompt, whose text is what `render` gives.

        Raises:
            PromptError: as `render`. What was rendered before the failure is in the
                attribute `partial` of the error.
        """
        if self._constant is not None:
            return self._whole(self._constant)
        if self._failure is not None:
            return self.as_it_stands(self._failure)
        values: dict[str, Any] = {}
        texts: list[str] = []
        try:
            compiled = self._current()
            context = self._context(context, variables, compiled.names)
            values = self._freeze(compiled, context)
            whole = self._render_parts(compiled, values, texts)
        except BaseException as error:
            error = self._error_of_the_whole(error, values)
            return self._failed_trace(error, context, values, texts)
        if whole is not None:
            return self._undivided(whole, values, context)
        return self._traced(compiled, texts, values, context)

    def _render_parts(
        self, compiled: Compiled, values: dict[str, Any], texts: list[str]
    ) -> str | None:
        """Render part by part into `texts`; the whole, if that is more work than the whole is.

        Each part has the limits of a render. Where together they take long, the whole has to
        keep these limits too; and where what many parts read is made anew for each, so that
        they still take long, the template is left in one piece.
        """
        segments = compiled.segments()
        whole: str | None = None
        size = 0
        # The clock is quick to ask; what counts is the time that this thread took itself.
        clock, start = perf_counter(), thread_time()
        for plan in segments.plans:
            text = segments.render(plan, values)
            texts.append(text)
            size += len(text)
            if size > self._max_output:
                raise self._too_large()
            if (
                plan.literal is None
                and perf_counter() - clock > _LONG
                and thread_time() - start > _LONG
            ):
                if whole is not None:
                    return whole
                whole = compiled.program.render(MAIN, **values)
                clock, start = perf_counter(), thread_time()
        return None

    def _undivided(
        self, text: str, values: Mapping[str, Any], context: Mapping[str, Any]
    ) -> Prompt:
        """The prompt of a text of which it is not kept where its parts came from."""
        names = frozenset(values)
        span = self._source.span(0, len(self._source.text))
        outline = Outline([Form(span, "block", names, widest(names, self.scopes))])
        text = self._finish(text)
        notices = self._notices(context)
        return Prompt(outline, [text], template=self.name, diagnostics=notices)

    def bind(self, context: Any = None, scopes: Mapping[str, Scope] | None = None) -> Template:
        """Render once all that depends on these values alone.

        Args:
            context: values that stay the same for many renders.
            scopes: how long the values of variables hold; bound ones without a scope hold
                as long as the session.

        Returns:
            A template that renders the rest. Its text is that of an unbound render with
            all values; what is bound is byte-identical at every render. Binding again
            replaces what was bound. A part that fails is left for the renders, which
            fail as they would without binding.

        Raises:
            ContextError: a value is not plain data.
        """
        from .bound import BoundTemplate

        return BoundTemplate(self, context, scopes)

    def pieces(self) -> Pieces | None:
        """The parts of the template as its files are now; None when it has no part to render.

        That is the case for text without tags, and for a template with a `failure`.
        """
        if self._compiled is None:
            return None
        split = self._partials is None
        return pieces_of(self._source, self.profile, self._current(), split=split)

    def variant(
        self, *, profile: Profile | None = None, scopes: Mapping[str, Scope] | None = None
    ) -> Template:
        """The same template with another profile or other scopes; nothing bound is kept.

        Args:
            profile: how it is read and rendered; as this one is, when None.
            scopes: how long the values of variables hold; as here, when None.
        """
        return Template(
            self._source,
            profile=self.profile if profile is None else profile,
            partials=self._partials,
            scopes=self.scopes if scopes is None else scopes,
        )

    def _outline_for(self, compiled: Compiled, values: Mapping[str, Any]) -> Outline:
        if self._outline is not None and self._outline[0] is compiled:
            return self._outline[1]
        forms = forms_of(compiled.segments().plans, values, self.scopes)
        if self._trims:
            forms.append(end_form(self._source))
        outline = Outline(forms)
        if compiled.names is not None:
            self._outline = compiled, outline
        return outline

    def _traced(
        self,
        compiled: Compiled,
        texts: list[str],
        values: Mapping[str, Any],
        context: Mapping[str, Any],
    ) -> Prompt:
        """The prompt of these texts, the end of which the profile may trim."""
        plans = compiled.segments().plans

        def marks(number: int) -> Marks:
            if number >= len(plans):
                return ()
            return find_marks(compiled, plans[number], texts[number], values, self.scopes)

        return Prompt(
            self._outline_for(compiled, values),
            [*trimmed_end(texts)[0], "\n"] if self._trims else texts,
            template=self.name,
            diagnostics=self._notices(context),
            marks=marks,
        )

    def _notices(self, context: Mapping[str, Any]) -> list[Diagnostic]:
        assert self._compiled is not None
        return [
            *(
                notice
                for name, notice in absent_names(self._compiled, self.profile).items()
                if name not in context
            ),
            *unread_scopes(self.scopes, self._compiled.reads()[0], self.name),
        ]

    def _whole(self, text: str, *notices: Diagnostic) -> Prompt:
        span = self._source.span(0, len(self._source.text))
        outline = Outline([Form(span, "text", frozenset(), Scope.STATIC)])
        read = self._compiled.reads()[0] if self._compiled is not None else frozenset[str]()
        unread = unread_scopes(self.scopes, read, self.name)
        return Prompt(outline, [text], template=self.name, diagnostics=[*notices, *unread])

    def _failed_trace(
        self,
        error: BaseException,
        context: Any,
        values: dict[str, Any],
        texts: list[str] | None = None,
    ) -> Prompt:
        explained = self._explained(error, context, values)
        if self.profile.fallback:
            return self.as_it_stands(explained)
        if self._compiled is not None:
            explained.partial = self._partial(self._compiled, values, texts)
        raise explained from explained.__cause__

    def _partial(
        self, compiled: Compiled, values: dict[str, Any], texts: list[str] | None
    ) -> Prompt:
        """What was rendered before the first segment that failed, or can be."""
        if texts is None:
            texts = []
            with suppress(Exception):
                self._render_parts(compiled, values, texts)
        forms = forms_of(compiled.segments().plans, values, self.scopes)
        return Prompt(Outline(forms), texts, template=self.name)

    def _error_of_the_whole(self, error: BaseException, values: dict[str, Any]) -> BaseException:
        """The error with its place in the whole template instead of in one part of it."""
        if self._compiled is None or isinstance(error, PromptError):
            return error
        if not isinstance(error, Exception):
            # An interruption must not be hidden by what a second render would raise.
            return error
        try:
            self._compiled.program.render(MAIN, **values)
        except BaseException as whole:
            return whole
        return error

    def as_it_stands(self, error: PromptError) -> Prompt:
        """The prompt of a template that failed: its own text, with a `FallbackWarning`."""
        return self._whole(self._fall_back(error), error.diagnostic())

    # failing --------------------------------------------------------------------------------------

    def _too_large(self) -> TemplateLimitError:
        return TemplateLimitError(
            f"the rendered text is longer than {self.profile.limits.output:,} characters",
            code="P115",
            source=self._source,
            start=0,
            end=0,
            hint="pass less, or raise `Limits.output`",
        )

    def _explained(self, error: BaseException, context: Any, values: dict[str, Any]) -> PromptError:
        """The error to raise; an interruption of the process is raised as it is."""
        assert self._compiled is not None
        names = list(context) if isinstance(context, dict) else list(values)
        explained = self._compiled.explain(error, names, values)
        if explained is None:
            raise error
        return explained

    def _fail(self, error: BaseException, context: Any, values: dict[str, Any]) -> str:
        explained = self._explained(error, context, values)
        if self.profile.fallback:
            return self._fall_back(explained)
        raise explained from explained.__cause__

    def _fall_back(self, error: PromptError) -> str:
        warnings.warn(
            f"the template is used as it stands: {error}",
            FallbackWarning,
            stacklevel=_levels_to_the_caller(),
        )
        return self._source.text


def _compile(source: Source, profile: Profile, folder: Folder | None) -> Compiled:
    try:
        return compile_source(source, profile, folder)
    except RecursionError:
        # The caller may be deep within a program of its own; a thread starts afresh.
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(1) as thread:
            compiled = thread.submit(compile_source, source, profile, folder)
    try:
        return compiled.result()
    except RecursionError:
        raise TemplateLimitError(
            "expressions nest too deeply", code="P113", source=source, start=0, end=0
        ) from None


def _levels_to_the_caller() -> int:
    """How far up the first frame outside the package is, for `warnings.warn` above this."""
    package = __name__.partition(".")[0]
    frame = sys._getframe(1)
    level = 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(package):
        frame = frame.f_back
        level += 1
    return level
