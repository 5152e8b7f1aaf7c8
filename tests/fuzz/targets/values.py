"""Values: what a template sees is plain data, and what the caller gave is as it was."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import json
import math
import types
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import msgspec

import cuecard
from cuecard.values import NULL, BigInt, Freezer

from ..inputs import CANARY, FuzzedDataProvider, check_error

TEMPLATES = tuple(
    cuecard.Template(source, profile=profile)
    for source in (
        "{{ v }}",
        "{% for x in v %}{{ x }}{{ loop.index }}{% endfor %}",
        "{{ v | tojson }}|{{ v.k }}",
        "{{ v.items() | list }}{{ v | length }}",
        "{% if v %}{{ v[0] }}{% endif %}{{ v ~ 'x' }}",
        "{{ v | sort | join(',') }}{{ v == v }}",
        "{{ v | pprint }}{{ v | string | upper }}",
    )
    for profile in (cuecard.STRICT, dataclasses.replace(cuecard.LIVE, fallback=False))
)
JSON = cuecard.Template("{{ v | tojson }}")


class Colour(enum.Enum):
    RED = "red"
    DEEP = ("a", 1)


class Level(enum.IntEnum):
    LOW = 1


@dataclasses.dataclass
class Record:
    k: Any
    name: Any = CANARY


class Pair(NamedTuple):
    k: Any
    v: Any


class Struct(msgspec.Struct):
    k: Any


class Text(str):
    """Text of a class of its own, which prints something else."""

    def __str__(self) -> str:
        return CANARY


class Number(int):
    """A number of a class of its own."""

    def __repr__(self) -> str:
        return CANARY


class Broken(Mapping[Any, Any]):
    """A mapping that fails when it is read."""

    def __getitem__(self, key: Any) -> Any:
        raise ValueError(CANARY)

    def __iter__(self) -> Iterator[Any]:
        return iter(["k"])

    def __len__(self) -> int:
        return 1


SCALARS: tuple[Callable[[FuzzedDataProvider], Any], ...] = (
    lambda given: None,
    lambda given: given.ConsumeBool(),
    lambda given: given.ConsumeInt(8),
    lambda given: given.ConsumeInt(1) ** given.ConsumeIntInRange(0, 40),
    lambda given: 1 << given.ConsumeIntInRange(60, 20_000),
    lambda given: given.ConsumeFloat(),
    lambda given: float(given.PickValueInList(["nan", "inf", "-inf", "-0.0", "1e16", "5e-324"])),
    lambda given: given.ConsumeUnicode(given.ConsumeIntInRange(0, 12)),
    lambda given: given.ConsumeUnicodeNoSurrogates(given.ConsumeIntInRange(0, 12)),
    lambda given: CANARY + given.ConsumeUnicodeNoSurrogates(4),
    lambda given: Text(given.ConsumeUnicodeNoSurrogates(4)),
    lambda given: Number(given.ConsumeInt(9)),
    lambda given: given.PickValueInList([*Colour, *Level]),
    lambda given: datetime.datetime.fromtimestamp(given.ConsumeInt(4), datetime.UTC),
    lambda given: datetime.date.fromordinal(given.ConsumeIntInRange(1, 3_652_059)),
    lambda given: datetime.timedelta(given.ConsumeInt(3), given.ConsumeInt(4)),
    lambda given: datetime.time(
        given.ConsumeIntInRange(0, 23), 0, 0, given.ConsumeIntInRange(0, 9)
    ),
    lambda given: decimal.Decimal(given.ConsumeInt(8)).scaleb(given.ConsumeInt(1)),
    lambda given: uuid.UUID(int=given.ConsumeUInt(8)),
    lambda given: PurePosixPath(given.ConsumeUnicode(4)),
    lambda given: collections.UserString(given.ConsumeUnicode(4)),
    lambda given: given.PickValueInList(
        [b"x", object(), len, types, iter("ab"), ValueError(CANARY), Broken(), Record, 1j]
    ),
)
CONTAINERS: tuple[Callable[[FuzzedDataProvider, int], Any], ...] = (
    lambda given, depth: items_of(given, depth),
    lambda given, depth: tuple(items_of(given, depth)),
    lambda given, depth: mapping_of(given, depth),
    lambda given, depth: hashable_of(set, given),
    lambda given, depth: hashable_of(frozenset, given),
    lambda given, depth: Record(value_of(given, depth)),
    lambda given, depth: Pair(value_of(given, depth), value_of(given, depth)),
    lambda given, depth: Struct(value_of(given, depth)),
    lambda given, depth: collections.deque(items_of(given, depth)),
    lambda given, depth: collections.UserList(items_of(given, depth)),
    lambda given, depth: collections.UserDict(mapping_of(given, depth)),
    lambda given, depth: collections.OrderedDict(mapping_of(given, depth)),
    lambda given, depth: types.MappingProxyType(mapping_of(given, depth)),
    lambda given, depth: range(given.ConsumeIntInRange(0, 5)),
    lambda given, depth: holding_itself(items_of(given, depth)),
    lambda given, depth: nested(given.ConsumeIntInRange(60, 70)),
)


def value_of(given: FuzzedDataProvider, depth: int = 0) -> Any:
    """A value of any type that people keep their data in, or should not."""
    kind = given.ConsumeIntInRange(0, 255)
    if kind < 128 or depth > 4:
        return SCALARS[kind % len(SCALARS)](given)
    return CONTAINERS[kind % len(CONTAINERS)](given, depth + 1)


def items_of(given: FuzzedDataProvider, depth: int) -> list[Any]:
    return [value_of(given, depth) for _ in range(given.ConsumeIntInRange(0, 4))]


def mapping_of(given: FuzzedDataProvider, depth: int) -> dict[Any, Any]:
    made: dict[Any, Any] = {}
    for _ in range(given.ConsumeIntInRange(0, 4)):
        key = SCALARS[given.ConsumeIntInRange(0, 255) % len(SCALARS)](given)
        made[key if is_key(key) else "k"] = value_of(given, depth)
    return made


def is_key(value: Any) -> bool:
    """Whether a value can be a key and is none of those that must not be shown: a path is."""
    try:
        hash(value)
    except TypeError:
        return False
    if type(value) is int:  # Python does not print the largest
        return True
    return CANARY not in repr(value) and CANARY not in str(value)


def hashable_of(make: Any, given: FuzzedDataProvider) -> Any:
    values = [SCALARS[given.ConsumeIntInRange(0, 255) % len(SCALARS)](given) for _ in range(3)]
    return make(value for value in values if is_key(value))


def holding_itself(items: list[Any]) -> list[Any]:
    items.append(items)
    return items


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def described(value: Any, seen: tuple[int, ...] = ()) -> Any:
    """A value's types and contents, for comparing; and which objects it is made of."""
    if id(value) in seen or len(seen) > 80:
        return "again"
    below = (*seen, id(value))
    if isinstance(value, dict | types.MappingProxyType | collections.UserDict):
        items = [(described(k, below), described(v, below)) for k, v in value.items()]
        return (type(value).__name__, id(value), items)
    if isinstance(value, list | tuple | collections.deque | collections.UserList):
        return (type(value).__name__, id(value), [described(item, below) for item in value])
    if isinstance(value, Record | Struct):
        return (type(value).__name__, id(value), described(value.k, below))
    return (type(value).__name__, id(value))


def containers(value: Any) -> Iterator[int]:
    """The identities of all lists and mappings in plain data."""
    if isinstance(value, dict | list):
        yield id(value)
        for item in value.values() if isinstance(value, dict) else value:
            yield from containers(item)


def plain(value: Any) -> Any:
    """Frozen data as what `json` takes; anything but plain data is a fault."""
    if value is NULL:
        return None
    if isinstance(value, BigInt):
        return int(str(value))
    if isinstance(value, dict):
        assert all(type(key) in (str, int, float, bool) for key in value)
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    assert type(value) in (str, int, float, bool), type(value)
    return value


def as_json(value: Any) -> str:
    """What `tojson` writes: a whole float by itself is an integer, no number is null."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**63:
        value = int(value)
    return json.dumps(numbers(value), ensure_ascii=False)


def numbers(value: Any) -> Any:
    """Plain data with null for what is no number."""
    if isinstance(value, dict):
        return {key: numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [numbers(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def seeds() -> Iterator[bytes]:
    for kind in range(256):
        for size in (8, 40):
            front = bytes((kind * 31 + position * 37) % 256 for position in range(size))
            yield front + bytes((kind,))


def check(data: bytes) -> None:
    given = FuzzedDataProvider(data)
    value = value_of(given)
    template = TEMPLATES[given.ConsumeIntInRange(0, len(TEMPLATES) - 1)]
    before = described(value)
    freezer = Freezer(cuecard.STRICT.limits, given.ConsumeBool())
    try:
        frozen = freezer.freeze("v", value)
    except cuecard.ContextError as error:
        check_error(error, "")
        frozen = None
    assert described(value) == before
    for each in (template, JSON):
        text = rendered(each, value)
        # What is plain data has JSON, and other templates may still fail on it.
        assert frozen is not None or text is None
        assert each is not JSON or frozen is None or text == as_json(plain(frozen)), text
    assert described(value) == before
    if frozen is not None:
        assert set(containers(frozen)).isdisjoint(containers(value))
        for _ in range(2):
            assert described_alike(freezer.freeze("v", value), frozen)


def rendered(template: cuecard.Template, value: Any) -> str | None:
    """The text of a render; None when it fails."""
    try:
        return template.render(v=value)
    except cuecard.PromptError as error:
        check_error(error, "")
        return None


def described_alike(one: Any, other: Any) -> bool:
    """Whether two copies are the same data, of the same types."""
    return repr(plain(one)) == repr(plain(other)) and type(one) is type(other)
