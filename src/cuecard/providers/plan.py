"""The plan: which providers run for a template, in which order, and why the others do not.

A pure function of what the template reads, what the providers say and what overrides them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import groupby
from typing import Any, NamedTuple

from ..prompt import Scope
from ..source import Diagnostic
from .contract import Registered

__all__ = ["Plan", "Skipped", "Step", "make_plan"]


class Step(NamedTuple):
    """A provider that runs.

    Attributes:
        provider: the provider.
        names: the variables that are read of what it gives; None when it does not say.
        refresh: how long what it gave may be used again.
        kept: of the names, those that hold longer than a turn, with their scopes.
        lasting: of the names, those on which it has the last word, and that hold for the
            session or longer.
        passing: those on which it has the last word, and that hold for a day or a turn.
    """

    provider: Registered
    names: frozenset[str] | None
    refresh: Scope
    kept: tuple[tuple[str, Scope], ...] = ()
    lasting: tuple[str, ...] = ()
    passing: tuple[str, ...] = ()

    @property
    def stamped(self) -> bool:
        """Whether the provider is asked if what it gave still holds."""
        return self.provider.stamp is not None and bool(self.kept)

    @property
    def steady(self) -> bool:
        """Whether some of what it gives holds as long as the agent's definition."""
        return any(scope is Scope.STATIC for _, scope in self.kept)

    @property
    def lively(self) -> bool:
        """Whether what it gives may change while a session lasts."""
        return self.stamped or self.refresh > Scope.SESSION


class Skipped(NamedTuple):
    """A provider that does not run, and why: `unread` or `overridden`."""

    provider: Registered
    reason: str


class Plan(NamedTuple):
    """Which providers run for a template.

    Attributes:
        groups: the steps, in ascending priority; those of one priority are a group.
        skipped: the providers that do not run.
        scopes: how long the value of each variable holds.
        owners: the provider that has the last word on each variable.
        overridden: variables that the caller gives, whatever providers say.
        diagnostics: conflicts: a variable that two providers of one priority give (P304).
    """

    groups: tuple[tuple[Step, ...], ...]
    skipped: tuple[Skipped, ...]
    scopes: dict[str, Scope]
    owners: dict[str, Registered]
    overridden: frozenset[str]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps of all groups, in their order."""
        return tuple(step for group in self.groups for step in group)

    def rows(self) -> list[dict[str, Any]]:
        """The plan as data: a row for each provider, those that run in their order."""
        running = [
            {
                "provider": step.provider.name,
                "priority": step.provider.priority,
                "runs": True,
                "variables": None if step.names is None else sorted(step.names),
                "refresh": step.refresh.name.lower(),
                "reason": "is read" if step.names is not None else "does not say what it gives",
            }
            for step in self.steps
        ]
        resting = [
            {
                "provider": skipped.provider.name,
                "priority": skipped.provider.priority,
                "runs": False,
                "variables": sorted(skipped.provider.provides or ()),
                "refresh": None,
                "reason": skipped.reason,
            }
            for skipped in self.skipped
        ]
        return running + resting


def make_plan(
    reads: Collection[str] | None,
    providers: Iterable[Registered],
    overridden: Collection[str] = (),
) -> Plan:
    """Choose the providers that a template needs.

    Args:
        reads: the variables that the template reads; None when it may read any.
        providers: the providers; those of one priority keep their order.
        overridden: variables that the caller gives himself.
    """
    ordered = sorted(providers, key=lambda each: each.priority)
    groups: list[tuple[Step, ...]] = []
    skipped: list[Skipped] = []
    owners: dict[str, Registered] = {}
    needed: set[str] = set()
    # From the last word to the first: what a later provider gives is not asked of an earlier
    # one, unless the later one needs it.
    for _, group in groupby(reversed(ordered), key=lambda each: each.priority):
        steps: list[Step] = []
        for each in group:
            names = _asked(each, reads, needed, owners, overridden)
            if names == frozenset():
                skipped.append(Skipped(each, _reason(each, reads, owners, overridden)))
                continue
            for name in names or ():
                owners.setdefault(name, each)
            needed -= names or frozenset()
            steps.append(_step(each, names, owners))
        # Those of one priority do not see what the others give.
        for step in steps:
            needed |= step.provider.needs.difference(overridden)
        if steps:
            groups.append(tuple(reversed(steps)))
    return Plan(
        tuple(reversed(groups)),
        tuple(reversed(skipped)),
        {name: (owner.provides or {})[name] for name, owner in owners.items()},
        owners,
        frozenset(overridden),
        tuple(_conflicts(ordered, owners)),
    )


def _asked(
    each: Registered,
    reads: Collection[str] | None,
    needed: Collection[str],
    owners: Mapping[str, Registered],
    overridden: Collection[str],
) -> frozenset[str] | None:
    """The names that a provider is asked for; None when it does not say what it gives."""
    if each.provides is None:
        return None
    return frozenset(
        name
        for name in each.provides
        if name in needed
        or ((reads is None or name in reads) and name not in owners and name not in overridden)
    )


def _step(each: Registered, names: frozenset[str] | None, owners: Mapping[str, Registered]) -> Step:
    if names is None or each.provides is None:
        return Step(each, None, Scope.TURN)
    provides, ordered = each.provides, sorted(names)
    own = [name for name in ordered if owners[name] is each]
    return Step(
        each,
        names,
        max(provides[name] for name in names),
        tuple((n, provides[n]) for n in ordered if provides[n] < Scope.TURN),
        tuple(n for n in own if provides[n] <= Scope.SESSION),
        tuple(n for n in own if provides[n] > Scope.SESSION),
    )


def _reason(
    each: Registered,
    reads: Collection[str] | None,
    owners: dict[str, Registered],
    overridden: Collection[str],
) -> str:
    read = [name for name in each.provides or () if reads is None or name in reads]
    if not read:
        return "unread"
    by = sorted({owners[name].name for name in read if name in owners})
    if any(name in overridden for name in read):
        by.insert(0, "the caller")
    return f"overridden by {', '.join(by)}"


def _conflicts(
    ordered: Iterable[Registered], owners: Mapping[str, Registered]
) -> Iterable[Diagnostic]:
    for priority, group in groupby(ordered, key=lambda each: each.priority):
        givers: dict[str, list[Registered]] = {}
        for each in group:
            for name in each.provides or ():
                givers.setdefault(name, []).append(each)
        for name, several in givers.items():
            if len(several) > 1 and owners.get(name) is several[-1]:
                names = ", ".join(f"`{each.name}`" for each in several[:-1])
                yield Diagnostic(
                    "P304",
                    f"providers {names} and `{several[-1].name}` of priority {priority} "
                    f"give `{name}`; the last one is used",
                    severity="warning",
                    hint="give one of them a higher priority",
                )
