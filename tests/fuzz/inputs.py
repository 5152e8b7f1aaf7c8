"""Reading inputs: options are taken from the end of the bytes, so that their front is the text."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from atheris import FuzzedDataProvider  # type: ignore[import-untyped]

import cuecard
from cuecard.errors import CODES

__all__ = ["FuzzedDataProvider"]

TESTS = Path(__file__).parent.parent
PROFILES = tuple(
    replace(profile, fallback=False)
    for profile in (cuecard.STRICT, cuecard.OPERATOR, cuecard.MARKDOWN, cuecard.LIVE)
)
CANARY = "q9Zk-canary-Xw7"
"""A part of values that no message may hold."""

PIECES = (
    *("", " ", "\n", "  ", "\t", "\r\n", "\r", "\u00a0", "\x1c", "\u2028", "é", "😀", "x"),
    *("{", "}"),
    *("%}", "}}", "#}", "{{ a }}", "{{- b -}}", "{{+ n +}}", "{{ null }}", "{{ d.k }}", "{{ s }}"),
    *("{{ xs | length }}", "{{ d | tojson }}", "{{ d.items() | list }}", "{{ missing }}"),
    *("{{ '%s' | format(n) }}", "{{ '}}' }}", "{{ m(1) }}", "{{ q }}", "{{ ns.n }}", "{{ x }}"),
    *("{{ missing | default(a) }}", "{{ deep[0].name }}", "{{ none }}", "{{ a if n }}", "{#-#}"),
    *("{# c #}", "{#- c -#}", "{% raw %}{{{% endraw %}", "{%- raw -%} {% {%- endraw +%}"),
    *("{% if a %}", "{%- if n > 1 -%}", "{% if missing %}", "{% elif b %}", "{% else %}"),
    *("{% endif %}", "{%+ endif +%}", "{% for x in xs %}", "{%- for k, v in d | items -%}"),
    *("{% for x in deep if x.tags recursive %}", "{{ loop.index }}", "{{ loop.previtem }}"),
    *("{% endfor %}", "{%- endfor -%}", "{% break %}", "{% continue %}", "{% set s = a %}"),
    *("{% set s, t = xs[0], n %}", "{% set s %}", "{% endset %}", "{% set ns = namespace(n=1) %}"),
    *("{% set ns.n = ns.n + n %}", '{% macro m(q="z") %}', "{% endmacro %}", "{% call m() %}"),
    *("{{ caller() }}", "{% endcall %}", "{% with w = a %}", "{{ w }}", "{% endwith %}"),
    *("{% filter upper %}", "{% endfilter %}", "{% autoescape true %}", "{% endautoescape %}"),
    *("{% set xs = xs + [n] %}", "{{ xs[::-1] | join }}", "{{ loop(x.tags) }}", "{% do m() %}"),
    *("{{ deep | map(attribute='name') | join(',') }}", "{{ {'k': none} | tojson(indent=1) }}"),
)
"""Fragments of templates, of which a run of bytes makes a template that mostly parses."""


def text_of(given: FuzzedDataProvider) -> str:
    """The bytes that are left as text: UTF-8, or with lone surrogates where it is none."""
    data: bytes = given.ConsumeBytes(given.remaining_bytes())
    return data.decode("utf-8", "surrogateescape")


def template_of(given: FuzzedDataProvider) -> str:
    """A template: the text as it stands, or one fragment a byte."""
    if given.ConsumeBool():
        data = given.ConsumeBytes(given.remaining_bytes())
        return "".join(PIECES[byte % len(PIECES)] for byte in data)
    return text_of(given)


def outcome(call: Any, *arguments: Any) -> tuple[str, Any]:
    """What a call gives: its result, or its error as text."""
    try:
        return "ok", call(*arguments)
    except cuecard.PromptError as error:
        return "error", str(error)


def check_error(error: cuecard.PromptError, source: str, codes: Collection[str] = CODES) -> None:
    """An error has one of these codes, can be shown, and says nothing of a value."""
    assert error.code in codes, error.code
    shown = f"{error.report()}{error.hint}{error!r}"
    assert CANARY in source or CANARY not in shown, shown
    assert error.code in error.report()
    if error.span is not None:
        assert 0 <= error.span.start <= error.span.end
        assert error.span.end <= len(source) or not source
        assert error.span.line >= 1 <= error.span.column


def template_seeds() -> Iterator[bytes]:
    """The templates of the cases, of the prompts that are broken, and of the examples."""
    for path in sorted((TESTS / "cases").rglob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").split("\n"):
            template = json.loads(line).get("template") if line else None
            if isinstance(template, str) and len(template) < 2_000:
                yield template.encode("utf-8", "surrogatepass")
    yield from document_seeds()


def document_seeds() -> Iterator[bytes]:
    """The files of agents, skills and templates, with their headers."""
    folders = (TESTS / "broken_prompts", TESTS.parent / "examples")
    for path in sorted(path for folder in folders for path in folder.rglob("*.md")):
        data = path.read_bytes()
        if len(data) < 4_000:
            yield data
