"""Limits: each has an error of its own, at the limit and one over, and nothing ends the process."""

import dataclasses

import pytest

import cuecard

from .child_process import code_of_render, run_python

LIMITS = cuecard.Limits()


def limited(**limits: int) -> cuecard.Profile:
    return dataclasses.replace(cuecard.STRICT, limits=cuecard.Limits(**limits))


def refused(template: str, profile: cuecard.Profile = cuecard.STRICT) -> cuecard.PromptError:
    with pytest.raises(cuecard.TemplateLimitError) as caught:
        cuecard.render(template, {"xs": [1]}, profile=profile)
    return caught.value


class TestEachLimit:
    @pytest.mark.parametrize(
        ("name", "limit", "allowed", "excessive", "code", "says", "column"),
        [
            ("source", 10, "{{ 1 }}abc", "{{ 1 }}abcd", "P110", "10 bytes", 1),
            ("source", 11, "{{ 1 }}éé", "{{ 1 }}é日", "P110", "11 bytes", 1),
            ("source", 11, "{{ 1 }}😀", "{{ 1 }}😀a", "P110", "11 bytes", 1),
            ("tags", 2, "{{ 1 }}{# a #}", "{{ 1 }}{# a #}b{{ 1 }}", "P110", "2 tags", 16),
            ("tag_tokens", 5, "{{ 1 + 1 + 1 }}", "a{{ 1 + 1 + -1 }}", "P111", "5 tokens", 2),
            ("tag_tokens", 4, "{% if 1+1 %}{% endif %}", "{% if 1+1+1 %}", "P111", "4 tokens", 1),
            (
                *("elifs", 1, "{% if 1 %}{% elif 1 %}{% endif %}"),
                *("{% if 1 %}{% elif 1 %}{% elif 1 %}{% endif %}", "P112", "1 `elif`", 26),
            ),
            (
                *("nesting", 2, "{% if 1 %}{% if 1 %}{% endif %}{% endif %}"),
                *("{% if 1 %}{% for i in xs %}{% if 1 %}", "P113", "blocks nest more than 2", 31),
            ),
            ("nesting", 2, "{{ [[1]] }}", "{{ [[[1]]] }}", "P113", "brackets nest more than 2", 6),
            ("nesting", 2, "{{ ((1)) }}", "{{ (([1])) }}", "P113", "brackets nest more than 2", 6),
            ("nesting", 2, "{{ [{}] }}", "{{ [{'a': {}}] }}", "P113", "brackets nest more", 11),
        ],
    )
    def test_of_the_source(
        self,
        name: str,
        limit: int,
        allowed: str,
        excessive: str,
        code: str,
        says: str,
        column: int,
    ) -> None:
        """A source at the limit renders; one over it is refused before, with its place."""
        profile = limited(**{name: limit})
        assert cuecard.render(allowed, {"xs": [1]}, profile=profile) is not None
        error = refused(excessive, profile)
        assert error.code == code
        assert says in error.message
        assert error.hint
        assert error.span is not None
        assert (error.span.line, error.span.column) == (1, column)

    def test_blocks_that_are_closed_do_not_count(self) -> None:
        """Nesting is what is open at once, and `elif`s are counted for each `if`."""
        profile = limited(nesting=2, elifs=1)
        branch = "{% if 0 %}{% elif 1 %}{% if 1 %}{% endif %}{% endif %}"
        value = "{% set a = 1 %}{% set b %}{% endset %}{{ [[]] }}{{ ([]) }}"
        assert cuecard.render((branch + value) * 9, profile=profile) == "[[]][]" * 9

    @pytest.mark.parametrize(
        ("text", "code"),
        [
            ("{{ 1" + " + 1" * 499 + " }}", None),
            ("{{ 1" + " + 1" * 500 + " }}", "P111"),
            ("{% if 0 %}" + "{% elif 0 %}" * 500 + "{% endif %}", None),
            ("{% if 0 %}" + "{% elif 0 %}" * 501 + "{% endif %}", "P112"),
            ("{% if 1 %}" * 100 + "{% endif %}" * 100, None),
            ("{% if 1 %}" * 101 + "{% endif %}" * 101, "P113"),
            ("{% for i in [1] %}" * 100 + "{% endfor %}" * 100, None),
            ("{{ " + "[" * 70 + "]" * 70 + " }}", None),
            ("{{ " + "[" * 101 + "]" * 101 + " }}", "P113"),
            ("{{ " + "(" * 70 + "1" + ")" * 70 + " }}", None),
            ("{{ " + "(" * 101 + "1" + ")" * 101 + " }}", "P113"),
            ("{{ " + "{'a':" * 70 + "1" + "}" * 70 + " }}", None),
            ("{% if 1 %}" * 40 + "{{ " + "[" * 40 + "]" * 40 + " }}" + "{% endif %}" * 40, None),
            ("{{ " + "not " * 900 + "1 }}", None),
            ("{{ " + "-" * 900 + "1 }}", None),
            ("{{ 1" + " | string" * 490 + " }}", None),
            ("{{ 'x'" + " if 1 else 'y'" * 60 + " }}", None),
            ("{{ 1" + " ** 1" * 70 + " }}", None),
            ("{{ x" + ".a" * 490 + " | default(1) }}", None),
            ("{{ 1 }}" + "x" * ((1 << 20) - 7), None),
            ("{{ 1 }}" + "x" * ((1 << 20) - 6), "P110"),
            ("{{ 1 }}" + "é" * ((1 << 19) - 3), "P110"),
        ],
        ids=lambda value: None if isinstance(value, str) and len(value) > 9 else str(value),
    )
    def test_defaults(self, text: str, code: str | None) -> None:
        """The limits that come by themselves are what they say, and safe for the engine."""
        chained: object = {}
        for _ in range(60):
            chained = {"a": chained}
        if code is not None:
            assert refused(text).code == code
            return
        try:
            cuecard.render(text, {"x": {}})
        except cuecard.UndefinedVariableError:
            # A path of many steps that is absent is no matter of limits.
            assert ".a" in text

    def test_call_depth_of_the_caller_is_no_matter(self) -> None:
        """A template that can be read can be read from deep within a program."""
        template = "{{ " + "(" * 40 + "x" + ")" * 40 + " | upper }}"

        def deeper(levels: int) -> str:
            if levels:
                return deeper(levels - 1)
            return cuecard.Template(template).render(x="a")

        assert deeper(0) == "A"
        assert deeper(700) == "A"

    def test_fuel(self) -> None:
        """A render takes a fixed number of steps: so much fuel is enough, one less is not."""
        template = "{% for i in range(20) %}{{ i }}{% endfor %}"
        enough = next(fuel for fuel in range(1, 1000) if self.renders(template, limited(fuel=fuel)))
        assert enough > 20
        error = refused(template, limited(fuel=enough - 1))
        assert error.code == "P114"
        assert f"{enough - 1} steps" in error.message
        assert "Limits.fuel" in (error.hint or "")

    @staticmethod
    def renders(template: str, profile: cuecard.Profile) -> bool:
        try:
            return bool(cuecard.render(template, profile=profile))
        except cuecard.TemplateLimitError:
            return False

    def test_output(self) -> None:
        """A text of so many characters is allowed, one more is not."""
        profile = limited(output=10)
        assert cuecard.render("{{ 'é' * 10 }}", profile=profile) == "é" * 10
        error = refused("{{ 'é' * 11 }}", profile)
        assert error.code == "P115"
        assert "10 characters" in error.message
        assert "Limits.output" in (error.hint or "")
        assert refused("{{ 'a\\na\\n' | indent(9) }}", profile).code == "P115"

    def test_output_of_a_large_value(self) -> None:
        """Values that are put out often are bounded by what they give, not by their number."""
        template = "{% for i in range(100) %}{{ x }}{% endfor %}"
        with pytest.raises(cuecard.TemplateLimitError) as caught:
            cuecard.render(template, {"x": "x" * 400_000})
        assert caught.value.code in ("P114", "P115")

    def test_realistic_prompt_is_far_from_them(self) -> None:
        """200 skills and 100 tools with schemas render under the limits that come by themselves."""
        skills = [{"name": f"s{n}", "description": "d" * 200, "path": f"/{n}"} for n in range(200)]
        schema = {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(10)}}
        tools = [{"name": f"t{n}", "parameters": schema} for n in range(100)]
        text = cuecard.render(
            "{% for s in skills %}- {{ s.name }}: {{ s.description }} ({{ s.path }})\n{% endfor %}"
            "{% for t in tools %}{{ t.name }}: {{ t.parameters | tojson(indent=2) }}\n{% endfor %}",
            {"skills": skills, "tools": tools},
        )
        assert text.count("\n") > 1000

    def test_every_limit_is_tested(self) -> None:
        """A new field of `Limits` needs a test here, or where its name says."""
        elsewhere = {"width", "depth", "nodes"}  # test_filters.py, test_values.py
        here = {"source", "tags", "tag_tokens", "elifs", "nesting", "fuel", "output"}
        assert {field.name for field in dataclasses.fields(cuecard.Limits)} == here | elsewhere


GROW = (
    "{% set ns = namespace(a=START) %}{% for i in range(TIMES) %}{% set ns.a = MORE %}{% endfor %}"
)


def grown(start: str, more: str, times: int) -> str:
    """A template whose `ns.a` becomes `more`, an expression of itself, so many times."""
    return GROW.replace("START", start).replace("MORE", more).replace("TIMES", str(times))


DOUBLED = grown("[1]", "ns.a + ns.a", 40)
SHARED = grown("[1]", "[ns.a, ns.a]", 40)
DEEP = grown("[]", "[ns.a]", 40_000)
MAPPED = grown("[1, 2]", "ns.a | map('string')", 40_000)

HOSTILE: dict[str, tuple[str, str]] = {
    # a template, and the codes of which its end has one; `text` is an end, too
    "operators": ("{{ 1" + "+1" * 10_000 + " }}", "P111"),
    "nots": ("{{ " + "not " * 20_000 + "1 }}", "P111"),
    "elifs": ("{% if 0 %}" + "{% elif 0 %}" * 20_000 + "{% endif %}", "P112"),
    "blocks": ("{% if 1 %}" * 20_000, "P113"),
    "brackets": ("{{ " + "(" * 20_000, "P113"),
    "source": ("{{ x }}" + "y" * (2 << 20), "P110"),
    "braces": ("{" * 1_000_000, "P101 P111 P113"),
    "open comments": ("{#" * 500_000, "P101"),
    "open raws": ("{% raw %}" * 100_000, "P101"),
    "open text": ("{{ '" + "\\" * 900_000, "P101"),
    "many tags": ("{% if 1 %}{% endif %}" * 5_000, "text"),
    "too many tags": ("{% if 1 %}{% endif %}" * 40_000, "P110"),
    "namespace in itself": ("{% set ns = namespace() %}{% set ns.me = ns %}{{ ns }}", "P109"),
    "format": ("{{ '{:>1000000000}'.format('x') }}", "P116"),
    "format in a key": ("{{ xs['{:>1000000000}'.format('x')] | upper }}", "P116"),
    "format in a list": ("{{ [xs['{:>1000000000}'.format('x')]] }}", "P116"),
    "percent": ("{{ '%1000000000s' | format('x') }}", "P116"),
    "percent, brackets": ("{{ '%(a(b))1000000000s' | format(**{'a(b)': 'x'}) }}", "P116 P204"),
    "tojson": ("{{ [1] | tojson(indent=1000000000) }}", "P116"),
    "indent": ("{{ 'a\\nb' | indent(1000000000) }}", "P116"),
    "range": ("{% for i in range(1000000000) %}{% endfor %}", "P114"),
    "range, negative": ("{{ range(-1000000000, 1000000000) | list }}", "P114"),
    "loops": (
        "{% for i in range(99999) %}{% for j in range(99999) %}x{% endfor %}{% endfor %}",
        "P114",
    ),
    "text times": ("{{ 'x' * 1000000000 }}", "P114 P115"),
    "batch": ("{{ 'x' | batch(1000000000, 'y') | list }}", "P114"),
    "slice": ("{{ [1] | slice(1000000000) | list }}", "P114"),
    "macro in itself": ("{% macro m() %}{{ m() }}{{ m() }}{% endmacro %}{{ m() }}", "P113"),
    "loop in itself": ("{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}", "P113"),
    "text doubled": (grown("'x'", "ns.a ~ ns.a", 40), "P115"),
    "list doubled": (DOUBLED + "{{ ns.a | length }}", "P704"),
    "shared, counted": (SHARED + "{{ ns.a | length }}", "P114 P704"),
    "shared, printed": (SHARED + "{{ ns.a }}", "P114 P704"),
    "shared, as JSON": (SHARED + "{{ ns.a | tojson }}", "P114 P115 P704"),
    "shared, as XML": (SHARED + "{{ ns.a | xml_text }}", "P114 P115 P704"),
    "shared, formatted": (SHARED + "{{ '%s' | format(ns.a) }}", "P114 P115 P704"),
    "deep": (DEEP, "P703"),
    "deep, printed": (DEEP + "{{ ns.a }}", "P113 P114 P703"),
    "deep, as JSON": (DEEP + "{{ ns.a | tojson }}", "P113 P114 P703"),
    "deep, compared": (DEEP + "{{ ns.a == [ns.a] }}", "text P113 P114 P703"),
    "deep, written out": (
        "{% set a = [] %}" + "{% set a = [a] %}" * 4_000 + "{{ a }}",
        "P113 P114 P703",
    ),
    "mapped": (MAPPED + "{{ ns.a | list }}", "text P114"),
}


class TestHostileTemplates:
    """Each runs in a process of its own, with little memory: it must end, with our error."""

    @pytest.mark.parametrize("name", HOSTILE)
    def test_ends_with_an_error(self, name: str) -> None:
        """It ends soon, with the error that says why, and the process lives."""
        template, codes = HOSTILE[name]
        # A second is what is promised; the machine that tests may be busy.
        outcome = code_of_render(template, "{'xs': {'a': 1}}", timeout=8)
        assert outcome.split()[0] in codes.split()

    @pytest.mark.parametrize(
        ("value", "code"),
        [
            ("(i for i in iter(int, 1))", "P701"),
            ("__import__('itertools').count()", "P701"),
            ("range(10 ** 15)", "P704"),
            ("(lambda a: a.append(a) or a)([])", "P702"),
            ("(lambda a: a.update(a=a) or a)({})", "P702"),
            ("__import__('functools').reduce(lambda a, _: [a], range(100_000), 1)", "P703"),
            ("__import__('functools').reduce(lambda a, _: {'a': a}, range(100_000), 1)", "P703"),
            ("__import__('functools').reduce(lambda a, _: [a, a], range(60), 1)", "P704"),
            ("'\\ud800'", "P705"),
            ("['a'] * (10 ** 7)", "P704"),
        ],
    )
    def test_hostile_values(self, value: str, code: str) -> None:
        """An endless, cyclic, deep or huge value ends with its error, at every render."""
        program = f"""
value = {value}
template = cuecard.Template("{{{{ x | length }}}}")
for _ in range(3):
    try:
        print(template.render(x=value))
    except cuecard.PromptError as error:
        print(error.code)
"""
        assert run_python(program, timeout=15).split() == [code] * 3
