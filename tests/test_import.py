"""What `import cuecard` brings, and what it leaves alone."""

import importlib.resources
import json
import subprocess
import sys

import pytest

import cuecard

LEFT_ALONE = (
    *("click", "yaml", "jinja2", "pydantic", "attrs", "attr", "hypothesis", "asyncio"),
    *("agents", "anthropic", "haystack", "langchain", "llama_index", "mcp", "pydantic_ai"),
    *("anyio", "opentelemetry", "pygls", "pytest", "sqlalchemy", "syrupy"),
)


def imported_by(statement: str) -> set[str]:
    code = f"import sys, json\n{statement}\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        encoding="utf-8",
        check=True,
        timeout=60,
    )
    assert done.stderr == ""
    return set(json.loads(done.stdout))


@pytest.mark.parametrize("package", LEFT_ALONE)
def test_is_not_imported(package: str) -> None:
    """The library's import, and a render, load no parser, command or framework."""
    render = 'import cuecard\ncuecard.render("{{ x | tojson }}", {"x": {"a": [1, None]}})'
    assert package not in imported_by("import cuecard")
    assert package not in imported_by(render)


def test_public_names() -> None:
    """Every name of `__all__` is there, once, and in order of its kind."""
    assert [name for name in cuecard.__all__ if not hasattr(cuecard, name)] == []
    assert len(set(cuecard.__all__)) == len(cuecard.__all__)


def test_is_typed() -> None:
    """The package says that it has types."""
    assert importlib.resources.files("cuecard").joinpath("py.typed").is_file()


def test_render_of_the_readme() -> None:
    """The one line that a newcomer types first."""
    assert cuecard.render("hello {{ directive }}", {"directive": "world"}) == "hello world"
