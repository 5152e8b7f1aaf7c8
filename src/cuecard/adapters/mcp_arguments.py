"""The arguments of an MCP prompt: texts that stand for the values of an agent's slots."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from ..catalog import Offer, Slot

__all__ = ["described", "read_arguments"]

_NOTES = {
    "array": "a JSON list",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "object": "a JSON object",
}


def read_arguments(offer: Offer, arguments: Mapping[str, str]) -> dict[str, Any]:
    """The values that texts stand for.

    An empty text for a slot that needs no text is taken for absent: forms send it.

    Raises:
        ContextError: a name that the agent does not read (P712), a required slot that is
            missing (P710), or a text that is none of the declared type (P711). All of
            the first kind that is found are named.
    """
    types = {entry.name: entry for entry in offer.agent.inputs}
    values: dict[str, Any] = {}
    wrong: list[str] = []
    for name, text in arguments.items():
        entry = types.get(name)
        if entry is None:
            values[name] = text
        elif text or entry.type in ("string", "any"):
            try:
                values[name] = entry.read(text)
            except ValueError:
                wrong.append(name)
    offer.refuse_unknown(arguments)
    _refuse_missing(offer, {*values, *wrong})
    if wrong:
        message = "; ".join(f"`{name}` must be {_NOTES[types[name].type]}" for name in wrong)
        raise offer.refusal(message, "P711", wrong[0], "lists and objects are written as JSON")
    return values


def _refuse_missing(offer: Offer, given: Collection[str]) -> None:
    missing = [slot.name for slot in offer.slots if slot.required and slot.name not in given]
    if missing:
        names = ", ".join(f"`{name}`" for name in missing)
        message = f"missing argument{'s' if len(missing) > 1 else ''} {names}"
        raise offer.refusal(message, "P710", missing[0], "pass a text for each")


def described(slot: Slot) -> str | None:
    """A slot's description, with what its text must be and its default."""
    notes = [_NOTES[slot.type]] if slot.type in _NOTES else []
    if slot.default is not None:
        notes.append(f"default: {slot.default}")
    if not notes:
        return slot.description
    return f"{slot.description or slot.name} ({', '.join(notes)})"
