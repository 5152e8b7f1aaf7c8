"""One turn, without I/O: gather the values, bind those that hold, render the rest."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from ..agents import fill
from ..errors import ContextError, PromptError, ProviderError
from ..prompt import Prompt, ProviderRun
from ..providers import ProviderRequest
from ..source import Diagnostic
from ..template import Template
from .calls import Flow
from .gathering import Gathering
from .memory import Planned, Prepared, Session, SessionState

__all__ = ["Turn"]

_logger = logging.getLogger("cuecard.renderer")

R = TypeVar("R")


class Turn:
    """One render of a template that reads variables.

    Args:
        prepared: the definition's template.
        planned: the plan, and what holds as long as the definition.
        session: what holds in the session.
        request: whom the render is for.
        extra: the caller's variables.
        about: the session as it is, as far as it can be compared; None when there is none.
        timeout: seconds for providers that have no limit of their own.
        inline: whether plain functions are called in place, as a plain render does.
        noticed: what was noticed before.
        observe: is told the values of the turn, when somebody observes.
    """

    def __init__(
        self,
        prepared: Prepared,
        planned: Planned,
        session: Session,
        request: ProviderRequest,
        extra: Mapping[str, Any],
        *,
        about: Any,
        timeout: float | None,
        inline: bool,
        noticed: Iterable[Diagnostic] = (),
        observe: Callable[[Mapping[str, Any]], None] | None = None,
    ) -> None:
        self._observe = observe
        self._prepared = prepared
        self._planned = planned
        self._session = session
        self._state = session.state
        self._about = about
        self._extra = extra
        self._gathering = Gathering(
            planned,
            session.state,
            request,
            extra,
            lasting=about is not None,
            same_session=about is not None and session.state.about == about,
            lenient=prepared.lenient is not None,
            timeout=timeout,
            inline=inline,
        )
        self._gathering.diagnostics.extend(noticed)

    def runs(self) -> tuple[ProviderRun, ...]:
        """What each provider did that was to run."""
        return tuple(self._gathering.runs())

    def text(self) -> Flow[str]:
        """The rendered text."""
        yield from self._gathering.run()
        try:
            return self._rendered(lambda template, context: template.render(context))
        except PromptError as error:
            return self._lenient(error).as_it_stands(error).text

    def prompt(self) -> Flow[Prompt]:
        """The prompt, with what the providers did."""
        yield from self._gathering.run()
        try:
            prompt = self._rendered(lambda template, context: template.trace(context))
        except PromptError as error:
            prompt = self._lenient(error).as_it_stands(error)
        gathering, plan = self._gathering, self._planned.plan
        prompt.providers = (*gathering.runs(), *self._planned.skipped)
        noticed = (*prompt.diagnostics, *plan.diagnostics, *gathering.diagnostics)
        prompt.diagnostics = tuple(dict.fromkeys(noticed))
        return prompt

    def _rendered(self, render: Callable[[Template, Any], R]) -> R:
        """Render, and tell who observes what with, also when it fails."""
        if self._observe is None:
            return self._attempted(render, self._filled())
        extra = self._extra
        try:
            extra = self._filled()
            return self._attempted(render, extra)
        finally:
            gathering = self._gathering
            self._observe({**gathering.lasting(), **gathering.passing(), **extra})

    def _attempted(self, render: Callable[[Template, Any], R], extra: Mapping[str, Any]) -> R:
        """Render, and remember what holds; a provider whose values do not render is left out."""
        while True:
            try:
                template, context, state = self._bound(extra)
                result = render(template, context)
            except ContextError as error:
                if not self._blamed(error):
                    raise
                continue
            self._session.state = state
            return result

    def _lenient(self, error: PromptError) -> Template:
        if self._prepared.lenient is None or isinstance(error, ProviderError):
            raise error
        return self._prepared.lenient

    # binding -----------------------------------------------------------------------------------

    def _bound(self, extra: Mapping[str, Any]) -> tuple[Template, Mapping[str, Any], SessionState]:
        """The template with what holds bound, the values of this turn, and the new state."""
        state, gathering = self._state, self._gathering
        fixed, context = gathering.lasting(), gathering.passing()
        context.update(extra)
        if self._planned.held:
            own = {name: context.pop(name) for name in self._planned.held if name in context}
            fixed = {**fixed, **own}
        kept = {**state.kept, **gathering.kept} if gathering.kept else state.kept
        if not _same(fixed, state.fixed) or not fixed.keys().isdisjoint(context):
            # Binding pays only for what holds for more than one turn.
            whole = {**fixed, **context}
            return self._planned.template, whole, SessionState(kept, fixed, None, self._about)
        bound = state.template
        if bound is None:
            template = self._planned.template
            bound = template.bind(fixed, template.scopes)
        settled = gathering.complete
        new = SessionState(kept, state.fixed, bound, self._about, settled)
        return bound, context, new

    # the caller's variables ----------------------------------------------------------------------

    def _filled(self) -> Mapping[str, Any]:
        """The caller's variables, held against the inputs that the agent declares."""
        definition = self._prepared.definition
        if definition is None or not definition.inputs:
            return self._extra
        given, overridden = self._gathering.given(), self._planned.plan.overridden
        inputs = [entry for entry in definition.inputs if entry.name not in given]
        # What takes the place of a provider's variable need not be declared.
        instead = overridden.difference(entry.name for entry in inputs)
        extra = {key: value for key, value in self._extra.items() if key not in instead}
        name = definition.source.name
        guarded = self._planned.template.optional
        try:
            filled = fill(inputs, extra, guarded=guarded, template=name)
        except ContextError as error:
            if self._prepared.lenient is None:
                raise
            self._report(error.diagnostic()._replace(severity="warning"))
            optional = [replace(entry, type="any", required=False) for entry in inputs]
            filled = fill(optional, extra, guarded=guarded, template=name)
        for finding in filled.diagnostics:
            self._report(finding)
        return {**filled.context, **{key: self._extra[key] for key in instead}}

    def _report(self, finding: Diagnostic) -> None:
        _logger.warning("%s", finding)
        self._gathering.diagnostics.append(finding)

    # failures ----------------------------------------------------------------------------------

    def _blamed(self, error: ContextError) -> bool:
        """Leave out the provider that gave what is no plain data, if it was one.

        Raises:
            ProviderError: the profile is not lenient.
        """
        return self._gathering.blame(_root(error), error)


def _root(error: ContextError) -> str | None:
    """The variable in the path of an error, such as `tools` in `$.tools[0].run`."""
    found = re.match(r"\$\.(\w+)", error.path)
    return found[1] if found else None


def _same(fixed: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
    """Whether the values are those that were bound: the same objects, or equal texts."""
    if fixed is before:
        return True
    if fixed.keys() != before.keys():
        return False
    return all(
        value is before[name] or (type(value) is str and value == before[name])
        for name, value in fixed.items()
    )
