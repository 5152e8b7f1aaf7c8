"""One template in many threads and tasks: every text is right, and nothing waits for ever.

Each program runs in a process of its own, so that a deadlock, in which even a time-out of
the tests could not run, ends as a failure.
"""

import pytest

from .child_process import run_python

PROGRAM = """
import asyncio, functools, pathlib, sys, tempfile, threading, warnings

warnings.simplefilter("ignore")
sys.setswitchinterval(1e-5)
folder = pathlib.Path(tempfile.mkdtemp())
for number in range(20):
    (folder / f"part{number}").write_text("{% if x %}<{{ x }}:" + str(number) + ">{% endif %}")
(folder / "macros").write_text("{% macro m(a) %}({{ a }}){% endmacro %}")
partials = cuecard.Folder(folder)
wrong = []


def together(*works):
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def check(template, number, turn, expected):
    data = {"k": [number, None, {"n": "é" * number}], "turn": turn}
    context = {"x": number, "data": data, "n": f"part{(turn + number) % 20}"}
    if turn % 5 == 4:
        context.pop("x")
    try:
        outcome = template.render(context)
    except cuecard.UndefinedVariableError as error:
        outcome = error.variables
    except Exception as error:
        outcome = repr(error)
    wanted = ("x",) if turn % 5 == 4 else expected(number, turn)
    if outcome != wanted:
        wrong.append((outcome, wanted))


def in_threads(template, expected, turns):
    barrier = threading.Barrier(8)

    def work(number):
        barrier.wait()
        for turn in range(turns):
            check(template, number, turn, expected)

    together(*[functools.partial(work, number) for number in range(1, 9)])


def in_tasks(template, expected, turns):
    async def work(number):
        for turn in range(turns):
            await asyncio.to_thread(check, template, number, turn, expected)
            check(template, number, turn, expected)

    async def all_of_them():
        await asyncio.gather(*(work(number) for number in range(1, 9)))

    asyncio.run(all_of_them())


RUN
print("wrong", len(wrong), wrong[:3])
"""

TEMPLATES = {
    "plain": """
import json

def make():
    loop = "{% for i in range(20) %}{{ x }}{% endfor %}"
    return cuecard.Template("{{ x }}|{{ data | tojson }}|" + loop)

def expected(number, turn):
    data = {"k": [number, None, {"n": "é" * number}], "turn": turn}
    return f"{number}|{json.dumps(data, ensure_ascii=False)}|{str(number) * 20}"
""",
    "methods": """
def make():
    loop = "{% for k, v in data.items() %}{{ k }}{% endfor %}"
    return cuecard.Template("{{ x }}" + loop + "{{ data.k[2].n }}{{ data.get('z') }}")

def expected(number, turn):
    return f"{number}kturn" + "é" * number
""",
    "partials": """
def make():
    includes = "".join("{% include 'part" + str(i) + "' %}" for i in range(20))
    macro = "{% from 'macros' import m %}{{ m(x) }}"
    return cuecard.Template(includes + macro, partials=partials)

def expected(number, turn):
    return "".join(f"<{number}:{i}>" for i in range(20)) + f"({number})"
""",
    "bound": """
import json

def make():
    source = "{{ k }}{{ x }}|{% if n %}{{ n }}{% endif %}|{{ data | tojson }}|{{ data.turn }}"
    return cuecard.Template(source + "{{ x }}").bind({"k": "K"})

def expected(number, turn):
    data = {"k": [number, None, {"n": "é" * number}], "turn": turn}
    part = f"part{(turn + number) % 20}"
    return f"K{number}|{part}|{json.dumps(data, ensure_ascii=False)}|{turn}{number}"
""",
    "computed partials": """
def make():
    return cuecard.Template("{% include n %}", partials=partials)

def expected(number, turn):
    return f"<{number}:{(turn + number) % 20}>"
""",
}


@pytest.mark.parametrize("how", ["in_threads", "in_tasks"])
@pytest.mark.parametrize("name", TEMPLATES)
def test_every_text_is_right(name: str, how: str) -> None:
    """Eight workers share templates that were never rendered before; some renders fail."""
    turns = 40 if how == "in_threads" else 10
    run = f"{TEMPLATES[name]}\nfor _ in range(5):\n    {how}(make(), expected, {turns})"
    assert run_python(PROGRAM.replace("RUN", run), timeout=60) == "wrong 0 []\n"


def test_first_renders_at_once() -> None:
    """Threads that ask `cuecard.render` for the same new text at once all get their own."""
    run = """
def work(number):
    for turn in range(60):
        text = f"{{{{ x }}}}{turn}{{{{ [x] | tojson }}}}"
        if cuecard.render(text, {"x": number}) != f"{number}{turn}[{number}]":
            wrong.append(turn)

together(*[functools.partial(work, number) for number in range(8)])
"""
    assert run_python(PROGRAM.replace("RUN", run), timeout=60) == "wrong 0 []\n"


def test_edits_while_rendering() -> None:
    """A partial that changes under the renders gives the old text or the new, never an error."""
    run = """
template = cuecard.Template("{% include 'part0' %}{% include n %}", partials=partials)
stop = threading.Event()

def edit():
    for turn in range(60):
        new = folder / "new"
        new.write_text("{{ x }}" * (turn % 3 + 1))
        new.replace(folder / f"part{turn % 2}")
    stop.set()

def work(number):
    while not stop.is_set():
        try:
            template.render(x="x", n="part1")
        except Exception as error:
            wrong.append(repr(error))

together(edit, *[functools.partial(work, number) for number in range(3)])
"""
    assert run_python(PROGRAM.replace("RUN", run), timeout=60) == "wrong 0 []\n"


def test_edits_while_a_bound_template_renders() -> None:
    """A partial that comes to read other names never gets the values of another text's names."""
    run = """
import time

(folder / "part0").write_text("{{ x }}")
bound = cuecard.Template("{{ k }}{% include 'part0' %}", partials=partials).bind({"k": "K"})
stop = threading.Event()

def edit():
    for turn in range(400):
        time.sleep(0.002)
        new = folder / "new"
        new.write_text("{{ a }}{{ x }}" if turn % 2 else "{{ x }}{{ z }}{{ y }}")
        new.replace(folder / "part0")
    stop.set()

def work(number):
    given = {"a": "a", "x": "x", "y": "y", "z": "z"}
    while not stop.is_set():
        try:
            texts = {bound.render(given), bound.trace(given).text}
        except Exception as error:
            texts = {repr(error)}
        wrong.extend(texts - {"Kx", "Kax", "Kxzy"})

together(edit, *[functools.partial(work, number) for number in range(3)])
"""
    assert run_python(PROGRAM.replace("RUN", run), timeout=60) == "wrong 0 []\n"


def test_values_shared_by_threads() -> None:
    """One value that all threads pass, and one that each changes, come out as they are."""
    run = """
shared = {"items": list(range(50)), "null": None}
template = cuecard.Template("{{ shared.items | length }}{{ own[0] }}{{ shared.null }}")

def work(number):
    own = [0]
    for turn in range(300):
        own[0] = number * 1000 + turn
        text = template.render(shared=shared, own=own)
        if text != f"50{own[0]}":
            wrong.append(text)

together(*[functools.partial(work, number) for number in range(8)])
"""
    assert run_python(PROGRAM.replace("RUN", run), timeout=60) == "wrong 0 []\n"
