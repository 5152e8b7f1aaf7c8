"""Faults: what the engine says of a failure, as an error that says what to fix.

The engine's words may hold values of the context, so messages are made from the kind of
the failure, the template's own text and a list of phrases known to be safe.
"""

from __future__ import annotations

import re

from ..engine.filters import filters, functions
from ..engine.program import MAIN, EngineError, describe
from ..engine.refusals import AbsentError, FilterError
from ..errors import (
    PromptError,
    TemplateError,
    TemplateLimitError,
    TemplateNotFoundError,
    TemplateRaisedError,
    UnknownNameError,
)
from ..language.expressions import Node, path_text, root_name
from ..language.vocabulary import FILTERS, FUNCTION_HINTS, FUNCTIONS, TESTS, nearest
from ..profile import Limits
from ..source import Source
from .absence import absent_site, explain_absence, undefined_at
from .failure import Failure, Place
from .probing import Probe
from .syntax_faults import explain_syntax

__all__ = ["explain"]

_MAYBE_UNDEFINED = frozenset(("InvalidOperation", "UnknownMethod", "UnknownFunction"))
OWN_NAMES = frozenset(filters(Limits(), strict=False, sort_keys=False)) | frozenset(functions())

_SAFE_DETAILS = re.compile(
    r"tried to use [-+*/%~]+ operator on unsupported types [a-z ]+ and [a-z ]+"
    r"|cannot perform a containment check on this value"
    r"|cannot convert value (?:into pair list|to list)|value is not a string"
    r"|cannot get absolute value|template name was not a string"
)
_CHAIN = re.compile(
    r"^caused by: (?P<words>[^:\n]+?)(?:: (?P<detail>[^\n]*))? \(in (?P<name>.*):(?P<line>\d+)\)$",
    re.M,
)
_KINDS_BY_WORDS = {
    "undefined value": "UndefinedError",
    "invalid operation": "InvalidOperation",
    "unknown filter": "UnknownFilter",
    "unknown test": "UnknownTest",
    "unknown function": "UnknownFunction",
    "unknown method": "UnknownMethod",
    "syntax error": "SyntaxError",
    "engine ran out of fuel": "OutOfFuel",
    "template not found": "TemplateNotFound",
}


def explain(error: BaseException, failure: Failure) -> PromptError | None:
    """The error for a failed render; None for an interruption, which is not about it at all."""
    if isinstance(error, PromptError):
        return _at_its_tag(error, failure) if error.span is None else error
    engine_error = error if isinstance(error, EngineError) else describe(error)
    if engine_error is not None:
        return _explain_engine(engine_error, failure)
    if isinstance(error, FilterError):
        return _explain_filter(error, failure)
    if isinstance(error, (AttributeError, TypeError, ValueError)):
        return _explain_method(error, failure)
    if isinstance(error, Exception):
        return TemplateError(
            f"the render failed: it raised `{type(error).__name__}`",
            code="P206",
            source=failure.rewritten[MAIN].source,
        )
    return None


def _at_its_tag(error: PromptError, failure: Failure) -> PromptError:
    """A refused partial, at the only tag that can have asked for it."""
    tags = [
        (unit, node)
        for unit in failure.units.values()
        for name, node in unit.references()
        if name is None or unit is failure.units[MAIN]
    ]
    if isinstance(error, TemplateNotFoundError) and len(tags) == 1:
        unit, node = tags[0]
        place = Place(unit.source, node.start, node.end)
        return TemplateNotFoundError(
            error.message, code=error.code, hint=error.hint, **place.arguments()
        )
    return error


def _explain_engine(error: EngineError, failure: Failure) -> PromptError:
    if error.kind == "BadInclude":
        error = _innermost(error, failure)
    place = _place(error, failure)
    if error.kind == "SyntaxError":
        rewritten = failure.rewritten.get(error.template)
        if rewritten is not None:
            return explain_syntax(error, rewritten.source, rewritten.offset)
    if error.kind == "UndefinedError":
        return explain_absence(place, failure)
    if failure.profile.undefined == "strict" and error.kind in _MAYBE_UNDEFINED:
        site = absent_site(failure)
        if site is not None:
            return undefined_at(site, failure)
    if error.kind == "OutOfFuel":
        return TemplateLimitError(
            f"the render took more than {failure.profile.limits.fuel:,} steps",
            **place.arguments(),
            hint="loop over less, or raise `Limits.fuel`",
        )
    if error.kind in ("UnknownFilter", "UnknownTest", "UnknownFunction", "UnknownMethod"):
        return _explain_unknown(error, place, failure)
    if error.kind == "TemplateNotFound":
        return TemplateNotFoundError("no such partial in the folder", **place.arguments())
    if error.detail.startswith("cannot super") or "super()" in error.detail:
        error = EngineError("UnknownFunction", "super is unknown", start=error.start, end=error.end)
        return _explain_unknown(error, place, failure)
    if error.kind == "Panic":
        return TemplateError("the engine failed on this template", code="P206", **place.arguments())
    return _explain_operation(error, place, failure)


def _explain_operation(error: EngineError, place: Place, failure: Failure) -> PromptError:
    if error.detail == "range has too many elements":
        return TemplateLimitError("the range is too large", code="P114", **place.arguments())
    if error.detail == "recursion limit exceeded":
        return TemplateLimitError(
            "macros or partials call each other too deeply", code="P113", **place.arguments()
        )
    if error.kind == "UnknownBlock":
        place = _block_place(place, failure)
        return UnknownNameError("no such block", code="P105", **place.arguments())
    if error.kind in ("MissingArgument", "TooManyArguments", "UnusedKeywordArgument"):
        words = re.sub(r"(?<!^)(?=[A-Z])", " ", error.kind).lower()
        return TemplateError(words, code="P204", **place.arguments())
    # Null reaches the engine as something to loop over, which it would call an iterator.
    safe = _SAFE_DETAILS.fullmatch(error.detail) and "iterator" not in error.detail
    return TemplateError(
        error.detail if safe else "the operation is not possible with these values",
        code="P203",
        **place.arguments(),
    )


def _block_place(place: Place, failure: Failure) -> Place:
    """Where a block is asked for that does not exist, which the engine does not say."""
    known = {node.value for u in failure.units.values() for node in u.nodes if node.kind == "block"}
    for unit in failure.units.values():
        for node in unit.nodes:
            if node.kind == "attr" and root_name(node) == "self" and node.value not in known:
                return Place(unit.source, node.at, node.end)
    return place


def _innermost(error: EngineError, failure: Failure) -> EngineError:
    """The cause of a failure in a partial, of which the engine gives only words and a line."""
    causes = list(_CHAIN.finditer(error.chain))
    if not causes:
        return error
    cause = causes[-1]
    kind = _KINDS_BY_WORDS.get(cause["words"], "InvalidOperation")
    found = EngineError(kind, cause["detail"] or "", template=cause["name"])
    rewritten = failure.rewritten.get(cause["name"])
    if rewritten is not None:
        lines = rewritten.text.encode().split(b"\n")
        line = min(int(cause["line"]), len(lines))
        found.start = sum(len(text) + 1 for text in lines[: line - 1])
        found.end = found.start + len(lines[line - 1])
    return found


def _place(error: EngineError, failure: Failure) -> Place:
    name = error.template if error.template in failure.rewritten else MAIN
    rewritten = failure.rewritten[name]
    if error.start is None or error.end is None:
        return _line(rewritten.source, error.line)
    return Place(rewritten.source, rewritten.offset(error.start), rewritten.offset(error.end))


def _line(source: Source, line: int | None) -> Place:
    """A line of a source, which is all that the engine says of some failures."""
    lines = source.text.split("\n")
    if line is None or not 0 < line <= len(lines):
        return Place(source, 0, 0)
    start = sum(len(text) + 1 for text in lines[: line - 1])
    return Place(source, start, start + len(lines[line - 1]))


def _explain_unknown(error: EngineError, place: Place, failure: Failure) -> PromptError:
    what, code, known = {
        "UnknownFilter": ("filter", "P103", FILTERS),
        "UnknownTest": ("test", "P104", TESTS),
        "UnknownFunction": ("function", "P105", FUNCTIONS),
        "UnknownMethod": ("method", "P106", frozenset[str]()),
    }[error.kind]
    name, node = _named_at(place, what, failure)
    quoted = _quoted_name(place, known, failure)
    name = quoted or name
    message = f"unknown {what} `{name}`" if name else f"unknown {what}"
    hint = FUNCTION_HINTS.get(name) if what == "function" else None
    if node is not None and what in ("method", "function") and node.kind == "call":
        callee = node.children[0]
        start = callee.at if what == "method" else callee.start
        place = Place(place.source, start, node.end)
    if what == "method" and node is not None:
        kind = re.match(r"([a-z ]+) has no method", error.detail)
        callee = node.children[0]
        base = path_text(callee.children[0], place.source)
        if kind:
            message = f"`{base}` is a {kind[1]}, which has no method `{name}`"
            if kind[1] == "string" and name in ("items", "keys", "values", "get"):
                hint = "decode the JSON before it is passed"
    return UnknownNameError(
        message, code=code, hint=hint or nearest(name, known), **place.arguments()
    )


_BY_NAME = frozenset(("map", "select", "reject", "selectattr", "rejectattr"))
"""Filters that are given the name of another filter or test as text."""


def _quoted_name(place: Place, known: frozenset[str], failure: Failure) -> str | None:
    """The unknown name that stands in quotes, as in `map("nme")`."""
    for unit in failure.units.values():
        for node in unit.nodes if unit.source is place.source else ():
            if node.kind != "filter" or node.value not in _BY_NAME or place.start is None:
                continue
            texts = [str(a.value) for a in node.children[1:] if a.kind == "text"]
            unknown = [text for text in texts if text not in known]
            if node.start <= place.start <= node.end and unknown:
                # `selectattr` takes the attribute first, then the test.
                return unknown[-1]
    return None


def _named_at(place: Place, what: str, failure: Failure) -> tuple[str, Node | None]:
    """The filter, test, function or method that is used at a place."""
    for unit in failure.units.values():
        if unit.source is not place.source or place.start is None or place.end is None:
            continue
        for node in unit.nodes:
            if node.kind == what and place.start <= node.at <= place.end:
                return str(node.value), node
            if node.kind == "call" and node.start <= place.start <= node.end:
                callee = node.children[0]
                if callee.kind == ("attr" if what == "method" else "name"):
                    return str(callee.value), node
    return "", None


# our own callables --------------------------------------------------------------------------------


def _explain_filter(error: FilterError, failure: Failure) -> PromptError:
    # What took too much work is not done once more to find its place.
    place = _used_place(failure) if error.code == "P114" else _called_place(failure)
    if isinstance(error, AbsentError):
        return explain_absence(place, failure)
    kind: type[TemplateError] = TemplateError
    if error.code == "P205":
        kind = TemplateRaisedError
    elif error.code in ("P114", "P115", "P116"):
        kind = TemplateLimitError
    elif error.code == "P106":
        kind = UnknownNameError
    return kind(error.message, code=error.code, hint=error.hint, **place.arguments())


def _called_place(failure: Failure) -> Place:
    """The use of a filter or function of our own that failed, as far as it can be told."""
    used = {
        str(node.value if node.kind == "filter" else node.children[0].value)
        for unit in failure.units.values()
        for node in unit.nodes
        if node.kind in ("filter", "call")
    }
    site = failure.ask(Probe(names=frozenset(used & OWN_NAMES)))
    if site is None:
        return _used_place(failure)
    node = site.node
    if node.kind == "call":
        callee = node.children[0]
        return Place(site.source, callee.at if callee.kind == "attr" else callee.start, node.end)
    return Place(site.source, node.at, node.at + len(str(node.value)))


def _used_place(failure: Failure) -> Place:
    """The first use of a filter of our own, by `map` too; else the start of the template."""
    for unit in failure.units.values():
        for node in unit.nodes:
            if node.kind == "filter" and _names_own(node):
                return Place(unit.source, node.at, node.at + len(str(node.value)))
    return Place(failure.rewritten[MAIN].source, 0, 0)


def _names_own(node: Node) -> bool:
    if node.value in OWN_NAMES:
        return True
    return node.value in _BY_NAME and any(
        child.kind == "text" and child.value in OWN_NAMES for child in node.children[1:]
    )


def _explain_method(error: Exception, failure: Failure) -> PromptError:
    """A method of a frozen container that does not exist, or does not take what it was given."""
    if isinstance(error, TypeError):
        place = _called_place(failure)
        if place.start is not None:
            name = place.source.text[place.start : place.end]
            message = f"`{name}` does not take these arguments"
            return TemplateError(message, code="P204", **place.arguments())
    name = str(getattr(error, "name", "") or "")
    calls = [
        (unit, node)
        for unit in failure.units.values()
        for node in unit.nodes
        if node.kind == "call" and node.children[0].kind == "attr"
        if not name or node.children[0].value == name
    ]
    place = Place(failure.rewritten[MAIN].source, None, None)
    if len(calls) == 1:
        unit, node = calls[0]
        name = str(node.children[0].value)
        place = Place(unit.source, node.children[0].at, node.children[0].at + len(name))
    if isinstance(error, AttributeError):
        return UnknownNameError(
            f"unknown method `{name}`" if name else "unknown method",
            code="P106",
            hint="mappings have `items`, `keys`, `values` and `get`; lists `index` and `count`",
            **place.arguments(),
        )
    message = f"method `{name}` does not take these arguments" if name else "invalid argument"
    return TemplateError(message, code="P204", **place.arguments())
