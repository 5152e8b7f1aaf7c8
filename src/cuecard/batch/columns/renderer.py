"""Rendering by column: one template over the rows of a table, each segment as rarely as it can be.

The prompts, their order and the errors are those of rendering row by row. Where that is in
doubt for a row - something failed, or it may exceed a limit - the row is rendered as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...errors import ContextError
from ...files import Folder
from ...profile import STRICT, Profile
from ...prompt import Scope
from ...source import Source
from ...template import Template
from ...template.bound import BoundTemplate
from ...tokens import TokenCounter, find_counter
from ..arrow import pa
from .binding import Binding
from .failures import WholeRows
from .finishing import Finish, every_row
from .joining import cuts
from .parts import Parts
from .results import (
    RenderedBatch,
    SegmentChoice,
    Summary,
)

__all__ = ["MAX_BYTES", "ColumnRenderer", "render_batches"]

MAX_BYTES = 8 << 20
"""About so many bytes of prompts are made at once. More would be no faster."""

_FIRST_ROWS, _MOST_ROWS = 256, 65_536
_SEVERAL = 4
"""So many times `max_bytes` may have prompts that are looked at together."""


class ColumnRenderer:
    """A template that is rendered over tables, column by column.

    Threads may share one. It pickles by value: another process makes its own from the
    template's text. A counter pickles when it is given by name.

    Args:
        template: the template, or its text. A template that is bound is refused: give what
            was bound as `context`.
        columns: the column of a variable, by variable; other variables are read from the
            column of their own name.
        slots: a column whose keys are the variables, as `slots_from_prompt` takes them:
            text (a JSON object, or else the slot `directive`), structs or maps. Then no other
            column is read but those in `columns`, which override slots.
        context: values that all rows share; a column or slot of the name overrides one.
        profile: how the template is read and rendered; by default the template's own, and
            `STRICT` for text.
        partials: as for `Template`, for text.
        name: what errors call a template that is given as text.
        scopes: how long the values of variables hold, for `front`. By default those of
            `context` hold for the session, and others change at every turn.
        counter: counts the tokens of each prompt: a counter, or its name for `find_counter`.
        front: whether to count the characters in front of the first text that may change at
            a turn, which a provider's prompt cache can hold.

    Raises:
        TemplateError: the template is invalid. Under a profile with `fallback` each row has
            this error instead, and the template as it stands.
        TemplateNotFoundError: a partial does not exist.
        ContextError: a value of `context` is not plain data.
        PromptError: there is no such counter.
    """

    def __init__(
        self,
        template: Template | Source | str,
        *,
        columns: Mapping[str, str] | None = None,
        slots: str | None = None,
        context: Mapping[str, Any] | None = None,
        profile: Profile | None = None,
        partials: Folder | None = None,
        name: str = "system",
        scopes: Mapping[str, Scope] | None = None,
        counter: TokenCounter | str | None = None,
        front: bool = False,
    ) -> None:
        context = dict(context or {})
        template = _template(template, profile, partials, name)
        template = template.variant(
            profile=profile,
            scopes={
                **dict.fromkeys(context, Scope.SESSION),
                **template.scopes,
                **(scopes or {}),
            },
        )
        self._options: dict[str, Any] = {
            "template": template.source,
            "columns": dict(columns or {}),
            "slots": slots,
            "context": context,
            "profile": template.profile,
            "partials": template.partials,
            "scopes": template.scopes,
            "counter": counter,
            "front": front,
        }
        self.template = template
        self._binding = Binding(template, self._options["columns"], slots, context)
        self._counter = find_counter(counter) if isinstance(counter, str) else counter
        self._front = front
        self._parts = Parts(template, self._binding, context, front=front)
        self._whole = WholeRows(template, front=front)
        self._summary = Summary()
        self._row_bytes = 0.0

    def __getstate__(self) -> dict[str, Any]:
        return self._options

    def __setstate__(self, state: dict[str, Any]) -> None:
        options = dict(state)
        self.__init__(options.pop("template"), **options)  # type: ignore[misc]

    @property
    def needed(self) -> frozenset[str] | None:
        """The columns that are read, of those that a table has; None when it may be any."""
        return self._binding.needed

    def check(self, schema: Any) -> None:
        """Refuse a table on which every row would fail.

        Args:
            schema: the `pyarrow.Schema` of the table.

        Raises:
            ContextError: a column in `columns` or `slots` does not exist, or several columns
                have a name that is read (P710).
            UndefinedVariableError: the profile is strict, and a variable that is required has
                neither a column nor a value in `context` (P201).
        """
        self._binding.check(schema)

    def render(self, batch: Any) -> RenderedBatch:
        """Render all rows.

        Args:
            batch: a `pyarrow.RecordBatch` or a `Table`.
        """
        return _together(list(self.slices(batch)))

    def slices(self, batch: Any, *, max_bytes: int = MAX_BYTES) -> Iterator[RenderedBatch]:
        """Render all rows, some after the other, so that not all prompts are there at once.

        Args:
            batch: a `pyarrow.RecordBatch` or a `Table`.
            max_bytes: about so many bytes of prompts are made at a time.

        Yields:
            The prompts of a number of rows, in order; at least one, which may be empty.
        """
        if isinstance(batch, pa.Table):
            batches = batch.to_batches() or [pa.RecordBatch.from_pylist([], batch.schema)]
        else:
            batches = [batch]
        before = 0
        for one in batches:
            yield from self._slices(one, before, max_bytes)
            before += len(one)

    def _slices(self, batch: Any, before: int, max_bytes: int) -> Iterator[RenderedBatch]:
        start = 0
        while True:
            rows = batch.slice(start, self._rows_at_once(max_bytes))
            size = 0
            for rendered in self._rendered(rows, before + start, max_bytes):
                size += rendered.prompt.nbytes
                self._summary.add(rendered.choices)
                yield rendered
            if len(rows):
                self._row_bytes = size / len(rows)
            start += len(rows)
            if start >= len(batch):
                return

    def _rows_at_once(self, max_bytes: int) -> int:
        if not self._row_bytes:
            return _FIRST_ROWS
        fitting = int(_SEVERAL * max_bytes / self._row_bytes)
        return max(min(fitting, _MOST_ROWS), 1)

    def summary(self) -> Summary:
        """How the segments were made, over all that was rendered in this process."""
        return self._summary

    def _rendered(self, rows: Any, start: int, max_bytes: int) -> Iterator[RenderedBatch]:
        """Render rows that are looked at together."""
        if self._whole.failure is not None:
            yield self._refused(len(rows), start)
            return
        part = self._parts.part(rows)
        finish = Finish(part, part.outcomes(self._whole), self._counter, front=self._front)
        choices = part.choices
        for first, stop in cuts(part.lengths, max_bytes):
            yield finish.slice(first, stop, start, choices)
            # They are of all these rows, and must not count again.
            choices = ()
        if not part.rows:
            yield finish.slice(0, 0, start, choices)

    def _refused(self, rows: int, start: int) -> RenderedBatch:
        """What becomes of rows when the template cannot be rendered at all."""
        assert self._whole.failure is not None
        outcome = self._whole.failed(self._whole.failure)
        return every_row(outcome, rows, start, self._counter, front=self._front)


def _template(
    template: Template | Source | str, profile: Profile | None, partials: Folder | None, name: str
) -> Template:
    if isinstance(template, BoundTemplate):
        raise TypeError("the template is bound: give its values as `context`")
    if isinstance(template, Template):
        return template
    return Template(template, profile=profile or STRICT, name=name, partials=partials)


def _together(slices: list[RenderedBatch]) -> RenderedBatch:
    if len(slices) == 1:
        return slices[0]
    summed: dict[int, list[SegmentChoice]] = {}
    for choice in (choice for one in slices for choice in one.choices):
        summed.setdefault(choice.number, []).append(choice)
    return RenderedBatch(
        slices[0].start,
        pa.concat_arrays([one.prompt for one in slices]),
        pa.concat_arrays([one.error for one in slices]),
        sum(one.failed for one in slices),
        tuple(choice for choices in summed.values() for choice in choices),
        *(
            None
            if getattr(slices[0], name) is None
            else pa.concat_arrays([getattr(one, name) for one in slices])
            for name in ("tokens", "front")
        ),
    )


def render_batches(
    batches: Iterable[Any],
    template: ColumnRenderer | Template | Source | str,
    *,
    prompt: str = "prompt",
    error: str = "error",
    tokens: str = "tokens",
    front: str = "front",
    max_bytes: int = MAX_BYTES,
    **options: Any,
) -> Iterator[Any]:
    """Render the rows of a stream of batches, in order, never holding more than one of them.

    Args:
        batches: `pyarrow.RecordBatch` objects of one schema.
        template: the template, or a renderer of its own.
        prompt: the column that prompts go to.
        error: the column that errors go to, of type `ROW_ERROR`.
        tokens: the column of the tokens of prompts, when there is a counter.
        front: the column of the characters of cacheable fronts, when they are counted.
        max_bytes: about so many bytes of prompts are made at a time.
        **options: those of `ColumnRenderer`, for a template. (As `front` names a column here,
            fronts are counted by a renderer that was made with `front=True`.)

    Yields:
        Batches with all columns of the input, and after them those that are added.

    Raises:
        ContextError: the input has a column of a name that is added (P708), or lacks one.
        PromptError: as `ColumnRenderer` and its `check`.
    """
    if isinstance(template, ColumnRenderer):
        renderer = template
    else:
        renderer = ColumnRenderer(template, **options)
    checked = None
    for batch in batches:
        if checked is None or batch.schema != checked:
            checked = batch.schema
            _refuse_taken(checked, (prompt, error, tokens, front))
            renderer.check(checked)
        for made in renderer.slices(batch, max_bytes=max_bytes):
            columns = {prompt: made.prompt, error: made.error}
            columns.update({} if made.tokens is None else {tokens: made.tokens})
            columns.update({} if made.front is None else {front: made.front})
            rows = batch.slice(made.start, len(made))
            for name, column in columns.items():
                rows = rows.append_column(name, column)
            yield rows


def _refuse_taken(schema: Any, names: Iterable[str]) -> None:
    for name in names:
        if name in schema.names:
            raise ContextError(
                f"the table has a column `{name}` already",
                path=f"$.{name}",
                code="P708",
                hint="give the new column another name",
            )
