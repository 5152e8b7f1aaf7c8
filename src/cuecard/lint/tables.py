"""Tables of settings: read key by key, each checked; what is wrong is told with its line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from ..errors import CODES, PromptError
from ..files import read_text
from ..language.vocabulary import nearest
from ..profile import Limits
from ..source import Source

__all__ = ["Table", "read_table"]

_PLACE = re.compile(r" \(at line (\d+), column (\d+)\)$")
_END = re.compile(r" \(at end of document\)$")


def read_table(file: Path) -> Table | None:
    """The table of a file of settings; None when a `pyproject.toml` has none.

    Raises:
        PromptError: the file cannot be read (P801, P802) or is no TOML (P810).
    """
    source = Source(read_text(file), str(file))
    try:
        data = tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as error:
        raise _broken(str(error), source) from None
    except RecursionError:
        raise PromptError("invalid TOML: nested too deeply", code="P810", source=source) from None
    if file.name != "pyproject.toml":
        return Table(data, source, 0)
    tool = data.get("tool", {})
    if not isinstance(tool, dict) or "cuecard" not in tool:
        return None
    start = source.text.find("tool.cuecard")
    return Table(tool["cuecard"], source, max(start, 0))


def _broken(message: str, source: Source) -> PromptError:
    """The parser's error. Its place is in its words, which is all that Python 3.11 gives."""
    found = _PLACE.search(message)
    start = None
    if found is not None:
        lines = source.text.split("\n")[: int(found[1]) - 1]
        start = sum(len(line) + 1 for line in lines) + int(found[2]) - 1
    elif _END.search(message):
        start = len(source.text)
    words = _END.sub("", _PLACE.sub("", message))
    # The words quote a character at most, never a value.
    return PromptError(
        f"invalid TOML: {words[:1].lower()}{words[1:]}", code="P810", source=source, start=start
    )


class Table:
    """The settings of a file. Every method takes one key; `refuse_others` those that are left.

    Each raises `PromptError` (P810) with the place of the key when its value cannot be.

    Args:
        data: what TOML says.
        source: the file.
        start: offset in the file at which the table begins.
    """

    def __init__(self, data: Any, source: Source, start: int) -> None:
        self._source = source
        self._start = start
        self._known: list[str] = []
        if not isinstance(data, dict):
            self._refuse("`tool.cuecard` must be a table", ())
        self._left: dict[str, Any] = dict(data)

    def _take(self, key: str, default: Any) -> Any:
        self._known.append(key)
        return self._left.pop(key, default)

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts."""
        return self._texts(self._take(key, []), (key,))

    def _texts(self, value: Any, keys: tuple[str, ...]) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            self._refuse(f"`{'.'.join(keys)}` must be a list of texts", keys)
        return tuple(value)

    def codes(self, key: str) -> tuple[str, ...]:
        """A list of codes or beginnings of some."""
        return self._codes(self._take(key, []), (key,))

    def _codes(self, value: Any, keys: tuple[str, ...]) -> tuple[str, ...]:
        codes = tuple(code.upper() for code in self._texts(value, keys))
        for code in codes:
            if not any(known.startswith(code) for known in CODES):
                message = f"`{'.'.join(keys)}` names a code that does not exist"
                self._refuse(message, keys, nearest(code, CODES))
        return codes

    def codes_by_pattern(self, key: str) -> dict[str, tuple[str, ...]]:
        """Lists of codes by a pattern of files."""
        return {
            pattern: self._codes(codes, (key, pattern))
            for pattern, codes in self._table(self._take(key, {}), (key,)).items()
        }

    def _table(self, value: Any, keys: tuple[str, ...]) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            self._refuse(f"`{'.'.join(keys)}` must be a table", keys)
        return value

    def choices(
        self, key: str, allowed: Iterable[str], default: str | None = None
    ) -> dict[str, str]:
        """A table whose values are some of a few words; a list of keys if there is a default."""
        return self._choices(self._take(key, {}), (key,), allowed, default)

    def choices_by_name(
        self, key: str, allowed: Iterable[str], default: str | None = None
    ) -> dict[str, dict[str, str]]:
        """Such tables by a name."""
        return {
            name: self._choices(choices, (key, name), allowed, default)
            for name, choices in self._table(self._take(key, {}), (key,)).items()
        }

    def _choices(
        self, value: Any, keys: tuple[str, ...], allowed: Iterable[str], default: str | None
    ) -> dict[str, str]:
        if default is not None and isinstance(value, list):
            value = dict.fromkeys(self._texts(value, keys), default)
        table = self._table(value, keys)
        listed = list(allowed)
        for name, choice in table.items():
            if choice not in listed:
                message = f"`{'.'.join((*keys, name))}` must be one of {', '.join(listed)}"
                hint = nearest(choice, listed) if isinstance(choice, str) else None
                self._refuse(message, (*keys, name), hint)
        return dict(table)

    def folder(self, key: str) -> str | None:
        """A folder, relative to that of the file."""
        value = self._take(key, None)
        if value is None:
            return None
        if not isinstance(value, str):
            self._refuse(f"`{key}` must be a text", (key,))
        folder = Path(self._source.name).parent / value
        if not folder.is_dir():
            self._refuse(f"`{key}` names no folder", (key,))
        return str(folder)

    def flag(self, key: str, default: bool) -> bool:
        """True or false."""
        value = self._take(key, default)
        if not isinstance(value, bool):
            self._refuse(f"`{key}` must be true or false", (key,))
        return value

    def limits(self, key: str) -> Limits:
        """Bounds by their names."""
        table = self._table(self._take(key, {}), (key,))
        known = list(Limits.__dataclass_fields__)
        for name, value in table.items():
            if name not in known:
                message = f"there is no limit `{name}`"
                self._refuse(message, (key, name), nearest(name, known) or _listed(known))
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                self._refuse(f"`{key}.{name}` must be a whole number above 0", (key, name))
        return Limits(**table)

    def refuse_others(self) -> None:
        """See that no key is left."""
        for key in self._left:
            hint = nearest(key, self._known) or _listed(self._known)
            self._refuse(f"there is no setting `{key}`", (key,), hint)

    def _refuse(self, message: str, keys: tuple[str, ...], hint: str | None = None) -> NoReturn:
        start, end = self._place(keys)
        raise PromptError(
            message, code="P810", source=self._source, start=start, end=end, hint=hint
        )

    def _place(self, keys: tuple[str, ...]) -> tuple[int | None, int | None]:
        """Where a key stands, looked for in the text: TOML's reader gives no places."""
        position, found = self._start, None
        for key in keys:
            pattern = rf"(?<![\w\"'#-])[\"']?{re.escape(key)}[\"']?(?=[ \t]*[].=,])"
            found = re.compile(pattern).search(self._source.text, position)
            if found is None:
                return None, None
            position = found.end()
        return (found.start(), found.end()) if found is not None else (None, None)


def _listed(names: Iterable[str]) -> str:
    return f"there are {', '.join(names)}"
