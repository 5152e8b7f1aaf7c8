"""Front matter: a file is read or refused, and a definition that is written reads the same."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import cuecard
from cuecard.agents import parse_agent, render_agent, summarize
from cuecard.frontmatter import split_names

from ..inputs import FuzzedDataProvider, check_error, document_seeds, text_of

HEADERS = (
    "---\nname: a\ndescription: it: is\ntools: Bash(git add:*, x), Read\n---\n{{ a }}",
    "---\nname: 'a'\ninputs:\n  a: string\n  b: {type: integer, default: 3}\n---\n{{ a }}",
    "---\ninputs:\n  - name: a\n    type: list\n    default: [1, 'x']\n    required: no\n---\n",
    "\ufeff---\r\nname: a\r\nprofile: live\r\nmetadata: {k: [v, ~]}\r\n---\r\ntext",
    "---\ndescription: |\n  one\n\n  two\nhandoffs: >-\n  folded\n  text\n---\n---\nbody",
    '---\ntext: "\\u2028\\x85\\t"\nempty:\nnull: ~\n"odd key": {a: {b: {c: d}}}\n---\n',
    "---\na: &x [1]\nb: *x\n---\n",
    "---\n- a\n- b\n---\n",
)


def seeds() -> Iterator[bytes]:
    for number, text in enumerate((*document_seeds(), *map(str.encode, HEADERS))):
        yield text + bytes((number % 2,))


def check(data: bytes) -> None:
    given = FuzzedDataProvider(data)
    recover = given.ConsumeBool()
    text = text_of(given)
    try:
        agent = parse_agent(text, recover=recover)
    except cuecard.SpecError as error:
        check_error(error, text, {"P401", "P402", "P405"})
        return
    assert text.endswith(agent.system_prompt)
    for finding in agent.diagnostics:
        assert str(finding)
    summarize(agent)
    written = render_agent(agent)
    again = parse_agent(written)
    assert again == agent
    assert render_agent(again) == written
    for value in agent.extras.values():
        with contextlib.suppress(ValueError):
            split_names(value)
