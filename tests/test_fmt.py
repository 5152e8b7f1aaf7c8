"""Formatting: the form of tags, what never changes, and the command."""

import difflib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cuecard
from cuecard.formatting import format_template
from cuecard.scanner import Part, scan
from cuecard.source import Source

from .case_files import PROFILES, Case, parameters
from .generated_templates import contexts, templates
from .running import Run, write
from .test_chat_templates import templates as chat_templates

HEADER = "---\nname: a\ndescription: d  \ntools: [ b,c ]\n---\n"
UGLY = HEADER + "{{x|default('a')}}\n"
NEAT = HEADER + '{{ x | default("a") }}\n'


def tokens(text: str) -> list[tuple[Any, ...]]:
    """The parts of a template: tokens with texts by value and without commas, or what it says."""
    return [
        (part.kind, part.lead, part.trail, part.inner, *_words(text, part))
        for part in scan(Source(text), cuecard.Limits())
    ]


def _words(text: str, part: Part) -> Iterator[str]:
    if part.kind == "text":
        yield text[part.start : part.end]
    elif part.kind == "comment":
        yield text[part.start : part.end].strip("{#-+} \t")
    elif part.kind == "raw":
        yield part.tokens[0].text
    else:
        for token in part.tokens:
            if token.kind == "string":
                yield token.text[1:-1].replace("\\'", "'").replace('\\"', '"')
            elif token.text != ",":
                yield token.text


def rendered(text: str, profile: cuecard.Profile, context: dict[str, Any]) -> str:
    """What a template gives: its text, or the code and the message of its error."""
    try:
        return cuecard.Template(text, profile=profile).render(context)
    except cuecard.PromptError as error:
        return error.code


@pytest.mark.parametrize("case", parameters("fmt.jsonl"))
def test_a_case(case: Case) -> None:
    """A template takes its form, and keeps it."""
    profile = PROFILES[case.get("profile", "strict")]
    formatted = format_template(case["template"], profile=profile, indent=case.get("indent"))
    assert formatted == case["formatted"]
    assert format_template(formatted, profile=profile, indent=case.get("indent")) == formatted


def is_readable(template: str) -> bool:
    """Whether it parses: pieces of text may join to what looks like a tag."""
    try:
        format_template(template)
    except cuecard.PromptError:
        return False
    return True


READABLE = templates().filter(is_readable)


@given(
    template=READABLE,
    context=contexts(),
    profile=st.sampled_from((cuecard.STRICT, cuecard.OPERATOR)),
    indent=st.sampled_from((None, 3)),
)
@settings(max_examples=200)
def test_any_template_renders_the_same(
    template: str, context: dict[str, Any], profile: cuecard.Profile, indent: int | None
) -> None:
    """The form is one, and a template in form renders the same bytes, whatever it is given."""
    formatted = format_template(template, profile=profile, indent=indent)
    assert format_template(formatted, profile=profile, indent=indent) == formatted
    assert rendered(formatted, profile, context) == rendered(template, profile, context)


@given(template=READABLE)
def test_tokens_stay(template: str) -> None:
    """Formatting changes blanks, quotes and commas, and nothing else."""
    assert tokens(format_template(template)) == tokens(template)


def test_chat_templates_stay_what_they_are() -> None:
    """Published chat templates keep their tokens, and are in form afterwards."""
    formatted = 0
    for name, text in list(chat_templates().items())[::10]:
        if not is_readable(text):
            continue
        formatted += 1
        neat = format_template(text)
        assert format_template(neat) == neat, name
        assert tokens(neat) == tokens(text), name
    assert formatted > 60


@pytest.mark.parametrize(
    ("template", "code"),
    [("{{ x", "P101"), ("{% if x %}", "P101"), ("{% unless x %}{% endunless %}", "P101")],
)
def test_what_cannot_be_read(template: str, code: str) -> None:
    """A template that does not parse is an error with its place."""
    with pytest.raises(cuecard.TemplateSyntaxError) as caught:
        format_template(Source(template, "a.md"))
    assert caught.value.code == code
    assert caught.value.template == "a.md"
    assert caught.value.span is not None


class TestCommand:
    def test_formats_files(self, run: Run) -> None:
        """Files are written, front matter stays, and what was done is said."""
        write("a.md", UGLY)
        write("b.md", NEAT)
        result = run("fmt", "a.md", "b.md")
        assert (result.status, result.out) == (0, "")
        assert result.err == "formatted a.md\n1 file formatted, 1 file in form\n"
        assert Path("a.md").read_text() == Path("b.md").read_text() == NEAT

    def test_check_writes_nothing(self, run: Run) -> None:
        """With --check a file that is not in form is named, and the exit code is 1."""
        write("a.md", UGLY)
        result = run("fmt", "--check", "a.md")
        assert (result.status, result.out) == (1, "")
        assert result.err == "would format a.md\n1 file to format\n"
        assert Path("a.md").read_text() == UGLY
        write("a.md", NEAT)
        assert run("fmt", "--check", "a.md").status == 0

    def test_diff(self, run: Run) -> None:
        """With --diff the change is printed, nothing is written, and the exit code is 1."""
        write("a.md", UGLY + "\u2028end")
        result = run("fmt", "--diff", "a.md")
        assert result.status == 1
        assert result.out.splitlines(keepends=True)[:2] == ["--- a.md\n", "+++ a.md\n"]
        assert "\n-{{x|default('a')}}\n+{{ x | default(\"a\") }}\n" in result.out
        assert result.out.endswith("\u2028end\n\\ no newline at the end\n")
        assert Path("a.md").read_text() == UGLY + "\u2028end"

    def test_standard_input(self, run: Run) -> None:
        """`-` is formatted to standard output, with nothing else said."""
        assert run("fmt", "-", stdin=UGLY.encode()) == (0, NEAT, "")
        assert run("fmt", "-", stdin=NEAT.encode()) == (0, NEAT, "")
        assert run("fmt", "--check", "-", stdin=UGLY.encode()) == (1, "", "")

    def test_folder(self, run: Run) -> None:
        """A folder's templates and agents are formatted; skills and other files are not."""
        for name in ("p/a.md", "p/x.j2", "p/s/SKILL.md", "p/notes.txt", "p/README.md"):
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            write(name, UGLY)
        result = run("fmt", "p")
        assert result.err == "formatted p/a.md\nformatted p/x.j2\n2 files formatted\n"
        assert Path("p/s/SKILL.md").read_text() == UGLY
        assert run("fmt", "p/s/SKILL.md").status == 0
        assert Path("p/s/SKILL.md").read_text() == NEAT

    def test_a_broken_file_hides_no_other(self, run: Run) -> None:
        """A file that cannot be read is left alone with its error; the others are formatted."""
        broken = HEADER + "{{x}}\n{% if x %}\n"
        write("a.md", broken)
        write("b.md", UGLY)
        write("c.md", b"{{x}}\xff")
        write("d.md", "---\nname: [\n---\n{{x}}\n")
        result = run("fmt", "a.md", "b.md", "c.md", "d.md", "none.md")
        assert result.status == 1
        for place in ("a.md:7:4: P101", "c.md:1:6: P802", "d.md:3:1: P401", "none.md: P803"):
            assert place in result.err
        assert result.err.endswith("1 file formatted, 4 files left alone because of errors\n")
        assert Path("a.md").read_text() == broken
        assert Path("b.md").read_text() == NEAT

    def test_what_a_render_would_refuse_is_formatted(self, run: Run) -> None:
        """An unknown filter or a partial without a folder is no matter of form."""
        write("a.j2", "{{x|mine}}{%include'b.md'%}\n")
        assert run("fmt", "a.j2").status == 0
        assert Path("a.j2").read_text() == '{{ x | mine }}{% include "b.md" %}\n'

    def test_bytes_around_it_stay(self, run: Run) -> None:
        """A byte order mark, line breaks of Windows and the mode of the file stay."""
        write("a.md", b"\xef\xbb\xbf" + UGLY.replace("\n", "\r\n").encode())
        os.chmod("a.md", 0o640)
        assert run("fmt", "a.md").status == 0
        assert Path("a.md").read_bytes() == b"\xef\xbb\xbf" + NEAT.replace("\n", "\r\n").encode()
        assert stat.S_IMODE(os.stat("a.md").st_mode) == 0o640

    def test_a_file_in_form_is_not_touched(self, run: Run) -> None:
        """Its time stays, so that nothing is built anew because of it."""
        write("a.md", NEAT)
        os.utime("a.md", (1, 1))
        run("fmt", "a.md")
        assert os.stat("a.md").st_mtime == 1

    def test_indent(self, run: Run) -> None:
        """--indent follows the blocks, as far as the profile of the header lets it."""
        body = "{% if x %}\n{% if y %}\nz\n{% endif %}\n{% endif %}\n"
        write("a.md", HEADER + body)
        write("b.md", HEADER.replace("name: a", "name: a\nprofile: operator") + body)
        result = run("fmt", "--indent", "2", "a.md", "b.md")
        assert result.err == "formatted a.md\n1 file formatted, 1 file in form\n"
        assert Path("a.md").read_text().endswith("\n  {% if y %}\nz\n  {% endif %}\n{% endif %}\n")

    @pytest.mark.parametrize(
        "arguments", [(), ("--indent", "x", "a.md"), ("--indent", "99", "a.md"), ("--nope", "a.md")]
    )
    def test_wrong_usage(self, run: Run, arguments: tuple[str, ...]) -> None:
        """What makes no sense exits with 2."""
        assert run("fmt", *arguments).status == 2

    def test_a_diff_can_be_applied(self, run: Run) -> None:
        """The lines of the diff are those that formatting writes."""
        write("a.md", UGLY)
        lines = run("fmt", "--diff", "a.md").out.splitlines()
        run("fmt", "a.md")
        made = difflib.unified_diff(
            UGLY.splitlines(), NEAT.splitlines(), "a.md", "a.md", lineterm=""
        )
        assert lines == list(made)
        assert Path("a.md").read_text() == NEAT
