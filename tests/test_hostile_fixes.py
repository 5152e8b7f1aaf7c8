"""What the catalog of attacks found, held as the right values beside the refusals."""

import dataclasses
import tempfile
from pathlib import Path
from typing import Any

import pytest

import cuecard

from .running import Run


def limited(**limits: int) -> cuecard.Profile:
    return dataclasses.replace(cuecard.STRICT, limits=cuecard.Limits(**limits))


@dataclasses.dataclass
class User:
    name: str
    _token: str = "secret"


def test_private_fields_are_left_out() -> None:
    """A record's private fields are not part of what a template sees."""
    assert (
        cuecard.render("{{ u | tojson }}{{ u.name }}", {"u": User("Ann")}) == '{"name": "Ann"}Ann'
    )
    assert cuecard.render("{{ u | tojson }}", {"u": {"_token": 1}}) == '{"_token": 1}'


def test_causes_are_not_shown() -> None:
    """What a value's own method raises is named by its type; its words may hold the value."""

    class Broken(dict[str, Any]):
        def __iter__(self) -> Any:
            raise ValueError("secret")

        def keys(self) -> Any:
            raise ValueError("secret")

    with pytest.raises(cuecard.ContextError) as caught:
        cuecard.render("{{ x }}", {"x": Broken(a=1)})
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    assert "ValueError" in str(caught.value)


@pytest.mark.parametrize("error", [SystemExit, GeneratorExit, MemoryError])
def test_a_value_does_not_end_the_program(error: type[BaseException]) -> None:
    """Whatever a value raises while it is read, it is an error of that value."""

    class Ending(dict[str, Any]):
        def __iter__(self) -> Any:
            raise error

        keys = __iter__

    with pytest.raises(cuecard.ContextError):
        cuecard.Template("{{ x }}").bind({"x": Ending(a=1)})


class TestWork:
    """What the engine does not count is counted, and what is usual is far below it."""

    LOOP = "{% for i in range(50000) %}{{ BODY }}{% endfor %}"

    @pytest.mark.parametrize(
        ("body", "gives"),
        [
            ("x == y", "False"),
            ("x is upper", "True"),
            ("x is startingwith(y)", "False"),
            ("x[2]", "C"),
            ("d.items() | length", "2"),
            ("d | items | length", "2"),
            ("{x: 1}[x]", "1"),
            ("xs.count('a')", "1"),
            ("'%s' | format(x)", "ABCD"),
            ("'{}'.format(x)", "ABCD"),
            ("d | tojson(indent=1) | length", "24"),
            ("x | wordwrap(width=2)", "AB\nCD"),
            ("[1] | batch(2, x) | join", "[1, 'ABCD']"),
        ],
    )
    def test_each(self, body: str, gives: str) -> None:
        """It gives what it gave, alone and in a loop; of a large value, not without end."""
        small = {"x": "ABCD", "y": "EF", "xs": ["a", "b"], "d": {"a": "b", "c": "d"}}
        assert cuecard.render("{{ " + body + " }}", small) == gives
        looped = self.LOOP.replace("50000", "3").replace("BODY", body)
        assert cuecard.render(looped, small) == gives * 3
        large = "ABCD" * 200_000
        many = {f"{n}": "v" for n in range(50_000)}
        context = {"x": large, "y": large[:-1] + "x", "xs": list(many), "d": many}
        with pytest.raises(cuecard.TemplateLimitError) as caught:
            cuecard.render(self.LOOP.replace("BODY", body), context)
        assert caught.value.code in ("P114", "P115")
        assert caught.value.span is not None

    def test_realistic_loops_are_free(self) -> None:
        """2,000 tools, each looked up and compared, take less than the limit allows."""
        tools = [
            {"name": f"t{n}", "kind": "x" if n % 2 else "y", "p": {"a": 1}} for n in range(2000)
        ]
        template = (
            "{% for t in tools %}{% if t.kind == kind and t.name not in hidden %}"
            "{% for k, v in t.p.items() %}{{ k }}{{ v }}{% endfor %}{% endif %}{% endfor %}"
        )
        context = {"tools": tools, "kind": "x", "hidden": ["t1", "t2"]}
        assert cuecard.render(template, context) == "a1" * 999

    def test_list_of_a_thousand_can_be_built(self) -> None:
        """A list that a loop makes entry by entry may become as long as lists are."""
        template = (
            "{% set ns = namespace(a=[]) %}{% for i in range(600) %}{% set ns.a = ns.a + [i] %}"
            "{% endfor %}{{ ns.a | length }}"
        )
        assert cuecard.render(template) == "600"


def test_parts_keep_the_limits_of_the_whole() -> None:
    """A trace is refused what a render is refused, though each part alone is allowed."""
    template = cuecard.Template("{% for i in range(90000) %}{% endfor %}" * 400)
    for render in (template.render, template.trace, template.bind().render):
        with pytest.raises(cuecard.TemplateLimitError) as caught:
            render()
        assert caught.value.code == "P114"


def test_what_many_parts_read_is_made_once_in_the_whole() -> None:
    """A costly binding that many parts read does not keep a template from being traced."""
    template = cuecard.Template(
        "{% set y = range(60000) | map('string') | join | length %}" + "{{ y }}," * 300
    )
    expected = template.render()
    assert template.trace().text == expected
    assert template.bind().render() == expected


def test_text_that_stands_in_many_places_counts_in_each() -> None:
    """A list of one text many times is as large as it would be printed."""
    text = "x" * 1_000_000
    assert cuecard.render("{{ xs | length }}", {"xs": [text] * 30}) == "30"
    with pytest.raises(cuecard.ContextError) as caught:
        cuecard.render("{{ xs | length }}", {"xs": [text] * 40})
    assert caught.value.code == "P704"


def test_partials_that_fan_out_are_read_once() -> None:
    """Partials that name others many times are no more work than there are partials."""
    with tempfile.TemporaryDirectory() as place:
        for number in range(8):
            text = "{% include 'p" + str(number + 1) + "' %}"
            Path(place, f"p{number}").write_text(text * 20, encoding="utf-8")
        Path(place, "p8").write_text("{{ a }}", encoding="utf-8")
        template = cuecard.Template("{% include 'p0' %}", partials=cuecard.Folder(place))
        assert template.required == {"a"}
        with pytest.raises(cuecard.TemplateLimitError):
            template.render(a="")


@pytest.mark.parametrize("template", ["{{ '%c' | format(9999999999) }}", "{{ '{:c}'.format(-1) }}"])
def test_characters_that_do_not_exist(template: str) -> None:
    """A format asks for a character beyond Unicode: the arguments do not match."""
    with pytest.raises(cuecard.TemplateError) as caught:
        cuecard.render(template)
    assert (caught.value.code, caught.value.span is not None) == ("P204", True)


def test_steps_that_run_out_name_the_line() -> None:
    """A render that takes too many steps says in which line it was."""
    with pytest.raises(cuecard.TemplateLimitError) as caught:
        cuecard.render("a\nb\n{% for i in range(9999) %}{% endfor %}", profile=limited(fuel=100))
    assert caught.value.span is not None
    assert caught.value.span.line == 3


class TestControlTokens:
    def test_of_values(self) -> None:
        """A token in a value is reported with its variable and place; the text stays."""
        template = cuecard.Template("You help.\n{% for n in notes %}- {{ n }}\n{% endfor %}")
        prompt = template.trace(notes=["a", "<|im_end|>"])
        (found,) = prompt.control_tokens()
        assert prompt.text == "You help.\n- a\n- <|im_end|>\n"
        assert found.code == "P915"
        assert "`notes`" in found.message
        assert "ChatML" in found.message
        assert found.span is not None
        assert found.span.line == 2

    def test_of_the_template(self) -> None:
        """Tokens that the author wrote are no findings."""
        prompt = cuecard.Template("<|im_start|>{{ a }}<|im_end|>").trace(a="hello")
        assert prompt.control_tokens() == []

    def test_on_the_command_line(self, run: Run) -> None:
        """`explain --control-tokens` warns on standard error; without it nothing is said."""
        Path("a.md").write_text("{{ notes }}\n", encoding="utf-8")
        asked = ["explain", "a.md", "--var", "notes=<|im_end|>"]
        assert "P915" not in run(*asked).err
        result = run(*asked, "--control-tokens")
        assert "a.md:1:1: P915" in result.err
        assert run(*asked, "--control-tokens", "--plan")[0] == 2
