"""Annotations: the JSON schemas of Python types.

msgspec makes the schemas. A type of pydantic's is left to pydantic, in one go for all of
them, so that their definitions get names which do not clash.
"""

from __future__ import annotations

import pathlib
import types
import typing
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from ..errors import MissingExtraError
from .schemas import Schema

__all__ = ["InexpressibleError", "described_types"]

_REFERENCE = "#/$defs/{name}"
_PYDANTIC = "#/pydantic/"


class InexpressibleError(Exception):
    """A type that has no JSON schema; `name` says whose it is."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def described_types(annotations: Mapping[str, Any]) -> tuple[dict[str, Schema], Schema]:
    """The JSON schemas of types, and the definitions that these refer to in `#/$defs/`.

    Args:
        annotations: types by name.

    Raises:
        InexpressibleError: a type has no JSON schema.
        MissingExtraError: a type needs pydantic, which is not installed (P807).
    """
    import msgspec

    pydantic = _PydanticTypes()
    members: dict[str, list[Any]] = {}
    for name, annotation in annotations.items():
        found = _members(annotation, pydantic)
        if found is None:
            raise InexpressibleError(name)
        members[name] = found
    made, definitions = msgspec.json.schema_components(
        [member for group in members.values() for member in group],
        schema_hook=pydantic.hook,
        ref_template=_REFERENCE,
    )
    remaining = iter(made)
    schemas = {
        name: _any_of([next(remaining) for _ in group], annotations[name])
        for name, group in members.items()
    }
    return pydantic.fill(schemas, definitions)


def _members(annotation: Any, pydantic: _PydanticTypes) -> list[Any] | None:
    """The types whose schemas together are the one of a type; None when there is none.

    msgspec takes only unions that it can tell apart when it decodes; the others are made of
    their members here.
    """
    annotation = pydantic.replaced(annotation)
    if _is_expressible(annotation, pydantic):
        return [annotation]
    groups = [_members(member, pydantic) for member in _alternatives(annotation)]
    if not groups or None in groups:
        return None
    return [member for group in groups if group for member in group]


def _is_expressible(annotation: Any, pydantic: _PydanticTypes) -> bool:
    import msgspec

    try:
        msgspec.json.schema_components([annotation], schema_hook=pydantic.hook)
    except MissingExtraError:
        raise
    except Exception:  # from msgspec, from pydantic, or from a hook of the type itself
        return False
    return True


def _any_of(schemas: list[Schema], annotation: Any) -> Schema:
    """One schema for a parameter, with the note that its annotation has."""
    schema = schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
    note = next(_notes(annotation), None)
    return schema if note is None or "description" in schema else {**schema, "description": note}


def _notes(annotation: Any) -> Iterator[str]:
    """The texts that `Annotated` adds to a type: plain, or in a `Meta`, `Field` or `Doc`."""
    for extra in getattr(annotation, "__metadata__", ()):
        kept = (getattr(extra, key, None) for key in ("description", "documentation"))
        yield from (note for note in (extra, *kept) if isinstance(note, str))
    for member in _alternatives(annotation):
        yield from _notes(member)


def _alternatives(annotation: Any) -> tuple[Any, ...]:
    """The members of a union; of any other type, none."""
    if typing.get_origin(annotation) is Annotated:
        annotation = typing.get_args(annotation)[0]
    is_union = typing.get_origin(annotation) in (typing.Union, types.UnionType)
    return typing.get_args(annotation) if is_union else ()


class _PydanticTypes:
    """The types that pydantic describes, met while msgspec describes the others."""

    def __init__(self) -> None:
        self._types: list[Any] = []

    def hook(self, kind: Any) -> Schema:
        """The schema of a type that msgspec does not know."""
        if hasattr(kind, "__get_pydantic_core_schema__"):
            return self._placeholder(kind)
        if isinstance(kind, type) and issubclass(kind, pathlib.PurePath):
            return {"type": "string", "format": "path"}
        raise NotImplementedError

    def replaced(self, annotation: Any) -> Any:
        """A type with constraints of pydantic's as one that msgspec takes; others as they are."""
        import msgspec

        if not any(map(_is_constraint, _extras(annotation))):
            return annotation
        try:
            placeholder = self._placeholder(annotation)
        except MissingExtraError:
            raise
        except Exception:  # pydantic, or a hook of the type; msgspec will refuse this one too
            return object
        return Annotated[Any, msgspec.Meta(extra_json_schema=placeholder)]

    def _placeholder(self, kind: Any) -> Schema:
        adapter = _adapter(kind)
        adapter.json_schema()  # fails here, where it is known for which parameter
        if kind not in self._types:
            self._types.append(kind)
        return {"$ref": f"{_PYDANTIC}{self._types.index(kind)}"}

    def fill(
        self, schemas: dict[str, Schema], definitions: Schema
    ) -> tuple[dict[str, Schema], Schema]:
        """The schemas and the definitions, with pydantic's in the places kept for them."""
        if not self._types:
            return schemas, definitions
        made, added = self._made("")
        if added.keys() & definitions.keys():
            made, added = self._made("pydantic.")
        filled = _filled({"schemas": schemas, "definitions": definitions}, made)
        return filled["schemas"], {**filled["definitions"], **added}

    def _made(self, prefix: str) -> tuple[list[Schema], Schema]:
        """A schema for each type, and definitions whose names begin with a prefix."""
        from pydantic import TypeAdapter

        by_key, rest = TypeAdapter.json_schemas(
            [(index, "validation", _adapter(kind)) for index, kind in enumerate(self._types)],
            ref_template=_REFERENCE.format(name=prefix + "{model}"),
        )
        schemas = [by_key[index, "validation"] for index in range(len(self._types))]
        return schemas, {prefix + name: value for name, value in rest.get("$defs", {}).items()}


def _extras(annotation: Any) -> Iterator[Any]:
    """What `Annotated` adds, at every level of a type."""
    yield from getattr(annotation, "__metadata__", ())
    for argument in typing.get_args(annotation):
        yield from _extras(argument)


def _is_constraint(extra: Any) -> bool:
    return type(extra).__module__.partition(".")[0] in ("pydantic", "annotated_types")


def _adapter(kind: Any) -> Any:
    try:
        from pydantic import TypeAdapter
    except ModuleNotFoundError:
        raise MissingExtraError(
            "the package `pydantic` is not installed", hint="pip install pydantic"
        ) from None
    return TypeAdapter(kind)


def _filled(value: Any, made: list[Schema]) -> Any:
    if isinstance(value, list):
        return [_filled(item, made) for item in value]
    if not isinstance(value, dict):
        return value
    filled = {key: _filled(item, made) for key, item in value.items()}
    reference = filled.get("$ref")
    if isinstance(reference, str) and reference.startswith(_PYDANTIC):
        del filled["$ref"]
        return {**made[int(reference.removeprefix(_PYDANTIC))], **filled}
    return filled
