"""Tools that are Python functions: their signature is the schema, their docstring the prose."""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Callable
from typing import Any, NoReturn

from .annotations import InexpressibleError, described_types
from .docstrings import read_docstring
from .parts import ToolParts, invalid_tool
from .schemas import Schema, plain_copy

__all__ = ["function_parts", "is_function"]

_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_WITHOUT = "or fix it beforehand with `functools.partial`"


def is_function(value: Any) -> bool:
    """Whether a value is a function, a method, or a partial of one."""
    return inspect.isroutine(_innermost(value))


def function_parts(function: Any, name: str | None) -> ToolParts:
    """The parts of a tool that calls a Python function, sync or async."""
    if not is_function(function):
        raise invalid_tool(
            f"expected a function, got `{type(function).__name__}`",
            "pass the function itself, not what it returns; of an object, pass a method",
        )
    innermost = _innermost(function)
    if name is None:
        name = _own_name(innermost)
    parameters = _parameters(function, name)
    properties, definitions = _typed(parameters, name, _globals_of(innermost))
    described = read_docstring(inspect.getdoc(innermost) or "")
    schema: Schema = {
        "type": "object",
        "properties": {
            p.name: _property(p, name, properties[p.name], described.parameters.get(p.name))
            for p in parameters
        },
        "required": [p.name for p in parameters if p.default is p.empty],
    }
    if definitions:
        schema["$defs"] = definitions
    return ToolParts(name, described.text, schema)


def _own_name(function: Any) -> str:
    name: str = function.__name__
    if not name.isidentifier():
        raise invalid_tool(
            "the function has no name of its own", "give one: `ToolSpec.from_function(f, name=…)`"
        )
    return name


def _innermost(function: Any) -> Any:
    return function.func if isinstance(function, functools.partial) else function


def _globals_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The names of the module that holds a function: what its annotations may be made of."""
    plain = inspect.unwrap(function)
    plain = getattr(plain, "__func__", plain)
    return getattr(plain, "__globals__", {})


def _parameters(function: Any, name: str) -> list[inspect.Parameter]:
    """What a model has to give: neither the object of a method, nor what a partial fixed."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (ValueError, TypeError):
        raise invalid_tool(
            f"the function `{name}` has no signature that Python can read",
            "wrap it in a function with annotations",
        ) from None
    if parameters and _is_receiver(parameters[0]):
        del parameters[0]
    fixed = function.keywords if isinstance(function, functools.partial) else ()
    return [parameter for parameter in parameters if parameter.name not in fixed]


def _is_receiver(parameter: inspect.Parameter) -> bool:
    return parameter.name in ("self", "cls") and parameter.annotation is parameter.empty


def _typed(
    parameters: list[inspect.Parameter], name: str, namespace: dict[str, Any]
) -> tuple[dict[str, Schema], Schema]:
    """The schemas of the parameters' types, and the definitions that they share."""
    annotations = {p.name: _annotation(p, name, namespace) for p in parameters}
    try:
        return described_types(annotations)
    except InexpressibleError as error:
        _refuse(
            error.name,
            name,
            "has a type that JSON cannot express",
            f"use one such as `str`, `list[int]`, a dataclass or a model, {_WITHOUT}",
        )


def _property(
    parameter: inspect.Parameter, name: str, schema: Schema, described: str | None
) -> Schema:
    """The schema of a parameter: its type's, with its description and its default."""
    made = dict(schema)
    if described is not None:
        made.setdefault("description", described)
    if parameter.default is not parameter.empty:
        made["default"] = _default(parameter, name)
    return made


def _annotation(parameter: inspect.Parameter, name: str, namespace: dict[str, Any]) -> Any:
    """A parameter's type; one that is written as text is looked up in the module."""
    if parameter.kind in _VARIADIC:
        stars = "*" if parameter.kind is parameter.VAR_POSITIONAL else "**"
        _refuse(
            stars + parameter.name,
            name,
            "takes any number of values",
            "wrap the function in one that names its parameters",
        )
    if parameter.annotation is parameter.empty:
        _refuse(
            parameter.name,
            name,
            "has no annotation",
            f"annotate it, as in `{parameter.name}: str`, {_WITHOUT}",
        )
    stand_in = types.SimpleNamespace(__annotations__={"it": parameter.annotation})
    try:
        return typing.get_type_hints(stand_in, namespace, include_extras=True)["it"]
    except Exception:  # reading text as Python may raise anything
        _refuse(
            parameter.name,
            name,
            "has an annotation that cannot be read",
            "define its type at the top of the function's module, and import it at run time",
        )


def _default(parameter: inspect.Parameter, name: str) -> Any:
    import msgspec

    try:
        return plain_copy(
            msgspec.to_builtins(
                parameter.default, str_keys=True, enc_hook=_plain_default, order="deterministic"
            )
        )
    except Exception:  # from msgspec, from pydantic, or from the value itself
        _refuse(
            parameter.name,
            name,
            "has a default that is no plain data",
            "use None or plain data; a pydantic `Field` belongs in `Annotated`",
        )


def _plain_default(value: Any) -> Any:
    if hasattr(type(value), "__pydantic_validator__"):
        return value.model_dump(mode="json")
    if hasattr(value, "__fspath__"):
        return value.__fspath__()
    raise NotImplementedError


def _refuse(parameter: str, function: str, why: str, cure: str) -> NoReturn:
    raise invalid_tool(f"the parameter `{parameter}` of the function `{function}` {why}", cure)
