"""Contenders: ways to make the prompt of a turn, each as its documentation shows.

What a documentation keeps out of the turn is kept out here: a template is compiled once where
the library has an object for it. All of them give the same bytes.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_prompt import (
    TEMPLATE,
    Context,
    front_text,
    json_schemas,
    notes_text,
    plan_text,
    with_turn,
)

COMPILES = "compiles at every call"


@dataclass
class Ready:
    """A contender that is ready for turns.

    Attributes:
        call: makes the prompt of one turn.
        take: what `call` is given for a turn, made before the clock runs.
        text: the prompt as text, from what `call` gives.
        is_async: whether `call` has to be awaited.
    """

    call: Callable[[Any], Any]
    take: Callable[[Context], Any]
    text: Callable[[Any], str] = str
    is_async: bool = False


@dataclass(frozen=True)
class Contender:
    """A way to make prompts.

    Attributes:
        name: what the table calls it.
        kind: `cuecard`, `engine`, `hand` or `peer`.
        prepare: makes it ready, given what stays the same.
        package: what has to be installed.
        note: what the reader has to know.
    """

    name: str
    kind: str
    prepare: Callable[[Context], Ready]
    package: str = "cuecard"
    note: str = ""


def whole(stable: Context) -> Callable[[Context], Context]:
    return lambda turn: {**stable, **turn}


def turn_only(turn: Context) -> Context:
    return turn


# cuecard ------------------------------------------------------------------------------------------


def bound(stable: Context) -> Ready:
    import cuecard

    return Ready(cuecard.Template(TEMPLATE).bind(stable).render, turn_only)


def bound_blocks(stable: Context) -> Ready:
    import cuecard

    trace = cuecard.Template(TEMPLATE).bind(stable).trace
    return Ready(
        lambda turn: trace(turn).blocks(),
        turn_only,
        lambda blocks: "".join(block.text for block in blocks),
    )


def unbound(stable: Context) -> Ready:
    import cuecard

    return Ready(cuecard.Template(TEMPLATE).render, whole(stable))


# engines ------------------------------------------------------------------------------------------


def bare_minijinja(stable: Context) -> Ready:
    import minijinja

    render = minijinja.Environment(templates={"system": TEMPLATE}).render_template
    return Ready(lambda context: render("system", **context), whole(stable))


def jinja2_plain(stable: Context) -> Ready:
    import jinja2

    return Ready(jinja2.Environment().from_string(TEMPLATE).render, whole(stable))


def jinja2_sandbox(stable: Context) -> Ready:
    from jinja2.sandbox import SandboxedEnvironment

    return Ready(SandboxedEnvironment().from_string(TEMPLATE).render, whole(stable))


# by hand ------------------------------------------------------------------------------------------


def hand_all(stable: Context) -> Ready:
    return Ready(lambda turn: with_turn(front_text(stable, json_schemas(stable)), turn), turn_only)


def hand_schemas(stable: Context) -> Ready:
    schemas = json_schemas(stable)
    return Ready(lambda turn: with_turn(front_text(stable, schemas), turn), turn_only)


def hand_front(stable: Context) -> Ready:
    front = front_text(stable, json_schemas(stable))
    return Ready(lambda turn: with_turn(front, turn), turn_only)


def joined(stable: Context) -> Ready:
    front = front_text(stable, json_schemas(stable))

    def parts(turn: Context) -> list[str]:
        return [front, turn["current_time"], ".\n\n", notes_text(turn), plan_text(turn)]

    return Ready("".join, parts)


# libraries ----------------------------------------------------------------------------------------


def haystack(stable: Context) -> Ready:
    from haystack.components.builders import PromptBuilder

    run = PromptBuilder(template=TEMPLATE).run
    return Ready(lambda context: run(**context), whole(stable), lambda result: result["prompt"])


def banks(stable: Context) -> Ready:
    from banks import Prompt

    return Ready(Prompt(TEMPLATE).text, whole(stable))


def transformers(stable: Context) -> Ready:
    from transformers.utils.chat_template_utils import render_jinja_template

    def call(context: Context) -> Any:
        return render_jinja_template(conversations=[[]], chat_template=TEMPLATE, **context)

    return Ready(call, whole(stable), lambda result: result[0][0])


def handlebars() -> str:
    """The template in the other language."""
    source = TEMPLATE.replace("tool.parameters | tojson", "tool.schema")
    source = re.sub(r"{% if (\w+) -%}", r"{{#if \1~}}", source)
    source = re.sub(r"{% for \w+ in (\w+) -%}", r"{{#each \1~}}", source)
    source = source.replace("{% endif -%}", "{{/if~}}").replace("{% endfor -%}", "{{/each~}}")
    return re.sub(r"{{ \w+\.(\w+) }}", r"{{ \1 }}", source)


@dataclass
class Skill:
    name: str
    description: str
    path: str


@dataclass
class Tool:
    name: str
    description: str
    schema: str


@dataclass
class Deps:
    """What the Handlebars template reads, typed as its documentation asks for."""

    agent_name: str
    organisation: str
    workspace: str
    skills: list[Skill]
    tools: list[Tool]
    current_time: str
    notes: str
    plan: str


def pydantic_ai(stable: Context) -> Ready:
    from pydantic_ai import TemplateStr

    schemas = json_schemas(stable)
    kept = {
        **stable,
        "skills": [Skill(**skill) for skill in stable["skills"]],
        "tools": [
            Tool(tool["name"], tool["description"], schema)
            for tool, schema in zip(stable["tools"], schemas, strict=True)
        ],
    }
    render = TemplateStr[Deps](handlebars(), deps_type=Deps).render
    return Ready(render, lambda turn: Deps(**kept, **turn))


def langchain(stable: Context) -> Ready:
    from langchain_core.prompts import PromptTemplate

    prompt = PromptTemplate.from_template(TEMPLATE, template_format="jinja2").partial(**stable)
    return Ready(lambda turn: prompt.format(**turn), turn_only)


def llama_index(stable: Context) -> Ready:
    from llama_index.core.prompts import RichPromptTemplate

    prompt = RichPromptTemplate(TEMPLATE).partial_format(**stable)
    return Ready(lambda turn: prompt.format(**turn), turn_only)


def semantic_kernel(stable: Context) -> Ready:
    from semantic_kernel import Kernel
    from semantic_kernel.functions import KernelArguments
    from semantic_kernel.prompt_template import Jinja2PromptTemplate, PromptTemplateConfig

    config = PromptTemplateConfig(
        name="system",
        template=TEMPLATE,
        template_format="jinja2",
        allow_dangerously_set_content=True,
    )
    prompt, kernel = Jinja2PromptTemplate(prompt_template_config=config), Kernel()
    return Ready(
        lambda context: prompt.render(kernel, KernelArguments(**context)),
        whole(stable),
        is_async=True,
    )


PROMPTY = """\
---
name: agent
model:
  id: any
  provider: openai
template:
  format:
    kind: jinja2
  parser:
    kind: prompty
---
"""


def prompty(stable: Context) -> Ready:
    import prompty as library

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "agent.prompty")
        path.write_text(PROMPTY + TEMPLATE, encoding="utf-8")
        agent = library.load(path)
    return Ready(lambda context: library.render(agent, context), whole(stable))


def smolagents(stable: Context) -> Ready:
    from smolagents.agents import populate_template

    return Ready(lambda context: populate_template(TEMPLATE, context), whole(stable))


def adk_context(stable: Context) -> Any:
    from google.adk.agents import LlmAgent
    from google.adk.agents.invocation_context import InvocationContext
    from google.adk.agents.readonly_context import ReadonlyContext
    from google.adk.sessions import InMemorySessionService, Session

    session = Session(id="s", app_name="a", user_id="u", state=dict(stable))
    return ReadonlyContext(
        InvocationContext(
            invocation_id="i",
            agent=LlmAgent(name="argus"),
            session=session,
            session_service=InMemorySessionService(),
        )
    )


def adk_jinja2(stable: Context) -> Ready:
    from google.adk.utils.instructions_utils import inject_session_state

    context = adk_context(stable)
    state = context.session.state

    def call(turn: Context) -> Awaitable[str]:
        state.update(turn)
        return inject_session_state(TEMPLATE, context, use_jinja2=True)

    return Ready(call, turn_only, is_async=True)


def adk_state(stable: Context) -> Ready:
    from google.adk.utils.instructions_utils import inject_session_state

    front = front_text(stable, json_schemas(stable))
    instruction = front + "{current_time}.\n\n{notes_text}{plan_text}"
    context = adk_context({})
    state = context.session.state

    def call(turn: Context) -> Awaitable[str]:
        state["current_time"] = turn["current_time"]
        state["notes_text"] = notes_text(turn)
        state["plan_text"] = plan_text(turn)
        return inject_session_state(instruction, context)

    return Ready(call, turn_only, is_async=True)


CONTENDERS: Sequence[Contender] = (
    Contender("cuecard, bound", "cuecard", bound),
    Contender("cuecard, bound, as blocks", "cuecard", bound_blocks, note="copies no bound text"),
    Contender("cuecard", "cuecard", unbound),
    Contender("joining the finished parts", "hand", joined, note="what no renderer can beat"),
    Contender(
        "by hand, front kept", "hand", hand_front, note="all before the time made once, by hand"
    ),
    Contender("by hand, schemas kept", "hand", hand_schemas, note="schemas dumped once"),
    Contender("by hand", "hand", hand_all, note="f-strings and json.dumps, all at every turn"),
    Contender("minijinja", "engine", bare_minijinja, "minijinja", "the bare engine of cuecard"),
    Contender("Jinja2", "engine", jinja2_plain, "jinja2"),
    Contender("Jinja2, sandboxed", "engine", jinja2_sandbox, "jinja2"),
    Contender("Haystack PromptBuilder", "peer", haystack, "haystack-ai"),
    Contender("banks", "peer", banks, "banks", "keeps every result, by the pickled context"),
    Contender(
        "transformers chat template", "peer", transformers, "transformers", "no messages, only it"
    ),
    Contender(
        "pydantic-ai TemplateStr",
        "peer",
        pydantic_ai,
        "pydantic-handlebars",
        "Handlebars; no JSON there, so schemas are dumped before",
    ),
    Contender("LangChain PromptTemplate", "peer", langchain, "langchain-core", COMPILES),
    Contender("LlamaIndex RichPromptTemplate", "peer", llama_index, "llama-index-core", COMPILES),
    Contender("Semantic Kernel", "peer", semantic_kernel, "semantic-kernel", COMPILES),
    Contender("Prompty", "peer", prompty, "prompty", COMPILES),
    Contender("smolagents populate_template", "peer", smolagents, "smolagents", COMPILES),
    Contender("google-adk, jinja2", "peer", adk_jinja2, "google-adk", COMPILES),
    Contender(
        "google-adk, {state}",
        "peer",
        adk_state,
        "google-adk",
        "no loops: all before the time, and each block, is made by hand",
    ),
)
