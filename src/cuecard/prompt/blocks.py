"""Blocks: a prompt as the runs of like stability that model providers cache."""

from __future__ import annotations

from typing import Any, NamedTuple

from .scope import Scope

__all__ = ["Block", "anthropic_blocks", "at_most"]


class Block(NamedTuple):
    """A run of text and its stability: that of all text up to its end."""

    text: str
    scope: Scope


def at_most(count: int, blocks: list[Block]) -> list[Block]:
    """So many blocks at most; the last ones are joined.

    Raises:
        ValueError: `count` is less than 1.
    """
    if count < 1:
        raise ValueError("max_blocks must be at least 1")
    if len(blocks) <= count:
        return blocks
    tail = blocks[count - 1 :]
    joined = Block("".join(block.text for block in tail), tail[-1].scope)
    return [*blocks[: count - 1], joined]


def anthropic_blocks(blocks: list[Block], ttl: str | None) -> list[dict[str, Any]]:
    """The blocks as Anthropic's API takes them. See `Prompt.anthropic_system`."""
    joined: list[Block] = []
    for block in blocks:
        # A block of white space alone is refused, so it goes with the one before, and the
        # first with the one after.
        if joined and not block.text.strip():
            previous = joined.pop()
            joined.append(Block(previous.text + block.text, previous.scope))
        elif joined and not joined[-1].text.strip():
            joined.append(Block(joined.pop().text + block.text, block.scope))
        else:
            joined.append(block)
    if len(joined) == 1 and not joined[0].text.strip():
        return []
    result: list[dict[str, Any]] = [{"type": "text", "text": block.text} for block in joined]
    stable = [index for index, block in enumerate(joined) if block.scope < Scope.TURN]
    if stable:
        control = {"type": "ephemeral"} if ttl is None else {"type": "ephemeral", "ttl": ttl}
        result[stable[-1]]["cache_control"] = control
    return result
