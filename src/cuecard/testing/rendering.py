"""Rendering in tests: a prompt, or a failure that says what went wrong with it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..agents import AgentDefinition, load_agent
from ..errors import FallbackWarning
from ..prompt import Prompt
from ..renderer import PromptRenderer
from ..source import Diagnostic

__all__ = ["RenderPrompt"]

_FILES = (".j2", ".jinja", ".jinja2", ".md")


class RenderPrompt:
    """Renders the prompt of an agent for one turn, and takes no excuse for a bad one.

    Args:
        renderer: the renderer.
        find: finds a file by its name.
    """

    def __init__(
        self, renderer: PromptRenderer, find: Callable[[str | os.PathLike[str]], Path] = Path
    ) -> None:
        self.renderer = renderer
        self._find = find

    def __call__(
        self,
        agent: AgentDefinition | str | os.PathLike[str],
        session: Any = None,
        auth: Any = None,
        /,
        **variables: Any,
    ) -> Prompt:
        """The prompt.

        Args:
            agent: the agent; its file; or a template. A text of one line that ends like a
                file's name is one.
            session: the session, as `PromptRenderer.render` takes it.
            auth: who is served, as `PromptRenderer.render` takes it.
            variables: variables for this turn.

        Raises:
            AssertionError: the prompt would be the template as it stands, or a provider
                failed: what a runtime survives, and a test should not.
            PromptError: the agent's file cannot be read, or the render fails.
        """
        __tracebackhide__ = True
        with warnings.catch_warnings():
            # The prompt says so itself.
            warnings.simplefilter("ignore", FallbackWarning)
            prompt = self.renderer.prompt(self._definition(agent), session, auth, variables)
        failures = [str(each) for each in prompt.diagnostics if _is_failure(each)]
        if failures:
            raise AssertionError("\n".join(["the prompt is not what it should be:", *failures]))
        return prompt

    def _definition(self, agent: AgentDefinition | str | os.PathLike[str]) -> AgentDefinition | str:
        if isinstance(agent, AgentDefinition):
            return agent
        if isinstance(agent, str) and ("\n" in agent or not agent.endswith(_FILES)):
            return agent
        return load_agent(self._find(agent))


def _is_failure(finding: Diagnostic) -> bool:
    return finding.severity == "error" or finding.code in ("P301", "P302", "P303")
