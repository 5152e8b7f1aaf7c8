"""Rendering by column gives what a loop over the rows gives, whatever the template and table."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cuecard
from cuecard.batch.columns import ColumnRenderer
from tests.column_tables import cases, outcome, outcomes, rows_of


@pytest.fixture(autouse=True, scope="module")
def _patient_explanations() -> Iterator[None]:
    """On a busy machine the time to explain a failure may run out, at one time and not another."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cuecard.compiler.compiled._EXPLAINING", float("inf"))
        yield


@settings(max_examples=200, deadline=None)
@given(cases(), st.sampled_from([1, 64, 1 << 20]))
def test_prompts_errors_and_order_are_those_of_a_loop(
    case: tuple[cuecard.Template, pa.Table], max_bytes: int
) -> None:
    """Each row has the text or the error that it has by itself, however the table is cut."""
    template, table = case
    expected = [outcome(template, row) for row in rows_of(table)]
    renderer = ColumnRenderer(template)
    slices = list(renderer.slices(table, max_bytes=max_bytes))
    assert [one for made in slices for one in outcomes(made)] == expected
    assert [made.start for made in slices] == [
        sum(map(len, slices[:index])) for index in range(len(slices))
    ]
    # A second time, what is kept from the first is used again.
    assert outcomes(renderer.render(table)) == expected
