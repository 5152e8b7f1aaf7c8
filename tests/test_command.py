"""The command, from the outside: arguments, exit codes, what it prints and where."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import cuecard

from .running import Run, write

# rendering ---------------------------------------------------------------------------------


def test_render_prints_the_prompt_and_nothing_else(run: Run) -> None:
    """The text goes to standard output as it is, without a line break of the command's own."""
    write("t.md", "Hello {{ name }}")
    assert run("render", "t.md", "--var", "name=wörld=1") == (0, "Hello wörld=1", "")


def test_standard_input_is_a_template(run: Run) -> None:
    """`-` reads the template from standard input, and errors call it `<stdin>`."""
    assert run("render", "-", "--var", "x=1", stdin=b"a{{ x }}\r\n") == (0, "a1\r\n", "")
    assert run("render", "-", stdin=b"a{{ x }}").err.startswith("<stdin>:1:5: P201 ")


def test_front_matter_is_not_rendered(run: Run) -> None:
    """Of a file with a header the body is rendered, and lines count from the file's first."""
    write("agent.md", "---\nname: a\ntools: [x, y]\n---\nHi {{ who }}\n{{ missing }}")
    result = run("render", "agent.md", "--var", "who=Ann")
    assert result.status == 1
    assert result.out == ""
    assert result.err.splitlines()[0] == "agent.md:6:4: P201 undefined variable `missing`"


def test_values_override_the_file(run: Run) -> None:
    """Single values win over the directive's slots, and those over the file's values."""
    write("t", "{{ a }}{{ b }}{{ c }}")
    write("v.json", '{"a": "file", "b": "file", "c": "file"}')
    result = run(
        *("render", "t", "--vars", "v.json", "--var", "c=var"),
        *("--directive", '{"b": "slot", "c": "slot"}'),
    )
    assert result == (0, "fileslotvar", "")


def test_a_directive_uses_the_operator_profile(run: Run) -> None:
    """With --directive the render is the operator path's: block tags leave their lines."""
    write("t", "{% if intent is defined %}\n{{ intent }}\n{% endif %}\n{{ directive }}\n")
    assert run("render", "t", "--directive", "do it").out == "\ndo it"
    assert run("render", "t", "--directive", "-", stdin=b'{"directive": "x"}').out == "\nx"
    assert run("render", "t", "--directive", "do it", "--profile", "strict").out == "do it\n"


def test_partials_come_from_the_folder(run: Run) -> None:
    """--partials names the folder that include reads; without it the tag is refused."""
    Path("parts").mkdir()
    write("parts/p.md", "part {{ x }}")
    write("t.md", "{% include 'p.md' %}!")
    assert run("render", "t.md", "--partials", "parts", "--var", "x=1").out == "part 1!"
    refused = run("render", "t.md", "--var", "x=1")
    assert refused.status == 1
    assert "P107" in refused.err
    assert "--partials" in refused.err


def test_output_is_written_whole_or_not_at_all(run: Run) -> None:
    """A failing render leaves the old file, and no other; a good one replaces it."""
    write("t", "{{ x }}")
    write("out.txt", "old")
    Path("out.txt").chmod(0o640)
    assert run("render", "t", "--output", "out.txt").status == 1
    assert Path("out.txt").read_text() == "old"
    assert run("render", "t", "--output", "out.txt", "--var", "x=new\r\n") == (0, "", "")
    assert Path("out.txt").read_bytes() == b"new\r\n"
    assert stat.S_IMODE(Path("out.txt").stat().st_mode) == 0o640
    assert sorted(os.listdir()) == ["out.txt", "t"]


def test_output_into_a_missing_folder_is_an_error(run: Run) -> None:
    """A file that cannot be written is named, with the reason."""
    write("t", "x")
    result = run("render", "t", "--output", "no/such/file")
    assert result.status == 1
    assert result.err.startswith("no/such/file: P801 cannot write the file: No such file")


def test_json_is_for_programs(run: Run) -> None:
    """--json gives the text and its facts, or the error, as one JSON value."""
    write("t", "{{ a }}{{ b | default('') }}")
    data = json.loads(run("render", "t", "--var", "a=ü", "--json").out)
    assert data == {
        "text": "ü",
        "template": "t",
        "profile": "strict",
        "characters": 1,
        "required": ["a"],
        "optional": ["b"],
        "warnings": [],
    }
    failed = run("render", "t", "--json")
    assert failed.status == 1
    assert json.loads(failed.out)["error"] == {
        "code": "P201",
        "kind": "undefined value",
        "message": "undefined variable `a`",
        "hint": None,
        "template": "t",
        "line": 1,
        "column": 4,
    }


def test_live_prints_the_template_and_says_so(run: Run) -> None:
    """A failing live template is printed as it stands, with a warning and exit code 1."""
    write("t", "{% if x %} never closed")
    result = run("render", "t", "--profile", "live")
    assert result.status == 1
    assert result.out == "{% if x %} never closed"
    assert result.err.startswith("warning: t: P207 the template is used as it stands: t:1:4: P101")


def test_late_front_matter_is_a_warning(run: Run) -> None:
    """A header below the first line is text, and the command says so."""
    write("t", "<!-- x -->\n---\nname: x\n---\nBody\n")
    result = run("render", "t")
    assert result.status == 0
    assert result.out == "<!-- x -->\n---\nname: x\n---\nBody\n"
    assert result.err.startswith("warning: t:2:1: P403 ")


# variables -----------------------------------------------------------------------------------


def test_vars_lists_names_with_their_lines(run: Run) -> None:
    """Required names come first, then optional ones, each with every line in the file."""
    write(
        "t", "---\nname: n\n---\n{{ a }}\n{{ b | default(1) }}{{ a }}\n{% for x in c %}{% endfor %}"
    )
    assert run("vars", "t").out == (
        "required  a  lines 4, 5\nrequired  c  line 6\noptional  b  line 5\n"
    )
    assert json.loads(run("vars", "t", "--json").out)["optional"] == [
        {"name": "b", "places": [{"template": "t", "line": 5}]}
    ]


def test_vars_of_a_text_without_tags(run: Run) -> None:
    """No variables are no error."""
    write("t", "plain")
    assert run("vars", "t") == (0, "The template reads no variables.\n", "")
    assert json.loads(run("vars", "t", "--json").out) == {"required": [], "optional": []}


def test_vars_depends_on_the_profile(run: Run) -> None:
    """An `if` that tests a name makes it optional where absent names are empty."""
    write("t", "{% if a %}{{ a }}{% endif %}")
    assert run("vars", "t").out.startswith("required  a")
    assert run("vars", "t", "--profile", "live").out.startswith("optional  a")


def test_vars_takes_the_headers_word(run: Run) -> None:
    """An input is required or optional as declared; one that is never read is not listed."""
    write(
        "t",
        "---\nname: n\ninputs:\n  a: string\n  b: {default: x}\n  c: {required: false}\n"
        "  d: string\n---\n{{ a | default(1) }}{{ b }}{{ c }}{{ e }}",
    )
    assert [line.split()[:2] for line in run("vars", "t").out.splitlines()] == [
        ["required", "a"],
        ["required", "e"],
        ["optional", "b"],
        ["optional", "c"],
    ]


def test_vars_reports_a_live_template_that_is_broken(run: Run) -> None:
    """No fallback hides a broken template here."""
    write("t", "{{ }}")
    result = run("vars", "t", "--profile", "live")
    assert (result.status, result.out) == (1, "")
    assert "P101" in result.err


# wrong usage -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "usage: cuecard"),
        (["--nope"], "unrecognized arguments"),
        (["rendr", "t"], "Did you mean `render`?"),
        (["render"], "required: FILE"),
        (["render", "t", "--profile", "loose"], "invalid choice: 'loose'"),
        (["render", "t", "--var", "novalue"], "--var takes NAME=VALUE"),
        (["render", "t", "--var", "=secret"], "--var takes NAME=VALUE"),
        (["render", "-", "--directive", "-"], "only once"),
        (["render", "t", "--prof", "strict"], "unrecognized arguments"),
    ],
)
def test_wrong_usage_exits_with_2(run: Run, arguments: list[str], words: str) -> None:
    """Wrong usage is told from a failed render by its exit code, and explained."""
    write("t", "x")
    result = run(*arguments)
    assert result.status == 2
    assert words in result.err
    assert "secret" not in result.err
    assert result.out == ""


# bad input ---------------------------------------------------------------------------------------

BAD_FILES: list[tuple[str, bytes, str]] = [
    ("not UTF-8", b"caf\xe9 {{ x }}", "t:1:4: P802 byte 4 is not UTF-8"),
    ("open header", b"---\nname: x\nbody", "t:1:1: P402 the front matter is not closed"),
    ("broken header", b"---\nname: [x\n---\nbody", "P401 the front matter is not valid YAML"),
    ("colon", b"---\nname: a\ndescription: A: b\n---\n", "t:3:1: P401 unquoted `: `"),
    ("double key", b"---\nname: a\nname: b\n---\n", "t:3:1: P401 `name` is given twice"),
    ("alias", b"---\na: &x [1]\nb: *x\n---\n", "P401 aliases are not supported"),
    ("unclosed", b"{{ x", "t:1:1: P101 the output is not closed"),
    ("operators", b"{{ x" + b" + x" * 10_000 + b" }}", "P111 the tag has more than 1,000 tokens"),
    ("elifs", b"{% if x %}" + b"{% elif x %}" * 20_000 + b"{% endif %}", "P112 an `if` has more"),
    ("itself", b"{% set ns = namespace() %}{% set ns.me = ns %}{{ ns }}", "P109 namespace `ns`"),
    ("width", b"{{ '{:>1000000000}'.format('x') }}", "P116 a width of more than"),
    (
        "loops",
        b"{% for i in range(99999) %}{% for j in range(99999) %}.{% endfor %}{% endfor %}",
        "P114 the render took more than 1,000,000 steps",
    ),
    ("large", b"x" * (1 << 20) + b"{{ x }}", "P110 the source is larger than"),
]


@pytest.mark.parametrize(
    ("content", "words"), [f[1:] for f in BAD_FILES], ids=[f[0] for f in BAD_FILES]
)
def test_a_bad_file_is_explained(run: Run, content: bytes, words: str) -> None:
    """Every malformed file gives one clear error, exit code 1, and nothing on standard output."""
    write("t", content)
    result = run("render", "t", "--var", "x=1")
    assert (result.status, result.out) == (1, "")
    assert words in result.err
    assert "Traceback" not in result.err


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("missing", "missing: P801 cannot read the file: No such file or directory"),
        (".", ".: P801 cannot read the file: Is a directory"),
        ("a\0b", "P801 cannot read the file"),
    ],
)
def test_a_file_that_cannot_be_read(run: Run, path: str, words: str) -> None:
    """The file is named, with the system's reason."""
    result = run("render", path)
    assert (result.status, result.out) == (1, "")
    assert words in result.err


def test_an_empty_file_is_an_empty_prompt(run: Run) -> None:
    """Nothing in, nothing out: an empty file is a valid template."""
    write("t", "")
    assert run("render", "t") == (0, "", "")
    assert run("render", "t", "--profile", "markdown") == (0, "\n", "")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'{"a": }', "v.json: P806 invalid JSON at line 1, column 7"),
        (b"", "v.json: P806 invalid JSON at line 1, column 1"),
        (b'{"a": NaN}', "v.json: P806 invalid JSON"),
        (b"[" * 100_000, "v.json: P806 invalid JSON"),
        (b"[1]", "v.json: P707 expected a JSON object"),
        (b'"\xff"', "v.json:1:2: P802"),
    ],
)
def test_bad_values_are_explained(run: Run, content: bytes, words: str) -> None:
    """A file of values that is no JSON object is named; none of it is shown."""
    write("t", "{{ a }}")
    write("v.json", content)
    result = run("render", "t", "--vars", "v.json")
    assert (result.status, result.out) == (1, "")
    assert words in result.err


def test_operator_takes_any_json_value(run: Run) -> None:
    """The profile `operator` binds a value that is no object to `value`."""
    write("t", "{{ value[1] }}")
    write("v.json", "[1, 2]")
    assert run("render", "t", "--vars", "v.json", "--profile", "operator").out == "2"


# the process -------------------------------------------------------------------------------


def command(*arguments: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """The command as a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "cuecard", *arguments], capture_output=True, timeout=60, **options
    )


def test_the_version_is_the_package_s() -> None:
    """--version prints the version of the package."""
    assert command("--version").stdout.decode() == f"cuecard {cuecard.__version__}\n"


def test_help_shows_examples() -> None:
    """Help is on standard output, exits with 0, and has examples."""
    for name in ("render", "vars", "explain", "diff", ""):
        result = command(*filter(None, (name, "--help")))
        assert result.returncode == 0
        assert b"examples:\n  " in result.stdout


def test_no_colours_without_a_terminal(tmp_path: Path) -> None:
    """Errors that go into a file have no escape sequences."""
    (tmp_path / "t").write_text("{{ x }}")
    result = command("render", "t", cwd=tmp_path)
    assert result.returncode == 1
    assert b"\x1b" not in result.stderr


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_long_prompt_goes_through_a_pipe(tmp_path: Path, unbuffered: str) -> None:
    """A pipe that takes less than the prompt at once gets all of it."""
    (tmp_path / "t").write_text("{% for i in range(50000) %}0123456789{% endfor %}")
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    assert len(command("render", "t", cwd=tmp_path, env=environment).stdout) == 500_000


def test_a_reader_that_goes_away_is_no_failure(tmp_path: Path) -> None:
    """A closed pipe ends the command without a traceback."""
    (tmp_path / "t").write_text("{% for i in range(50000) %}0123456789{% endfor %}")
    process = subprocess.Popen(
        [sys.executable, "-m", "cuecard", "render", "t"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(10)
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(60) == 1


def test_an_extra_of_which_nothing_is_installed(tmp_path: Path) -> None:
    """The package that is named is the extra's own, and not another that it brings."""
    code = (
        "import sys\n"
        "sys.modules.update(mcp=None, anyio=None)\n"
        "from cuecard.cli import main\n"
        "sys.exit(main(['mcp', '.']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[0] == "P807 this adapter needs the package `mcp`"
