"""Absence: which name or attribute is undefined where a render fails, and what was meant."""

from __future__ import annotations

from typing import Any

from ..errors import PromptError, UndefinedVariableError
from ..language.expressions import Node, is_path, path_text, root_name
from ..language.vocabulary import nearest
from ..values import NULL
from .failure import Failure, Place
from .probing import Probe, Site

__all__ = ["absent_site", "explain_absence", "undefined_at"]

_MAX_DEPTH = 8


def explain_absence(place: Place, failure: Failure) -> PromptError:
    """The error for a render that failed for want of a value at or near a place."""
    site = absent_site(failure)
    if site is not None:
        return undefined_at(site, failure)
    text = place.source.text[place.start or 0 : place.end or 0].strip()
    return UndefinedVariableError(
        "the value of this expression is undefined",
        variables=(text,) if text else (),
        **place.arguments(),
    )


def absent_site(failure: Failure) -> Site | None:
    """The shortest path that is absent where the render fails, if that is why it fails."""
    for defaults in (False, True):
        for depth in range(1, _MAX_DEPTH + 1):
            site = failure.ask(Probe(depth=depth, defaults=defaults))
            if site is not None:
                return site
    return None


def undefined_at(site: Site, failure: Failure) -> UndefinedVariableError:
    """The error for a path that is absent at a site, with all names that are missing."""
    node, source = site.node, site.source
    path = path_text(node, source)
    place = {"source": source, "start": node.start, "end": node.end}
    origin = _assigned_path(site, failure) if node.kind == "name" else None
    if origin is not None:
        return undefined_at(origin, failure)
    if node.kind == "name":
        missing = _missing_names(str(node.value), failure)
        listed = ", ".join(f"`{name}`" for name in missing)
        known = [*failure.names, *(n for unit in failure.units.values() for n in unit.names.bound)]
        return UndefinedVariableError(
            f"undefined variable{'s' if len(missing) > 1 else ''} {listed}",
            variables=missing,
            hint=nearest(str(node.value), known),
            **place,
        )
    base = path_text(node.children[0], source)
    hint = None
    if node.kind == "attr":
        message = f"`{base}` has no attribute `{node.value}`"
        hint = nearest(str(node.value), _keys(node.children[0], failure))
        if _value_at(node.children[0], failure) is NULL:
            message = f"`{base}` is null, so it has no attribute `{node.value}`"
    else:
        message = f"`{path}` is undefined"
        index = node.children[1]
        if index.kind == "text":
            hint = nearest(str(index.value), _keys(node.children[0], failure))
    return UndefinedVariableError(message, code="P202", variables=(path,), hint=hint, **place)


def _assigned_path(site: Site, failure: Failure) -> Site | None:
    """The path that a template's own name was set to, when the name itself is undefined."""
    for unit in failure.units.values():
        for node in unit.nodes if unit.source is site.source else ():
            if node.kind == "set" and node.value == (site.node.value,):
                value = node.children[0]
                known = root_name(value) in unit.names.variables
                if known and node.end <= site.node.start and is_path(value):
                    return Site(site.source, value)
    return None


def _missing_names(first: str, failure: Failure) -> tuple[str, ...]:
    present = set(failure.names)
    missing = {first: None}
    for unit in failure.units.values():
        for use in unit.names.uses:
            if use.name not in present and use.name in failure.required:
                missing[use.name] = None
    return tuple(missing)


def _keys(path: Node, failure: Failure) -> list[str]:
    """Keys of the mapping that a path leads to, as far as the values tell."""
    value = _value_at(path, failure)
    return [key for key in value if isinstance(key, str)] if isinstance(value, dict) else []


def _value_at(path: Node, failure: Failure, depth: int = 0) -> Any:
    if path.kind == "name":
        name = path.value
        if name in failure.values:
            return failure.values[name]
        for unit in failure.units.values():
            iterable = unit.names.loops.get(name)
            if iterable is not None and depth < 10:
                items = _value_at(iterable, failure, depth + 1)
                return items[0] if isinstance(items, list) and items else None
        return None
    if path.kind not in ("attr", "item"):
        return None
    base = _value_at(path.children[0], failure, depth)
    key: Any = path.value
    if path.kind == "item":
        index = path.children[1]
        key = index.value
        if index.kind == "const" and str(key).isdecimal():
            key = int(key)
    try:
        return base[key]
    except (TypeError, KeyError, IndexError):
        return None
