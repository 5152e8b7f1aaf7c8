"""What the service says of a prompt, as plain data."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ..errors import TemplateLimitError
from ..explain import Explanation, diagnostics_data
from ..prompt import Prompt
from ..source import Source
from ..tokens import TokenCounter

__all__ = ["check_output", "prompt_data", "provider_data"]


def prompt_data(
    prompt: Prompt,
    source: Source,
    profile: str,
    include: Collection[str] = (),
    counter: TokenCounter | None = None,
) -> dict[str, Any]:
    """A prompt, with what is asked for beside its text."""
    data: dict[str, Any] = {"text": prompt.text, "fallback": _fell_back(prompt)}
    if "blocks" in include or "segments" in include:
        explained = Explanation(prompt, source, profile, counter).data()
        if "segments" in include:
            data["segments"] = explained["segments"]
        if "blocks" in include:
            data["blocks"] = explained["blocks"]
        data["cacheable_prefix"] = explained["cacheable_prefix"]
    if counter is not None:
        data["tokens"] = prompt.with_counter(counter).count(prompt.text)
    if "diagnostics" in include:
        data["diagnostics"] = diagnostics_data(prompt.diagnostics)
    if "timings" in include:
        data["timings"] = {"seconds": prompt.seconds, "providers": provider_data(prompt)}
    if "anthropic" in include:
        data["anthropic"] = prompt.anthropic_system()
    return data


def provider_data(prompt: Prompt) -> list[dict[str, Any]]:
    """What the providers of a prompt did."""
    return [{**run._asdict(), "variables": sorted(run.variables)} for run in prompt.providers]


def check_output(text: str, most: int, template: str | None) -> None:
    """See that a text is not longer than answers may be.

    Raises:
        TemplateLimitError: it is (P115).
    """
    if len(text) > most:
        raise TemplateLimitError(
            f"the text has more than {most:,} characters", code="P115", template=template
        )


def _fell_back(prompt: Prompt) -> bool:
    # The error behind it is the finding; warnings alone are of a render that worked.
    return any(finding.severity == "error" for finding in prompt.diagnostics)
