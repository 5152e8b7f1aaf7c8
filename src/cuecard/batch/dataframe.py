"""Prompts as columns of a Daft dataframe, for those who have one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import ContextError
from ..files import Folder
from ..profile import Profile
from ..prompt import Scope
from ..source import Source
from ..template import Template
from .arrow import pa
from .columns import ColumnRenderer
from .packages import load_daft

if TYPE_CHECKING:
    from collections.abc import Mapping

    from daft import DataFrame

__all__ = ["render"]

_ROWS = 16_384


def render(
    df: DataFrame,
    template: Template | Source | str,
    *,
    prompt: str = "prompt",
    error: str = "error",
    columns: Mapping[str, str] | None = None,
    slots: str | None = None,
    context: Mapping[str, Any] | None = None,
    profile: Profile | None = None,
    partials: Folder | None = None,
    scopes: Mapping[str, Scope] | None = None,
    tokens: str | None = None,
    workers: int | None = None,
) -> DataFrame:
    """The dataframe with a prompt for each row, and the error of those that fail.

    Nothing is rendered until Daft needs it. It runs wherever Daft runs: the machines of a
    cluster need this package too.

    Args:
        df: the dataframe.
        template: the template, or its text.
        prompt: the name of the column of prompts, null where one failed.
        error: the name of the column of errors: a struct of `code` and `message`, null where
            nothing failed.
        columns: the column of a variable, for those whose column has another name.
        slots: a column whose keys are the variables.
        context: values that all rows share; a column of the name overrides one.
        profile: how the template is read and rendered, when it is given as text.
        partials: the folder of partials, when it is given as text.
        scopes: how long the values of variables hold, for `front`.
        tokens: the name of a counter: then there are the columns `tokens` and `front`
            (characters of the cacheable front) too.
        workers: how many processes (or actors of a cluster) render; None leaves it to Daft.

    Raises:
        PromptError: the template is invalid, or the dataframe lacks a column or has one of
            those that are added.
    """
    daft = load_daft()
    renderer = ColumnRenderer(
        template,
        columns=columns,
        slots=slots,
        context=context,
        profile=profile,
        partials=partials,
        scopes=scopes,
        counter=tokens,
        front=tokens is not None,
    )
    schema = df.schema().to_pyarrow_schema()
    added = {"prompt": prompt, "error": error}
    if tokens is not None:
        added |= {"tokens": "tokens", "front": "front"}
    for name in added.values():
        if name in schema.names:
            raise ContextError(
                f"the table has a column `{name}` already",
                path=f"$.{name}",
                code="P708",
                hint="give the new column another name",
            )
    renderer.check(schema)
    read = [n for n in schema.names if renderer.needed is None or n in renderer.needed]
    read = read or schema.names[:1]
    worker = daft.cls(BatchWorker, **_places(workers))
    daft.method.batch(return_dtype=_result(daft, tokens is not None), batch_size=_ROWS)(
        BatchWorker.render
    )
    made = worker(renderer, read, tokens is not None).render(*(daft.col(name) for name in read))
    held = _unused(schema.names)
    fields = [daft.col(held)[field].alias(name) for field, name in added.items()]
    own = [daft.col(name) for name in schema.names]
    result: DataFrame = df.with_column(held, made).select(*own, *fields)
    return result


def _places(workers: int | None) -> dict[str, Any]:
    return {} if workers is None else {"use_process": True, "max_concurrency": workers}


def _unused(names: Sequence[str]) -> str:
    name = "_cuecard"
    while name in names:
        name += "_"
    return name


def _result(daft: Any, counted: bool) -> Any:
    kinds = daft.DataType
    fields = {
        "prompt": kinds.string(),
        "error": kinds.struct({"code": kinds.string(), "message": kinds.string()}),
    }
    if counted:
        fields |= {"tokens": kinds.int64(), "front": kinds.int64()}
    return kinds.struct(fields)


class BatchWorker:
    """Renders batches of a dataframe, in whatever process Daft starts it.

    Args:
        renderer: renders them.
        names: the columns that it is given.
        counted: whether tokens and fronts are counted.
    """

    def __init__(self, renderer: ColumnRenderer, names: Sequence[str], counted: bool) -> None:
        self._renderer = renderer
        self._names = list(names)
        self._counted = counted

    def render(self, *columns: Any) -> Any:
        """Structs of prompt, error and counts, a row each."""
        arrays = [column.to_arrow() for column in columns]
        made = self._renderer.render(pa.RecordBatch.from_arrays(arrays, names=self._names))
        parts = {"prompt": made.prompt, "error": made.error}
        if self._counted:
            parts |= {"tokens": made.tokens, "front": made.front}
        return pa.StructArray.from_arrays(list(parts.values()), list(parts))
