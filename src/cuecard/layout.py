"""Text for people: tables, numbers, excerpts, and what must not steer a terminal."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

__all__ = [
    "excerpt",
    "names_of",
    "number",
    "part_of",
    "plural",
    "styled",
    "table",
    "visible",
]

_BIDI = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_VISIBLE: dict[int, str] = {
    **{code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\t\n"},
    **{code: f"\\x{code:02x}" for code in range(0x7F, 0xA0)},
    **{code: f"\\u{code:04x}" for code in (*_BIDI, 0x2028, 0x2029)},
}
_IN_ONE_LINE = {**_VISIBLE, 0x09: "\N{SYMBOL FOR HORIZONTAL TABULATION}", 0x0A: "\u23ce"}


def visible(text: str) -> str:
    """Text whose control characters are shown: none can steer a terminal or turn its line."""
    return text.translate(_VISIBLE)


def excerpt(text: str, width: int = 40) -> str:
    """The beginning of a text in one line, and its end when there is more."""
    if len(text) > width:
        tail = width // 4
        text = f"{text[: width - tail - 1]}\N{HORIZONTAL ELLIPSIS}{text[-tail:]}"
    return text.translate(_IN_ONE_LINE)


def styled(text: str, style: str, colour: bool) -> str:
    """Text in a terminal's style, when it goes to one."""
    return f"\x1b[{style}m{text}\x1b[0m" if colour and style and text else text


def table(
    header: Sequence[str], rows: Iterable[Sequence[str]], *, right: Collection[int] = ()
) -> list[str]:
    """Rows as aligned lines, the header first; columns in `right` are aligned to the right."""
    cells = [header, *rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if index in right else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]


def number(count: int | None) -> str:
    """A number with separators; nothing for none."""
    return "" if count is None else f"{count:,}"


def plural(count: int, noun: str) -> str:
    """A number and its noun."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def part_of(part: int, whole: int) -> str:
    """A part in percent."""
    return f"{100 * part / whole:.1f} %" if whole else "0.0 %"


def names_of(names: Collection[str], limit: int = 40) -> str:
    """Names in one cell; how many more there are when they do not fit."""
    listed = sorted(names)
    shown: list[str] = []
    for name in listed:
        if shown and len(", ".join([*shown, name])) > limit:
            return f"{', '.join(shown)} +{len(listed) - len(shown)}"
        shown.append(name)
    return ", ".join(shown)
