"""What holds for every template and every value, checked on generated ones."""

import copy
import pickle
import re
from dataclasses import replace
from typing import Any

import jinja2
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import cuecard
from cuecard.scanner import scan
from cuecard.source import Source

PROFILES = (cuecard.STRICT, cuecard.OPERATOR, cuecard.MARKDOWN, cuecard.LIVE)
CHARACTERS = st.characters(exclude_categories=["Cs"])
PIECES = st.sampled_from(
    [
        *("{{", "}}", "{%", "%}", "{#", "#}", "{", "}", "%", "#", "-", "+", "raw", "endraw", "'"),
        *('"', "\\", "\n", "\r\n", "\r", " ", "\t", "$1", "$&", "${x}", "<|im_end|>", "\\1", "{ {"),
        *("x", "é", "日本", "😀", "\u0301", "\ufeff", "\u2028", "\x1c", "\0", "{{ x }}", "<&>"),
    ]
)
MIXED = st.lists(st.one_of(PIECES, CHARACTERS), max_size=12).map("".join)


def has_no_tag(text: str) -> bool:
    return not any(mark in text for mark in ("{{", "{%", "{#"))


PLAIN = MIXED.filter(has_no_tag)
LINE = MIXED.map(lambda text: text.replace("\n", "").replace("\r", "")).filter(has_no_tag)
WHITE = "\t\n\x0b\x0c\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000"
WHITE += "".join(map(chr, range(0x2000, 0x200B)))
"""White space as Unicode has it; Python would count U+001C to U+001F too."""

JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), MIXED),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(MIXED, st.integers()), inner, max_size=4),
    ),
    max_leaves=15,
)


class TestText:
    @given(PLAIN)
    @example("a\n")
    @example("a\r\n")
    @example("a\r")
    @example("a\n\r")
    @example("a\n\n")
    @example("\n")
    @example("")
    def test_without_tags_is_returned_as_it_is(self, text: str) -> None:
        """Text without a tag is the same in every profile, but for its documented end."""
        assert cuecard.render(text) == text
        assert cuecard.render(text, profile=cuecard.LIVE) == text
        assert cuecard.render(text, profile=cuecard.MARKDOWN) == text.rstrip(WHITE) + "\n"
        dropped = re.sub(r"(\r\n|\n|\r)\Z", "", text)
        assert cuecard.render(text, profile=cuecard.OPERATOR) == dropped

    @given(PLAIN, PLAIN)
    def test_around_a_tag_is_as_it_is(self, before: str, after: str) -> None:
        """Text before and after a tag is the same, too, wherever the braces fall."""
        assume(not before.endswith("{"))
        expected = before + "X" + after
        assert cuecard.render(before + "{{ x }}" + after, {"x": "X"}) == expected
        # A comment is a block tag: where blocks are trimmed, the line break after it vanishes.
        profile = replace(cuecard.STRICT, trim_blocks=False, lstrip_blocks=False)
        text = cuecard.render(before + "{# {{ x }} #}" + after, profile=profile)
        assert text == before + after

    @given(PLAIN)
    def test_a_tag_at_the_end_changes_nothing(self, text: str) -> None:
        """The end of a text is treated alike whether or not the text has a tag."""
        assume(not text.endswith("{"))
        for profile in PROFILES:
            with_tag = cuecard.render("{{ x }}" + text, {"x": ""}, profile=profile)
            assert with_tag == cuecard.render(text, profile=profile)


class TestValues:
    @given(MIXED)
    def test_text_appears_exactly(self, value: str) -> None:
        """A value is in the output exactly as given, and is never read as a template."""
        context = {"x": value, "d": {"k": [value]}}
        assert cuecard.render("<{{ x }}>", context) == f"<{value}>"
        assert cuecard.render("<{{ d.k[0] }}|{{ x ~ x }}>", context) == f"<{value}|{value}{value}>"
        loop = "{% for i in d.k %}<{{ i }}>{% endfor %}{% if x == d.k[0] %}same{% endif %}"
        assert cuecard.render(loop, context) == f"<{value}>same"
        chosen = "{% set y = x %}{{ y if true }}{% macro m(a) %}({{ a }}){% endmacro %}{{ m(x) }}"
        assert cuecard.render(chosen, context) == f"{value}({value})"
        for profile in (cuecard.OPERATOR, cuecard.LIVE):
            assert cuecard.render("<{{ x }}>", context, profile=profile) == f"<{value}>"
        assert cuecard.render("<{{ x }}>", context, profile=cuecard.MARKDOWN) == f"<{value}>\n"

    @given(MIXED)
    def test_text_of_the_end_is_the_values(self, value: str) -> None:
        """Only MARKDOWN touches the end of a value that ends the text."""
        for profile in (cuecard.STRICT, cuecard.OPERATOR, cuecard.LIVE):
            assert cuecard.render("{{ x }}", {"x": value}, profile=profile) == value
        trimmed = cuecard.render("{{ x }}", {"x": value}, profile=cuecard.MARKDOWN)
        assert trimmed == value.rstrip(WHITE) + "\n"

    @given(MIXED)
    def test_keys_are_found(self, key: str) -> None:
        """Any text is a key that a template can look up by a variable."""
        context = {"d": {key: "found"}, "k": key}
        assert cuecard.render("{{ d[k] }}{{ d.get(k) }}", context) == "foundfound"
        assert cuecard.render("{% for k in d %}{{ k }}{% endfor %}", context) == key

    @given(st.dictionaries(st.sampled_from("abcd"), MIXED))
    def test_order_of_the_context_is_no_matter(self, context: dict[str, str]) -> None:
        """The names of a context may come in any order."""
        template = "".join("{{ " + name + " | default('-') }}" for name in "abcd")
        turned = dict(reversed(context.items()))
        assert cuecard.render(template, context) == cuecard.render(template, turned)

    @given(JSON)
    def test_data_is_never_changed(self, value: Any) -> None:
        """Rendering leaves the data of the caller as it was, to the last key and its type."""
        before = copy.deepcopy(value)
        shape = repr(value)
        for text in (
            "{{ x }}{{ x | tojson }}{{ [x, x] | length }}",
            "{% for i in [x] %}{{ i }}{% set i = 1 %}{% endfor %}{% set x = 2 %}{{ x }}",
            "{% if x is mapping %}{% for k, v in x.items() %}{{ k }}{{ v }}{% endfor %}"
            "{{ x.get('a') }}{{ x.keys() | list }}{% endif %}",
            "{% if x is sequence and x is not string %}{{ x | reverse | list }}"
            "{{ x | unique | list }}{{ x + [1] }}{{ x.count(1) }}{% endif %}",
        ):
            template = cuecard.Template(text)
            first = template.render(x=value)
            assert template.render(x=value) == first
            assert template.render(x=value) == first
        assert value == before
        assert repr(value) == shape


PREFIX_LINES = st.lists(
    st.tuples(LINE, st.sampled_from(["\n", "\r\n"])),
    max_size=5,
)
FAULTS = {
    "{{ missing }}": (3, "P201", 7),
    "{{ d.missing }}": (3, "P202", 9),
    "{{ missing | length }}": (3, "P201", 7),
    "{{ x | nofilter }}": (7, "P103", 8),
    "{{ x is notest }}": (8, "P104", 6),
    "{{ nofunction() }}": (3, "P105", 12),
    "{{ d._private }}": (5, "P108", 8),
    "{% nosuchtag %}": (3, "P102", 9),
    "{{ 'a' + 1 }}": (3, "P203", 7),
    "{{ 'open }}": (3, "P101", 1),
    "{{ raise_exception('é') }}": (3, "P205", 20),
    "{{ '%9999s' | format('é') }}": (14, "P116", 6),
    "{% include 'é' %}": (3, "P107", 7),
}


class TestPlaces:
    @pytest.mark.parametrize("fault", FAULTS)
    @given(PREFIX_LINES, LINE)
    @settings(max_examples=25)
    def test_are_those_of_the_fault(
        self, fault: str, lines: list[tuple[str, str]], before: str
    ) -> None:
        """Offset, line, column and line text are right after any Unicode and any line ends."""
        assume(not before.endswith("{"))
        offset, code, length = FAULTS[fault]
        prefix = "".join(text + end for text, end in lines)
        template = prefix + before + fault + " é\r\nlast"
        with pytest.raises(cuecard.TemplateError) as caught:
            cuecard.render(template, {"x": "", "d": {}})
        error = caught.value
        assert (error.code, error.template) == (code, "system")
        assert error.span is not None
        assert error.span.start == len(prefix) + len(before) + offset
        assert error.span.end == error.span.start + length
        assert (error.span.line, error.span.column) == (len(lines) + 1, len(before) + offset + 1)
        assert error.span.end_line == error.span.line
        assert error.span.end_column == error.span.column + length
        assert error.line_text == before + fault + " é"

    @given(st.lists(st.tuples(PLAIN, st.sampled_from(["{{ x }}", "{# c #}\n"])), max_size=4))
    def test_follow_rewritten_tags(self, pieces: list[tuple[str, str]]) -> None:
        """Tags in front that are rewritten for the engine do not shift the place."""
        prefix = "".join(text + tag for text, tag in pieces)
        assume("{{{" not in prefix and "{{#" not in prefix and "{{%" not in prefix)
        prefix += "{{ none }}{{ x | upper }}{{ '{}'.format(x) }}{{ d.get('a') }}\n{{ [x] }}"
        template = prefix + "{{ [missing] }}"
        with pytest.raises(cuecard.UndefinedVariableError) as caught:
            cuecard.render(template, {"x": "é", "d": {}})
        span = caught.value.span
        assert span is not None
        assert template[span.start : span.end] == "missing"
        assert span.start == len(prefix) + 4

    @given(MIXED, st.integers(0, 40), st.integers(0, 40))
    def test_of_a_source(self, text: str, first: int, second: int) -> None:
        """A span's lines and columns lead back to its offsets, by the line breaks alone."""
        start, end = sorted((min(first, len(text)), min(second, len(text))))
        span = Source(text, first_line=3).span(start, end)
        for offset, line, column in (
            (start, span.line, span.column),
            (end, span.end_line, span.end_column),
        ):
            lines = text.split("\n")
            assert sum(len(part) + 1 for part in lines[: line - 3]) + column - 1 == offset
            assert line == 3 + text[:offset].count("\n")

    @given(MIXED)
    def test_of_bytes(self, text: str) -> None:
        """Every byte offset at the start of a character is that character's offset."""
        source = Source(text)
        for offset in range(len(text) + 1):
            assert source.offset_of_byte(len(text[:offset].encode())) == offset


class TestScanner:
    @given(st.lists(st.one_of(PIECES, st.sampled_from(["if x", "endif", " x ", "[", "]"]))))
    @settings(max_examples=500)
    def test_parts_cover_the_source(self, pieces: list[str]) -> None:
        """Parts follow each other without gaps; tokens lie within them, in order."""
        text = "".join(pieces)
        try:
            parts = scan(Source(text), cuecard.Limits())
        except cuecard.TemplateError as error:
            assert error.code == "P101"  # noqa: PT017 - most such texts are refused
            return
        assert "".join(text[part.start : part.end] for part in parts) == text
        position = 0
        for part in parts:
            assert part.start == position
            assert part.end > part.start
            position = part.end
            inside = part.start
            for token in part.tokens:
                assert inside <= token.start <= token.end <= part.end
                assert text[token.start : token.end] == token.text
                inside = token.end
        assert position == len(text)

    @given(st.lists(PIECES, max_size=8))
    @settings(max_examples=500)
    def test_whatever_is_given_is_text_or_an_error(self, pieces: list[str]) -> None:
        """A text of delimiters renders, or fails with one of our errors that has a place."""
        text = "".join(pieces)
        try:
            rendered = cuecard.render(text, {"x": "value", "raw": 1, "endraw": 2})
        except cuecard.TemplateError as error:
            assert error.code != "P206"  # noqa: PT017 - most such texts are refused
            assert error.span is not None  # noqa: PT017
        else:
            assert isinstance(rendered, str)


def errors_of_all_kinds() -> list[cuecard.PromptError]:
    place: dict[str, Any] = {"source": Source("a\n{{ é }}\n", "file"), "start": 5, "end": 6}
    return [
        cuecard.PromptError("message"),
        cuecard.TemplateSyntaxError("message", code="P102", hint="hint", **place),
        cuecard.UndefinedVariableError("message", variables=("a", "b"), **place),
        cuecard.UnknownNameError("message", **place),
        cuecard.TemplateLimitError("message", **place),
        cuecard.TemplateRaisedError("message", **place),
        cuecard.RenderError("message", template="name"),
        cuecard.ContextError("message", path="$.a[0]", code="P702"),
        cuecard.TemplateNotFoundError("message"),
        cuecard.SpecError("message", **place),
        cuecard.ProviderError("message"),
        cuecard.StoreError("message"),
        cuecard.MissingExtraError("message", hint="install"),
    ]


class TestPickle:
    @pytest.mark.parametrize("error", errors_of_all_kinds(), ids=lambda error: type(error).__name__)
    @pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
    def test_every_class(self, error: cuecard.PromptError, protocol: int) -> None:
        """Every field of every error survives pickling."""
        again = pickle.loads(pickle.dumps(error, protocol))
        assert type(again) is type(error)
        assert vars(again) == vars(error)
        assert again.args == error.args
        assert (str(again), again.report(), again.kind) == (str(error), error.report(), error.kind)
        assert vars(copy.copy(error)) == vars(copy.deepcopy(error)) == vars(error)

    @given(MIXED, st.sampled_from(sorted(FAULTS)))
    def test_errors_of_renders(self, text: str, fault: str) -> None:
        """What a render raises survives pickling, whatever the template holds."""
        with pytest.raises(cuecard.PromptError) as caught:
            cuecard.Template(text + fault, name=text).render(x="", d={})
        again = pickle.loads(pickle.dumps(caught.value))
        assert vars(again) == vars(caught.value)
        assert again.report() == caught.value.report()


MARKS = st.sampled_from(["", "", "", "-"])
SPACES = st.sampled_from(["", " ", "\n", "  \n", "\t", " \n\n "])
WORDS = st.sampled_from(["a", "é {single}", "}", "100%", "b c", "#", "<&>", "日本"])
ATOMS = st.sampled_from(["s", "n", "'q'", "5", "xs[0]", "d.k", "s ~ n", "(n + 1)", "xs | length"])
CONDITIONS = st.sampled_from(["t", "f", "n > 2", "s == 'text'", "not t", "t and n", "xs"])


@st.composite
def agreed_templates(draw: st.DrawFn, depth: int = 0) -> str:
    """A template of constructs that mean the same to both engines."""
    pieces = []
    for kind in draw(st.lists(st.integers(0, 9), min_size=1, max_size=5)):
        left, right, other_left, other_right = (draw(MARKS) for _ in range(4))
        if kind <= 3 or depth > 2:
            pieces.append(draw(SPACES) + draw(WORDS) + draw(SPACES))
        elif kind <= 5:
            pieces.append("{{" + left + f" {draw(ATOMS)} " + right + "}}")
        elif kind == 6:
            pieces.append("{#" + left + " {{ note %} " + right + "#}")
        elif kind == 7:
            # Jinja2 takes a name that is set anywhere for a local one in loops before it, so
            # `v` is read only where it has just been set.
            pieces.append("{%" + left + f" set v = {draw(ATOMS)} " + right + "%}{{ v }}")
        else:
            inner = draw(agreed_templates(depth + 1))
            if kind == 8:
                opening, closing = f"if {draw(CONDITIONS)}", "endif"
            else:
                opening, closing = "for i in xs", "endfor"
                inner += "{{ i }}{{ loop.index }}"
            pieces.append(
                "{%"
                + left
                + f" {opening} "
                + right
                + "%}"
                + inner
                + "{%"
                + other_left
                + f" {closing} "
                + other_right
                + "%}"
            )
        if kind == 6 and draw(st.booleans()):
            pieces.append("{% raw %}{{ s }} {% if %}{% endraw %}")
    return "".join(pieces)


AGREED_CONTEXT: dict[str, Any] = {
    "s": "text",
    "n": 3,
    "t": True,
    "f": False,
    "xs": ["p", "q\n"],
    "d": {"k": "value"},
}


class TestJinja:
    @given(agreed_templates(), st.booleans(), st.booleans())
    @settings(max_examples=500)
    def test_gives_the_same_text(self, template: str, trim: bool, lstrip: bool) -> None:
        """Text, outputs, blocks, comments and white space come out as Jinja2 does it."""
        assume("{{{" not in template)
        environment = jinja2.Environment(
            trim_blocks=trim,
            lstrip_blocks=lstrip,
            keep_trailing_newline=True,
            undefined=jinja2.StrictUndefined,
        )
        expected = environment.from_string(template).render(AGREED_CONTEXT)
        profile = replace(cuecard.STRICT, trim_blocks=trim, lstrip_blocks=lstrip)
        assert cuecard.render(template, AGREED_CONTEXT, profile=profile) == expected

    @given(agreed_templates())
    def test_profiles_are_those_settings(self, template: str) -> None:
        """STRICT trims blocks, OPERATOR does not and drops one newline at the end."""
        assume("{{{" not in template)
        for profile, trim, keep in ((cuecard.STRICT, True, True), (cuecard.OPERATOR, False, False)):
            environment = jinja2.Environment(
                trim_blocks=trim,
                lstrip_blocks=trim,
                keep_trailing_newline=keep,
                undefined=jinja2.StrictUndefined,
            )
            expected = environment.from_string(template).render(AGREED_CONTEXT)
            assert cuecard.render(template, AGREED_CONTEXT, profile=profile) == expected
