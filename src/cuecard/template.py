"""Templates: read once, checked, compiled, and rendered with plain data."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from .compiler import Compiled, compile_source
from .engine import MAIN
from .errors import (
    ContextError,
    FallbackWarning,
    PromptError,
    TemplateError,
    TemplateLimitError,
    TemplateNotFoundError,
)
from .files import Folder
from .language import Names
from .profile import STRICT, Profile
from .scanner import has_tags
from .source import Source
from .values import Freezer, freeze_mapping

__all__ = ["Template", "render"]

# What Rust, and so the engine's own trimming, takes for white space. Python's `str.rstrip`
# would take the separators U+001C to U+001F too.
_WHITE_SPACE = (
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009"
    "\u200a\u2028\u2029\u202f\u205f\u3000"
)


_NO_VARIABLES: dict[str, Any] = {}


class Template:
    """A template of a system prompt.

    Args:
        source: the template's text, or a `Source` that knows its file and line.
        profile: how it is read and rendered.
        name: what errors call it.
        partials: a folder that `include`, `import` and `extends` may read from.

    Raises:
        TemplateError: the template is invalid, exceeds a limit, or does what its profile
            refuses. A profile with `fallback` raises nothing: `render` then gives the
            template as it stands.
        TemplateNotFoundError: a partial that it names does not exist.
    """

    __slots__ = (
        "_compiled",
        "_constant",
        "_failure",
        "_freezer",
        "_max_output",
        "_names",
        "_partials",
        "_render",
        "_source",
        "_trims",
        "profile",
    )

    def __init__(
        self,
        source: str | Source,
        *,
        profile: Profile = STRICT,
        name: str = "system",
        partials: Folder | None = None,
    ) -> None:
        if isinstance(source, str):
            source = Source(source, name)
        if profile.newline == "lf" and "\r\n" in source.text:
            text = source.text.replace("\r\n", "\n")
            source = Source(text, source.name, first_line=source.first_line)
        self._source = source
        self.profile = profile
        self._partials = partials
        self._constant: str | None = None
        self._failure: PromptError | None = None
        self._compiled: Compiled | None = None
        self._render: Callable[..., str] | None = None
        self._names: tuple[str, ...] | None = ()
        self._freezer = Freezer(profile.limits, False)
        self._max_output = profile.limits.output
        self._trims = profile.end == "one_newline"
        if not has_tags(source.text):
            self._constant = self._finish(_without_final_newline(source.text, profile))
            return
        try:
            self._compile()
        except (TemplateError, TemplateNotFoundError) as error:
            if not profile.fallback:
                raise
            self._failure = error

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
    def failure(self) -> PromptError | None:
        """Why a template with `fallback` cannot be rendered at all; None when it can."""
        return self._failure

    # names -------------------------------------------------------------------------------------

    @property
    def variables(self) -> frozenset[str]:
        """Every name that the template and its partials read from the context."""
        return frozenset(name for names in self._all_names() for name in names.variables)

    @property
    def required(self) -> frozenset[str]:
        """Names without which a render fails, or would have to take absence for empty."""
        return frozenset(name for names in self._all_names() for name in names.required)

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

    def _all_names(self) -> list[Names]:
        compiled = self._compiled
        return [] if compiled is None else [unit.names for unit in compiled.units.values()]

    def _compile(self) -> None:
        compiled = compile_source(self._source, self.profile, self._partials)
        self._names = compiled.names
        self._freezer = Freezer(self.profile.limits, compiled.guarded)
        self._render = compiled.program.render
        self._compiled = compiled

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

    def _run(self, context: Any, variables: dict[str, Any] = _NO_VARIABLES) -> str:
        render = self._render
        if render is None or self._partials is not None:
            return self._run_slowly(context, variables)
        values: dict[str, Any] = {}
        try:
            if variables or type(context) is not dict:
                context = self._context(context, variables)
            for name in self._names:  # type: ignore[union-attr]
                if name in context:
                    value = context[name]
                    if type(value) is str and value.isascii():
                        values[name] = value
                    else:
                        values[name] = self._freezer.freeze(name, value)
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
        try:
            if self._compiled is not None and self._compiled.changed():
                self._compile()
        except PromptError as error:
            if not self.profile.fallback:
                raise
            return self._fall_back(error)
        assert self._render is not None
        values: dict[str, Any] = {}
        try:
            context = self._context(context, variables)
            for name in self._names if self._names is not None else context:
                if name in context:
                    values[name] = self._freezer.freeze(name, context[name])
            text = self._render(MAIN, **values)
        except BaseException as error:
            return self._fail(error, context, values)
        if len(text) > self._max_output:
            return self._fail(self._too_large(), context, values)
        return self._finish(text)

    def _context(self, context: Any, variables: dict[str, Any]) -> Mapping[str, Any]:
        if context is None and (variables or not self.profile.bind_value):
            return variables
        if self.profile.bind_value and not isinstance(context, Mapping):
            return {"value": context, **variables}
        return {**self._read(freeze_mapping(context)), **variables}

    def _read(self, mapping: Mapping[str, Any]) -> Mapping[str, Any]:
        """What the template reads of a mapping that may be of any class."""
        if type(mapping) is dict or self._names is None:
            return mapping
        try:
            return {name: mapping[name] for name in self._names if name in mapping}
        except Exception as error:
            raise ContextError(
                f"the context cannot be read: it raised `{type(error).__name__}`"
            ) from error

    def _finish(self, text: str) -> str:
        if self.profile.end == "one_newline":
            return text.rstrip(_WHITE_SPACE) + "\n"
        return text

    # failing --------------------------------------------------------------------------------------

    def _too_large(self) -> TemplateLimitError:
        return TemplateLimitError(
            f"the rendered text is longer than {self.profile.limits.output:,} characters",
            code="P115",
            source=self._source,
            hint="pass less, or raise `Limits.output`",
        )

    def _fail(self, error: BaseException, context: Any, values: dict[str, Any]) -> str:
        assert self._compiled is not None
        names = list(context) if isinstance(context, dict) else list(values)
        explained = self._compiled.explain(error, names, values)
        if explained is None:
            raise error
        if self.profile.fallback:
            return self._fall_back(explained)
        raise explained from explained.__cause__

    def _fall_back(self, error: PromptError) -> str:
        warnings.warn(f"the template is used as it stands: {error}", FallbackWarning, stacklevel=4)
        return self._source.text


def _without_final_newline(text: str, profile: Profile) -> str:
    if profile.end == "drop_newline" and text.endswith("\n"):
        text = text[:-1]
        return text[:-1] if text.endswith("\r") else text
    return text


@lru_cache(maxsize=256)
def _cached(source: str, profile: Profile, name: str) -> Template:
    return Template(source, profile=profile, name=name)


def render(
    template: str, context: Any = None, *, profile: Profile = STRICT, name: str = "system"
) -> str:
    """Render a template once; the compiled template is kept in a bounded cache.

    Args:
        template: the template's text.
        context: a mapping of names to values, or a record with such fields.
        profile: how the template is read and rendered.
        name: what errors call the template.

    Returns:
        The rendered text.

    Raises:
        TemplateError: the template is invalid, or its render failed.
        ContextError: a value that the template reads is not plain data.
    """
    return _cached(template, profile, name)._run(context)
