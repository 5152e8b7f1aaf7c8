"""The tables of docs/compatibility.md, run: what is the same in other engines, and what is not."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jinja2
import minijinja
import pytest

import cuecard

PAGE = Path(__file__).parent.parent / "docs" / "compatibility.md"


def rows(heading: str, columns: int) -> list[list[str]]:
    """The rows of the first table below a heading, as cells without their marks of code."""
    section = PAGE.read_text(encoding="utf-8").split(f"\n## {heading}\n", 1)[1]
    found = []
    for line in section[section.index("|---|") :].splitlines()[1:]:
        if not line.startswith("|"):
            break
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        assert len(cells) == columns, line
        found.append([cell.replace("\\|", "|") for cell in cells])
    return found


def told(cell: str) -> str | None:
    """The text that a cell promises; None for an error."""
    if cell.startswith("error"):
        return None
    return "" if cell == "nothing" else literal(cell)


def literal(cell: str) -> str:
    """What stands between the marks of code."""
    assert cell[0] == cell[-1] == "`", cell
    return cell[1:-1].replace("⏎", "\n")


def result(render: Callable[[str, Any], str], template: str, values: Any) -> str | None:
    """The text that an engine gives; None for an error, or for a text with an address in it."""
    try:
        text = render(template, values)
    except (jinja2.TemplateError, minijinja.TemplateError, TypeError):
        return None
    return None if " at 0x" in text else text


def with_jinja(template: str, values: Any) -> str:
    return jinja2.Environment().from_string(template).render(values)


def with_minijinja(template: str, values: Any) -> str:
    return minijinja.Environment().render_str(template, **values)


SAME = rows("The same in all three", 3)
DIFFERENT = rows("What differs from Jinja2 and minijinja", 6)


@pytest.mark.parametrize("row", SAME, ids=lambda row: row[0])
def test_what_is_the_same(row: list[str]) -> None:
    """All three engines give the text of the table."""
    template, values, text = literal(row[0]), json.loads(literal(row[1])), told(row[2])
    assert cuecard.render(template, values) == text
    assert with_jinja(template, values) == text
    assert with_minijinja(template, values) == text


@pytest.mark.parametrize("row", DIFFERENT, ids=lambda row: f"{row[0]} {row[1]}")
def test_what_differs(row: list[str]) -> None:
    """Each engine gives what its column says, and not all give the same."""
    template = literal(row[0])
    ours, theirs, bare = (told(cell) for cell in row[2:5])
    assert result(with_jinja, template, json.loads(literal(row[1]))) == theirs
    assert result(with_minijinja, template, json.loads(literal(row[1]))) == bare
    assert (ours, ours) != (theirs, bare)
    values = json.loads(literal(row[1]))
    if ours is None:
        with pytest.raises(cuecard.PromptError) as caught:
            cuecard.render(template, values)
        assert row[2] == f"error {caught.value.code}"
    else:
        assert cuecard.render(template, values) == ours


@pytest.mark.parametrize(
    ("template", "values", "text"),
    [
        ("{{ a.b.c }}{{ x }}", {}, ""),
        ("{{ x | raw }}{% autoescape false %}{{ x }}{% endautoescape %}", {"x": "<"}, "<<"),
        ("{{ x is none }} {{ not xs }}", {"x": None, "xs": []}, "True True"),
        ('{{ "a" if x else "b" }} {{ "a" in xs }}', {"x": 0, "xs": ["a"]}, "b True"),
        ("{% for k, v in m.items() %}{{ k }}{{ v }}{% endfor %}", {"m": {"a": 1}}, "a1"),
        ("{% for i in [5] %}{{ loop.index }}{{ loop.index0 }}{% endfor %}", {}, "10"),
        ("{{ range(4) | join }} {{ [a, b] | max }}", {"a": 1, "b": 2}, "0123 2"),
        ('{{ x | default("d", true) }}{{ "#{x}" }}', {"x": ""}, "d#{x}"),
        ('{{ "Hello " ~ name }}', {"name": "Ann"}, "Hello Ann"),
        ("{{ x | truncate(length=9) }}", {"x": "abcdefghijklmnop"}, "abcdef..."),
        ("{% if x %}\n{{ x }}\n{% endif %}\n{# c #}\n.", {"x": 1}, "1\n."),
    ],
)
def test_what_stands_for_pebble(template: str, values: dict[str, Any], text: str) -> None:
    """The right column of Pebble's table, under the profile of the live path."""
    assert cuecard.render(template, values, profile=cuecard.LIVE) == text


@pytest.mark.parametrize(
    ("template", "code", "hint"),
    [
        ("{% if a %}{% elseif b %}{% endif %}", "P102", "elif"),
        ("{% verbatim %}{% endverbatim %}", "P102", "raw"),
        ("{{ x | abbreviate(9) }}", "P103", ""),
        ("{{ user.getName() }}", "P106", ""),
        ("{% cache 'a' %}{% endcache %}", "P102", ""),
    ],
)
def test_what_pebble_has_alone(template: str, code: str, hint: str) -> None:
    """What is Pebble's own is an error, with the remedy where there is one."""
    values = {"x": "a", "a": 0, "b": 0, "user": {"name": "Ann"}}
    with pytest.raises(cuecard.PromptError) as caught:
        cuecard.render(template, values)
    assert caught.value.code == code
    assert hint in (caught.value.hint or "")
