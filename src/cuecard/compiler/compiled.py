"""The compiler: from a source to a program, and from a failed render to what went wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

from ..engine.filters import filters, functions
from ..engine.program import MAIN, EngineError, Program
from ..errors import PromptError, TemplateNotFoundError
from ..files import Folder
from ..language.expressions import Node
from ..language.units import Partials, UnderstandingError, Unit, read_unit
from ..profile import Profile
from ..source import Source
from .rewrite import ALIAS_NAME, Probe, Rewritten, Site, rewrite

__all__ = ["Compiled", "compile_source"]


class _SiteError(Exception):
    """Raised from within a render by a place that reports itself."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def _report(number: int) -> NoReturn:
    raise _SiteError(number)


class Compiled:
    """A template that is ready to render, with all that took part in it.

    Attributes:
        program: what the engine made of it.
        units: the template and its partials, by the engine's name for them.
        names: every name that they read; None when a partial's name is computed, so that
            any name may be read.
        guarded: whether containers must hide their methods.
    """

    def __init__(
        self,
        units: Mapping[str, Unit],
        partials: Partials | None,
        names: tuple[str, ...] | None,
        profile: Profile,
        probe: Probe | None = None,
    ) -> None:
        self.units = dict(units)
        self.names = names
        self.guarded = any(unit.guarded for unit in units.values())
        self._partials = partials
        self._profile = profile
        self._probe = probe
        self._sites: list[Site] = []
        self._rewritten: dict[str, Rewritten] = {}
        self._refusals: list[PromptError] = []
        self.program = self._build()

    def _build(self) -> Program:
        main = self._rewrite(MAIN, self.units[MAIN])
        aliases: dict[str, tuple[str, Callable[..., Any]]] = {}
        if self._probe is not None and self._probe.names:
            aliases.update(_aliases(self._sites, self._profile))
        if self._partials is not None:
            aliases["__refused"] = ("function", self._refuse)
        try:
            return Program(
                main.text,
                self._profile,
                undefined=_report,
                loader=self._load if self._partials is not None else None,
                aliases=aliases,
            )
        except EngineError as error:
            from .syntax_faults import explain_syntax

            raise explain_syntax(error, main.source, main.offset) from None

    def _rewrite(self, name: str, unit: Unit) -> Rewritten:
        rewritten = self._rewritten[name] = rewrite(
            unit.source,
            unit.tree,
            strict=self._profile.undefined == "strict",
            sites=self._sites,
            probe=self._probe,
        )
        return rewritten

    def _load(self, name: str) -> str | None:
        # The engine's loader must not raise: what is refused becomes a text that raises.
        assert self._partials is not None
        try:
            self.units[name] = unit = self._partials.unit(name)
            return self._rewrite(name, unit).text
        except TemplateNotFoundError as error:
            if error.code == "P803":
                return None
            self._refusals.append(error)
        except PromptError as error:
            self._refusals.append(error)
        return f"{{{{ __refused({len(self._refusals) - 1}) }}}}"

    def _refuse(self, number: int) -> NoReturn:
        raise self._refusals[number]

    def changed(self) -> bool:
        """Whether the file of a partial has changed since."""
        return self._partials is not None and self._partials.changed()

    def explain(
        self, error: BaseException, names: Iterable[str], values: Mapping[str, Any]
    ) -> PromptError | None:
        """What went wrong in a render.

        Args:
            error: what `program.render` raised.
            names: the names that the context has.
            values: what the program was given.

        Returns:
            The error to raise; None when the exception is not about the template at all.
        """
        if isinstance(error, _SiteError):
            # A strict look at a value that the engine would have taken for empty; what is
            # absent may be a part of its path.
            error = EngineError("UndefinedError")

        # Failures are rare, and what explains them is large.
        from .faults import Failure, explain

        def ask(probe: Probe) -> Site | None:
            return self._ask(probe, values)

        rewritten = self._rewritten
        return explain(error, Failure(self.units, rewritten, names, values, self._profile, ask))

    def _ask(self, probe: Probe, values: Mapping[str, Any]) -> Site | None:
        asked = Compiled(self.units, self._partials, self.names, self._profile, probe)
        try:
            asked.program.render(MAIN, **values)
        except _SiteError as error:
            return asked._sites[error.number]
        except Exception:
            return None
        return None


def compile_source(source: Source, profile: Profile, folder: Folder | None) -> Compiled:
    """Read, check and compile a template.

    Args:
        source: the template.
        profile: how it is read and rendered.
        folder: where its partials are, if it may have any.

    Raises:
        TemplateError: the template, or a partial that it names, is invalid.
        TemplateNotFoundError: a partial that it names does not exist.
    """
    try:
        unit = read_unit(source, profile, folder=folder is not None)
    except UnderstandingError as error:
        # The engine is right about syntax, so its own words come first.
        _refuse_syntax(source, profile)
        raise error from None
    units = {MAIN: unit}
    partials = None
    complete = True
    if folder is not None and profile.partials:
        partials = Partials(folder, profile)
        complete = partials.gather(unit)
        units.update(partials.units)
    names = {name for unit in units.values() for name in unit.names.variables}
    return Compiled(units, partials, tuple(sorted(names)) if complete else None, profile)


def _refuse_syntax(source: Source, profile: Profile) -> None:
    try:
        Program(source.text, profile, undefined=_report)
    except EngineError as error:
        from .syntax_faults import explain_syntax

        raise explain_syntax(error, source, source.offset_of_byte) from None


def _aliases(sites: list[Site], profile: Profile) -> dict[str, tuple[str, Callable[..., Any]]]:
    """Our own filters and functions under one name a site, which reports itself on failure."""
    strict = profile.undefined == "strict"
    own = filters(profile.limits, strict=strict, sort_keys=profile.sort_keys)
    own.update(functions())
    aliases: dict[str, tuple[str, Callable[..., Any]]] = {}
    for number, site in enumerate(sites):
        called, name = _called_name(site.node)
        if name in own:
            kind = "function" if called else "filter"
            aliases[ALIAS_NAME.format(number)] = (kind, _reporting(own[name], number))
    return aliases


def _called_name(node: Node) -> tuple[bool, str]:
    if node.kind == "call":
        return True, str(node.children[0].value)
    return False, str(node.value) if node.kind == "filter" else ""


def _reporting(callback: Callable[..., Any], number: int) -> Callable[..., Any]:
    def call(*arguments: Any, **named: Any) -> Any:
        try:
            return callback(*arguments, **named)
        except Exception:
            raise _SiteError(number) from None

    return call
