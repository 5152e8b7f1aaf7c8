"""The engine: the one module that imports minijinja, and the traps of its binding closed.

- Nothing but frozen data and our own callables is given to it.
- Debug mode is off and `debug` removed: both would print the context.
- Nothing is escaped, whatever a template is called.
- An environment is complete before it is shared. Its methods take a lock that a render
  holds while it waits for the GIL, so changing one that is rendering would end in a
  deadlock; `Program` only ever renders.
- A callback's exception waits in the binding until an error is reported. Ours are raised
  only where the engine gives up at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import minijinja

from ..profile import Profile
from ..values.frozen import NULL
from .filters import filters, functions
from .meter import metered

__all__ = [
    "FORMAT_NAME",
    "MAIN",
    "MEASURE_NAME",
    "NULL_NAME",
    "SPEND_NAME",
    "UNDEFINED_NAME",
    "WRAP_NAME",
    "EngineError",
    "Program",
    "describe",
]

MAIN = "\0main"
"""What the engine calls a program's own template: no partial has such a name, nor an ending."""

NULL_NAME = "__null"
"""The name that null has in a rewritten template."""

UNDEFINED_NAME = "__undefined"
"""The function that a rewritten template calls where a value is absent."""

MEASURE_NAME = "__measured"
"""The function that a rewritten template calls with a value that it made, and its site."""

SPEND_NAME = "__spent"
"""The function that a rewritten template calls with a value that it is about to look at."""

FORMAT_NAME = "__format"
"""The filter that stands for the method `format`."""

WRAP_NAME = "__wrapped"
"""The filter that stands before the engine's `wordwrap`."""


class EngineError(Exception):
    """What the engine said, with byte offsets into the text that it was given.

    Attributes:
        kind: the engine's name for the failure, such as `UndefinedError`.
        detail: its words, which may hold values: never shown as they are.
        template: the name of the template that failed.
        start: first byte of the place, or None.
        end: byte after the place, or None.
        chain: the kinds and places of what caused it, for a failure in a partial.
        line: the line of the place, from 1, when no more is known of it.
    """

    def __init__(
        self,
        kind: str,
        detail: str = "",
        template: str = MAIN,
        start: int | None = None,
        end: int | None = None,
        chain: str = "",
        line: int | None = None,
    ) -> None:
        super().__init__(kind)
        self.kind = kind
        self.detail = detail
        self.template = template
        self.start = start
        self.end = end
        self.chain = chain
        self.line = line


def _is_null(value: object) -> bool:
    return value is NULL


def _no_escaping(name: str) -> bool:
    return False


class Program:
    """Compiled templates that can only be rendered.

    Args:
        texts: rewritten templates by name.
        profile: white space, strictness and limits.
        undefined: called with a site's number when a value asked for is absent; it raises.
        loader: gives the text of a partial by name, or None; it must not raise.
        aliases: callables to add under a name: `"filter"` or `"function"`, and the callable.
        keep_final_newline: whether a line break at the very end of a text is kept.

    Raises:
        EngineError: a text does not parse.
    """

    def __init__(
        self,
        texts: Mapping[str, str],
        profile: Profile,
        *,
        undefined: Callable[[int], object],
        loader: Callable[[str], str | None] | None = None,
        aliases: Mapping[str, tuple[str, Callable[..., Any]]] | None = None,
        keep_final_newline: bool = True,
    ) -> None:
        environment = minijinja.Environment(
            debug=False,
            fuel=profile.limits.fuel,
            undefined_behavior=profile.undefined,
            keep_trailing_newline=keep_final_newline,
            trim_blocks=profile.trim_blocks,
            lstrip_blocks=profile.lstrip_blocks,
        )
        environment.remove_global("debug")
        environment.add_global(NULL_NAME, NULL)
        environment.add_global(UNDEFINED_NAME, undefined)
        environment.add_test("none", _is_null)
        own = filters(
            profile.limits, strict=profile.undefined == "strict", sort_keys=profile.sort_keys
        )
        for name, callback in own.items():
            environment.add_filter(name, callback)
        for name, callback in functions().items():
            environment.add_global(name, callback)
        for alias, (kind, callback) in (aliases or {}).items():
            if kind == "filter":
                environment.add_filter(alias, callback)
            else:
                environment.add_global(alias, callback)
        if loader is not None:
            environment.loader = loader
            environment.auto_escape_callback = _no_escaping
        try:
            for name, text in texts.items():
                environment.add_template(name, text)
        except minijinja.TemplateError as error:
            raise _engine_error(error) from None
        except BaseException as error:
            _raise_panic(error)
            raise
        self.render: Callable[..., str] = environment.render_template
        """`render(name, **values)`: the engine's own method, bound, for speed."""
        if loader is not None or any("|" in text or "__" in text for text in texts.values()):
            self.render = metered(self.render, profile.limits.fuel)


def describe(error: BaseException) -> EngineError | None:
    """The engine's failure as data; None when the exception is not the engine's."""
    if isinstance(error, minijinja.TemplateError):
        return _engine_error(error)
    if type(error).__name__ == "PanicException":
        return EngineError("Panic")
    return None


def _raise_panic(error: BaseException) -> None:
    if type(error).__name__ == "PanicException":
        raise EngineError("Panic") from None


def _engine_error(error: minijinja.TemplateError) -> EngineError:
    start, end = error.range or (None, None)
    return EngineError(
        error.kind,
        error.detail or "",
        error.name or MAIN,
        start,
        end,
        str(error) if error.kind == "BadInclude" else "",
        error.line,
    )
