"""What `cuecard.testing` gives: recorded turns, the cached front, a store, and outlines."""

from __future__ import annotations

import datetime
import json
import os
import threading
from collections import namedtuple
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cuecard
from cuecard import LIVE, STRICT, PromptError, Scope
from cuecard.agents import Input
from cuecard.renderer import Observed
from cuecard.testing import FixedClock, MemoryStore, Recorder, assert_cache_prefix, record
from cuecard.testing.outlining import changes, outlined
from cuecard.tokens import find_counter

from .live_providers import SECRET, Clock, Counted, agent, live, renderer
from .running import Run

AGENT = """\
---
name: spoke
profile: live
---
You are {{ agent_name }}, and you help {{ user_id }}.
{% for repair in repairs %}
- {{ repair.number }}: {{ repair.bicycle }}{% if repair.due %}, due {{ repair.due }}{% endif %}

{% endfor %}
{{ user_notes }}
It is {{ current_time }}. {{ absent.chain }}{{ price | tojson }}
"""


@dataclass
class Repair:
    """A value of a class, as programs have them."""

    number: int
    bicycle: str
    due: datetime.date | None = None


REPAIRS = [
    Repair(4711, "a “red” tandem\u2028{{ x }}", datetime.date(2026, 12, 1)),
    Repair(1, "é\n"),
]


def shop(clock: Clock) -> cuecard.PromptRenderer:
    repairs = Counted("shop", {"repairs": Scope.SESSION}, {"repairs": REPAIRS})
    return cuecard.PromptRenderer(
        [repairs], store=MemoryStore(), clock=clock, zone=datetime.UTC, entry_points=False
    )


def turns(file: str | Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(file).read_text(encoding="utf-8").split("\n") if line]


def recorded(file: Path, template: str, values: dict[str, Any], **options: Any) -> dict[str, Any]:
    """What is recorded of one turn."""
    rendering = renderer()
    with record(rendering, file, **options):
        rendering.render(template, extra_vars=values)
    (turn,) = turns(file)
    return turn


# replaying ---------------------------------------------------------------------------------------


def test_replay_gives_the_same_prompts(run: Run) -> None:
    """`cuecard explain --turns` reads the file, and each line renders to the turn's prompt."""
    clock = Clock()
    rendering = shop(clock)
    Path("agent.md").write_text(AGENT, encoding="utf-8")
    definition = cuecard.load_agent("agent.md")
    prompts = []
    with record(rendering, "turns.jsonl") as recorder:
        for number in range(3):
            extra = {"price": {"net": 2**70 + number, "gross": 1.5, "none": None}}
            prompts.append(rendering.render(definition, "s1", "ann", extra))
            clock.forward(minutes=15)
    assert (recorder.turns, recorder.missed) == (3, 0)
    template = cuecard.Template(definition.source, profile=LIVE)
    assert [template.render(turn) for turn in turns("turns.jsonl")] == prompts
    result = run("explain", "agent.md", "--turns", "turns.jsonl", "--json", "--tokens", "estimate")
    assert result.status == 0
    assert [line for line in result.err.splitlines() if "`absent`" not in line] == []
    series = json.loads(result.out)
    assert [turn["characters"] for turn in series["turns"]] == [len(p) for p in prompts]
    assert "current_time" in result.out


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_async_turns_are_recorded(backend: str, tmp_path: Path) -> None:
    """Asynchronous renders are recorded as plain ones are, also of many tasks at once."""
    rendering = live()
    template = "{{ session_id }} {{ n }}"

    async def turn(number: int) -> None:
        await rendering.arender(template, f"s{number}", None, {"n": number})
        await rendering.aprompt(template, f"s{number}", None, {"n": number})

    async def all_turns() -> None:
        async with anyio.create_task_group() as group:
            for number in range(20):
                group.start_soon(turn, number)

    with record(rendering, tmp_path / "turns.jsonl"):
        anyio.run(all_turns, backend=backend)
    found = sorted(turn["n"] for turn in turns(tmp_path / "turns.jsonl"))
    assert found == sorted([*range(20), *range(20)])


def test_threads_write_whole_lines(tmp_path: Path) -> None:
    """Lines of many threads, and of two recorders of one file, are never mixed."""
    file = tmp_path / "turns.jsonl"
    renderers = [renderer(), renderer()]

    def work(number: int) -> None:
        for turn in range(20):
            extra = {"n": number, "text": "é" * 5000 * turn}
            renderers[number % 2].render("{{ n }}{{ text }}", extra_vars=extra)

    with record(renderers[0], file), record(renderers[1], file):
        threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    found = turns(file)
    assert sorted(turn["n"] for turn in found) == sorted(list(range(6)) * 20)
    assert {len(turn["text"]) for turn in found} == {5000 * turn for turn in range(20)}


def test_only_what_is_read_is_recorded(tmp_path: Path) -> None:
    """A value that the template does not read is not written, however it came."""
    turn = recorded(tmp_path / "t", "{{ a }}{{ gone }}", {"a": 1, "b": SECRET})
    assert turn == {"a": 1}


def test_turns_that_fail_are_recorded(tmp_path: Path) -> None:
    """What is to be replayed is above all what went wrong."""
    file = tmp_path / "turns.jsonl"
    rendering = renderer()
    broken = "{{ a }}{{ 1 // zero }}"
    with record(rendering, file), pytest.warns(cuecard.FallbackWarning):
        assert rendering.render(broken, extra_vars={"a": 1, "zero": 0}) == broken
    strict = renderer(profile=STRICT)
    with record(strict, file), pytest.raises(PromptError):
        strict.render("{{ a }}{{ b }}", extra_vars={"a": 2})
    assert turns(file) == [{"a": 1, "zero": 0}, {"a": 2}]


INPUTS = (Input("tone", required=False, default="calm"), Input("task"))


def test_declared_inputs_are_recorded_with_their_defaults(tmp_path: Path) -> None:
    """A default of the header is part of what the prompt was made from."""
    definition = agent("{{ tone }} {{ task }}", inputs=INPUTS)
    rendering = renderer()
    with record(rendering, tmp_path / "t"):
        rendering.render(definition, extra_vars={"task": "x"})
    assert turns(tmp_path / "t") == [{"task": "x", "tone": "calm"}]


def test_agent_and_session_are_chosen(tmp_path: Path) -> None:
    """A file may hold the turns of one agent, or of one session."""
    rendering = live()
    definitions = [agent("{{ session_id }}", name=name) for name in ("spoke", "wheel")]
    with (
        record(rendering, tmp_path / "agent", agent="spoke"),
        record(rendering, tmp_path / "session", session="s2"),
    ):
        for definition in definitions:
            for session in ("s1", "s2"):
                rendering.render(definition, session)
        rendering.render("{{ session_id }}", "s3")
    assert [turn["session_id"] for turn in turns(tmp_path / "agent")] == ["s1", "s2"]
    assert [turn["session_id"] for turn in turns(tmp_path / "session")] == ["s2", "s2"]


# redacting ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        *("token", "access_token", "apiKey", "API_KEY", "api-key", "clientSecret", "DB_PASSWORD"),
        *("passwd", "Authorization", "set-cookie", "credentials", "private_key", "tokens"),
    ],
)
def test_names_of_secrets(name: str, tmp_path: Path) -> None:
    """Texts and numbers under a telling name are left out at any depth; the form stays."""
    value = {name: {"a": [SECRET, 4711, None, True, ""], "b": SECRET}, "c": 1}
    turn = recorded(tmp_path / "t", "{{ x }}", {"x": value})
    left = "[redacted]"
    assert turn == {"x": {name: {"a": [left, left, None, True, ""], "b": left}, "c": 1}}
    assert SECRET not in (tmp_path / "t").read_text()


def test_variable_that_is_a_secret(tmp_path: Path) -> None:
    """A variable of the template counts as a name, too; patterns may be others."""
    values = {"api_key": SECRET, "iban": SECRET}
    template = "{{ api_key }}{{ iban }}"
    turn = recorded(tmp_path / "t", template, values, secrets=("iban",))
    assert turn == {"api_key": SECRET, "iban": "[redacted]"}
    turn = recorded(tmp_path / "u", template, values)
    assert turn == {"api_key": "[redacted]", "iban": SECRET}


def test_redaction_by_name_and_value(tmp_path: Path) -> None:
    """The hook sees each value with its dotted name, but for what is left out anyway."""
    seen: list[str] = []

    def redact(name: str, value: Any) -> Any:
        seen.append(name)
        if name == "user.email":
            return "someone@example.org"
        return value.replace(SECRET, "…") if isinstance(value, str) else value

    user = {"email": "ann@example.org", "token": SECRET, "tags": [f"a {SECRET}", {"z": SECRET}]}
    turn = recorded(tmp_path / "t", "{{ user }}", {"user": user}, redact=redact)
    tags = ["a …", {"z": "…"}]
    assert turn["user"] == {"email": "someone@example.org", "token": "[redacted]", "tags": tags}
    assert seen == ["user", "user.email", "user.tags", "user.tags", "user.tags", "user.tags.z"]


def test_recording_does_not_change_values(tmp_path: Path) -> None:
    """The turn is rendered with the secret, and the caller's data stays as it is."""
    rendering = renderer()
    value = {"token": "abc", "list": [1]}
    with record(rendering, tmp_path / "t", redact=lambda name, value: "x"):
        for _ in range(3):
            assert rendering.render("{{ v.token }}", extra_vars={"v": value}) == "abc"
    assert value == {"token": "abc", "list": [1]}
    assert turns(tmp_path / "t") == [{"v": "x"}] * 3


# failures and limits -----------------------------------------------------------------------------


def test_broken_hook_leaves_the_turn_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A hook that raises, or gives what is no data, costs the line; the log names no value."""
    rendering = renderer()

    def redact(name: str, value: Any) -> Any:
        if value == "object":
            return object()
        raise ValueError(SECRET)

    with record(rendering, tmp_path / "t", redact=redact) as recorder:
        for value in ("x", "object"):
            assert rendering.render("{{ a }}", extra_vars={"a": value}) == value
    assert (recorder.turns, recorder.missed) == (0, 2)
    assert (tmp_path / "t").read_bytes() == b""
    assert caplog.messages == ["a turn could not be recorded: it raised `ValueError`"]


def test_values_are_bounded(tmp_path: Path) -> None:
    """A variable that is too large is replaced by a text, the others are there."""
    values = {"a": "é" * 60, "b": "x" * 60}
    turn = recorded(tmp_path / "t", "{{ a }}{{ b }}", values, max_value=100)
    assert turn == {"a": "[left out: too large]", "b": "x" * 60}


def test_value_that_is_no_data(tmp_path: Path) -> None:
    """What no template can take is not there, and what was said about it is in no file."""
    rendering = renderer()
    with record(rendering, tmp_path / "t"), pytest.warns(cuecard.FallbackWarning):
        rendering.render("{{ a }}{{ b }}", extra_vars={"a": object(), "b": float("inf")})
    assert turns(tmp_path / "t") == [{"b": "inf"}]


def test_file_is_bounded(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A full file takes no more lines, and no part of one; the log says so once."""
    rendering = renderer()
    with record(rendering, tmp_path / "t", max_file=25) as recorder:
        for number in range(5):
            rendering.render("{{ n }}", extra_vars={"n": number})
    assert turns(tmp_path / "t") == [{"n": 0}, {"n": 1}]
    assert (recorder.turns, recorder.missed) == (2, 3)
    assert caplog.messages == ["a turn could not be recorded: the file is full"]


def test_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The part of a line that still fits is taken back, and the next line is whole."""
    rendering = renderer()
    write = os.write
    with record(rendering, tmp_path / "t") as recorder:
        rendering.render("{{ n }}", extra_vars={"n": 1})
        monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:3]))
        rendering.render("{{ n }}", extra_vars={"n": 2})
        monkeypatch.undo()
        rendering.render("{{ n }}", extra_vars={"n": 3})
    assert turns(tmp_path / "t") == [{"n": 1}, {"n": 3}]
    assert (recorder.turns, recorder.missed) == (2, 1)


def test_file_is_added_to(tmp_path: Path) -> None:
    """An earlier recording stays; a last line without its end gets one. The file is private."""
    file = tmp_path / "turns.jsonl"
    recorded(file, "{{ n }}", {"n": 1})
    assert file.stat().st_mode & 0o777 == 0o600
    file.write_bytes(file.read_bytes().rstrip())
    rendering = renderer()
    with record(rendering, file):
        rendering.render("{{ n }}", extra_vars={"n": 2})
    assert file.read_text() == '{"n": 1}\n{"n": 2}\n'


def test_file_that_cannot_be_written(tmp_path: Path) -> None:
    """The error names the file, and nothing observes the renderer."""
    rendering = renderer()
    with pytest.raises(PromptError, match="cannot write the file") as caught:
        record(rendering, tmp_path / "none" / "t")
    assert caught.value.code == "P801"
    assert rendering._observers.present == ()


def test_closing(tmp_path: Path) -> None:
    """A closed recorder records nothing, and may be closed again."""
    rendering = renderer()
    recorder = record(rendering, tmp_path / "t")
    rendering.render("{{ n }}", extra_vars={"n": 1})
    recorder.close()
    recorder.close()
    rendering.render("{{ n }}", extra_vars={"n": 2})
    recorder.take({"n": 3})
    assert turns(tmp_path / "t") == [{"n": 1}]
    assert recorder.missed == 0
    assert isinstance(recorder, Recorder)


DATA = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.sampled_from(["a", "b", "items", "é \n"]), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(value=DATA)
def test_every_value_replays(value: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Plain data is recorded so that it renders to the same text."""
    file = tmp_path_factory.mktemp("turns") / "t"
    template = cuecard.Template("{{ v }}|{{ v | tojson }}|{% for x in [v] %}{{ x }}{% endfor %}")
    turn = recorded(file, template.source.text, {"v": value})
    assert template.render(turn) == template.render(v=value)


# observing ---------------------------------------------------------------------------------------


def test_observer_is_told_of_each_turn() -> None:
    """An observer gets the agent, the request and the values read, until it is ended."""
    rendering = live()
    seen: list[Observed] = []
    end = rendering.observe(seen.append)
    definition = agent("{{ agent_name }} {{ user_id }} {{ x }}")
    rendering.render(definition, "s1", "ann", {"x": [1], "y": 2})
    rendering.prompt("no variables")
    rendering.render(definition, "s1", "ann", {"x": [2]})
    end()
    rendering.render(definition, "s1", "ann", {"x": [3]})
    assert [each.values["x"] for each in seen] == [[1], [2]]
    assert seen[0].definition is definition
    assert (seen[0].request.session_id, seen[0].request.user_id) == ("s1", "ann")
    assert dict(seen[0].values) == {"agent_name": definition.name, "user_id": "ann", "x": [1]}


def test_observer_that_raises(caplog: pytest.LogCaptureFixture) -> None:
    """The turn and the other observers do not notice; the log names the kind only."""
    rendering = renderer(profile=STRICT)
    seen: list[Observed] = []

    def broken(observed: Observed) -> None:
        raise KeyError(SECRET)

    rendering.observe(broken)
    rendering.observe(seen.append)
    assert rendering.render("{{ a }}", extra_vars={"a": 1}) == "1"
    assert len(seen) == 1
    assert caplog.messages == ["an observer of the renderer raised `KeyError`"]


# the cached front --------------------------------------------------------------------------------

SCOPES = {"name": Scope.STATIC, "notes": Scope.SESSION}
TEMPLATE = cuecard.Template("You are {{ name }}.\n{{ notes }}\nIt is {{ now }}.\n", scopes=SCOPES)


def prompt(**values: str) -> cuecard.Prompt:
    return TEMPLATE.trace({"name": "Argus", "notes": "none", "now": "13:05", **values})


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"at_least": 0},
        {"at_least": 30},
        {"at_least": 0.7},
        {"at_least": 7, "unit": "tokens", "counter": find_counter("estimate")},
        {"at_least": 0.6, "unit": "tokens", "counter": find_counter("estimate")},
        {"unit": "tokens", "counter": find_counter("estimate")},
    ],
)
def test_front_that_is_long_enough(options: dict[str, Any]) -> None:
    """A number of characters or tokens, a part, or what the scopes promise."""
    assert_cache_prefix(prompt(), prompt(now="13:06"), **options)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "15 characters, and 27 are wanted"),
        ({"at_least": 16}, "15 characters, and 16 are wanted"),
        ({"at_least": 0.5}, "44.1% of the later prompt, and 50.0% are wanted"),
        (
            {"at_least": 5, "unit": "tokens", "counter": find_counter("estimate")},
            "4 tokens, and 5 are wanted",
        ),
    ],
)
def test_front_that_is_too_short(options: dict[str, Any], said: str) -> None:
    """The failure says how much is missing, where the fronts part, and who is to blame."""
    with pytest.raises(AssertionError) as caught:
        assert_cache_prefix(prompt(), prompt(notes="rides"), **options)
    assert str(caught.value).splitlines() == [
        f"the prompts begin with the same {said}",
        "they part at character 15 (line 2, column 1)",
        "there stands an output (line 2 of system), which holds for: session; it reads `notes`",
        "  before: You are Argus.⏎none⏎It is 13:05.⏎",
        "  after:  You are Argus.⏎rides⏎It is 13:05.⏎",
    ]


def test_provider_is_to_blame() -> None:
    """A provider that promised a session and gave something else is named."""
    clock = FixedClock()
    liar = Counted("liar", None, lambda request: {"x": str(request.now)})
    rendering = renderer(liar, clock=clock)
    before = rendering.prompt("{{ agent_name }}: {{ x }}", "s1")
    clock.forward(hours=1)
    with pytest.raises(AssertionError, match="it reads `x`, from `liar`"):
        assert_cache_prefix(
            before, rendering.prompt("{{ agent_name }}: {{ x }}", "s1"), at_least=1.0
        )


def test_equal_prompts_that_are_short() -> None:
    """Equal prompts may still be shorter than a provider caches."""
    with pytest.raises(AssertionError, match="and 1,024 are wanted; they are equal"):
        assert_cache_prefix(prompt(), prompt(), at_least=1024)
    assert_cache_prefix(prompt(), prompt(), at_least=1.0)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"at_least": True}, TypeError),
        ({"at_least": "9"}, TypeError),
        ({"at_least": -1}, ValueError),
        ({"at_least": 1.5}, ValueError),
        ({"at_least": float("nan")}, ValueError),
        ({"unit": "bytes"}, ValueError),
    ],
)
def test_wrong_lengths(options: dict[str, Any], error: type[Exception]) -> None:
    """What cannot be meant is no assertion, and raises even for equal prompts."""
    with pytest.raises(error):
        assert_cache_prefix(prompt(), prompt(), **options)


# the store ---------------------------------------------------------------------------------------


def test_memory_store_keeps_texts() -> None:
    """Notes, profiles and lists are kept by their keys, until they are removed."""
    with MemoryStore() as store:
        store.append_note("a", "u", "one")
        store.append_note("a", "u", "two")
        store.set_profile("u", "tall")
        assert (store.notes("a", "u"), store.notes("b", "u")) == ("one\ntwo", None)
        assert store.profile("u") == "tall"
        store.set_notes("a", "u", None)
        assert store.notes("a", "u") is None
        assert store.todos("s") == ()


@given(st.lists(st.sampled_from(["x", "y", None, "append"]), max_size=12))
def test_memory_store_stamps(writes: list[str | None]) -> None:
    """Equal stamps mean equal texts, and None means no text."""
    store = MemoryStore()
    texts: dict[Any, str | None] = {}
    for text in writes:
        if text == "append":
            store.append_note("a", "u", "z")
        else:
            store.set_notes("a", "u", text)
        stamp, now = store.stamp("a", "u").notes, store.notes("a", "u")
        assert (stamp is None) == (now is None)
        assert texts.setdefault(stamp, now) == now


def test_memory_store_loses_no_note() -> None:
    """Concurrent writers lose nothing."""
    store = MemoryStore()

    def write(number: int) -> None:
        for _ in range(100):
            store.append_note("a", "u", f"{number}")

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len((store.notes("a", "u") or "").splitlines()) == 800


# outlines ----------------------------------------------------------------------------------------


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r␍")), st.text("ab\n"))
def test_outline_holds_the_text(name: str, notes: str) -> None:
    """The lines of an outline, without their headings, are the text."""
    made = prompt(name=name, notes=notes)
    lines = outlined(made).split("\n")
    text = "\n".join(line[2:] for line in lines if not line.startswith("@ "))
    assert text == made.text


@given(st.lists(st.sampled_from(["@ turn a", "@ day b", "| x", "| y", "|"])), st.data())
def test_changes_are_complete(old: list[str], data: st.DataObject) -> None:
    """There are changes when texts differ, and each removed or added line is one of theirs."""
    new = data.draw(st.lists(st.sampled_from(["@ turn a", "@ day b", "| x", "| z", "|"])))
    before, after = "\n".join(old), "\n".join(new)
    lines = list(changes(before, after))
    assert (not lines) == (before == after)
    assert {line[2:] for line in lines if line[0] == "-"} <= set(before.split("\n"))
    assert {line[2:] for line in lines if line[0] == "+"} <= set(after.split("\n"))
    removed = sum(line[0] == "-" for line in lines)
    added = sum(line[0] == "+" for line in lines)
    assert len(before.split("\n")) - removed == len(after.split("\n")) - added


def test_long_lines_are_cut() -> None:
    """Of a long line the surroundings of the change are shown."""
    lines = list(changes("| " + "a" * 500 + "b" + "c" * 500, "| " + "a" * 500 + "d" + "c" * 500))
    assert len(lines) == 2
    assert all(len(line) < 140 for line in lines)
    assert all(line[2:].startswith("| …aaa") for line in lines)
    assert ["abc" in line for line in lines] == [True, False]
    assert ["adc" in line for line in lines] == [False, True]


Pair = namedtuple("Pair", "left right")


def test_named_tuples_are_lists(tmp_path: Path) -> None:
    """JSON has no named tuples: their names are lost, their items are not."""
    assert recorded(tmp_path / "t", "{{ p[0] }}", {"p": Pair(1, 2)}) == {"p": [1, 2]}
