"""Hypothesis strategies for templates full of what makes cutting them hard, and contexts."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

MARKS = st.sampled_from(["", "", "", "-", "+"])
NAMES = ["a", "b", "empty", "null", "n", "xs", "d", "deep", "s", "t"]
TEXTS = [
    *("", " ", "\n", "  ", "\n\n", "\t", "\r\n", " \n ", "a\n  ", "\u00a0", "\x1c", "\u2028"),
    *("x", "text {", "} }", "{ %", "é\n", "{single}", "100%\n", "#}", "日本\n  ", "{", "%}\n"),
]
TEXT = (
    st.lists(st.sampled_from(TEXTS), max_size=3)
    .map("".join)
    .filter(lambda text: not any(mark in text for mark in ("{{", "{%", "{#")))
)
STRINGS = ['"}}"', "'%}'", '"{{"', "'{# x #}'", "'it\\'s\\n'", "'-%}'"]
WRAPPERS = [("filter upper", "endfilter"), ("autoescape false", "endautoescape")]
CONTEXT: dict[str, Any] = {
    "a": "A {{ x }}\n",
    "b": "  b ",
    "empty": "",
    "null": None,
    "n": 3,
    "xs": ["p", "q\n", "é"],
    "d": {"k": "v <", "items": [1]},
    "deep": [{"name": "one", "tags": ["t"]}, {"name": "two", "tags": []}],
}


@st.composite
def expressions(draw: st.DrawFn) -> str:
    """An expression over the names of the context and those that templates bind."""
    name = draw(st.sampled_from(NAMES))
    other = draw(st.sampled_from(NAMES))
    return draw(
        st.sampled_from(
            [
                *(name, name, name, other, name, draw(st.sampled_from(STRINGS)), "none", "1"),
                f'{name} | default("-")',
                f"{name} ~ {other}",
                f'({name} if {other} else "no")',
                "xs | length",
                "d.k",
                "d.items",
                "d.get('zz')",
                "d | tojson",
                "deep[0].name",
                f"m({name})",
                f"{name} is defined",
                "'%s:%s' | format(n, b)",
            ]
        )
    )


@st.composite
def tags(draw: st.DrawFn, content: str) -> str:
    """A block tag with white-space control and odd spacing."""
    space = draw(st.sampled_from([" ", "", "\n"]))
    return f"{{%{draw(MARKS)}{space}{content} {draw(MARKS)}%}}"


@st.composite
def raw_blocks(draw: st.DrawFn) -> str:
    """A raw block that holds delimiters."""
    inside = draw(TEXT) + draw(st.sampled_from(["{{ x }}", "{% if %}", "{#", ""])) + draw(TEXT)
    return draw(tags("raw")) + inside + draw(tags("endraw"))


@st.composite
def nodes(draw: st.DrawFn, depth: int = 0) -> str:
    """A piece of a template."""
    kind = draw(st.integers(0, 19))
    if kind <= 6 or depth > 2:
        return draw(TEXT)
    if kind <= 9:
        return f"{{{{{draw(MARKS)} {draw(expressions())} {draw(MARKS)}}}}}"
    if kind == 10:
        return f"{{#{draw(MARKS)} note {{{{ {draw(MARKS)}#}}"
    if kind == 11:
        return draw(raw_blocks())
    return draw(blocks(depth))


@st.composite
def blocks(draw: st.DrawFn, depth: int) -> str:
    """A block with its closing tag, or a statement that binds names."""
    kind = draw(st.integers(0, 9))
    body = draw(bodies(depth + 1))
    if kind <= 2:
        other = draw(tags("else")) + draw(bodies(depth + 1)) if draw(st.booleans()) else ""
        return draw(tags(f"if {draw(expressions())}")) + body + other + draw(tags("endif"))
    if kind <= 4:
        items = draw(st.sampled_from(["xs", "[1, 2]", "d", "deep", "null", "range(2)"]))
        inner = draw(st.sampled_from(["{{ x }}", "{{ loop.index }}{{ x }}", "{{- x }}", ""]))
        return draw(tags(f"for x in {items}")) + inner + body + draw(tags("endfor"))
    if kind == 5:
        return draw(tags(f"set {draw(st.sampled_from('stb'))} = {draw(expressions())}"))
    if kind == 6:
        return draw(tags("set s")) + body + draw(tags("endset"))
    if kind == 7:
        reads = draw(st.sampled_from(["{{ q }}", "{{ q }}{{ t | default('') }}", "{{ a }}"]))
        return draw(tags('macro m(q="z")')) + reads + draw(TEXT) + draw(tags("endmacro"))
    if kind == 8:
        return (
            draw(tags(f"with w = {draw(expressions())}")) + body + "{{ w }}" + draw(tags("endwith"))
        )
    wrapped = draw(
        st.sampled_from([("filter upper", "endfilter"), ("autoescape false", "endautoescape")])
    )
    return draw(tags(wrapped[0])) + body + draw(tags(wrapped[1]))


@st.composite
def bodies(draw: st.DrawFn, depth: int) -> str:
    """The inside of a block."""
    return "".join(draw(st.lists(nodes(depth), max_size=3)))


@st.composite
def templates(draw: st.DrawFn) -> str:
    """A whole template; `ns` remembers something, so that cutting has to take care."""
    text = "".join(draw(st.lists(nodes(), min_size=1, max_size=8)))
    if draw(st.integers(0, 9)) == 0:
        text = (
            draw(tags("set ns = namespace(n=0)"))
            + text
            + draw(tags("for y in [1, 2]"))
            + draw(tags("set ns.n = ns.n + y"))
            + draw(tags("endfor"))
            + "{{ ns.n }}"
        )
    return text


@st.composite
def contexts(draw: st.DrawFn) -> dict[str, Any]:
    """A part of the context, so that names are absent at times."""
    absent = draw(st.sets(st.sampled_from(sorted(CONTEXT)), max_size=2))
    return {name: value for name, value in CONTEXT.items() if name not in absent}
