"""What answers look like in the service's OpenAPI document.

Answers are encoded as they are, without a model in between: this describes them, and the tests
hold the service to it. The examples in `examples.json` are real answers.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import msgspec

__all__ = ["described", "fill_examples"]

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_TEXT_OR_NULL: Schema = {"type": ["string", "null"]}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_COUNT_OR_NULL: Schema = {"type": ["integer", "null"], "minimum": 0}
_FLAG: Schema = {"type": "boolean"}
_NUMBER: Schema = {"type": "number"}
_ANY: Schema = {}
_SCOPE: Schema = {"type": "string", "enum": ["static", "session", "day", "turn"]}
_VALUES: Schema = {"type": "object"}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _object(optional: Schema | None = None, /, **required: Schema) -> Schema:
    properties = {**required, **(optional or {})}
    return {"type": "object", "properties": properties, "required": list(required)}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


_TEXTS = _list(_TEXT)
_SPAN = _object(
    start=_COUNT, end=_COUNT, line=_COUNT, column=_COUNT, end_line=_COUNT, end_column=_COUNT
)
_SIZE = _object(characters=_COUNT, tokens=_COUNT_OR_NULL)
_COUNTER = _or_null(_object(name=_TEXT, exact=_FLAG))
_FINDING = _object(
    {"start": _COUNT_OR_NULL, "end": _COUNT_OR_NULL, "fixable": _FLAG},
    code=_TEXT,
    severity={"type": "string", "enum": ["error", "warning", "info"]},
    message=_TEXT,
    hint=_TEXT_OR_NULL,
    template=_TEXT_OR_NULL,
    line=_COUNT_OR_NULL,
    column=_COUNT_OR_NULL,
)
_FINDINGS = _list(_FINDING)
_SEGMENT = _object(
    {"number": _COUNT, "children": _list(_VALUES)},
    start=_COUNT,
    end=_COUNT,
    characters=_COUNT,
    tokens=_COUNT_OR_NULL,
    kind=_TEXT,
    template=_TEXT,
    span=_SPAN,
    variables=_TEXTS,
    providers=_TEXTS,
    scope=_SCOPE,
)
_BLOCK = _object(start=_COUNT, end=_COUNT, scope=_SCOPE, characters=_COUNT, tokens=_COUNT_OR_NULL)
_RUN = _object(provider=_TEXT, state=_TEXT, variables=_TEXTS, seconds=_NUMBER, reason=_TEXT_OR_NULL)
_TIMINGS = _object(seconds=_NUMBER, providers=_list(_RUN))
_PLAN = _list(
    _object(
        provider=_TEXT,
        priority=_NUMBER,
        runs=_FLAG,
        variables=_or_null(_TEXTS),
        refresh=_TEXT_OR_NULL,
        reason=_TEXT,
    )
)
_SLOT = _object(name=_TEXT, type=_TEXT, required=_FLAG, default=_ANY, description=_TEXT_OR_NULL)
_ITEM = _object(
    content=_TEXT,
    active_form=_TEXT,
    status={"type": "string", "enum": ["pending", "in_progress", "completed"]},
)
_ANTHROPIC = _list(_object({"cache_control": _VALUES}, type=_TEXT, text=_TEXT))

_SCHEMAS: dict[str, tuple[str, Schema]] = {
    "agents": (
        "The agents, and what was noticed in their files.",
        _object(
            agents=_list(
                _object(
                    id=_TEXT,
                    name=_TEXT,
                    description=_TEXT_OR_NULL,
                    path=_TEXT,
                    profile=_TEXT,
                    problems=_COUNT,
                )
            ),
            diagnostics=_FINDINGS,
        ),
    ),
    "agent": (
        "The agent.",
        _object(
            id=_TEXT,
            name=_TEXT,
            description=_TEXT_OR_NULL,
            path=_TEXT,
            profile=_TEXT,
            model=_TEXT_OR_NULL,
            tools=_or_null(_TEXTS),
            source=_TEXT,
            first_line=_COUNT,
            version=_TEXT,
            revision=_TEXT_OR_NULL,
            writable=_FLAG,
            inputs=_list(_SLOT),
            variables=_TEXTS,
            required=_TEXTS,
            optional=_TEXTS,
            plan=_PLAN,
            turns=_TEXTS,
            contexts=_TEXTS,
            problems=_FINDINGS,
            stale=_FLAG,
        ),
    ),
    "prompt": (
        "The prompt, and what was asked for beside it.",
        _object(
            {
                "blocks": _list(_BLOCK),
                "segments": _list(_SEGMENT),
                "cacheable_prefix": _SIZE,
                "tokens": _COUNT,
                "diagnostics": _FINDINGS,
                "timings": _TIMINGS,
                "anthropic": _ANTHROPIC,
                "stale": _FLAG,
            },
            text=_TEXT,
            fallback=_FLAG,
        ),
    ),
    "explanation": (
        "The prompt with its segments and blocks.",
        _object(
            {"timings": _TIMINGS, "plan": _PLAN},
            template=_TEXT,
            profile=_TEXT,
            text=_TEXT,
            characters=_COUNT,
            tokens=_COUNT_OR_NULL,
            counter=_COUNTER,
            segments=_list(_SEGMENT),
            blocks=_list(_BLOCK),
            cacheable_prefix=_SIZE,
            diagnostics=_FINDINGS,
            body_start=_COUNT,
            anthropic=_ANTHROPIC,
        ),
    ),
    "check": (
        "The findings, sorted by their place.",
        _object(diagnostics=_FINDINGS, fixed=_TEXT_OR_NULL, inputs=_list(_SLOT)),
    ),
    "diff": (
        "What differs.",
        _object(
            template=_TEXT,
            equal=_FLAG,
            offset=_COUNT_OR_NULL,
            byte_offset=_COUNT_OR_NULL,
            line=_COUNT_OR_NULL,
            segment=_or_null(_VALUES),
            variables=_TEXTS,
            providers=_TEXTS,
            characters=_list(_COUNT),
            common=_SIZE,
            lost=_SIZE,
            counter=_COUNTER,
            unified=_TEXT,
            diagnostics=_FINDINGS,
        ),
    ),
    "series": (
        "The turns, what broke the cache, and the prompts.",
        _object(
            template=_TEXT,
            profile=_TEXT,
            counter=_COUNTER,
            turns=_list(_VALUES),
            culprits=_list(_VALUES),
            compared=_COUNT,
            mean_common_characters=_COUNT,
            moved=_or_null(_VALUES),
            savings=_list(_VALUES),
            diagnostics=_FINDINGS,
            prompts=_TEXTS,
        ),
    ),
    "file": ("The file.", _object(text=_TEXT, revision=_TEXT, path=_TEXT)),
    "saved": (
        "The file was replaced.",
        _object(revision=_TEXT, problems=_FINDINGS),
    ),
    "turns": ("The recorded turns.", _object(turns=_list(_VALUES))),
    "context": ("The context.", _object(context=_VALUES)),
    "text": ("The text; null when there is none.", _object(text=_TEXT_OR_NULL)),
    "todos": ("The todo list.", _object(todos=_list(_ITEM))),
    "state": ("All is well.", _object(status=_TEXT)),
    "me": (
        "The caller's roles, and what the service can.",
        _object(
            roles=_TEXTS,
            read_only=_FLAG,
            store=_FLAG,
            counters=_TEXTS,
            profiles=_TEXTS,
            version=_TEXT,
        ),
    ),
}

_EXAMPLES: dict[str, Any] = msgspec.json.decode(
    files(__package__).joinpath("examples.json").read_bytes()
)


def described(kind: str) -> dict[int | str, dict[str, Any]]:
    """The description of a successful answer, for a route's `responses`."""
    what, schema = _SCHEMAS[kind]
    # Its example is filled in later: FastAPI would leave out what is null.
    content = {"application/json": {"schema": schema, "example": kind}}
    return {200: {"description": what, "content": content}}


def fill_examples(document: dict[str, Any]) -> dict[str, Any]:
    """Put the examples into an OpenAPI document, in the places of their kinds' names."""
    for operations in document["paths"].values():
        for operation in operations.values():
            for response in operation["responses"].values():
                for content in response.get("content", {}).values():
                    kind = content.get("example")
                    if isinstance(kind, str):
                        content["example"] = _EXAMPLES[kind]
    return document
