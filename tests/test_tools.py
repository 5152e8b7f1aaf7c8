"""Tools: every form that they come in, their order, their files, and the lines of MCP servers."""

import asyncio
import copy
import dataclasses
import datetime
import enum
import functools
import io
import json
import math
import pickle
import sys
from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Annotated, Any, Literal, NamedTuple, TypedDict

import annotated_types
import langchain_core.tools
import mcp
import mcp.types
import msgspec
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.server.mcpserver import MCPServer
from typing_extensions import Doc

import cuecard
from cuecard.errors import MissingExtraError, SpecError
from cuecard.tools import (
    McpServerLine,
    ToolSpec,
    load_mcp_servers,
    load_tools,
    mcp_server_lines,
    sorted_tools,
)

from .case_files import Case, parameters
from .test_import import imported_by

SECRET = "SECRET"
OBJECT = {"type": "object", "properties": {}, "required": []}


def as_list(tool: ToolSpec) -> list[Any]:
    return [tool.name, tool.description, tool.parameters]


def refused(make: Callable[..., Any], *arguments: Any, **named: Any) -> SpecError:
    """The error of a call; its code is P420, and it holds no value."""
    with pytest.raises(SpecError) as caught:
        make(*arguments, **named)
    assert caught.value.code == "P420"
    assert SECRET not in str(caught.value)
    return caught.value


class TestCases:
    @pytest.mark.parametrize("case", parameters("tools.jsonl", lambda case: "value" in case))
    def test_form(self, case: Case) -> None:
        """A tool of any form is read, or refused in words that hold none of its values."""
        for name in case["by"]:
            before = copy.deepcopy(case["value"])
            make = getattr(ToolSpec, name)
            if "error" in case:
                error = refused(make, case["value"])
                assert error.message == case["error"], name
                assert case.get("hint", "") in (error.hint or "")
            else:
                assert as_list(make(case["value"])) == case["expected"], name
            assert case["value"] == before

    @pytest.mark.parametrize("case", parameters("tools.jsonl", lambda case: "servers" in case))
    def test_servers(self, case: Case) -> None:
        """A configuration of MCP servers gives lines, or an error that names the server."""
        if "error" in case:
            error = refused(mcp_server_lines, case["servers"])
            assert error.message == case["error"]
            assert case.get("hint", "") in (error.hint or "")
        else:
            lines = mcp_server_lines(case["servers"])
            assert lines == [McpServerLine(*fields) for fields in case["expected"]]


class TestToolSpec:
    def test_absent_parts(self) -> None:
        """A description is never None, nor is a schema."""
        assert ToolSpec("add") == ToolSpec("add", None, None) == ToolSpec("add", "", {})

    def test_schema_is_copied(self) -> None:
        """What happens to the caller's schema later does not reach the tool, nor the reverse."""
        schema: dict[str, Any] = {"properties": {"a": {"enum": [1]}}}
        tool = ToolSpec("add", parameters=schema)
        schema["properties"]["a"]["enum"].append(2)
        assert tool.parameters == {"properties": {"a": {"enum": [1]}}}

    def test_schema_becomes_plain(self) -> None:
        """Other mappings and tuples become what JSON has; the order of keys stays."""
        schema = MappingProxyType(OrderedDict(b=(1, 2), a=MappingProxyType({"x": None})))
        tool = ToolSpec("add", parameters=schema)
        assert json.dumps(tool.parameters) == '{"b": [1, 2], "a": {"x": null}}'
        assert type(tool.parameters) is type(tool.parameters["a"]) is dict

    @pytest.mark.parametrize(
        ("schema", "words"),
        [
            ({"a": [{"b": {SECRET}}]}, "hold a `set`, which is no JSON - at `$.a[0].b`"),
            ({"a": {1: SECRET}}, "hold a key of type `int`, which is no JSON - at `$.a`"),
            ({"a": math.inf}, "hold a number that is none, which is no JSON - at `$.a`"),
        ],
    )
    def test_schema_is_json(self, schema: Any, words: str) -> None:
        """What JSON cannot hold is refused with its path, and without its value."""
        assert words in refused(ToolSpec, "add", "", schema).message

    def test_endless_schema(self) -> None:
        """A schema that contains itself is refused, and so is one too deep for a context."""
        schema: dict[str, Any] = {}
        schema["a"] = [schema]
        assert "more than 64 levels, or itself" in refused(ToolSpec, "add", "", schema).message

    def test_is_a_value(self) -> None:
        """It is frozen, compares by its parts, hashes, copies, pickles and can be replaced."""
        tool = ToolSpec("add", "Adds.", {"type": "object"})
        assert {tool, copy.deepcopy(tool), pickle.loads(pickle.dumps(tool))} == {tool}
        renamed = dataclasses.replace(tool, name="sum")
        assert as_list(renamed) == ["sum", "Adds.", {"type": "object"}]
        assert renamed != tool
        with pytest.raises(dataclasses.FrozenInstanceError):
            tool.name = "sum"  # type: ignore[misc]

    def test_stays_itself(self) -> None:
        """A tool that is one already is returned as it is."""
        tool = ToolSpec("add")
        assert ToolSpec.of(tool) is tool


def shared_server() -> MCPServer:
    server = MCPServer("calculator")

    @server.tool()
    def subtract(a: int, b: int = 1) -> int:
        """Take one number from another."""
        return a - b

    @server.tool()
    async def add(numbers: list[float]) -> float:
        return sum(numbers)

    return server


async def listed(server: MCPServer) -> list[mcp.types.Tool]:
    async with mcp.Client(server) as client:
        return (await client.list_tools()).tools


class TestMcp:
    def test_tools_of_a_server(self) -> None:
        """What a client lists has name, description and schema; no description is an empty one."""
        tools = asyncio.run(listed(shared_server()))
        subtract, add = (ToolSpec.from_mcp(tool) for tool in tools)
        assert (subtract.name, subtract.description) == (
            "subtract",
            "Take one number from another.",
        )
        assert subtract.parameters["required"] == ["a"]
        assert list(subtract.parameters["properties"]) == ["a", "b"]
        assert (add.name, add.description) == ("add", "")
        assert [ToolSpec.of(tool) for tool in tools] == [subtract, add]

    def test_json_says_the_same(self) -> None:
        """The object, its JSON and its dump are one tool."""
        for tool in asyncio.run(listed(shared_server())):
            for by_alias in (True, False):
                dumped = tool.model_dump(mode="json", by_alias=by_alias)
                assert ToolSpec.of(dumped) == ToolSpec.from_mcp(tool)

    def test_type_made_by_hand(self) -> None:
        """The package's type needs no server."""
        tool = mcp.types.Tool(name="add", input_schema={"type": "object"})
        assert as_list(ToolSpec.of(tool)) == ["add", "", {"type": "object"}]

    def test_older_versions(self) -> None:
        """Objects of older versions of the package have the schema by another name."""
        tool = SimpleNamespace(name="add", description="Adds.", inputSchema={"type": "object"})
        assert as_list(ToolSpec.of(tool)) == ["add", "Adds.", {"type": "object"}]


@langchain_core.tools.tool
def search_notes(
    query: str, user_id: Annotated[str, langchain_core.tools.InjectedToolArg], limit: int = 5
) -> str:
    """Search the notes of the user."""
    return f"{query} {user_id} {limit}"


class Arguments(pydantic.BaseModel):
    """Words that are not the tool's."""

    query: str = pydantic.Field(description="what to look for")


class OwnTool(langchain_core.tools.BaseTool):
    name: str = "own"
    description: str = "A tool by class."
    args_schema: Any = Arguments

    def _run(self, query: str) -> str:
        return query


class TestLangChain:
    def test_decorated_function(self) -> None:
        """An argument that the runtime injects is left out; the heading of the schema too."""
        tool = ToolSpec.from_langchain(search_notes)
        assert (tool.name, tool.description) == ("search_notes", "Search the notes of the user.")
        assert tool.parameters == {
            "type": "object",
            "properties": {
                "query": {"title": "Query", "type": "string"},
                "limit": {"default": 5, "title": "Limit", "type": "integer"},
            },
            "required": ["query"],
        }
        assert ToolSpec.of(search_notes) == tool

    def test_class_of_its_own(self) -> None:
        """The description is the tool's, not that of its arguments."""
        tool = ToolSpec.of(OwnTool())
        assert (tool.name, tool.description) == ("own", "A tool by class.")
        assert tool.parameters["properties"]["query"]["description"] == "what to look for"
        assert not tool.parameters.keys() & {"title", "description"}

    def test_schema_that_is_json(self) -> None:
        """A tool may have a JSON schema in place of a class."""
        schema = {"title": "T", "description": "D", "type": "object", "properties": {"title": {}}}
        made = langchain_core.tools.StructuredTool(
            name="remote", description="Far.", args_schema=schema, func=print
        )
        expected = ["remote", "Far.", {"type": "object", "properties": {"title": {}}}]
        assert as_list(ToolSpec.of(made)) == expected


class Place(pydantic.BaseModel):
    """A place on a map."""

    model_config = pydantic.ConfigDict(title="The place")

    city: str
    title: str | None = pydantic.Field(default=None, alias="heading")


class Node(pydantic.BaseModel):
    """A node of a tree."""

    children: list["Node"] = []


class Opaque(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(arbitrary_types_allowed=True)

    inner: SimpleNamespace


class TestModels:
    def test_fields(self) -> None:
        """Title and docstring leave the schema: the one is dropped, the other the description."""
        tool = ToolSpec.from_model(Place)
        assert (tool.name, tool.description) == ("Place", "A place on a map.")
        assert not tool.parameters.keys() & {"title", "description"}
        assert list(tool.parameters["properties"]) == ["city", "heading"]
        assert ToolSpec.of(Place) == tool
        assert ToolSpec.from_model(Place, name="find").name == "find"

    def test_recursive(self) -> None:
        """The top is an object even where pydantic makes it a reference."""
        tool = ToolSpec.of(Node)
        assert tool.description == "A node of a tree."
        assert tool.parameters["type"] == "object"
        assert_valid(tool, {"children": [{"children": []}]})
        assert_invalid(tool, {"children": [{"children": 1}]})

    @pytest.mark.parametrize(
        ("model", "words"),
        [
            (pydantic.RootModel[list[int]], "describes no object"),
            (Opaque, "`Opaque` has no JSON schema: `PydanticInvalidForJsonSchema`"),
            (SimpleNamespace, "expected a pydantic model class, got `SimpleNamespace`"),
        ],
    )
    def test_refused(self, model: Any, words: str) -> None:
        """A class without a schema of named fields is refused by its name."""
        assert words in refused(ToolSpec.from_model, model).message

    def test_other_classes(self) -> None:
        """A class of another kind is no tool, whatever its attributes are."""
        kind = type("Kind", (), {"name": "x", "input_schema": {}})
        assert refused(ToolSpec.of, kind).message == "`type` is no tool"


def google(path: str, deep: bool = False) -> None:
    """Read a file.

    All of it,
    as text.

    Args:
        path (str): where it is,
            from the root.
        deep: whether links are followed.

    Returns:
        The text.

    Raises:
        OSError: it is not there.
    """


def numpy(path: str, deep: bool = False) -> None:
    """Read a file.

    All of it,
    as text.

    Parameters
    ----------
    path : str
        where it is,
        from the root.
    deep : bool, optional
        whether links are followed.

    Returns
    -------
    str
        The text.
    """


def sphinx(path: str, deep: bool = False) -> None:
    """Read a file.

    All of it,
    as text.

    :param path: where it is,
        from the root.
    :type path: str
    :param bool deep: whether links are followed.
    :returns: The text.
    """


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0


class Line(msgspec.Struct):
    points: list[Point]


class Options(TypedDict):
    deep: bool


class Pair(NamedTuple):
    left: int
    right: str


ANNOTATIONS: list[tuple[Any, Any, list[Any], list[Any]]] = [
    # annotation, schema (or None where its exact form is msgspec's or pydantic's), valid, invalid
    (str, {"type": "string"}, ["a"], [1]),
    (int, {"type": "integer"}, [1], ["1"]),
    (float, {"type": "number"}, [1.5], ["1"]),
    (bool, {"type": "boolean"}, [True], [1]),
    (None, {"type": "null"}, [None], [1]),
    (Any, {}, [1, None], []),
    (dict, {"type": "object"}, [{"a": 1}], [[]]),
    (list[str], {"type": "array", "items": {"type": "string"}}, [["a"]], [[1]]),
    ("list['Point']", None, [[{"x": 1}]], [[{"y": 1}]]),
    (tuple[int, str], None, [[1, "a"]], [[1], ["a", 1]]),
    (set[int], None, [[1, 2]], [[1, 1]]),
    (dict[str, int], None, [{"a": 1}], [{"a": "b"}]),
    (Literal["b", "a"], {"enum": ["a", "b"]}, ["a"], ["c"]),
    (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}, [1, None], ["a"]),
    (Colour, None, ["red"], ["green"]),
    (Point, None, [{"x": 1}, {"x": 1, "y": 2}], [{}, {"x": "a"}]),
    (Line, None, [{"points": [{"x": 1}]}], [{"points": [{}]}]),
    (Options, None, [{"deep": True}], [{}]),
    (Pair, None, [[1, "a"]], [[1]]),
    (datetime.date, {"type": "string", "format": "date"}, ["2026-11-29"], [1]),
    (Path, {"type": "string", "format": "path"}, ["a/b"], [1]),
    (Annotated[int, msgspec.Meta(ge=1)], {"type": "integer", "minimum": 1}, [1], [0]),
    # unions that msgspec could not tell apart, and a model needs not
    (str | datetime.date, None, ["a"], [1]),
    (Point | Line, None, [{"x": 1}, {"points": []}], [{}]),
    (Annotated[str | Path | None, "note"], None, ["a", None], [1]),
    # pydantic
    (Place, None, [{"city": "Rome"}], [{}]),
    (Node | None, None, [None, {"children": [{}]}], [{"children": 1}]),
    (list[Place] | int, None, [1, [{"city": "Rome"}]], [[{}], "a"]),
    (dict[str, Node], None, [{"a": {"children": []}}], [{"a": {"children": [1]}}]),
    (Annotated[int, pydantic.Field(ge=1)], {"type": "integer", "minimum": 1}, [1], [0]),
    (list[Annotated[int, annotated_types.Gt(1)]], None, [[2]], [[1]]),
    (pydantic.PositiveInt | None, None, [1, None], [0]),
    (pydantic.HttpUrl, None, ["https://x"], [1]),
]


def annotated(annotation: Any) -> Callable[..., None]:
    """A function of one parameter of a type."""

    def tool(value: Any) -> None:
        raise AssertionError

    tool.__annotations__["value"] = annotation
    return tool


def validator(tool: ToolSpec) -> Any:
    from jsonschema import Draft202012Validator

    Draft202012Validator.check_schema(tool.parameters)
    return Draft202012Validator(tool.parameters)


def assert_valid(tool: ToolSpec, arguments: Any) -> None:
    validator(tool).validate(arguments)


def assert_invalid(tool: ToolSpec, arguments: Any) -> None:
    assert not validator(tool).is_valid(arguments)


class TestFunctions:
    @pytest.mark.parametrize("function", [google, numpy, sphinx])
    def test_docstring(self, function: Callable[..., None]) -> None:
        """All styles say the same: the prose, and what each parameter is; no other section."""
        tool = ToolSpec.from_function(function)
        assert tool.name == function.__name__
        assert tool.description == "Read a file.\n\nAll of it,\nas text."
        assert tool.parameters == {
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "where it is,\nfrom the root."},
                "deep": {
                    "type": "boolean",
                    "description": "whether links are followed.",
                    "default": False,
                },
            },
            "required": ["path"],
        }
        assert ToolSpec.of(function) == tool

    @pytest.mark.parametrize(
        ("docstring", "description", "described"),
        [
            ("Summary\nin two lines.", "Summary\nin two lines.", None),
            ("Key: value.\n\n- item: one", "Key: value.\n\n- item: one", None),
            ("Odd.\n\n:broken", "Odd.\n\n:broken", None),
            ("\n    S.\n\n        x:\n            y\n    ", "S.\n\n    x:\n        y", None),
            ("\n    Args:\n        a: The a.\n    ", "", "The a."),
            ("S.\n\nParameters\n----------\nz, a : int\n    Both.\n", "S.", "Both."),
            ("S.\n\nArgs:\n    *a: starred\n    other: not there", "S.", "starred"),
            ("", "", None),
            ("  \n ", "", None),
        ],
    )
    def test_odd_docstrings(self, docstring: str, description: str, described: str | None) -> None:
        """What is of no style is prose; parameters that do not exist are not invented."""

        def tool(a: int) -> None:
            raise AssertionError

        tool.__doc__ = docstring
        made = ToolSpec.of(tool)
        assert made.description == description
        assert list(made.parameters["properties"]) == ["a"]
        assert made.parameters["properties"]["a"].get("description") == described

    @pytest.mark.parametrize(
        ("annotation", "schema", "valid", "invalid"),
        ANNOTATIONS,
        ids=[str(row[0]).replace("tests.test_tools.", "") for row in ANNOTATIONS],
    )
    def test_annotation(
        self, annotation: Any, schema: Any, valid: list[Any], invalid: list[Any]
    ) -> None:
        """The schema takes what the annotation takes, and its references lead somewhere."""
        tool = ToolSpec.of(annotated(annotation))
        assert tool.parameters["required"] == ["value"]
        if schema is not None:
            assert tool.parameters["properties"] == {"value": schema}
            assert "$defs" not in tool.parameters
        for value in valid:
            assert_valid(tool, {"value": value})
        for value in invalid:
            assert_invalid(tool, {"value": value})

    @pytest.mark.parametrize(
        "annotation",
        [
            Annotated[int, "the note"],
            Annotated[int, msgspec.Meta(description="the note")],
            Annotated[int, pydantic.Field(description="the note")],
            Annotated[int, Doc("the note")],
            Annotated[int, "the note"] | None,
            Annotated[Place, "the note"],
            Annotated[Place, pydantic.Field(description="the note")],
            Annotated[str | Path, "the note"],
        ],
        ids=str,
    )
    def test_note(self, annotation: Any) -> None:
        """A note in the annotation goes before the docstring's."""
        function = annotated(annotation)
        function.__doc__ = "Do.\n\nArgs:\n    value: the docstring's\n"
        value = ToolSpec.of(function).parameters["properties"]["value"]
        assert value["description"] == "the note"

    def test_note_inside(self) -> None:
        """A note about the items of a list is not one about the list."""
        value = ToolSpec.of(annotated(list[Annotated[int, "an item"]])).parameters["properties"]
        assert "description" not in value["value"]

    def test_classes_of_one_name(self) -> None:
        """Classes of one name stay apart, whichever packages they are of."""
        struct = msgspec.defstruct("Place", [("street", str)])
        model = pydantic.create_model("Place", house=(int, ...))
        values: dict[Any, Any] = {
            struct: {"street": "x"},
            Place: {"city": "x"},
            model: {"house": 1},
        }

        def tool(a: Any, b: Any, c: Any) -> None:
            raise AssertionError

        for kinds in [(struct, Place, Node), (struct, model, Place), (Place, model, struct)]:
            tool.__annotations__.update(zip("abc", kinds, strict=True))
            made = ToolSpec.of(tool)
            right = {name: values.get(kind, {}) for name, kind in zip("abc", kinds, strict=True)}
            assert_valid(made, right)
            for name in right:
                assert_invalid(made, {**right, name: {"children": 1}})

    def test_defaults(self) -> None:
        """A parameter with a default is not required, and its default is JSON."""

        def tool(
            a: int,
            /,
            b: int | None = None,
            *,
            c: str,
            d: Colour = Colour.RED,
            e: set[str] = {"z", "y"},  # noqa: B006
            f: Path = Path("x"),
            g: Place = Place(city="Rome"),  # noqa: B008
            h: Point = Point(1),  # noqa: B008
            i: datetime.date = datetime.date(2026, 11, 29),
        ) -> None:
            raise AssertionError

        made = ToolSpec.of(tool).parameters
        assert made["required"] == ["a", "c"]
        defaults = {k: v["default"] for k, v in made["properties"].items() if "default" in v}
        assert defaults == {
            "b": None,
            "d": "red",
            "e": ["y", "z"],
            "f": "x",
            "g": {"city": "Rome", "title": None},
            "h": {"x": 1, "y": 0},
            "i": "2026-11-29",
        }

    def test_kinds(self) -> None:
        """Async functions, methods, partials and wrapped functions are functions."""

        class Shop:
            def buy(self, item: str, count: int = 1) -> None:
                """Buy it."""

            @classmethod
            def opened(cls, item: str, count: int = 1) -> None:
                """Buy it."""

            @staticmethod
            async def closed(item: str, count: int = 1) -> None:
                """Buy it."""

        def with_shop(shop: Shop, item: str, count: int = 1, *, log: Any = None) -> None:
            """Buy it."""

        @functools.wraps(Shop.closed)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            return Shop.closed(*args, **kwargs)

        fixed = functools.partial(with_shop, Shop(), log=print)
        functions = [Shop().buy, Shop.buy, Shop.opened, Shop.closed, wrapped, fixed]
        tools = [ToolSpec.of(function) for function in functions]
        assert [t.name for t in tools] == ["buy", "buy", "opened", "closed", "closed", "with_shop"]
        assert {t.description for t in tools} == {"Buy it."}
        for tool in tools:
            assert tool.parameters == {
                "type": "object",
                "properties": {
                    "item": {"type": "string"},
                    "count": {"type": "integer", "default": 1},
                },
                "required": ["item"],
            }

    def test_without_anything(self) -> None:
        """A function without parameters and docstring has an empty schema of an object."""

        def now() -> None:
            raise AssertionError

        assert as_list(ToolSpec.of(now)) == ["now", "", OBJECT]
        assert ToolSpec.from_function(lambda: None, name="later").name == "later"
        assert ToolSpec.from_function(now, name="later").name == "later"

    def test_annotation_as_text(self) -> None:
        """Text is looked up in the function's module; what it returns is not looked at."""

        def tool(a: "Point", b: "dict[str, Colour]") -> "Missing":  # type: ignore[name-defined] # noqa: F821
            raise AssertionError

        assert_valid(ToolSpec.of(tool), {"a": {"x": 1}, "b": {"k": "red"}})

    def test_refused(self) -> None:
        """What a model cannot give is refused, with the parameter's name and the remedy."""

        def untyped(a: int, token=SECRET) -> None: ...  # type: ignore[no-untyped-def]
        def some(a: int, *rest: int) -> None: ...
        def named(a: int, **rest: int) -> None: ...
        def opaque(a: int, of: list[SimpleNamespace]) -> None: ...
        def forward(a: int, of: "Missing") -> None: ...  # type: ignore[name-defined] # noqa: F821
        def field(a: int, of: int = pydantic.Field(default=1)) -> None: ...
        def inner(a: int, of: list[str | datetime.date]) -> None: ...
        def loose(a: int, of: Annotated[SimpleNamespace, annotated_types.Gt(1)]) -> None: ...
        def endless(a: int, of: float = math.inf) -> None: ...

        typed = "has a type that JSON cannot express", "functools.partial"
        for function, parameter, words, remedy in [
            (untyped, "token", "has no annotation", "`token: str`"),
            (some, "*rest", "takes any number of values", "names its parameters"),
            (named, "**rest", "takes any number of values", "names its parameters"),
            (opaque, "of", *typed),
            (inner, "of", *typed),
            (loose, "of", *typed),
            (forward, "of", "has an annotation that cannot be read", "top of the function's"),
            (field, "of", "has a default that is no plain data", "`Annotated`"),
            (endless, "of", "has a default that is no plain data", "plain data"),
        ]:
            error = refused(ToolSpec.of, function)
            where = f"the parameter `{parameter}` of the function `{function.__name__}`"
            assert error.message == f"{where} {words}"
            assert remedy in (error.hint or "")

    @pytest.mark.parametrize(
        ("function", "words"),
        [
            (lambda: None, "the function has no name of its own"),
            (type, "expected a function, got `type`"),
            (print, "the parameter `*args` of the function `print` takes any number"),
            (getattr, "the function `getattr` has no signature that Python can read"),
        ],
    )
    def test_no_tools(self, function: Any, words: str) -> None:
        """A function that says too little about itself is refused."""
        assert words in refused(ToolSpec.from_function, function).message


class TestMissingPackages:
    def test_docstring(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Only a docstring needs the extra, and its absence is told with the remedy."""
        monkeypatch.setitem(sys.modules, "docstring_parser", None)
        assert ToolSpec.of(annotated(int)).name == "tool"
        with pytest.raises(MissingExtraError) as caught:
            ToolSpec.of(google)
        assert (caught.value.code, caught.value.hint) == ("P807", "pip install 'cuecard[tools]'")

    def test_pydantic(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Only types of pydantic's need pydantic."""
        monkeypatch.setitem(sys.modules, "pydantic", None)
        assert ToolSpec.of(annotated(Line)).parameters["required"] == ["value"]
        for annotation in (Place, list[Annotated[int, annotated_types.Gt(1)]]):
            with pytest.raises(MissingExtraError) as caught:
                ToolSpec.of(annotated(annotation))
            assert (caught.value.code, caught.value.hint) == ("P807", "pip install pydantic")

    def test_import(self) -> None:
        """Importing the room loads no package that tools come from."""
        heavy = {"pydantic", "mcp", "langchain_core", "docstring_parser", "jsonschema", "asyncio"}
        assert imported_by("import cuecard.tools") & heavy == set()


SCHEMAS = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text("ab\U0001f600ü", max_size=2),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=6,
)
TOOLS = st.builds(
    ToolSpec,
    st.sampled_from(["a", "B", "é", "z", "\U0001f600", "\uffff"]),
    st.sampled_from(["", "x", "y"]),
    st.dictionaries(st.sampled_from("abc"), SCHEMAS, max_size=3),
)


class TestOrder:
    @given(tools=st.lists(TOOLS, max_size=5), data=st.data())
    def test_any_permutation(self, tools: list[ToolSpec], data: st.DataObject) -> None:
        """Whatever order tools come in, their text has the same bytes."""
        shuffled = data.draw(st.permutations(tools))
        texts = {
            json.dumps([as_list(tool) for tool in sorted_tools(order)])
            for order in (tools, shuffled, reversed(tools))
        }
        assert len(texts) == 1
        assert {id(tool) for tool in sorted_tools(tools)} == {id(tool) for tool in tools}

    @given(tools=st.lists(TOOLS, max_size=5))
    def test_by_name_and_description(self, tools: list[ToolSpec]) -> None:
        """Names go by their code points, then descriptions."""
        keys = [(tool.name, tool.description) for tool in sorted_tools(tools)]
        assert keys == sorted(keys)

    def test_order_of_keys(self) -> None:
        """Schemas that differ in the order of their keys alone have an order too."""
        one, two = ToolSpec("a", "", {"x": 1, "y": 2}), ToolSpec("a", "", {"y": 2, "x": 1})
        assert one == two
        first, second = (sorted_tools(order) for order in ((one, two), (two, one)))
        assert [list(tool.parameters) for tool in first] == [["x", "y"], ["y", "x"]]
        assert [list(tool.parameters) for tool in second] == [["x", "y"], ["y", "x"]]

    def test_of_every_form(self) -> None:
        """Tools of all forms are sorted together."""
        tools = sorted_tools(
            [
                {"type": "function", "function": {"name": "zoom"}},
                search_notes,
                google,
                Place,
                *asyncio.run(listed(shared_server())),
                ToolSpec("b"),
                {"name": "c", "input_schema": {}},
            ]
        )
        expected = ["Place", "add", "b", "c", "google", "search_notes", "subtract", "zoom"]
        assert [tool.name for tool in tools] == expected

    def test_invalid_one(self) -> None:
        """The error says at which place the invalid tool stands."""
        error = refused(sorted_tools, [ToolSpec("a"), {"name": "b", "parameters": [SECRET]}])
        assert error.message.endswith("got `list` - at `$[1]`")
        assert error.hint


def written(folder: Path, value: Any) -> Path:
    file = folder / "tools.json"
    file.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return file


class TestLoading:
    def test_list_of_any_form(self, tmp_path: Path) -> None:
        """The tools of a list come in the file's order, without a finding."""
        forms = [
            {"type": "function", "function": {"name": "b", "parameters": {"type": "object"}}},
            {"name": "a", "inputSchema": {}},
            {"name": "c", "input_schema": {}},
            {"name": "aa", "description": "plain"},
        ]
        found = load_tools(written(tmp_path, forms))
        assert found == [ToolSpec.of(form) for form in forms]
        assert found.diagnostics == ()

    def test_answer_of_a_server(self, tmp_path: Path) -> None:
        """The answer to tools/list may be kept in a file as it is."""

        async def answer() -> Mapping[str, Any]:
            async with mcp.Client(shared_server()) as client:
                return (await client.list_tools()).model_dump(mode="json", by_alias=True)

        found = load_tools(str(written(tmp_path, asyncio.run(answer()))))
        assert [tool.name for tool in found] == ["subtract", "add"]
        assert found.diagnostics == ()

    def test_standard_input(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """`-` is standard input."""
        data = b'\xef\xbb\xbf[{"name": "a"}, {}]'
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        found = load_tools("-")
        assert found == [ToolSpec("a")]
        assert [d.template for d in found.diagnostics] == ["<stdin>"]

    def test_findings(self, tmp_path: Path) -> None:
        """An invalid tool is left out, with an error; a name met twice is a warning."""
        tools = [{"name": "a"}, {"name": "b", "parameters": SECRET}, SECRET, {"name": "a"}]
        file = written(tmp_path, {"model": "m", "tools": tools})
        found = load_tools(file)
        assert [tool.name for tool in found] == ["a", "a"]
        described = [(d.code, d.severity, d.template, d.span) for d in found.diagnostics]
        error, warning = ("P420", "error", str(file), None), ("P421", "warning", str(file), None)
        assert described == [error, error, warning]
        assert [d.message.partition(" - at ")[2] for d in found.diagnostics] == [
            "`$.tools[1]`",
            "`$.tools[2]`",
            "`$.tools[3]`",
        ]
        assert all(d.hint and SECRET not in str(d) for d in found.diagnostics)

    @pytest.mark.parametrize(
        ("text", "code", "words"),
        [
            ('[\n{"name": SECRET}]', "P806", "at line 2, column 10: Expecting value"),
            ('[{"name": NaN}]', "P806", "a number that is none"),
            ("[" * 100_000, "P806", "nested too deeply"),
            ("", "P806", "at line 1, column 1: Expecting value"),
            ('{"name": "SECRET"}', "P420", "expected a list of tools, got `dict` - at `$`"),
            ('{"tools": "SECRET"}', "P420", "expected a list of tools, got `str` - at `$.tools`"),
        ],
        ids=range(6),
    )
    def test_no_tools(self, tmp_path: Path, text: str, code: str, words: str) -> None:
        """A file that is no JSON, or no list, is refused with the fault's place and no value."""
        file = written(tmp_path, text)
        with pytest.raises(cuecard.PromptError) as caught:
            load_tools(file)
        assert (caught.value.code, caught.value.template) == (code, str(file))
        assert words in caught.value.message
        assert SECRET not in caught.value.report()

    def test_no_file(self, tmp_path: Path) -> None:
        """A file that is not there is said to be so."""
        with pytest.raises(cuecard.PromptError) as caught:
            load_tools(tmp_path / "none.json")
        assert caught.value.code == "P801"


class TestServerFiles:
    def test_lines(self, tmp_path: Path) -> None:
        """A file of settings gives the lines of its servers."""
        file = written(tmp_path, {"mcpServers": {"b": {"description": "B."}, "a": {}}})
        assert load_mcp_servers(file) == [McpServerLine("a", "a"), McpServerLine("b", "b", "B.")]

    def test_faults(self, tmp_path: Path) -> None:
        """An error names the file."""
        file = written(tmp_path, {"mcpServers": {"b": SECRET}})
        error = refused(load_mcp_servers, file)
        assert (error.template, "'b'" in error.message) == (str(file), True)
        with pytest.raises(cuecard.PromptError) as caught:
            load_mcp_servers(written(tmp_path, "{"))
        assert (caught.value.code, caught.value.template) == ("P806", str(file))

    def test_line_is_frozen(self) -> None:
        """A line is a value."""
        line = McpServerLine("a", "b")
        assert {line, pickle.loads(pickle.dumps(line))} == {McpServerLine("a", "b", "")}
        with pytest.raises(dataclasses.FrozenInstanceError):
            line.name = "c"  # type: ignore[misc]


SYSTEM = """\
{% for tool in tools %}
- {{ tool.name }}: {{ tool.description }} {{ tool.parameters | tojson(indent=2) }}
{{ tool | tojson }}
{% endfor %}
{{ tools | tojson }}
{% for line in mcp %}
- {{ line.name }} ({{ line.server }}): {{ line.description }}
{% endfor %}
{{ mcp | tojson }}
"""


class TestTemplates:
    @given(tools=st.lists(TOOLS, max_size=3))
    def test_tools_are_mappings(self, tools: list[ToolSpec]) -> None:
        """A template shows a tool as it shows the mapping of its parts."""
        lines = [McpServerLine("a", "b", "c")]
        texts = [
            cuecard.markdown.render_system(SYSTEM, "/w", tools=shown, mcp=mcp_lines)
            for shown, mcp_lines in [
                (tools, lines),
                (map(dataclasses.asdict, tools), map(dataclasses.asdict, lines)),
            ]
        ]
        assert texts[0] == texts[1]

    def test_live(self) -> None:
        """The other profiles show them too, in the order of their fields."""
        text = cuecard.render("{{ tool | tojson }}", {"tool": ToolSpec("a", None, {"b": [1]})})
        assert text == '{"name": "a", "description": "", "parameters": {"b": [1]}}'
