"""Loading what attacks use, so that no attack pays for it."""

from __future__ import annotations

import contextlib
from pathlib import Path

import cuecard

from .attacks import all_attacks
from .engines import bare_minijinja, sandboxed_jinja2

__all__ = ["warm_up"]

_TEMPLATES = (
    "{{ a }}{% for x in xs %}{{ x | tojson }}{% endfor %}",
    "{{ b }}",
    "{{ a.c }}",
    "{{ a | nosuch }}",
    "{{ a(",
    "{{ a | indent('x', 2) }}",
    "{{ '%d' | format('x') }}",
    "{% for i in range(9999999) %}{% endfor %}",
)


def warm_up() -> None:
    """Render, fail and read once, so that all modules and caches are there."""
    assert all_attacks()
    context = {"a": {"b": 1}, "xs": [{"y": "é"}, 2.5, None]}
    for text in _TEMPLATES:
        with contextlib.suppress(Exception):
            template = cuecard.Template(text, name="attack")
            for _ in range(3):
                template.trace(context)
        for engine in (bare_minijinja, sandboxed_jinja2):
            with contextlib.suppress(Exception):
                engine(text, Path())(context)
    with contextlib.suppress(cuecard.PromptError):
        cuecard.parse_agent("---\na: {b: [c, d]}\n---\nx")
    with contextlib.suppress(cuecard.PromptError):
        cuecard.parse_agent("---\na: {\n---\nx")
    cuecard.lint([Path(__file__).parent])
    cuecard.PromptRenderer().render("{{ a }}", extra_vars={"a": 1})
    assert cuecard.skills_catalog(()) == ""
    with contextlib.suppress(cuecard.PromptError):
        cuecard.operator.render_system("{{ a }}", {})
