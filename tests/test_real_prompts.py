"""Prompts that other projects ship: read, listed and rendered as Jinja2 does it.

The YAML files of smolagents and mini-swe-agent are read from where the packages are
installed, without importing them. Both projects render with `jinja2.Template(text,
undefined=StrictUndefined)`, which is the white space of the profile `OPERATOR`; each text
is rendered with the white space of `STRICT` too.

A template of smolagents calls a method of each tool, `tool.to_code_prompt()`. The context
of cuecard is plain data, so such a template renders without tools, names the method when
there is one, and renders as the original does once the call is an attribute.
"""

import importlib.util
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
import jinja2.meta
import pytest
import yaml

import cuecard

FOLDERS = {"smolagents": "prompts", "minisweagent": "config"}
AT_LEAST = {"smolagents": 21, "minisweagent": 21}
"""Templates that each package had when this test was written, texts without a tag left out."""

METHOD_CALL = re.compile(r"\.(to_code_prompt|to_tool_calling_prompt)\(\)")
MIXED = {
    "trim": replace(cuecard.OPERATOR, name="trim", trim_blocks=True),
    "lstrip": replace(cuecard.OPERATOR, name="lstrip", lstrip_blocks=True),
}
PROFILES = {"operator": cuecard.OPERATOR, "strict": cuecard.STRICT, **MIXED}


class Prompt(NamedTuple):
    """A template and where it is: package, file and keys."""

    package: str
    file: str
    keys: str
    text: str

    @property
    def id(self) -> str:
        return f"{self.package}/{self.file}:{self.keys}"


def texts(value: Any, keys: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Every text of a YAML document, with its keys."""
    if isinstance(value, str):
        yield ".".join(keys), value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from texts(item, (*keys, str(key)))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from texts(item, (*keys, str(index)))


def prompts(package: str) -> Iterator[Prompt]:
    """Every text with a tag in the YAML files of a package."""
    spec = importlib.util.find_spec(package)
    assert spec is not None
    for location in spec.submodule_search_locations or ():
        folder = Path(location) / FOLDERS[package]
        for file in sorted(folder.rglob("*.yaml")):
            for keys, text in texts(yaml.safe_load(file.read_text(encoding="utf-8"))):
                if re.search(r"\{[{%#]", text):
                    yield Prompt(package, file.relative_to(folder).as_posix(), keys, text)


PROMPTS = [prompt for package in FOLDERS for prompt in prompts(package)]
WITH_METHODS = [prompt for prompt in PROMPTS if METHOD_CALL.search(prompt.text)]

SET_BY_THE_TEMPLATE = frozenset(("elided_chars",))
"""Names that Jinja2 lists although the template sets them before, in the branch that uses them."""


# what the two projects put into their prompts -------------------------------------------------


@dataclass
class Tool:
    """A tool as smolagents describes it to its templates."""

    name: str
    description: str
    inputs: dict[str, dict[str, str]]
    output_type: str

    def to_code_prompt(self) -> str:
        arguments = ", ".join(f"{name}: {inputs['type']}" for name, inputs in self.inputs.items())
        return f'def {self.name}({arguments}) -> {self.output_type}:\n    """{self.description}"""'

    def to_tool_calling_prompt(self) -> str:
        return f"{self.name}: {self.description}\n    Takes inputs: {self.inputs}"

    def as_data(self) -> dict[str, str]:
        return {
            "to_code_prompt": self.to_code_prompt(),
            "to_tool_calling_prompt": self.to_tool_calling_prompt(),
        }


TOOLS = {
    tool.name: tool
    for tool in (
        Tool(
            "web_search",
            'Searches the web for <keywords> & "phrases"; gives {title}, {{url}} and text.',
            {"query": {"type": "string", "description": "What to look for."}},
            "string",
        ),
        Tool(
            "read_table",
            "Reads a table.\n\nUse it for `*.csv` and `*.parquet`, also of ærlige folk: 100 %.",
            {
                "path": {"type": "string", "description": "Where it lies."},
                "rows": {"type": "integer", "description": "How many rows; 0 for all."},
            },
            "object",
        ),
    )
}
TEAM = {
    name: {
        "name": name,
        "description": description,
        "inputs": {"task": {"type": "string", "description": "It's long & 'detailed'."}},
        "output_type": "string",
    }
    for name, description in (
        ("librarian", "Knows what has been written about it."),
        ("statistician", 'Asks "how many?" & {% never %} guesses.'),
    )
}
TASK = (
    "Paging loses rows: `Page.after()` skips one when {{ it }} is deleted.\n\n  > 5 < 6 & 'so' on\n"
)
RUN: dict[str, Any] = {
    "tools": {},
    "managed_agents": {},
    "custom_instructions": None,
    "authorized_imports": "['collections', 'datetime', 'math', 're']",
    "code_block_opening_tag": "<code>",
    "code_block_closing_tag": "</code>",
    "name": "librarian",
    "final_answer": "### 1. Task outcome\n\n42 rows, see `rows.csv`.",
    "remaining_steps": 7,
    "task": TASK,
    "system": "Linux",
    "release": "6.12.48",
    "version": "#1 SMP PREEMPT_DYNAMIC Debian",
    "machine": "aarch64",
    "output": {"output": "ok\n", "returncode": 0, "exception_info": ""},
    "error": "Missing 'command' argument in bash tool call.",
    "actions": [],
    "has_tool_calls": False,
    "finish_reason": "stop",
    "step_limit": 250,
    "n_model_calls": 12,
    "wall_time_limit_seconds": 3600,
    "elapsed_seconds": 65,
}
"""A run in which nothing is special, with every name that a template reads."""

LONG_OUTPUT = "".join(
    f"{number:05} <line> & \"text\" … '{{{{ x }}}}' 語\n" for number in range(800)
)
FAILED = {"output": LONG_OUTPUT, "returncode": 124, "exception_info": "timed out after 60 s"}
TWO_ACTIONS = [{"command": "ls"}, {"command": "git diff"}]
SITUATIONS: dict[str, dict[str, Any]] = {
    "usual": RUN,
    "team": {**RUN, "managed_agents": TEAM, "custom_instructions": "Answer in Danish.\nBe brief."},
    "macos": {**RUN, "system": "Darwin", "task": ""},
    "failed": {**RUN, "output": FAILED, "actions": TWO_ACTIONS},
    "cut-off": {**RUN, "finish_reason": "length", "output": {**FAILED, "exception_info": None}},
    "cut-off-in-call": {**RUN, "finish_reason": "tool_calls"},
    "complete-call": {**RUN, "finish_reason": "tool_calls", "has_tool_calls": True},
    "no-finish-reason": {name: RUN[name] for name in RUN if name != "finish_reason"},
    "hurry": {**RUN, "n_model_calls": 240, "elapsed_seconds": 3187.5},
    "no-limits": {**RUN, "step_limit": 0, "wall_time_limit_seconds": 0},
}


def plain_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def jinja2_environment(profile: cuecard.Profile) -> jinja2.Environment:
    """Jinja2 as both projects set it up, with the white space of a profile."""
    return jinja2.Environment(
        undefined=jinja2.StrictUndefined,
        trim_blocks=profile.trim_blocks,
        lstrip_blocks=profile.lstrip_blocks,
        keep_trailing_newline=profile.end == "keep",
    )


def jinja2_render(text: str, profile: cuecard.Profile, context: dict[str, Any]) -> str:
    environment = jinja2_environment(profile)
    # Jinja2's own sorts keys and escapes what HTML would; cuecard promises plain JSON.
    environment.filters["tojson"] = plain_json
    return environment.from_string(text).render(context)


def of_prompts(chosen: list[Prompt]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("prompt", chosen, ids=lambda prompt: prompt.id)


in_every_profile = pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)


# the tests ------------------------------------------------------------------------------------


@pytest.mark.parametrize("package", FOLDERS)
def test_prompts_are_found(package: str) -> None:
    """The files are where they were: no template of a package is missed."""
    found = [prompt for prompt in PROMPTS if prompt.package == package]
    assert len(found) >= AT_LEAST[package]


def test_which_prompts_call_methods() -> None:
    """Three texts of smolagents call a method of each tool, and none of mini-swe-agent does."""
    assert {(prompt.package, prompt.keys) for prompt in WITH_METHODS} == {
        ("smolagents", "system_prompt"),
        ("smolagents", "planning.initial_plan"),
        ("smolagents", "planning.update_plan_post_messages"),
    }


@of_prompts(PROMPTS)
def test_variables(prompt: Prompt) -> None:
    """The variables are those that Jinja2 finds; the one behind `is defined` is optional."""
    found = jinja2.meta.find_undeclared_variables(jinja2.Environment().parse(prompt.text))
    template = cuecard.Template(prompt.text, profile=cuecard.OPERATOR)
    assert template.variables == found - SET_BY_THE_TEMPLATE
    assert template.optional == template.variables & {"finish_reason"}


@of_prompts(PROMPTS)
@in_every_profile
def test_renders_as_jinja2(prompt: Prompt, profile: cuecard.Profile) -> None:
    """The text is that of Jinja2, character for character, in every situation of a run."""
    for situation, context in SITUATIONS.items():
        expected = jinja2_render(prompt.text, profile, context)
        assert cuecard.render(prompt.text, context, profile=profile) == expected, situation


@of_prompts(WITH_METHODS)
def test_method_of_a_tool_is_refused(prompt: Prompt) -> None:
    """A tool is plain data, also if it was an object: the error names the method and its line."""
    call = METHOD_CALL.search(prompt.text)
    assert call is not None
    for tools in (TOOLS, {name: vars(tool) for name, tool in TOOLS.items()}):
        with pytest.raises(cuecard.UnknownNameError) as caught:
            cuecard.render(prompt.text, {**RUN, "tools": tools}, profile=cuecard.OPERATOR)
        error = caught.value
        assert error.code == "P106"
        assert error.message == f"unknown method `{call[1]}`"
        assert error.span is not None
        assert prompt.text[error.span.start : error.span.end] == call[1]
        assert error.span.start == call.start(1)
        assert error.span.line == prompt.text.count("\n", 0, call.start()) + 1


@of_prompts(WITH_METHODS)
@in_every_profile
def test_attribute_in_place_of_a_method(prompt: Prompt, profile: cuecard.Profile) -> None:
    """With the text as an attribute of each tool, the result is what Jinja2 makes of the call."""
    ported = METHOD_CALL.sub(r".\1", prompt.text)
    data = {name: tool.as_data() for name, tool in TOOLS.items()}
    for situation, context in SITUATIONS.items():
        expected = jinja2_render(prompt.text, profile, {**context, "tools": TOOLS})
        actual = cuecard.render(ported, {**context, "tools": data}, profile=profile)
        assert actual == expected, situation


@of_prompts([prompt for prompt in PROMPTS if "tojson" in prompt.text])
def test_json_is_that_of_jinja2_unescaped(prompt: Prompt) -> None:
    """Jinja2's own `tojson` writes `<`, `>`, `&` and `'` as escapes; the data are the same."""
    context = SITUATIONS["failed"]
    text = jinja2_environment(cuecard.OPERATOR).from_string(prompt.text).render(context)
    actual = cuecard.render(prompt.text, context, profile=cuecard.OPERATOR)
    assert "\\u003cline\\u003e" in text
    assert "<line>" in actual
    assert json.loads(actual) == json.loads(text)


@of_prompts([prompt for prompt in PROMPTS if "output.returncode" in prompt.text])
def test_null_prints_nothing(prompt: Prompt) -> None:
    """A return code that is null prints nothing, where Jinja2 prints `None`."""
    context = {**RUN, "output": {"output": "", "returncode": None, "exception_info": ""}}
    expected = jinja2_render(prompt.text, cuecard.OPERATOR, context)
    assert expected.count("None") == 1
    actual = cuecard.render(prompt.text, context, profile=cuecard.OPERATOR)
    assert actual == expected.replace("None", "")


@of_prompts(PROMPTS)
def test_missing_variables(prompt: Prompt) -> None:
    """Without a context the error names every variable that the template requires, at once."""
    template = cuecard.Template(prompt.text, profile=cuecard.OPERATOR, name=prompt.file)
    with pytest.raises(cuecard.UndefinedVariableError) as caught:
        template.render({})
    assert set(caught.value.variables) == template.required
    assert caught.value.span is not None
    place = caught.value.template, caught.value.span.line
    assert place in template.places(caught.value.variables[0])
    assert place[0] == prompt.file
