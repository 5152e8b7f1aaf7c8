"""Blocks: a prompt as the runs of like stability that model providers cache."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from .scope import Scope
from .segments import Piece

__all__ = ["Block", "anthropic_blocks", "runs"]


class Block(NamedTuple):
    """A run of text and its stability: that of all text up to its end."""

    text: str
    scope: Scope


def runs(pieces: Iterable[Piece], front: tuple[Block, ...], max_blocks: int) -> list[Block]:
    """Runs of like stability, after the blocks that are known already.

    Raises:
        ValueError: `max_blocks` is less than 1.
    """
    if max_blocks < 1:
        raise ValueError("max_blocks must be at least 1")
    blocks = list(front)
    reached = blocks[-1].scope if blocks else Scope.STATIC
    texts: list[str] = []
    for piece in pieces:
        # Text that is empty now may come at another turn, so it counts all the same.
        if piece.scope > reached:
            _close(blocks, texts, reached)
            reached = piece.scope
        if piece.text:
            texts.append(piece.text)
    _close(blocks, texts, reached)
    if len(blocks) > max_blocks:
        tail = blocks[max_blocks - 1 :]
        joined = Block("".join(block.text for block in tail), tail[-1].scope)
        blocks = [*blocks[: max_blocks - 1], joined]
    return blocks


def _close(blocks: list[Block], texts: list[str], scope: Scope) -> None:
    if not texts:
        return
    if blocks and blocks[-1].scope == scope:
        texts.insert(0, blocks.pop().text)
    blocks.append(Block(texts[0] if len(texts) == 1 else "".join(texts), scope))
    texts.clear()


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
