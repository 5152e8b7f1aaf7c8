"""JSON schemas: copies as plain data, their texts, and what stands at their top."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from ..profile import Limits

__all__ = ["NotJsonError", "Schema", "inlined", "json_text", "plain_copy", "without_heading"]

Schema = dict[str, Any]

_MAX_DEPTH = Limits().depth


class NotJsonError(Exception):
    """A value that JSON cannot hold: what it is, and the path that leads to it."""

    def __init__(self, what: str, path: str) -> None:
        super().__init__(what)
        self.what = what
        self.path = path


def plain_copy(value: Any, path: str = "$", depth: int = 0) -> Any:
    """A copy of JSON data that shares nothing with the original.

    Mappings become `dict`, tuples become `list`; keys keep their order.

    Raises:
        NotJsonError: a value of another type, a key that is no text, a number that is none,
            or more levels than a context may have.
    """
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise NotJsonError("a number that is none", path)
        return value
    if depth >= _MAX_DEPTH:
        raise NotJsonError(f"more than {_MAX_DEPTH} levels, or itself", "$")
    if isinstance(value, Mapping):
        return {
            _key(key, path): plain_copy(item, f"{path}.{key}", depth + 1)
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [plain_copy(item, f"{path}[{i}]", depth + 1) for i, item in enumerate(value)]
    raise NotJsonError(f"a `{type(value).__name__}`", path)


def _key(key: Any, path: str) -> str:
    if not isinstance(key, str):
        raise NotJsonError(f"a key of type `{type(key).__name__}`", path)
    return key


def json_text(value: Any, *, sort_keys: bool) -> str:
    """JSON of plain data without white space."""
    return json.dumps(value, sort_keys=sort_keys, separators=(",", ":"), ensure_ascii=False)


def inlined(schema: Schema) -> Schema:
    """A schema whose top is no reference; a recursive class gives one that is."""
    reference = schema.get("$ref")
    if not isinstance(reference, str):
        return schema
    target: Any = schema
    for step in reference.removeprefix("#/").split("/"):
        target = target[step]
    rest = {key: value for key, value in schema.items() if key != "$ref"}
    return {**rest, **target}


def without_heading(schema: Mapping[str, Any]) -> Schema:
    """A schema without the title and the description at its top."""
    return {key: value for key, value in schema.items() if key not in ("title", "description")}
