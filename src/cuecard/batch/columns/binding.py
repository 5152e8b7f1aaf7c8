"""Binding: which column of a table, or which value for all rows, each variable is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...errors import ContextError, UndefinedVariableError
from ...language.vocabulary import nearest
from ...template import Template

__all__ = ["Binding"]


class Binding:
    """Where the values of a template's variables are found.

    Args:
        template: whose variables.
        columns: the column of a variable, for those whose column has another name.
        slots: the column whose keys are variables; then no column is one by its own name.
        shared: names that have one value for all rows.
    """

    def __init__(
        self,
        template: Template,
        columns: Mapping[str, str],
        slots: str | None,
        shared: Iterable[str],
    ) -> None:
        self.columns = dict(columns)
        self.slots = slots
        self.shared = frozenset(shared)
        self._template = template

    @property
    def needed(self) -> frozenset[str] | None:
        """The columns that are read, of those that a table has; None when it may be any."""
        given = {*self.columns.values(), *(() if self.slots is None else (self.slots,))}
        if self.slots is not None:
            return frozenset(given)
        read = self._template.reads()
        if read is None:
            return None
        own = read - self.columns.keys()
        mapped = {self.columns[name] for name in read & self.columns.keys()}
        return frozenset(own | mapped)

    def check(self, schema: Any) -> None:
        """Refuse a table that lacks a column.

        Raises:
            ContextError: a column that is named does not exist, or exists twice (P710); or it
                is named for a variable that the template does not read (P712).
            UndefinedVariableError: a variable without which every render fails has neither a
                column nor a value.
        """
        named = [*self.columns.items(), *(() if self.slots is None else (("", self.slots),))]
        for variable, column in named:
            _require(schema, column, variable)
        self._check_read()
        strict = self._template.profile.undefined == "strict"
        if self.slots is None and strict and not self._template.profile.fallback:
            self._check_required(schema)
        for column in self.needed or ():
            if schema.names.count(column) > 1:
                raise ContextError(
                    f"the table has several columns `{column}`", path=f"$.{column}", code="P710"
                )

    def _check_read(self) -> None:
        read = self._template.reads()
        unread = [] if read is None else [name for name in self.columns if name not in read]
        if read is not None and unread:
            raise ContextError(
                f"the template reads no `{unread[0]}`, for which a column is named",
                path=f"$.{unread[0]}",
                code="P712",
                template=self._template.name,
                hint=nearest(unread[0], read) or "leave it out",
            )

    def _check_required(self, schema: Any) -> None:
        known = {*schema.names, *self.columns, *self.shared}
        missing = sorted(self._template.required - known)
        if missing:
            listed = ", ".join(f"`{name}`" for name in missing)
            raise UndefinedVariableError(
                f"no column for the variable{'s' if len(missing) > 1 else ''} {listed}",
                variables=tuple(missing),
                template=self._template.name,
                hint=nearest(missing[0], schema.names) or "say which column it is",
            )

    def columns_of(self, schema: Any) -> dict[str, int]:
        """The place of the column of each variable that has one."""
        places = {name: schema.get_field_index(column) for name, column in self.columns.items()}
        if self.slots is None:
            read = self._template.reads()
            names = schema.names if read is None else [n for n in schema.names if n in read]
            for name in names:
                if name not in places:
                    places[name] = schema.get_field_index(name)
        return {name: place for name, place in places.items() if place >= 0}


def _require(schema: Any, column: str, variable: str) -> None:
    if schema.names.count(column) == 1:
        return
    several = column in schema.names
    what = f", which is to be `{variable}`" if variable else ", which is to hold the slots"
    raise ContextError(
        f"the table has {'several columns' if several else 'no column'} `{column}`{what}",
        path=f"$.{variable or column}",
        code="P710",
        hint=None if several else nearest(column, schema.names),
    )
