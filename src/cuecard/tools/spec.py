"""The specification of a tool, and the order of several."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from ..errors import SpecError
from ..files import shown
from .functions import function_parts, is_function
from .models import is_langchain_tool, is_model, langchain_parts, model_parts
from .parts import ToolParts, invalid_tool, placed
from .schemas import NotJsonError, Schema, json_text, plain_copy
from .wire import anthropic_parts, is_mcp_tool, mapping_parts, mcp_parts, openai_parts

__all__ = ["ToolSpec", "sorted_tools"]


@dataclass(frozen=True, slots=True, init=False)
class ToolSpec:
    """What a template shows of a tool.

    Args:
        name: the name that a model calls it by.
        description: what it does; None counts as "".
        parameters: a JSON schema, which is copied; None counts as {}.

    Raises:
        SpecError: the name is empty, or a part is of the wrong type (P420).
    """

    name: str
    description: str = ""
    parameters: Schema = field(default_factory=dict)

    def __init__(
        self,
        name: str,
        description: str | None = "",
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        set_field = object.__setattr__
        set_field(self, "name", _checked_name(name))
        set_field(self, "description", _checked_description(description, name))
        set_field(self, "parameters", _checked_parameters(parameters, name))

    def __hash__(self) -> int:
        # Equal tools agree in these; a schema cannot be hashed.
        return hash((self.name, self.description))

    @classmethod
    def _from(cls, parts: ToolParts) -> Self:
        return cls(*parts)

    @classmethod
    def from_mcp(cls, tool: Any) -> Self:
        """The specification of a tool of an MCP server.

        Args:
            tool: an object of the package `mcp`, of a version with `input_schema` or with
                `inputSchema`, or a mapping with either key, as in the answer to `tools/list`.

        Raises:
            SpecError: it is no such tool (P420).
        """
        return cls._from(mcp_parts(tool))

    @classmethod
    def from_openai(cls, schema: Mapping[str, Any]) -> Self:
        """The specification of a tool as OpenAI's interfaces take it.

        Args:
            schema: a mapping with `function`, or with `name` and `parameters` in itself.

        Raises:
            SpecError: it is no such tool (P420).
        """
        return cls._from(openai_parts(schema))

    @classmethod
    def from_anthropic(cls, tool: Mapping[str, Any]) -> Self:
        """The specification of a tool as Anthropic's interface takes it.

        Args:
            tool: a mapping with `name`, `description` and `input_schema`; one of Anthropic's
                own tools, which have a `type`, needs no schema.

        Raises:
            SpecError: it is no such tool (P420).
        """
        return cls._from(anthropic_parts(tool))

    @classmethod
    def from_langchain(cls, tool: Any) -> Self:
        """The specification of a LangChain tool.

        Args:
            tool: a `BaseTool`. Arguments that the runtime injects are left out.

        Raises:
            SpecError: it is no such tool, or its arguments have no JSON schema (P420).
        """
        return cls._from(langchain_parts(tool))

    @classmethod
    def from_model(cls, model: Any, *, name: str | None = None) -> Self:
        """The specification of a tool whose parameters are the fields of a pydantic model.

        Args:
            model: a subclass of `pydantic.BaseModel`. Its docstring is the description.
            name: the name of the tool; without one, the name of the class.

        Raises:
            SpecError: it is no such class, or describes no object (P420).
        """
        return cls._from(model_parts(model, name))

    @classmethod
    def from_function(cls, function: Callable[..., Any], *, name: str | None = None) -> Self:
        """The specification of a tool that calls a Python function.

        Args:
            function: a function, a method or a partial, sync or async, whose parameters are
                annotated. Its docstring, in the style of Google, NumPy or Sphinx, gives the
                descriptions; a note in `Annotated` goes before that of the docstring.
            name: the name of the tool; without one, the name of the function.

        Raises:
            SpecError: a parameter has no annotation, a type or a default that JSON cannot
                express, or stands for any number of values (P420).
            MissingExtraError: there is a docstring, and the extra `tools` is not installed; or
                an annotation needs pydantic, and that is not (P807).
        """
        return cls._from(function_parts(function, name))

    @classmethod
    def of(cls, value: Any) -> ToolSpec:
        """The specification of a tool in any of these forms.

        Args:
            value: a `ToolSpec`, which is returned as it is; a mapping as MCP, OpenAI or
                Anthropic have it, or with `name`, `description` and `parameters`; a tool of
                `mcp` or LangChain; a pydantic class; a function.

        Raises:
            SpecError: it is none of these, or is invalid (P420).
            MissingExtraError: as `from_function`.
        """
        return value if isinstance(value, ToolSpec) else cls._from(_parts_of(value))


def _parts_of(value: Any) -> ToolParts:
    if isinstance(value, Mapping):
        return mapping_parts(value)
    if is_model(value):
        return model_parts(value, None)
    # Before the tools of MCP: one of LangChain's has an `input_schema` too, of another kind.
    if is_langchain_tool(value):
        return langchain_parts(value)
    if is_function(value):
        return function_parts(value, None)
    if is_mcp_tool(value) and not isinstance(value, type):
        return mcp_parts(value)
    raise invalid_tool(
        f"`{type(value).__name__}` is no tool",
        "pass a ToolSpec, a mapping with `name` and `parameters`, a tool of mcp or LangChain, "
        "a pydantic class or a function",
    )


def _checked_name(name: Any) -> str:
    if name is not None and not isinstance(name, str):
        raise invalid_tool(f"expected the tool's `name` to be text, got `{type(name).__name__}`")
    if not name or not name.strip():
        raise invalid_tool("the tool has no `name`", "a model calls it by its name: give it one")
    return name


def _checked_description(description: Any, name: str) -> str:
    if description is None:
        return ""
    if not isinstance(description, str):
        raise invalid_tool(
            f"expected the `description` of the tool {shown(name)} to be text, "
            f"got `{type(description).__name__}`"
        )
    return description


def _checked_parameters(parameters: Any, name: str) -> Schema:
    if parameters is None:
        return {}
    if not isinstance(parameters, Mapping):
        raise invalid_tool(
            f"expected the parameters of the tool {shown(name)} to be a mapping, "
            f"got `{type(parameters).__name__}`",
            'pass a JSON schema, such as `{"type": "object", "properties": {}}`',
        )
    try:
        copied: Schema = plain_copy(parameters)
    except NotJsonError as error:
        raise invalid_tool(
            f"the parameters of the tool {shown(name)} hold {error.what}, which is no JSON "
            f"- at `{error.path}`",
            "a JSON schema holds text, numbers, lists and mappings with text keys",
        ) from None
    return copied


def sorted_tools(tools: Iterable[Any]) -> list[ToolSpec]:
    """Tools in an order of their own, whatever order they came in.

    They are sorted by name, by code points, then by description and by the JSON of their
    parameters, so that a prompt which shows them has the same bytes.

    Args:
        tools: whatever `ToolSpec.of` takes.

    Raises:
        SpecError: one is no tool; the message says at which place (P420).
        MissingExtraError: as `ToolSpec.from_function`.
    """
    specs = []
    for index, tool in enumerate(tools):
        try:
            specs.append(ToolSpec.of(tool))
        except SpecError as error:
            raise placed(error, path=f"$[{index}]") from error.__cause__
    return sorted(specs, key=_order)


def _order(tool: ToolSpec) -> tuple[str, str, str, str]:
    parameters = tool.parameters
    # Schemas that differ in the order of their keys alone print differently.
    texts = (json_text(parameters, sort_keys=True), json_text(parameters, sort_keys=False))
    return tool.name, tool.description, *texts
