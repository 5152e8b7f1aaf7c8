"""Profiles and limits: frozen values that say how a template is read and rendered."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

__all__ = ["LIVE", "MARKDOWN", "OPERATOR", "PROFILES", "STRICT", "Limits", "Profile"]


@dataclass(frozen=True)
class Limits:
    """Bounds on a template, its context and its work. Each has its own error code.

    Raises ValueError for a bound that is no whole number above 0.

    Attributes:
        source: bytes of a template's source in UTF-8 (P110).
        tags: tags of a template, comments included (P110); reading takes time for each.
        tag_tokens: tokens within one tag (P111). The engine's parser overflows its stack
            on about 19,000 chained operators.
        elifs: `elif` branches of one `if` (P112). The parser overflows on about 7,300.
        nesting: depth of nested blocks, and of brackets within a tag (P113). The engine has
            a bound of its own, about 70 brackets, of which open blocks use a part.
        fuel: steps of one render (P114): instructions of the engine, and about one more for
            each 64 characters that they work on; a prompt of 43 kB takes about 4,000.
        output: characters of one rendered text (P115).
        width: widths, precisions and indents that a template may ask for (P116).
        depth: levels of nesting of a context value (P703).
        nodes: values within one variable of the context (P704). The texts in a list or
            mapping may have twice as many characters together as `output` says.
    """

    source: int = 1 << 20
    tags: int = 10_000
    tag_tokens: int = 1_000
    elifs: int = 500
    nesting: int = 100
    fuel: int = 1_000_000
    output: int = 16_000_000
    width: int = 1_000
    depth: int = 64
    nodes: int = 200_000

    def __post_init__(self) -> None:
        for name, value in self.__dict__.items():
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ValueError(f"`{name}` must be a whole number above 0")


_CHOICES = {
    "undefined": ("strict", "lenient", "chainable"),
    "end": ("keep", "drop_newline", "one_newline"),
    "newline": ("keep", "lf"),
}


@dataclass(frozen=True)
class Profile:
    """How a template is read and rendered. `dataclasses.replace` makes a variant.

    Attributes:
        name: what the command and messages call it.
        undefined: `"strict"` (an absent name is an error), `"lenient"` (it prints nothing,
            an attribute of it is an error) or `"chainable"` (attributes print nothing too).
        trim_blocks: the line break after a block tag vanishes.
        lstrip_blocks: the blanks before a block tag at the start of a line vanish.
        end: what becomes of the end of the text: `"keep"`, `"drop_newline"` (one final line
            break is dropped) or `"one_newline"` (white space is trimmed, then one newline).
        newline: `"keep"`, or `"lf"` to read CR LF as LF.
        partials: whether `include`, `import` and `extends` may be used, given a folder.
        bind_value: whether a context that is no mapping is bound to the name `value`.
        sort_keys: whether `tojson` sorts keys.
        fallback: whether a failing render returns the template as it stands, with a warning.
        limits: bounds on the template, its context and its work.
    """

    name: str = "strict"
    undefined: Literal["strict", "lenient", "chainable"] = "strict"
    trim_blocks: bool = True
    lstrip_blocks: bool = True
    end: Literal["keep", "drop_newline", "one_newline"] = "keep"
    newline: Literal["keep", "lf"] = "keep"
    partials: bool = True
    bind_value: bool = False
    sort_keys: bool = False
    fallback: bool = False
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        for name, values in _CHOICES.items():
            if getattr(self, name) not in values:
                raise ValueError(f"`{name}` must be one of {', '.join(map(repr, values))}")
        if not isinstance(self.limits, Limits):
            raise TypeError("`limits` must be `Limits`")

    def __hash__(self) -> int:
        # Profiles are keys of the cache of compiled templates; hashing every field at each
        # look-up would cost more than the render of a short prompt.
        cached: int | None = self.__dict__.get("_hash")
        if cached is None:
            values = [v for k, v in self.__dict__.items() if k != "_hash"]
            cached = self.__dict__["_hash"] = hash(tuple(values))
        return cached

    def __getstate__(self) -> dict[str, object]:
        return {k: v for k, v in self.__dict__.items() if k != "_hash"}


STRICT = Profile()
"""For authors: an absent name is an error, block tags vanish with their line."""

OPERATOR = Profile(
    name="operator",
    trim_blocks=False,
    lstrip_blocks=False,
    end="drop_newline",
    partials=False,
    bind_value=True,
)
"""For one task and one flat string: strict, block tags leave their line."""

MARKDOWN = Profile(name="markdown", undefined="lenient", end="one_newline", sort_keys=True)
"""For `SYSTEM.md`-style files: an absent name prints nothing, one final newline."""

LIVE = Profile(name="live", undefined="chainable", partials=False, fallback=True)
"""For a running agent: nothing that a template does breaks the turn."""

PROFILES = {profile.name: profile for profile in (STRICT, OPERATOR, MARKDOWN, LIVE)}
"""The four by name, as agent files and the command call them."""
