"""The engines that are attacked, each as its own documentation shows it.

- `minijinja`: the bare binding, with the loader of its README.
- `Jinja2`: its immutable sandbox, which its documentation names for templates of strangers.
- `cuecard`: with the limits that come by themselves; its ways in are in `surfaces.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jinja2
import jinja2.sandbox
import minijinja

__all__ = ["ENGINES", "bare_minijinja", "sandboxed_jinja2"]

ENGINES = ("minijinja", "Jinja2 sandbox", "cuecard")


def bare_minijinja(source: str, folder: Path) -> Callable[[Any], str]:
    """What renders a template with the bare engine."""

    def load(name: str) -> str | None:
        segments = []
        for segment in name.split("/"):
            if "\\" in segment or segment in (".", ".."):
                return None
            segments.append(segment)
        try:
            return folder.joinpath(*segments).read_text(encoding="utf-8")
        except OSError:
            return None

    environment = minijinja.Environment(loader=load)
    environment.add_template("attack", source)
    return lambda context: environment.render_template("attack", **context)


def sandboxed_jinja2(source: str, folder: Path) -> Callable[[Any], str]:
    """What renders a template in Jinja2's immutable sandbox."""
    environment = jinja2.sandbox.ImmutableSandboxedEnvironment(
        loader=jinja2.FileSystemLoader(folder)
    )
    template = environment.from_string(source)
    return lambda context: template.render(context)
