"""Schemas: what the files of an input have in common, and types that every format can hold."""

from __future__ import annotations

from typing import Any

from ..arrow import pa
from .parts import PartError

__all__ = ["check_names", "fitted", "json_types", "padded", "plain", "unified"]


def plain(schema: Any) -> Any:
    """A schema without ways of storage that differ from file to file, such as dictionaries."""
    return _mapped(schema, {})


def json_types(schema: Any) -> Any:
    """What Arrow takes JSON's values for, without the times that it sees in texts.

    JSON has no times, and a text that looks like one is printed as it stands.
    """
    return _mapped(schema, {"timestamp": pa.string(), "null": pa.string()})


def unified(first: Any, second: Any) -> Any:
    """A schema that holds the rows of both.

    Raises:
        PartError: a column has types that no type holds both of (P822).
    """
    try:
        return pa.unify_schemas([first, second], promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        pass
    for field in second:
        index = first.get_field_index(field.name)
        if index < 0:
            continue
        known = first.field(index)
        try:
            pa.unify_schemas([pa.schema([known]), pa.schema([field])], promote_options="permissive")
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            raise PartError(
                "P822",
                f"column `{field.name}` is {_told(field.type)} here and {_told(known.type)} in "
                "the files before",
                "give the column one type in all files",
            ) from None
    raise PartError("P822", "its columns do not fit those of the files before")


def fitted(batch: Any, schema: Any) -> Any:
    """The columns of a batch with the types that the schema has for them, in the batch's order.

    Raises:
        PartError: a value does not fit the type (P822).
    """
    fields = [schema.field(name) for name in batch.schema.names]
    wanted = pa.schema(fields)
    if batch.schema.equals(wanted):
        return batch
    columns = []
    for field, column in zip(fields, batch.columns, strict=True):
        try:
            columns.append(column if column.type == field.type else column.cast(field.type))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise PartError(
                "P822", f"column `{field.name}` cannot be read as {_told(field.type)}"
            ) from None
    return pa.RecordBatch.from_arrays(columns, schema=wanted)


def padded(batch: Any, schema: Any) -> Any:
    """A batch with all columns of the schema, null where it has none."""
    if batch.schema.names == schema.names:
        return batch
    columns = [
        batch.column(field.name)
        if field.name in batch.schema.names
        else pa.nulls(batch.num_rows, field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def check_names(schema: Any) -> None:
    """See that no column is named twice.

    Raises:
        PartError: one is (P823).
    """
    seen: set[str] = set()
    for name in schema.names:
        if name in seen:
            raise PartError("P823", f"column `{name}` is there twice")
        seen.add(name)


def _told(kind: Any) -> str:
    text = str(kind)
    return f"`{text}`" if len(text) <= 60 else f"`{text[:57]}...`"


def _mapped(schema: Any, types: dict[str, Any]) -> Any:
    return pa.schema([pa.field(f.name, _type(f.type, types)) for f in schema])


def _type(kind: Any, types: dict[str, Any]) -> Any:
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return _type(kind.value_type, types)
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(f.name, _type(f.type, types)) for f in kind])
    if pa.types.is_map(kind):
        return pa.map_(_type(kind.key_type, types), _type(kind.item_type, types))
    if pa.types.is_large_list(kind):
        return pa.large_list(_type(kind.value_type, types))
    if pa.types.is_list(kind):
        return pa.list_(_type(kind.value_type, types))
    if pa.types.is_timestamp(kind):
        return types.get("timestamp", kind)
    return types.get("null", kind) if pa.types.is_null(kind) else kind
