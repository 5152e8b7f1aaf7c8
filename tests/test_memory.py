"""Memory: templates, prompts and bindings that are no longer held are freed."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import cuecard
from cuecard.compiler import Compiled

from .child_process import run_python


def test_a_template_is_freed(tmp_path: Path) -> None:
    """Nothing that a template made keeps it: neither the engine, nor a trace, nor a failure."""
    (tmp_path / "p").write_text("{{ a }}")
    folder = cuecard.Folder(tmp_path)
    compiled: list[weakref.ref[Compiled]] = []
    for text in ("{{ a }}{% set s = [a] %}{% set s = s + [1] %}", "{% include 'p' %}", "{{ a.b }}"):
        template = cuecard.Template(text, partials=folder)
        for call in (template.render, template.trace, template.bind({"n": 1}).render):
            try:
                call(a=1)
            except cuecard.UndefinedVariableError as error:
                del error
        assert template._compiled is not None
        compiled.append(weakref.ref(template._compiled))
        del template, call
    gc.collect()
    assert [reference() for reference in compiled] == [None, None, None]


def test_memory_does_not_grow() -> None:
    """Thousands of templates, bindings and failures one after the other take no more memory."""
    program = """
import gc
def used():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096
def run(count):
    for i in range(count):
        template = cuecard.Template("{{ a }}{% for x in xs %}{{ x.n }}{% endfor %}" + str(i))
        bound = template.bind({"a": "a" * 1000})
        bound.render(xs=[{"n": i}])
        bound.trace(xs=[{"n": i}]).blocks()
        try:
            template.render(a=1, xs=[{}])
        except cuecard.UndefinedVariableError:
            pass
run(300)
before = used()
run(1500)
print(used() - before < 20_000_000)
"""
    assert run_python(program, timeout=120) == "True\n"


def test_templates_with_faults_do_not_pile_up() -> None:
    """A renderer that meets one broken template after the other remembers the latest alone."""
    program = """
import gc, warnings
warnings.simplefilter("ignore")
renderer = cuecard.PromptRenderer(builtins=False, entry_points=False, max_definitions=16)
def held(first):
    for i in range(first, first + 150):
        renderer.render("{{ a }} {% if %}" + str(i), "s")
    gc.collect()
    return len(gc.get_objects())
held(0)
print(held(1000) - held(0) < 1000)
"""
    assert run_python(program, timeout=60) == "True\n"
