"""Times as ISO 8601 text, as the values of a context become it one by one.

A fraction of a second has 6 digits, or 9 when it is finer, or is left out; UTC is `Z`. What
no calendar of Python holds (years before 1 and after 9999) has no text.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from ..arrow import TEXT, Array, np, pa, pc, texts_of

__all__ = ["duration_texts", "time_texts"]

_UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_EPOCH = datetime(1970, 1, 1).toordinal()
_FIRST_DAY, _LAST_DAY = date.min.toordinal() - _EPOCH, date.max.toordinal() - _EPOCH
_DAY = 86_400
_UTC = frozenset(("UTC", "Etc/UTC", "Z", "+00:00"))
_ISO = "%Y-%m-%dT%H:%M:%S"


def time_texts(array: Array) -> Array:
    """Dates, times of day and timestamps as text; null also where there is no text for one."""
    kind = array.type
    if pa.types.is_date(kind):
        return _dates(array)
    if pa.types.is_time(kind):
        return _times_of_day(array)
    if kind.tz is not None and kind.tz not in _UTC:
        return _zoned(array)
    text = _timestamps(array, kind.unit)
    if kind.tz is None:
        return text
    return pc.binary_join_element_wise(text, pa.scalar("Z", TEXT), pa.scalar("", TEXT))


def _dates(array: Array) -> Array:
    days = array.cast(pa.int32()) if pa.types.is_date32(array.type) else _days(array)
    return _within(days, _FIRST_DAY, _LAST_DAY).cast(pa.date32()).cast(TEXT)


def _days(array: Array) -> Array:
    return _divided(array.cast(pa.int64()), _DAY * 1000).cast(pa.int32(), safe=False)


def _times_of_day(array: Array) -> Array:
    unit = array.type.unit
    whole = pa.int32() if pa.types.is_time32(array.type) else pa.int64()
    numbers = _within(array.cast(whole), 0, _DAY * _UNITS[unit] - 1)
    if unit == "s":
        return numbers.cast(array.type).cast(TEXT)
    numbers = numbers.cast(pa.int64())
    if unit == "ms":
        unit, numbers = "us", pc.multiply(numbers, 1000)
    return _shortened(numbers.cast(pa.time64(unit)).cast(TEXT), numbers, _UNITS[unit], 8)


def _timestamps(array: Array, unit: str) -> Array:
    """Of a point in time, the date and time in UTC."""
    scale = _UNITS[unit]
    low, high = _FIRST_DAY * _DAY * scale, (_LAST_DAY + 1) * _DAY * scale - 1
    numbers = array.cast(pa.int64())
    if low >= -(2**63):
        numbers = _within(numbers, low, high)
    if unit == "ms":
        unit, scale, numbers = "us", 10**6, pc.multiply(numbers, 1000)
    text = pc.strftime(numbers.cast(pa.timestamp(unit)), format=_ISO, locale="C").cast(TEXT)
    return text if unit == "s" else _shortened(text, numbers, scale, 19)


def _shortened(text: Array, numbers: Array, scale: int, end: int) -> Array:
    """Without a fraction of zero, and with 6 digits when these say it all."""
    if scale == _UNITS["ns"]:
        micro = pc.equal(_remainder(numbers, 1000), 0)
        text = pc.if_else(micro, pc.utf8_slice_codeunits(text, 0, end + 7), text)
    whole = pc.equal(_remainder(numbers, scale), 0)
    return pc.if_else(whole, pc.utf8_slice_codeunits(text, 0, end), text)


def _within(numbers: Array, low: int, high: int) -> Array:
    inside = pc.and_(pc.greater_equal(numbers, low), pc.less_equal(numbers, high))
    return pc.if_else(inside, numbers, pa.scalar(None, numbers.type))


def _divided(numbers: Array, by: int) -> Array:
    """Rounded down, as days before 1970 have to be."""
    return pc.divide(pc.subtract(numbers, _remainder(numbers, by)), by)


def _remainder(numbers: Array, by: int) -> Array:
    null = numbers.is_null().to_numpy(zero_copy_only=False)
    plain = numbers.fill_null(0).to_numpy(zero_copy_only=False)
    return pa.array(np.mod(plain, by), mask=null)


def _zoned(array: Array) -> Array:
    """By Python, which knows the offsets of a zone to the second."""
    scale = _UNITS[array.type.unit]
    numbers = array.cast(pa.int64())
    nanos = _remainder(numbers, scale).to_pylist()
    micros = pa.timestamp("us", array.type.tz)
    texts = []
    for number, rest in zip(numbers.to_pylist(), nanos, strict=True):
        text = None if number is None else _zoned_text(number * 10**6 // scale, micros)
        if text is not None and scale == 10**9 and rest % 1000:
            text = _with_nanos(text, rest)
        texts.append(text)
    return texts_of(texts)


def _zoned_text(micros: int, kind: Any) -> str | None:
    try:
        moment: datetime = pa.scalar(micros, kind).as_py()
        text = moment.isoformat()
    except (OverflowError, ValueError, pa.ArrowInvalid):
        return None
    return text.replace("+00:00", "Z")


def _with_nanos(text: str, nanos: int) -> str:
    after = text.partition(".")[2][6:] if "." in text else text[19:]
    return f"{text[:19]}.{nanos:09}{after}"


def duration_texts(array: Array) -> Array:
    """Durations as ISO 8601 writes them: days, and seconds with their fraction."""
    scale = _UNITS[array.type.unit]
    numbers = array.cast(pa.int64()).to_pylist()
    return texts_of([None if n is None else _duration_text(n, scale) for n in numbers])


def _duration_text(number: int, scale: int) -> str:
    days, rest = divmod(abs(number), _DAY * scale)
    seconds, fraction = divmod(rest, scale)
    text = f"P{days}D" if days or not rest else "P"
    if rest:
        digits = str(scale + fraction)[1:].rstrip("0")
        text += f"T{seconds}{'.' if digits else ''}{digits}S"
    return f"-{text}" if number < 0 else text
