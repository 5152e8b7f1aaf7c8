"""The pytest plugin: its fixtures, snapshots and marker, in test runs of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import syrupy

# Once, instead of in each of the runs.
import cuecard.lint
import cuecard.testing.snapshots  # noqa: F401

pytest_plugins = ["pytester"]

AGENT = """\
---
name: spoke
description: Helps at the counter of a bicycle workshop.
---
You are {{ agent_name }}, and you help {{ user_id }}.
{% for repair in repairs %}
- {{ repair }}
{% endfor %}
It is {{ current_time }} on {{ current_date }}.
"""

TESTS = """\
def test_prompt(render_prompt, prompt_snapshot):
    prompt = render_prompt("agent.md", "s1", "ann", repairs=["a red tandem", "a bell"])
    assert prompt == prompt_snapshot
"""

SNAPSHOT = """\
@ session agent_name, user_id (agent_metadata)
| You are spoke, and you help ann.
@ turn repairs
| - a red tandem
| - a bell
@ turn current_date, current_time (current_date)
| It is 09:30 on 2026-01-05.
|
"""

Run = Callable[..., pytest.RunResult]


@pytest.fixture(autouse=True)
def no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """The runs of the tests are runs of their own, and no workers of this one."""
    for name in [name for name in os.environ if "PYTEST_XDIST" in name]:
        monkeypatch.delenv(name)


@pytest.fixture
def run(pytester: pytest.Pytester) -> Run:
    """Runs the tests of a folder that has an agent, in this process."""
    pytester.path.joinpath("agent.md").write_text(AGENT, encoding="utf-8")

    def call(source: str | None = None, *options: str, conftest: str = "") -> pytest.RunResult:
        if source is not None:
            pytester.makepyfile(test_agent=source)
        if conftest:
            pytester.makeconftest(conftest)
        ours = syrupy._syrupy
        try:
            return pytester.runpytest_inprocess(
                *("-q", "-p", "no:cacheprovider", "-W", "error", *options)
            )
        finally:
            # syrupy knows one session at a time, and this run is part of ours.
            syrupy._syrupy = ours

    return call


def edit(file: str | Path, before: str, after: str) -> None:
    path = Path(file)
    text = path.read_text(encoding="utf-8")
    assert before in text
    path.write_text(text.replace(before, after), encoding="utf-8")


# loading -----------------------------------------------------------------------------------------


def test_costs_nothing_where_it_is_not_used() -> None:
    """What pytest loads imports no module besides the package itself."""
    code = (
        "import sys, pytest, cuecard\nbefore = set(sys.modules)\n"
        "import cuecard.pytest_plugin\nprint(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True, timeout=60
    )
    assert done.stdout.split() == ["cuecard.pytest_plugin"]


def test_is_registered(pytestconfig: pytest.Config) -> None:
    """pytest finds the plugin by itself, by its entry point."""
    plugin = pytestconfig.pluginmanager.get_plugin("cuecard")
    assert plugin is not None
    assert plugin.__name__ == "cuecard.pytest_plugin"


def test_fixtures_and_marker_are_described(run: Run) -> None:
    """`pytest --fixtures` and `--markers` say what there is to use."""
    fixtures = run("", "--fixtures").stdout.str()
    assert "render_prompt" in fixtures
    assert "no docstring" not in fixtures.partition("cuecard_clock")[2].partition("\n\n")[0]
    assert "@pytest.mark.cuecard_agent(*paths, ignore=())" in run("", "--markers").stdout.str()


# rendering ---------------------------------------------------------------------------------------


RENDERED = {
    "file_beside_the_test": (
        "render_prompt('agent.md', repairs=[]).text.startswith('You are spoke')"
    ),
    "path": "render_prompt(Path('agent.md'), repairs=[]).text.startswith('You are spoke')",
    "definition": "render_prompt(cuecard.load_agent('agent.md'), repairs=['x']).segments",
    "template": "render_prompt('{{ a }}|{{ b }}', a=1).text == '1|'",
    "session_and_user": (
        "render_prompt('{{ session_id }} {{ user_id }}', 's1', 'ann').text == 's1 ann'"
    ),
    "any_name": "render_prompt('{{ agent }} {{ session }}', agent=1, session=2).text == '1 2'",
    "fixed_time": "render_prompt('{{ current_datetime }}').text == '2026-01-05T09:30:00Z'",
    "clock_is_set": """not cuecard_clock.forward(days=1, minutes=1) and render_prompt(
        '{{ current_date }} {{ current_time }}').text == '2026-01-06 09:31'""",
    "notes": """not cuecard_store.append_note('spoke', 'ann', 'Tall.') and render_prompt(
        cuecard.parse_agent('---\\nname: spoke\\n---\\n{{ user_notes }}'), 's1', 'ann'
        ).text == 'Tall.'""",
    "todos": """not cuecard_store.set_todos('s1', [TodoItem('Ask')]) and render_prompt(
        '{{ todos[0].content }}', 's1').text == 'Ask'""",
    "renderer_itself": "cuecard_renderer.render('{{ agent_name }}.') == '.'",
}


def test_renders(run: Run) -> None:
    """Files, definitions and templates, with a clock and a store that tests set."""
    tests = "".join(
        f"def test_{name}(render_prompt, cuecard_clock, cuecard_store, "
        f"cuecard_renderer):\n    assert {code}\n"
        for name, code in RENDERED.items()
    )
    head = "import cuecard\nfrom cuecard.stores import TodoItem\nfrom pathlib import Path\n"
    run(head + tests).assert_outcomes(passed=len(RENDERED))


FAILURES = {
    'render_prompt("{{ a.b.c | no_such }}")': "unknown filter `no_such`",
    'render_prompt("{{ broken }}")': "provider `broken` failed: it raised `KeyError`",
    'render_prompt("none.md")': "none.md",
    "render_prompt(cuecard.parse_agent('---\\nprofile: live\\n---\\n{{ 1 // 0 }}'))": (
        "AssertionError: the prompt is not what it should be:"
    ),
    "render_prompt(cuecard.parse_agent('---\\nprofile: live\\n---\\n{{ broken }}'))": "P301",
}
BROKEN = """\
import cuecard, pytest

@cuecard.provider("broken")
def broken(request):
    raise KeyError("hunter2")

@pytest.fixture
def cuecard_providers():
    return [broken]
"""


def test_bad_prompts_fail(run: Run) -> None:
    """What a runtime would survive fails a test, and says why."""
    tests = "".join(
        f"def test_{number}(render_prompt):\n    {code}\n" for number, code in enumerate(FAILURES)
    )
    result = run(f"import cuecard\n{tests}", conftest=BROKEN)
    result.assert_outcomes(failed=len(FAILURES))
    shown = result.stdout.str()
    assert [said for said in FAILURES.values() if said not in shown] == []


def test_providers_of_a_project(run: Run) -> None:
    """A fixture of the project gives the renderer providers of its own."""
    conftest = BROKEN.replace('raise KeyError("hunter2")', 'return {"broken": "whole"}')
    source = "def test(render_prompt):\n    assert str(render_prompt('{{ broken }}')) == 'whole'\n"
    run(source, conftest=conftest).assert_outcomes(passed=1)


# snapshots ---------------------------------------------------------------------------------------


def snapshot_file(name: str = "test_prompt") -> Path:
    return Path("__snapshots__", "test_agent", f"{name}.prompt.txt")


def test_snapshot_is_readable(run: Run) -> None:
    """A snapshot is a file of the prompt's lines under what made them; without one a test fails."""
    run(TESTS).assert_outcomes(failed=1)
    run(None, "--snapshot-update").assert_outcomes(passed=1)
    assert snapshot_file().read_text(encoding="utf-8") == SNAPSHOT
    run(None).assert_outcomes(passed=1)


def test_changed_prompt_is_explained(run: Run) -> None:
    """The failure shows the changed lines, each under its scope, variables and providers."""
    run(TESTS, "--snapshot-update")
    edit("test_agent.py", "a bell", "a horn")
    edit("agent.md", " on {{ current_date }}", "")
    result = run(None, "-vv")
    result.assert_outcomes(failed=1)
    lines = [line[10:] for line in result.stdout.lines if line.startswith("E  ")]
    assert lines[1:] == [
        "  @ turn repairs",
        "- | - a bell",
        "+ | - a horn",
        "- @ turn current_date, current_time (current_date)",
        "- | It is 09:30 on 2026-01-05.",
        "+ @ turn current_time (current_date)",
        "+ | It is 09:30.",
    ]
    run(None, "--snapshot-update").assert_outcomes(passed=1)
    assert "| - a horn\n" in snapshot_file().read_text(encoding="utf-8")
    run(None).assert_outcomes(passed=1)


def test_scope_alone_is_a_change(run: Run) -> None:
    """A text that stays but may change more often is a difference too: it costs the cache."""
    conftest = BROKEN.replace('raise KeyError("hunter2")', 'return {"broken": "whole"}').replace(
        '"broken")', '"broken", scope=cuecard.Scope.SESSION)'
    )
    source = TESTS.replace('"agent.md"', '"{{ broken }}."').replace(", repairs=", ", x=")
    run(source, "--snapshot-update", conftest=conftest).assert_outcomes(passed=1)
    edit("conftest.py", "SESSION", "TURN")
    result = run(None, "-vv")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E*- @ session broken (broken)", "E*+ @ turn broken (broken)"])


def test_several_snapshots_in_a_test(run: Run) -> None:
    """Turns of a test are numbered or named; a removed one is unused, and deleted by an update."""
    source = (
        "def test_prompt(prompt_snapshot):\n"
        "    assert 'one' == prompt_snapshot\n"
        "    assert 'two' == prompt_snapshot(name='second')\n"
    )
    run(source, "--snapshot-update")
    assert snapshot_file().read_text(encoding="utf-8") == "| one\n"
    assert snapshot_file("test_prompt[second]").read_text(encoding="utf-8") == "| two\n"
    edit("test_agent.py", "    assert 'two' == prompt_snapshot(name='second')", "")
    assert "1 snapshot unused" in run(None).stdout.str()
    run(None, "--snapshot-update")
    assert not snapshot_file("test_prompt[second]").exists()


def test_only_prompts_and_texts(run: Run) -> None:
    """Another value is refused, by its type."""
    result = run("def test(prompt_snapshot):\n    assert 1 == prompt_snapshot\n")
    result.assert_outcomes(failed=1)
    assert "expected a `Prompt` or a text, got `int`" in result.stdout.str()


@pytest.mark.parametrize(
    ("conftest", "state"),
    [("import sys\nsys.modules['syrupy'] = None", "not installed"), ("", "switched off")],
    ids=["missing", "off"],
)
def test_without_syrupy(conftest: str, state: str, run: Run) -> None:
    """The failure names the extra; what needs no snapshot works."""
    source = TESTS + "def test_other(render_prompt):\n    assert str(render_prompt('a')) == 'a'\n"
    result = run(source, "-p", "no:syrupy", conftest=conftest)
    result.assert_outcomes(errors=1, passed=1)
    result.stdout.fnmatch_lines([f"*P807*`syrupy`, which is {state}*'cuecard[[]testing]'*"])


def test_with_xdist(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several processes write and compare the snapshots of one file of tests."""
    pytester.path.joinpath("agent.md").write_text(AGENT, encoding="utf-8")
    tests = "".join(TESTS.replace("test_prompt", f"test_{n}", 1) for n in range(6))
    pytester.makepyfile(test_agent=tests)
    # Other plugins would take more time to load than the run takes.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    options = [f"-p{name}" for name in ("xdist", "syrupy", "cuecard.pytest_plugin")]
    for option in ("--snapshot-update", "-q"):
        result = pytester.runpytest_subprocess(*options, "-n2", option)
        result.assert_outcomes(passed=6)
        texts = [path.read_text(encoding="utf-8") for path in Path().glob("__snapshots__/*/*")]
        assert texts == [SNAPSHOT] * 6


# the marker --------------------------------------------------------------------------------------

MARKED = "import pytest\n@pytest.mark.cuecard_agent({})\ndef test_agent():\n    pass\n"


def test_clean_agent_file(run: Run, pytester: pytest.Pytester) -> None:
    """A file with nothing to find passes, beside the test or from the root folder."""
    pytester.makefile(".toml", cuecard="variables = { repairs = 'turn' }")
    run(MARKED.format('"agent.md"')).assert_outcomes(passed=1)
    run(MARKED.format('"none.md", "agent.md"')).assert_outcomes(failed=1)
    pytester.mkdir("deep").joinpath("test_deep.py").write_text(MARKED.format("'agent.md'"))
    run(None, "deep").assert_outcomes(passed=1)


def test_findings_fail(run: Run) -> None:
    """Each finding is shown with its code, line, caret and hint; codes may be left out."""
    edit("agent.md", "{{ agent_name }}", "{{ agent_nam }}, {{ x | upcase }}")
    result = run(MARKED.format('"agent.md"'))
    result.assert_outcomes(failed=1)
    shown = result.stdout.str()
    assert "agent.md:5:" in shown
    assert "P103 unknown filter `upcase`" in shown
    assert "^^^^^^" in shown
    assert "def test_agent" not in shown
    run(MARKED.format('"agent.md", ignore="P"')).assert_outcomes(passed=1)
    run(MARKED.format('"agent.md", ignore=["P1", "P2"]')).assert_outcomes(passed=1)


@pytest.mark.parametrize("arguments", ["", '"agent.md", strict=True'])
def test_marker_is_used_wrongly(arguments: str, run: Run) -> None:
    """Without a file, or with an unknown option, the test fails: it would check nothing."""
    result = run(MARKED.format(arguments))
    result.assert_outcomes(failed=1)
    assert "cuecard_agent takes files, and `ignore`" in result.stdout.str()
