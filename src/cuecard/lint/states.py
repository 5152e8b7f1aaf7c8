"""States: what holds at one place of a template, for the walk through it."""

from __future__ import annotations

from ..language import Node
from .bindings import Binding, Frame

__all__ = ["CONTEXT", "Env", "State", "joined"]

Env = dict[str, tuple[Binding | None, ...]]

CONTEXT: tuple[Binding | None, ...] = (None,)
"""What a name stands for that only the context can give."""


class State:
    """What holds at a place; statements change it.

    Attributes:
        env: what each name may stand for; the context gives those that are missing.
        known: what the conditions around tell, as keys of `cuecard.lint.guards`.
        frame: the frame that binds names here.
        ended: whether the render does not get further, as behind a `break`.
    """

    __slots__ = ("ended", "env", "frame", "known")

    def __init__(self, env: Env, known: frozenset[str], frame: Frame) -> None:
        self.env = env
        self.known = known
        self.frame = frame
        self.ended = False

    def copy(self, known: frozenset[str] | None = None) -> State:
        """The same for a branch."""
        known = self.known if known is None else known
        return State(dict(self.env), known, self.frame)

    def inner(self, kind: str, node: Node) -> State:
        """The same for a frame within."""
        return State(dict(self.env), self.known, Frame(kind, node, self.frame))

    def join(self, outcomes: list[State]) -> None:
        """Go on after branches, of which those count that are not left early."""
        live = [outcome for outcome in outcomes if not outcome.ended]
        self.ended = not live
        live = live or outcomes
        self.env = live[0].env if len(live) == 1 else joined([each.env for each in live])
        self.known = frozenset.intersection(*(outcome.known for outcome in live))


def joined(envs: list[Env]) -> Env:
    """What names may stand for after one of several branches."""
    first, *others = envs
    result = dict(first)
    for env in others:
        for name in env.keys() | result.keys():
            one, two = result.get(name, CONTEXT), env.get(name, CONTEXT)
            if one != two:
                result[name] = tuple(dict.fromkeys((*one, *two)))
    return result
