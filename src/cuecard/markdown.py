"""The markdown path: a workspace agent's `SYSTEM.md`, rendered once at its construction."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from .profile import MARKDOWN
from .skills import skill_values
from .template import render

__all__ = ["render_system", "render_template"]


def render_template(template: str, context: Any) -> str:
    """Render a template with the caller's own variables.

    Args:
        template: the template; errors call it `system`.
        context: a mapping of names to values.

    Returns:
        The text, with white space at its end replaced by one newline.

    Raises:
        TemplateError: the template is invalid, or its render failed.
        ContextError: a value that the template reads is not plain data.
    """
    return render(template, context, profile=MARKDOWN, name="system")


def render_system(
    template: str,
    workspace: str | os.PathLike[str],
    skills: Iterable[Any] = (),
    tools: Iterable[Any] = (),
    *,
    environment: str | None = None,
    user: str | None = None,
    mcp: Iterable[Any] = (),
    vision: str | None = None,
) -> str:
    """Render a `SYSTEM.md` template.

    Args:
        template: the template; errors call it `system`.
        workspace: the folder that the agent works in.
        skills: the skills, as `Skill`s or mappings. Their bodies are read only for a
            template that names `body`.
        tools: the tools, as `ToolSpec`s or mappings.
        environment: facts about the machine on which commands run.
        user: the user's preferences, verbatim.
        mcp: one line a server, as `McpServerLine`s or mappings; from configuration only.
        vision: a text about the images that the agent can see.

    Returns:
        The text. Sections that are None print nothing.

    Raises:
        TemplateError: the template is invalid, or its render failed.
        ContextError: a value that the template reads is not plain data.
        PromptError: the body of a skill is read, and cannot be.
    """
    context = {
        "workspace": os.fspath(workspace),
        "skills": skill_values(skills, body="body" in template),
        "tools": list(tools),
        "environment": environment,
        "user": user,
        "mcp": list(mcp),
        "vision": vision,
    }
    return render_template(template, context)
