"""Makers: the live objects of the catalog's contexts.

A maker is a function of what is planted and of the arguments that the catalog gives. What it
plants (secrets in private attributes, frames, closures; functions that note that they ran)
is as easily found as in programs: an object that a template should not get to, not a riddle.
"""

from __future__ import annotations

import array
import collections
import contextlib
import dataclasses
import enum
import functools
import gc
import itertools
import logging
import math
import operator
import os
import pathlib
import string
import types
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import Any

import markupsafe
import msgspec
import pydantic

from .marks import CHANGED, CODE, REACHED, Planted

__all__ = ["make"]

Maker = Callable[..., Any]
_MAKERS: dict[str, Maker] = {}


def maker(function: Maker) -> Maker:
    """A function whose name the catalog may use."""
    _MAKERS[function.__name__] = function
    return function


def make(planted: Planted, data: Any) -> Any:
    """The context that the catalog describes."""
    if isinstance(data, dict):
        if "$" in data:
            arguments = {k: make(planted, v) for k, v in data.items() if k != "$"}
            return _MAKERS[data["$"]](planted, **arguments)
        return {planted.fill(key): make(planted, value) for key, value in data.items()}
    if isinstance(data, list):
        return [make(planted, item) for item in data]
    return planted.fill(data) if isinstance(data, str) else data


# plain values -------------------------------------------------------------------------------------


@maker
def value(planted: Planted) -> str:
    return planted.value


@maker
def repeat(planted: Planted, text: str, times: int) -> str:
    return text * times


@maker
def character(planted: Planted, code: int, before: str = "", after: str = "") -> str:
    return f"{before}{chr(code)}{after}"


@maker
def number(planted: Planted, name: str) -> Any:
    return {
        "nan": math.nan,
        "inf": math.inf,
        "-inf": -math.inf,
        "2**200": 2**200,
        "2**63": 2**63,
        "-2**63-1": -(2**63) - 1,
        "2**127": 2**127,
        "2**20000": 2**20000,
        "1e308": 1e308,
        "-0.0": -0.0,
    }[name]


@maker
def items(planted: Planted, count: int, of: Any = 1) -> list[Any]:
    return [of] * count


@maker
def numbered(planted: Planted, count: int, text: str = "item ") -> list[str]:
    return [f"{text}{number}" for number in range(count)]


@maker
def records(planted: Planted, count: int, **fields: Any) -> list[dict[str, Any]]:
    return [dict(fields) for _ in range(count)]


@maker
def with_keys(planted: Planted, **pairs: Any) -> dict[Any, Any]:
    """A mapping whose keys are no texts: `{"1": ...}` becomes `{1: ...}`."""
    return {None if key == "null" else eval_key(key): value for key, value in pairs.items()}


def eval_key(key: str) -> Any:
    return {"1": 1, "1.5": 1.5, "true": True, "tuple": (1, 2), "bytes": b"x", "frozenset": _SET}[
        key
    ]


_SET = frozenset((1,))


# containers that are watched ----------------------------------------------------------------------


@maker
def watched(planted: Planted, of: Any) -> Any:
    """Plain data of the caller, which must stay as it is."""
    planted.watch(lambda: repr(of))
    return of


@maker
def watched_kind(planted: Planted, kind: str) -> Any:
    """A container that is no plain list or mapping, with two entries."""
    kinds: dict[str, Callable[[], Any]] = {
        "set": lambda: {"a", "b"},
        "frozenset": lambda: frozenset("ab"),
        "deque": lambda: collections.deque(("a", "b")),
        "bytearray": lambda: bytearray(b"ab"),
        "Counter": lambda: collections.Counter("aab"),
        "OrderedDict": lambda: collections.OrderedDict(a=1, b=2),
        "defaultdict": lambda: collections.defaultdict(list, a=[1], b=[2]),
        "ChainMap": lambda: collections.ChainMap({"a": 1}, {"b": 2}),
        "UserDict": lambda: collections.UserDict(a=1, b=2),
        "UserList": lambda: collections.UserList(("a", "b")),
        "mappingproxy": lambda: types.MappingProxyType({"a": 1}),
        "array": lambda: array.array("i", (1, 2)),
        "memoryview": lambda: memoryview(bytearray(b"ab")),
        "environ": lambda: os.environ,
        "SimpleNamespace": lambda: types.SimpleNamespace(a=1, items_=[1]),
        "list subclass": lambda: _List(("a", "b")),
        "dict subclass": lambda: _Dict(a=1, b=2),
    }
    made = kinds[kind]()
    planted.watch(lambda: repr(made))
    return made


class _List(list[Any]):
    """A list of the caller's own kind."""


class _Dict(dict[str, Any]):
    """A mapping of the caller's own kind."""


@maker
def iterator_left(planted: Planted) -> Any:
    """An iterator that others still need: taking from it is a change."""
    made = iter(["a", "b", "c"])
    planted.watch(lambda: operator.length_hint(made))
    return made


@dataclasses.dataclass
class Account:
    """A record with a method that does harm, and a private field."""

    name: str
    roles: list[str]
    _token: str = dataclasses.field(default="", repr=False)

    def delete(self) -> str:
        self.roles.clear()
        return "deleted"

    @property
    def secret(self) -> str:
        return self._token


@maker
def account(planted: Planted) -> Account:
    made = Account("Ann", ["admin"], planted.secret)
    planted.watch(lambda: (made.name, tuple(made.roles)))
    return made


class Service:
    """A plain object of a program, as they get into contexts."""

    retries = 3

    def __init__(self, planted: Planted) -> None:
        self.name = "billing"
        self.settings = {"token": planted.secret}
        self._planted = planted

    def run(self, command: str = "") -> str:
        """Does what it is told."""
        self._planted.reached.append(CODE)
        return self._planted.secret

    def save(self, name: str = "") -> None:
        (self._planted.folder / "code-ran").write_text("x")


@maker
def service(planted: Planted) -> Service:
    made = Service(planted)
    planted.watch(lambda: (made.name, dict(made.settings), made.retries))
    return made


@maker
def service_class(planted: Planted) -> type[Service]:
    return Service


@maker
def service_method(planted: Planted) -> Any:
    return Service(planted).run


@maker
def partial(planted: Planted) -> Any:
    return functools.partial(Service(planted).run, planted.secret)


@maker
def function(planted: Planted) -> Any:
    def run(command: str = planted.secret) -> str:
        planted.reached.append(CODE)
        return command

    return run


@maker
def builtin(planted: Planted, name: str) -> Any:
    return {"print": print, "open": open, "eval": eval, "getattr": getattr, "type": type}[name]


@maker
def module(planted: Planted, name: str) -> types.ModuleType:
    return __import__(name)


@maker
def own_module(planted: Planted) -> types.ModuleType:
    made = types.ModuleType("settings")
    made.__dict__.update(TOKEN=planted.secret, os=os)
    return made


@maker
def logger(planted: Planted) -> logging.Logger:
    made = logging.getLogger("hostile.planted")
    planted.watch(lambda: (made.level, len(made.handlers), made.disabled))
    return made


@maker
def path(planted: Planted, of: str) -> pathlib.Path:
    return pathlib.Path(of)


@maker
def open_file(planted: Planted) -> Any:
    return open(planted.outside / "secret.txt", encoding="utf-8")


@maker
def exception(planted: Planted, deep: bool = False) -> BaseException:
    """An exception with its traceback, whose frames hold the secret."""

    def fails() -> None:
        token = planted.secret
        raise ValueError("refused") from (KeyError(token) if deep else None)

    try:
        fails()
    except ValueError as error:
        return error
    raise AssertionError


@maker
def traceback(planted: Planted) -> Any:
    return exception(planted).__traceback__


# frames -------------------------------------------------------------------------------------------


@maker
def generator(planted: Planted) -> Any:
    token = planted.secret
    return (f"{token}{number}" for number in range(2))


@maker
def generator_function(planted: Planted) -> Any:
    def run(token: str) -> Iterator[str]:
        yield token[:0]
        yield token

    return run(planted.secret)


@maker
def coroutine(planted: Planted) -> Any:
    async def run(token: str) -> str:
        return token

    made = run(planted.secret)
    # It is closed like a running program closes it, so that it does not complain.
    import atexit

    atexit.register(made.close)
    return made


@maker
def async_generator(planted: Planted) -> Any:
    async def run(token: str) -> Any:
        yield token

    return run(planted.secret)


@maker
def frame(planted: Planted) -> Any:
    import sys

    token = planted.secret
    assert token
    return sys._getframe()


@maker
def code_object(planted: Planted) -> types.CodeType:
    return compile(f"TOKEN = {planted.secret!r}", "settings", "exec")


@maker
def context_manager(planted: Planted) -> Any:
    @contextlib.contextmanager
    def run(token: str) -> Iterator[str]:
        yield token

    return run(planted.secret)


@maker
def garbage(planted: Planted) -> Any:
    return gc.get_objects


# texts of other kinds -----------------------------------------------------------------------------


@maker
def text_of(planted: Planted, kind: str, text: str) -> Any:
    if kind == "Markup":
        return markupsafe.Markup(text)
    if kind == "UserString":
        return collections.UserString(text)
    if kind == "Template":
        return string.Template(text)
    if kind == "Formatter":
        return string.Formatter()
    if kind == "bytes":
        return text.encode()
    made = _Text(text)
    made.token = planted.secret
    return made


class _Text(str):
    """A text with an attribute."""

    token: str

    def run(self) -> str:
        return self.token


class Formatted:
    """An object whose `__format__` runs code."""

    def __init__(self, planted: Planted) -> None:
        self._planted = planted
        self.token = planted.secret

    def __format__(self, spec: str) -> str:
        self._planted.reached.append(REACHED)
        return self.token


@maker
def formatted(planted: Planted) -> Formatted:
    return Formatted(planted)


class Html:
    """An object whose `__html__` runs code."""

    def __init__(self, planted: Planted) -> None:
        self._planted = planted

    def __html__(self) -> str:
        self._planted.reached.append(REACHED)
        return self._planted.secret


@maker
def html(planted: Planted) -> Html:
    return Html(planted)


# records ------------------------------------------------------------------------------------------


class _Colour(enum.Enum):
    RED = "red"


class _Struct(msgspec.Struct):
    name: str


_Pair: Any = collections.namedtuple("_Pair", ("count", "pop"))


class _Model(pydantic.BaseModel):
    name: str
    token: pydantic.SecretStr


@maker
def record(planted: Planted, kind: str) -> Any:
    if kind == "enum":
        return _Colour.RED
    if kind == "struct":
        return _Struct("Ann")
    if kind == "model":
        return _Model(name="Ann", token=pydantic.SecretStr(planted.secret))
    if kind == "namedtuple":
        return _Pair(1, 2)
    raise KeyError(kind)


# shapes -------------------------------------------------------------------------------------------


@maker
def cycle(planted: Planted, kind: str) -> Any:
    if kind == "list":
        made: Any = []
        made.append(made)
    elif kind == "dict":
        made = {}
        made["self"] = made
    elif kind == "pair":
        made = {"a": []}
        made["a"].append({"b": made})
    elif kind == "tuple":
        inner: list[Any] = []
        made = (inner,)
        inner.append(made)
    elif kind == "dataclass":
        made = Account("Ann", [])
        made.roles.append(made)
    elif kind == "wide":
        # It holds itself so often that walking it by level doubles at every step.
        made = []
        made.extend([made] * 40)
    else:
        made = collections.UserDict()
        made["self"] = made
    return made


@maker
def levels(planted: Planted, count: int, kind: str = "list") -> Any:
    made: Any = planted.value
    for _ in range(count):
        made = [made] if kind == "list" else {"a": made} if kind == "dict" else (made,)
    return made


@maker
def doubled(planted: Planted, times: int, kind: str = "list") -> Any:
    """A small value that stands for 2**times: the same list twice in a list, again and again."""
    made: Any = "x"
    for _ in range(times):
        made = [made, made] if kind == "list" else {"a": made, "b": made}
    return made


@maker
def endless(planted: Planted, kind: str) -> Any:
    if kind == "count":
        return itertools.count()
    if kind == "repeat":
        return itertools.repeat("x")
    if kind == "cycle":
        return itertools.cycle("ab")
    if kind == "iter":
        return iter(int, 1)
    if kind == "range":
        return range(10**15)
    if kind == "generator":
        return (number for number in itertools.count())
    kinds: dict[str, type[Any]] = {
        "sequence": _EndlessSequence,
        "mapping": _EndlessMapping,
        "set": _EndlessSet,
    }
    return kinds[kind]()


class _EndlessSequence(Sequence[Any]):
    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: Any) -> Any:
        return "x"


class _EndlessMapping(Mapping[str, Any]):
    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[str]:
        return (f"k{number}" for number in itertools.count())

    def __getitem__(self, key: Any) -> Any:
        return key


class _EndlessSet(Set[Any]):
    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[Any]:
        return itertools.count()

    def __contains__(self, item: Any) -> bool:
        return True


class _NestedForEver(Sequence[Any]):
    """Each item is a new sequence of the same kind."""

    def __len__(self) -> int:
        return 1

    def __getitem__(self, index: Any) -> Any:
        if index:
            raise IndexError
        return _NestedForEver()


@maker
def nested_for_ever(planted: Planted) -> Any:
    return _NestedForEver()


# objects whose methods fail or lie ----------------------------------------------------------------

_ERRORS: dict[str, Callable[[], BaseException]] = {
    "ValueError": lambda: ValueError("no"),
    "KeyboardInterrupt": KeyboardInterrupt,
    "SystemExit": lambda: SystemExit(3),
    "GeneratorExit": GeneratorExit,
    "RecursionError": RecursionError,
    "MemoryError": MemoryError,
    "StopIteration": StopIteration,
    "BaseException": lambda: BaseException("no"),
}


@maker
def evil(
    planted: Planted, method: str, base: str = "object", fails: str = "", gives: Any = None
) -> Any:
    """An object one of whose methods raises an error (`fails`), or gives what it must not.

    The message of the error holds the value: it must not be shown.
    """

    def act(self: Any, *arguments: Any, **named: Any) -> Any:
        if fails:
            error = _ERRORS[fails]()
            if fails != "KeyboardInterrupt":
                error.args = (planted.value,)
            raise error
        return gives

    bases: dict[str, tuple[type, ...]] = {
        "object": (object,),
        "str": (str,),
        "int": (int,),
        "float": (float,),
        "list": (list,),
        "dict": (dict,),
        "tuple": (tuple,),
        "set": (set,),
        "Mapping": (_FullMapping,),
        "Sequence": (_FullSequence,),
        "PathLike": (os.PathLike,),
        "UserString": (collections.UserString,),
    }
    members: dict[str, Any] = {method: act}
    if method.startswith("property "):
        members = {method.split()[1]: property(act)}
    kind = type("Evil", bases[base], members)
    if base in ("str", "UserString"):
        return kind("text")
    if base == "dict":
        made = kind()
        dict.__setitem__(made, "a", 1)
        return made
    if base == "list":
        made = kind()
        list.append(made, 1)
        return made
    return kind()


class _FullMapping(Mapping[str, Any]):
    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[str]:
        return iter(("a",))

    def __getitem__(self, key: Any) -> Any:
        if key != "a":
            raise KeyError(key)
        return 1


class _FullSequence(Sequence[Any]):
    def __len__(self) -> int:
        return 1

    def __getitem__(self, index: Any) -> Any:
        if index:
            raise IndexError
        return 1


class _Clash:
    """A key that equals every text, and has one's hash."""

    def __hash__(self) -> int:
        return hash("a")

    def __eq__(self, other: object) -> bool:
        raise ValueError


@maker
def evil_key(planted: Planted, fails: str = "") -> dict[Any, Any]:
    class Key(str):
        def __str__(self) -> str:
            raise _ERRORS[fails]()

        def __eq__(self, other: object) -> bool:
            raise _ERRORS[fails]()

        __hash__ = str.__hash__

    return {Key("a") if fails else _Clash(): 1}


@maker
def shrinking(planted: Planted) -> list[Any]:
    """A list that an object within it empties while it is read."""

    class Item(str):
        pass

    made: list[Any] = []

    class Clearing(Mapping[str, Any]):
        def __len__(self) -> int:
            return 1

        def __iter__(self) -> Iterator[str]:
            made.clear()
            return iter(("a",))

        def __getitem__(self, key: Any) -> Any:
            return key

    made.extend(("x", Clearing(), Item("y"), "z"))
    return made


@maker
def growing(planted: Planted) -> list[Any]:
    """A list that an object within it lengthens while it is read, for ever."""
    made: list[Any] = []

    class Lengthening(Mapping[str, Any]):
        def __len__(self) -> int:
            return 1

        def __iter__(self) -> Iterator[str]:
            made.append(Lengthening())
            return iter(("a",))

        def __getitem__(self, key: Any) -> Any:
            return key

    made.append(Lengthening())
    return made


@maker
def lying_class(planted: Planted, claims: str) -> Any:
    """An object whose `__class__` says that it is something else."""

    class Liar:
        def run(self) -> None:
            planted.reached.append(CODE)

        @property  # type: ignore[misc]
        def __class__(self) -> Any:
            if claims == "raises":
                raise ValueError(planted.value)
            return {"str": str, "dict": dict, "list": list, "int": int}[claims]

    return Liar()


@maker
def proxy(planted: Planted) -> Any:
    """An object that has every attribute, each of which runs code."""

    class Proxy:
        def __getattr__(self, name: str) -> Any:
            if not name.startswith("__"):
                planted.reached.append(REACHED)
            return Proxy()

        def __call__(self, *arguments: Any) -> Any:
            planted.reached.append(CODE)
            return Proxy()

    return Proxy()


@maker
def magic_attributes(planted: Planted, name: str) -> Any:
    """An object that claims to be a record by one class attribute, which is wrong."""
    claims: dict[str, Any] = {
        "__dataclass_fields__": 3,
        "__struct_fields__": "ab",
        "__attrs_attrs__": [1],
        "__pydantic_validator__": True,
        "_fields": ("a", "b"),
        "__pydantic_root_model__": True,
    }
    bases = (tuple,) if name == "_fields" else (object,)
    return type("Claimed", bases, {name: claims[name]})()


@maker
def changed_later(planted: Planted) -> list[str]:
    """Data whose notes tell whether something was put in behind the caller's back."""
    made = ["a"]
    planted.watch(lambda: (CHANGED, tuple(made)))
    return made


@maker
def mapping(planted: Planted, count: int) -> dict[str, str]:
    return {f"key {number}": "value" for number in range(count)}


@maker
def big(planted: Planted, bits: int) -> int:
    return (1 << bits) - 1
