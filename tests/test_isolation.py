"""Isolation: whatever a template does to its worker, one call fails, and says how."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

import cuecard
from cuecard import Isolation
from cuecard.isolation import process as process_module
from cuecard.isolation.pipes import BlockingPipes

from .generated_templates import contexts, templates

ATTACKS = "tests.isolation_attacks:"
UNBOUND = cuecard.Limits(
    source=1 << 24,
    tags=1 << 30,
    tag_tokens=1 << 30,
    elifs=1 << 30,
    nesting=1 << 30,
    fuel=1 << 50,
    output=1 << 50,
    width=1 << 30,
    depth=1 << 20,
    nodes=1 << 50,
)
UNBOUND_PROFILE = replace(cuecard.STRICT, limits=UNBOUND)
LOOPS = "{% for i in range(9000) %}" * 3 + "{% endfor %}" * 3
DOUBLED_TEXT = (
    "{% set ns = namespace(s='xxxxxxxx') %}{% for i in range(60) %}"
    "{% set ns.s = ns.s ~ ns.s %}{% endfor %}{{ ns.s | length }}"
)
BRANCHES = "{% if 0 %}" + "{% elif 0 %}" * 10_000 + "{% endif %}"


@pytest.fixture(scope="module")
def shared() -> Iterator[Isolation]:
    """Workers for the tests that leave them alone, with time for a busy machine."""
    with Isolation(2, seconds=30) as isolation:
        yield isolation


@pytest.fixture(scope="module")
def hasty() -> Iterator[Isolation]:
    """Workers for the tests that attack them."""
    with Isolation(2, seconds=1.5, memory=128 << 20, answer=1 << 20) as isolation:
        yield isolation


@pytest.fixture(params=["polled", "blocking"])
def either(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Isolation]:
    """Workers whose pipes are polled, and those as on a system where that cannot be done."""
    if request.param == "blocking":
        monkeypatch.setattr(process_module, "pipes_for", BlockingPipes)
    with Isolation(1, seconds=1, memory=128 << 20, answer=1 << 20) as isolation:
        yield isolation


def outcome(call: Callable[[], str]) -> tuple[Any, ...]:
    """The text of a render with its warnings, or all that is known about its error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result: tuple[Any, ...] = ("text", call())
        except cuecard.PromptError as error:
            more = {k: v for k, v in vars(error).items() if k != "partial"}
            result = (type(error), str(error), error.report(), more)
    return (*result, *((w.category, str(w.message)) for w in caught))


def exists(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True


def gone(pids: list[int], seconds: float = 20) -> bool:
    """Whether these processes end in time, and are no zombies either."""
    ends = time.monotonic() + seconds
    while any(map(exists, pids)) and time.monotonic() < ends:
        time.sleep(0.01)
    return not any(map(exists, pids))


def runs(number: int) -> bool:
    try:
        stat = Path(f"/proc/{number}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def ends_soon(number: int) -> bool:
    ends = time.monotonic() + 20
    while runs(number) and time.monotonic() < ends:
        time.sleep(0.02)
    return not runs(number)


# what a render gives ------------------------------------------------------------------------------


class Point(NamedTuple):
    x: int
    y: Any


class Unreadable(dict[str, Any]):
    def __getitem__(self, name: str) -> Any:
        raise ValueError("a value")


RENDERS: dict[str, tuple[str, Any, cuecard.Profile]] = {
    "text": ("no tag\n", None, cuecard.STRICT),
    "value": ("{{ x }} é 日本 😀", {"x": "é\0"}, cuecard.STRICT),
    "types": (
        "{{ x | tojson }}",
        {"x": [None, True, 1, -1, 1.0, 1e300, "t", {"1": 1, 2: 2, True: 3, 1.5: 4}, (), {3, 1}]},
        cuecard.STRICT,
    ),
    "numbers": (
        "{{ a }} {{ b }} {{ c }}",
        {"a": 2**63, "b": -(2**200), "c": 2**64},
        cuecard.STRICT,
    ),
    "named tuple": (
        "{{ p.x }} {{ p[1].x }} {{ p }}",
        {"p": Point(1, Point(2, None))},
        cuecard.STRICT,
    ),
    "set of named tuples": ("{{ p }}", {"p": {Point(2, 1), Point(1, 2)}}, cuecard.STRICT),
    "path": ("{{ p }}", {"p": Path("a/b")}, cuecard.STRICT),
    "null": ("{{ x }}{{ x is none }}{{ [x] }}", {"x": None}, cuecard.STRICT),
    "record": ("{{ x }}", Point(1, 2), cuecard.STRICT),
    "profile with an end": ("{{ x }}  \n\n", {"x": 1}, cuecard.MARKDOWN),
    "value of a slot": ("{{ value }}", [1, None], cuecard.OPERATOR),
    "no slots": ("{{ value is none }}", None, cuecard.OPERATOR),
    "syntax": ("{% for", None, cuecard.STRICT),
    "syntax, live": ("{% for", None, cuecard.LIVE),
    "unknown filter": ("\n {{ x | nofilter }}", {"x": 1}, cuecard.STRICT),
    "undefined": ("{{ a }}{{ nmae }}", {"name": object()}, cuecard.STRICT),
    "undefined, live": ("{{ a.b.c }}", {}, cuecard.LIVE),
    "raised": ("{{ raise_exception('é') }}", {}, cuecard.STRICT),
    "partials": ("{% include 'x' %}", {}, cuecard.STRICT),
    "fuel": (LOOPS, {}, cuecard.STRICT),
    "unread object": ("{{ x }}", {"x": 1, "y": object(), 3: 4, "\udc80": 1}, cuecard.STRICT),
    "read object": (
        "{{ x }}{{ b }}{{ a.c }}",
        {"a": {"c": [object()]}, "b": print},
        cuecard.STRICT,
    ),
    "read object, live": ("{{ b }}", {"b": b"x"}, cuecard.LIVE),
    "deep": (
        "{{ x.y }}",
        {"x": {"y": [[[[1]]]]}},
        replace(cuecard.STRICT, limits=cuecard.Limits(depth=3)),
    ),
    "many": ("{{ x }}", {"x": [0] * 20}, replace(cuecard.STRICT, limits=cuecard.Limits(nodes=9))),
    "long": ("{{ x }}", {"x": "t" * 99}, replace(cuecard.STRICT, limits=cuecard.Limits(output=9))),
    "large source": ("{{ x }}" * 9, {}, replace(cuecard.STRICT, limits=cuecard.Limits(source=9))),
    "no mapping": ("{{ x }}", 3, cuecard.STRICT),
    "no mapping, no tag": ("x", 3, cuecard.STRICT),
    "no mapping, live": ("{{ x }}", 3, cuecard.LIVE),
    "unreadable": ("{{ x }}{{ y }}", Unreadable(x=1), cuecard.STRICT),
    "surrogate value": ("{{ x }}", {"x": "\udc80"}, cuecard.STRICT),
    "surrogate in the text": ("a\udc80", {}, cuecard.STRICT),
    "surrogate in a template, live": ("a\udc80{{ x }}", {"x": 1}, cuecard.LIVE),
}


class TestRender:
    @pytest.mark.parametrize("case", RENDERS)
    def test_is_as_without_isolation(self, shared: Isolation, case: str) -> None:
        """Text, warnings, and everything about an error are those of `cuecard.render`."""
        text, context, profile = RENDERS[case]
        expected = outcome(lambda: cuecard.render(text, context, profile=profile, name="file"))
        rendered = outcome(lambda: shared.render(text, context, profile=profile, name="file"))
        assert rendered == expected

    @settings(max_examples=150)
    @given(
        templates(),
        contexts(),
        st.sampled_from([cuecard.STRICT, cuecard.OPERATOR, cuecard.MARKDOWN, cuecard.LIVE]),
    )
    def test_is_as_without_isolation_for_all(
        self, shared: Isolation, template: str, context: dict[str, Any], profile: cuecard.Profile
    ) -> None:
        """Generated templates give the same text, or the same error at the same place."""
        expected = outcome(lambda: cuecard.render(template, context, profile=profile))
        assert outcome(lambda: shared.render(template, context, profile=profile)) == expected

    def test_error_of_a_surrogate(self, shared: Isolation) -> None:
        """A template that is no Unicode fails at its place; its line is shown mended."""
        with pytest.raises(cuecard.TemplateSyntaxError) as caught:
            shared.render("é\udc80{{ x }}", {"x": 1}, name="a\udc80")
        assert (caught.value.code, caught.value.span and caught.value.span.column) == ("P101", 2)
        assert caught.value.line_text == "é?{{ x }}"

    def test_mistakes_of_the_program(self, shared: Isolation) -> None:
        """What is no template and no profile is a mistake, as without isolation."""
        with pytest.raises(TypeError, match="expected a template of type `str`, got `int`"):
            shared.render(3)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="expected a `Profile`, got `str`"):
            shared.render("", profile="strict")  # type: ignore[arg-type]

    def test_too_large_to_send(self) -> None:
        """A call of more bytes than allowed is refused before it reaches a worker."""
        with Isolation(1, request=1000) as isolation:
            with pytest.raises(cuecard.ContextError) as caught:
                isolation.render("{{ x }}", {"x": "t" * 1001})
            assert caught.value.code == "P704"
            with pytest.raises(cuecard.TemplateLimitError) as refused:
                isolation.render("t" * 1001)
            assert refused.value.code == "P110"

    @pytest.mark.parametrize(
        "numbers",
        [{"workers": 0}, {"memory": 0}, {"seconds": 0}, {"spare": -1}, {"max_waiting": -1}],
        ids=str,
    )
    def test_numbers_out_of_range(self, numbers: dict[str, int]) -> None:
        """A number that makes no sense is refused."""
        with pytest.raises(ValueError, match="must"):
            Isolation(**numbers)  # type: ignore[arg-type]


class TestCall:
    @pytest.mark.parametrize(
        "data",
        [None, True, 3, 2**100, -1.5, "é", b"\xff", [1, [None]], {"a": {"b": 2**64}}, {1: 2}],
        ids=str,
    )
    def test_plain_data(self, shared: Isolation, data: Any) -> None:
        """Plain data arrives as it was sent, and so does the answer."""
        answer = shared.call(ATTACKS + "echo", data)
        assert (answer, type(answer)) == (data, type(data))

    def test_other_data(self, shared: Isolation) -> None:
        """What is no plain data is refused, with the path of the value."""
        with pytest.raises(cuecard.ContextError) as caught:
            shared.call(ATTACKS + "echo", {"a": [object()]})
        assert (caught.value.code, caught.value.path) == ("P701", "$.a[0]")

    @pytest.mark.parametrize("name", [n for n in cuecard.__all__ if n.endswith("Error")])
    def test_errors(self, shared: Isolation, name: str) -> None:
        """An error that an operation raises has its class and words here too."""
        with pytest.raises(cuecard.PromptError) as caught:
            shared.call(ATTACKS + "raise_error", name)
        error = caught.value
        assert type(error) is getattr(cuecard, name)
        assert (error.code, error.hint, error.template) == ("P301", "hint", "file")
        assert error.message.startswith("message")

    @pytest.mark.parametrize("name", ["ValueError", "KeyboardInterrupt", "SystemExit"])
    def test_other_errors(self, shared: Isolation, name: str) -> None:
        """Of any other exception only the type is told: its words may hold values."""
        with pytest.raises(cuecard.PromptError) as caught:
            shared.call(ATTACKS + "raise_", name)
        assert str(caught.value) == f"P206 `{ATTACKS}raise_` raised `{name}`"

    @pytest.mark.parametrize("operation", ["nothing:here", ATTACKS + "absent", "", ":", "os"])
    def test_no_such_operation(self, shared: Isolation, operation: str) -> None:
        """An operation that cannot be found is an error, and the worker lives on."""
        with pytest.raises(cuecard.PromptError) as caught:
            shared.call(operation)
        assert caught.value.code == "P206"

    def test_warnings(self, shared: Isolation) -> None:
        """Fallbacks are warned of in the program; other warnings stay in the worker."""
        with pytest.warns(cuecard.FallbackWarning) as caught:
            assert shared.call(ATTACKS + "warn") == "warned"
        assert [str(w.message) for w in caught] == ["first", "second"]
        assert {w.filename for w in caught} == {__file__}

    def test_printing(self, shared: Isolation) -> None:
        """What an operation prints is no answer, and does not fill a pipe."""
        assert shared.call(ATTACKS + "print_much") == "printed"


# attacks ------------------------------------------------------------------------------------------

TEMPLATES: dict[str, tuple[str, str, str]] = {
    "endless loops": (LOOPS, "P117", "took more than 1.5 seconds"),
    "doubled text": (DOUBLED_TEXT, "P118", "took more than 128 MiB of memory"),
    "wide indent": (
        "{{ [[1]] | tojson(indent=1000000000) }}",
        "P118",
        "took more than 128 MiB of memory",
    ),
    "overflowing branches": (
        BRANCHES,
        "P119",
        "the worker process was lost: ended by signal 11 (SIGSEGV)",
    ),
    "long text": ("{{ 't' * 2000000 }}", "P115", "the answer is longer than 1,048,576 bytes"),
}

LOST = "the worker process was lost: "
OPERATIONS: dict[str, tuple[str, Any, str, str]] = {
    "sleep": ("sleep", 60, "P117", "took more than 1.5 seconds"),
    "spin": ("spin", None, "P117", "took more than 1.5 seconds"),
    "allocate": ("allocate", 1 << 30, "P118", "took more than 128 MiB of memory"),
    "MemoryError": ("raise_", "MemoryError", "P118", "took more than 128 MiB of memory"),
    "segfault": ("segfault", None, "P119", LOST + "ended by signal 11 (SIGSEGV)"),
    "exit": ("leave", 3, "P119", LOST + "exit code 3"),
    "exit well": ("leave", 0, "P119", LOST + "exit code 0"),
    "abort": ("abort", None, "P119", LOST + "ended by signal 6 (SIGABRT)"),
    "kill": ("kill_itself", None, "P119", LOST + "ended by signal 9 (SIGKILL)"),
    "closed": ("close_pipe", None, "P119", LOST + "it closed its output"),
    "garbage": ("write_raw", b"\0\0\0\x04garb", "P119", LOST + "its answer cannot be read"),
    "letters": ("write_raw", b"no frame at all", "P119", LOST + "its answer cannot be read"),
    "nothing": ("write_raw", b"\0\0\0\0", "P119", LOST + "its answer cannot be read"),
    "part": ("write_raw", b"\0\0\0\x09part", "P117", "took more than 1.5 seconds"),
    "part of a header": ("write_raw", b"\0", "P117", "took more than 1.5 seconds"),
    "two frames": ("write_raw", b"\0\0\0\x01\x90\0\0\0\x01\x90", "P119", LOST),
    "huge header": ("write_raw", b"\xff\xff\xff\xff", "P119", LOST + "its answer cannot be read"),
    "deep": (
        "write_raw",
        b"\0\1\0\0" + b"\x91" * 65536,
        "P119",
        LOST + "its answer cannot be read",
    ),
    "unknown class": (
        "write_raw",
        b"\0\0\0\x0e\x92\xc0\x93\xa5Popen\xa4P101",
        "P119",
        LOST + "its answer cannot be read",
    ),
    "unknown extension": ("write_raw", b"\0\0\0\x04\x91\xd4\x63\x00", "P119", LOST),
    "large answer": ("echo", "t" * 2_000_000, "P115", "the answer is longer than 1,048,576 bytes"),
}


class TestAttacks:
    @pytest.mark.parametrize("attack", TEMPLATES)
    def test_of_a_template(self, hasty: Isolation, attack: str) -> None:
        """A template that nothing else bounds costs its call an error; the next is served."""
        text, code, message = TEMPLATES[attack]
        with pytest.raises(cuecard.TemplateError) as caught:
            hasty.render(text, profile=UNBOUND_PROFILE, name="file")
        assert (caught.value.code, caught.value.message) == (code, message)
        assert hasty.render("{{ x }}", {"x": 1}) == "1"

    @pytest.mark.parametrize("attack", OPERATIONS)
    def test_of_a_worker(self, hasty: Isolation, attack: str) -> None:
        """A worker that is lost or lies costs its call an error; the next is served."""
        operation, data, code, message = OPERATIONS[attack]
        with pytest.raises(cuecard.TemplateError) as caught:
            hasty.call(ATTACKS + operation, data, name="file")
        error = caught.value
        assert error.code == code
        assert error.message.startswith(message)
        assert error.hint
        assert isinstance(error, cuecard.TemplateLimitError) is (code != "P119")
        assert hasty.render("{{ x }}", {"x": 1}) == "1"

    @pytest.mark.parametrize("attack", ["sleep", "segfault", "exit", "letters", "large answer"])
    def test_with_either_kind_of_pipes(self, either: Isolation, attack: str) -> None:
        """Also where pipes cannot be polled, the clock ends a call, and a loss is noticed."""
        operation, data, code, _ = OPERATIONS[attack]
        for _ in range(2):
            with pytest.raises(cuecard.TemplateError) as caught:
                either.call(ATTACKS + operation, data)
            assert caught.value.code == code
            assert either.render("{{ x }}", {"x": 1}) == "1"

    def test_large_frames(self, either: Isolation) -> None:
        """Calls and answers of many times what a pipe holds arrive whole."""
        text = "é" * 500_000
        assert either.render("{{ x }}", {"x": text}) == text

    def test_worker_that_does_not_listen(self) -> None:
        """A stopped worker cannot hold up a call that is larger than what its pipe holds."""
        with Isolation(1, spare=0, seconds=0.5) as isolation:
            (number,) = [isolation.call(ATTACKS + "pid")]
            os.kill(number, signal.SIGSTOP)
            with pytest.raises(cuecard.TemplateLimitError) as caught:
                isolation.render("{{ x }}", {"x": "t" * 1_000_000})
            assert caught.value.code == "P117"
            assert ends_soon(number)

    def test_names_the_template(self, hasty: Isolation) -> None:
        """The error of a lost worker says which template it was."""
        with pytest.raises(cuecard.TemplateError) as caught:
            hasty.render(BRANCHES, profile=UNBOUND_PROFILE, name="agents/guest.md")
        assert str(caught.value) == (
            "agents/guest.md: P119 the worker process was lost: ended by signal 11 (SIGSEGV) "
            "(another process serves the next call; this template may crash the engine)"
        )

    def test_killed_between_calls(self, hasty: Isolation) -> None:
        """Workers that are killed while they are idle are replaced, and no call notices."""
        for _ in range(2):
            hasty.render("x")
            for number in hasty.pids:
                os.kill(number, signal.SIGKILL)
                assert ends_soon(number)
            assert hasty.render("{{ x }}", {"x": 1}) == "1"

    def test_answer_that_nobody_asked_for(self, hasty: Isolation) -> None:
        """What a worker says between calls is never taken for the answer of the next."""
        forged = b"\0\0\0\x08\x91\xa6forged"
        assert hasty.call(ATTACKS + "write_later", forged) == "answered"
        time.sleep(0.2)
        for _ in range(4):
            assert hasty.render("{{ x }}", {"x": 1}) == "1"

    @pytest.mark.parametrize("end", ["leave", "sleep"])
    def test_child_of_a_worker(self, end: str) -> None:
        """A process that a worker has started ends with it, whoever ends the worker."""
        with Isolation(1, spare=0, seconds=2) as isolation:
            number = isolation.call(ATTACKS + "child")
            assert runs(number)
            with pytest.raises(cuecard.TemplateError):
                isolation.call(ATTACKS + end, 30)
            assert ends_soon(number)

    def test_leaks_wear_a_worker_out(self) -> None:
        """A worker that has lost much of its memory is replaced before the next call."""
        with Isolation(1, spare=0, memory=128 << 20, seconds=30) as isolation:
            numbers = [isolation.call(ATTACKS + "pid")]
            for _ in range(2):
                isolation.call(ATTACKS + "hoard", 40 << 20)
                numbers.append(isolation.call(ATTACKS + "pid"))
        assert len(set(numbers)) == 3

    def test_recycling(self) -> None:
        """A worker serves as many calls as it may, and no more."""
        with Isolation(1, spare=0, recycle=3, seconds=30) as isolation:
            numbers = [isolation.call(ATTACKS + "pid") for _ in range(9)]
        assert [numbers.count(number) for number in dict.fromkeys(numbers)] == [3, 3, 3]


class TestWorker:
    def test_knows_little(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A worker has none of the program's environment, files or terminal."""
        monkeypatch.setenv("API_KEY", "secret")
        read, write = os.pipe()
        os.set_inheritable(write, True)
        try:
            with Isolation(1, spare=0, memory=100 << 20, seconds=30) as isolation:
                about = isolation.call(ATTACKS + "about_itself")
        finally:
            os.close(read)
            os.close(write)
        assert "API_KEY" not in about["environment"]
        allowed = {"LC_ALL", "MALLOC_ARENA_MAX", "PYTHONPATH", "LD_LIBRARY_PATH"}
        assert set(about["environment"]) <= allowed
        assert about["folder"] == "/"
        assert about["session"]
        limits = about["limits"]
        assert (limits["CORE"], limits["FSIZE"], limits["NOFILE"]) == (0, 0, 32)
        assert 100 << 20 < limits["AS"] < 1 << 30
        assert about["descriptors"] == [0, 1, 2, 3, 4, 5]

    def test_preload(self) -> None:
        """Modules can be there before the first call; one that cannot be had is told."""
        preload = "tests.isolation_attacks"
        with Isolation(1, spare=0, seconds=30, preload=[preload]) as isolation:
            assert isolation.call(ATTACKS + "is_loaded", preload)
            assert not isolation.call(ATTACKS + "is_loaded", "xmlrpc.client")
        with Isolation(1, spare=0, preload=["nothing"]) as isolation:
            with pytest.raises(cuecard.PromptError) as caught:
                isolation.render("x")
            assert caught.value.message == "no worker process can be started: exit code 1"

    def test_files(self, shared: Isolation, tmp_path: Path) -> None:
        """A worker cannot fill a file, nor open many; it may read what its user may read."""
        target = tmp_path / "file"
        assert shared.call(ATTACKS + "write_file", str(target)) == "OSError:File too large"
        assert target.read_bytes() == b""
        assert 0 < shared.call(ATTACKS + "open_many", str(target)) < 32

    def test_ends_with_its_parent(self) -> None:
        """A program that is killed leaves no worker behind, neither an idle nor a busy one."""
        code = f"""
import threading, cuecard
isolation = cuecard.Isolation(1, spare=1, seconds=0.5)
isolation.render("x")
hang = lambda: isolation.call("{ATTACKS}spin")
threading.Thread(target=hang, daemon=True).start()
while len(isolation.pids) < 2: pass
print(*isolation.pids, flush=True)
threading.Event().wait()
"""
        program = _program(code)
        assert program.stdout is not None
        numbers = [int(number) for number in program.stdout.readline().split()]
        assert len(numbers) == 2
        assert all(map(exists, numbers))
        program.kill()
        program.wait()
        program.stdout.close()
        assert all(not runs(number) or ends_soon(number) for number in numbers)

    @pytest.mark.parametrize(
        "end",
        ["", "raise SystemExit(0)", "isolation.close(); isolation.close()", "del isolation"],
    )
    def test_ends_with_the_interpreter(self, end: str) -> None:
        """A program that ends, closes, or forgets its workers ends them, without a word."""
        code = f"""
import cuecard, gc
isolation = cuecard.Isolation(2, seconds=30)
print(isolation.render("x"), *isolation.pids, flush=True)
{end}
gc.collect()
"""
        program = _program(code)
        out, _ = program.communicate(timeout=60)
        word, *numbers = out.split()
        assert (word, program.returncode, len(numbers)) == (b"x", 0, 3)
        assert gone([int(number) for number in numbers])


def _program(code: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-X", "dev", "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=Path(__file__).parent.parent,
    )


# many at once -------------------------------------------------------------------------------------

FAULTS = ["segfault", "leave", "abort", "kill_itself", "raise_"]


def attack_or_render(isolation: Isolation, number: int) -> bool:
    """Whether a call, every fifth of them an attack, ends as it should."""
    if number % 5:
        return isolation.render("{{ n }}{{ m }}", {"n": number, "m": None}) == str(number)
    operation = FAULTS[number // 5 % len(FAULTS)]
    try:
        isolation.call(ATTACKS + operation, "KeyError" if operation == "raise_" else number)
    except cuecard.PromptError as error:
        return error.code == ("P206" if operation == "raise_" else "P119")
    return False


class TestTogether:
    def test_many_callers_with_faults(self) -> None:
        """Fifty callers, some of whose workers crash: all others get their own text."""
        with Isolation(2, seconds=30) as isolation, ThreadPoolExecutor(50) as threads:
            results = list(threads.map(lambda n: attack_or_render(isolation, n), range(150)))
            numbers = isolation.pids
        assert all(results)
        assert gone(numbers)

    def test_many_tasks_with_faults(self) -> None:
        """The same holds for tasks, beside threads."""

        async def one(isolation: Isolation, number: int) -> bool:
            if number % 5:
                text = await isolation.arender("{{ n }}", {"n": number})
                return text == str(number)
            try:
                await isolation.acall(ATTACKS + "leave", 1)
            except cuecard.TemplateError as error:
                return error.code == "P119"
            return False

        async def all_of_them(isolation: Isolation) -> list[bool]:
            return await asyncio.gather(*(one(isolation, number) for number in range(50)))

        with Isolation(2, seconds=30) as isolation, ThreadPoolExecutor(8) as threads:
            beside = threads.map(lambda n: attack_or_render(isolation, n), range(1, 40))
            assert all(asyncio.run(all_of_them(isolation)))
            assert all(beside)

    def test_killed_during_calls(self) -> None:
        """Workers are killed during calls: each gives its own text, or the loss."""
        with Isolation(2, seconds=30) as isolation, ThreadPoolExecutor(4) as threads:

            def one(number: int) -> str:
                try:
                    return isolation.render("{{ n }}", {"n": number})
                except cuecard.TemplateError as error:
                    return str(number) if error.code == "P119" else str(error)

            results = threads.map(one, range(400))
            for _ in range(8):
                time.sleep(0.03)
                for number in isolation.pids[:1]:
                    # It may be gone, but until its parent waits for it the number is its own.
                    os.kill(number, signal.SIGKILL) if runs(number) else None
            assert list(results) == [str(number) for number in range(400)]

    def test_many_isolations(self) -> None:
        """Each of many has workers of its own, and they end with it."""

        def one(number: int) -> list[int]:
            with Isolation(1, spare=0, seconds=30) as isolation:
                assert isolation.render("{{ n }}", {"n": number}) == str(number)
                return isolation.pids

        with ThreadPoolExecutor(4) as threads:
            numbers = [pid for pids in threads.map(one, range(8)) for pid in pids]
        assert len(set(numbers)) == 8
        assert gone(numbers)

    def test_too_many_waiting(self) -> None:
        """A call that would wait behind too many is refused at once; later ones are served."""
        with Isolation(1, spare=0, max_waiting=1, seconds=30) as isolation:
            assert isolation.render("x") == "x"
            with ThreadPoolExecutor(2) as threads:
                first = [threads.submit(isolation.call, ATTACKS + "sleep", 1.0) for _ in range(2)]
                ends = time.monotonic() + 20
                while isolation._pool._admitted < 2 and time.monotonic() < ends:
                    time.sleep(0.005)
                with pytest.raises(cuecard.PromptError) as caught:
                    isolation.render("x")
                assert caught.value.code == "P120"
                with pytest.raises(cuecard.PromptError) as refused:
                    asyncio.run(isolation.arender("x"))
                assert refused.value.code == "P120"
                assert [future.result() for future in first] == [1.0, 1.0]
            assert isolation.render("x") == "x"

    def test_next_call_does_not_wait_for_a_start(self) -> None:
        """After a loss the spare worker serves, which was there before."""
        with Isolation(1, spare=1, seconds=30) as isolation:
            isolation.render("x")
            while len(isolation._pool._idle) < 2:
                time.sleep(0.005)
            before = set(isolation.pids)
            lost = isolation.call(ATTACKS + "pid")
            with pytest.raises(cuecard.TemplateError):
                isolation.call(ATTACKS + "leave", 1)
            assert {isolation.call(ATTACKS + "pid")} == before - {lost}


class TestTasks:
    def test_trio(self, shared: Isolation) -> None:
        """Tasks of trio call, fail and are cancelled as those of asyncio."""

        async def main() -> list[str]:
            texts = []
            texts.append(await shared.arender("{{ x }}", {"x": 1}))
            with pytest.raises(cuecard.UndefinedVariableError):
                await shared.arender("{{ x }}")
            with trio.move_on_after(0.2) as scope:
                await shared.acall(ATTACKS + "sleep", 30)
            assert scope.cancelled_caught
            texts.append(await shared.arender("{{ x }}", {"x": 2}))
            return texts

        assert trio.run(main) == ["1", "2"]

    def test_cancelled_while_itruns(self, tmp_path: Path) -> None:
        """A cancelled task ends its worker at once, and the next call has another."""

        async def main(isolation: Isolation) -> None:
            lost = await isolation.acall(ATTACKS + "pid")
            task = asyncio.ensure_future(isolation.acall(ATTACKS + "sleep", 30))
            await asyncio.sleep(0.2)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await isolation.acall(ATTACKS + "pid") != lost
            assert await asyncio.to_thread(gone, [lost])

        with Isolation(1, seconds=60) as isolation:
            asyncio.run(main(isolation))

    def test_cancelled_while_it_waits(self) -> None:
        """A task that is cancelled in line leaves it, and harms nobody."""

        async def main(isolation: Isolation) -> None:
            first = asyncio.ensure_future(isolation.acall(ATTACKS + "sleep", 0.5))
            await asyncio.sleep(0.1)
            waiting = [asyncio.ensure_future(isolation.arender("x")) for _ in range(3)]
            await asyncio.sleep(0.1)
            for task in waiting[:2]:
                task.cancel()
            done = await asyncio.gather(first, *waiting, return_exceptions=True)
            assert (done[0], done[3]) == (0.5, "x")
            assert all(isinstance(result, asyncio.CancelledError) for result in done[1:3])

        with Isolation(1, spare=0, seconds=60) as isolation:
            asyncio.run(main(isolation))
            assert isolation._pool._admitted == 0

    def test_warnings(self, shared: Isolation) -> None:
        """A fallback is warned of in a task too."""
        with pytest.warns(cuecard.FallbackWarning, match="P101"):
            text = asyncio.run(shared.arender("{% for", profile=cuecard.LIVE))
        assert text == "{% for"


class TestEnd:
    def test_interruption(self) -> None:
        """Ctrl-C during a call ends its worker; the next call gets its own answer."""
        with Isolation(1, spare=0, seconds=60) as isolation:
            lost = isolation.call(ATTACKS + "pid")
            main = threading.main_thread().ident
            assert main is not None
            timer = threading.Timer(0.3, signal.pthread_kill, [main, signal.SIGINT])
            timer.start()
            with pytest.raises(KeyboardInterrupt):
                isolation.call(ATTACKS + "sleep", 30)
            timer.join()
            assert isolation.render("{{ x }}", {"x": 1}) == "1"
            assert gone([lost])

    def test_close_ends_calls(self) -> None:
        """Calls that are served, wait, or come later fail, and say why; nothing is left."""
        isolation = Isolation(1, spare=0, seconds=60)
        isolation.render("x")
        numbers = isolation.pids
        with ThreadPoolExecutor(3) as threads:
            calls = [threads.submit(isolation.call, ATTACKS + "sleep", 30) for _ in range(3)]
            time.sleep(0.2)
            isolation.close()
            failures = [call.exception(timeout=20) for call in calls]
        assert gone(numbers, 0)
        assert isolation.pids == []
        with pytest.raises(cuecard.PromptError) as late:
            isolation.render("x")
        with pytest.raises(cuecard.PromptError) as latest:
            asyncio.run(isolation.arender("x"))
        for error in (*failures, late.value, latest.value):
            assert type(error) is cuecard.PromptError
            assert str(error) == "P119 the isolation is closed"

    def test_close_at_once(self) -> None:
        """An isolation can be closed while its workers start."""
        isolation = Isolation(2)
        isolation.close()
        assert isolation.pids == []

    def test_forgotten(self) -> None:
        """An isolation that is collected has ended its workers."""
        isolation = Isolation(1, spare=0, seconds=30)
        assert isolation.render("x") == "x"
        numbers = isolation.pids
        del isolation
        gc.collect()
        assert gone(numbers, 0)

    def test_forked(self) -> None:
        """A forked child cannot mix up the calls of its parent, nor end its workers."""
        with Isolation(1, spare=0, seconds=30) as isolation:
            isolation.render("x")
            with warnings.catch_warnings():
                # Newer Pythons warn of forks beside threads, which is what this is about.
                warnings.simplefilter("ignore", DeprecationWarning)
                child = os.fork()
            if child == 0:
                status = 1
                try:
                    isolation.render("x")
                except cuecard.PromptError as error:
                    status = 42 if error.code == "P119" else 2
                isolation.close()
                os._exit(status)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 42
            assert isolation.render("{{ x }}", {"x": 1}) == "1"

    def test_no_worker_can_be_started(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A program whose workers do not start is told so, instead of waiting for ever."""
        monkeypatch.setattr(sys, "executable", "/nowhere/python")
        with Isolation(1, seconds=30) as isolation:
            with pytest.raises(cuecard.PromptError) as caught:
                isolation.render("x")
            assert caught.value.code == "P119"
            assert "No such file or directory" in caught.value.message
            monkeypatch.undo()
            ends = time.monotonic() + 30
            text = ""
            while not text and time.monotonic() < ends:
                try:
                    text = isolation.render("x")
                except cuecard.PromptError:
                    time.sleep(0.05)
            assert text == "x"
