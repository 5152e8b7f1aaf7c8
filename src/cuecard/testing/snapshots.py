"""Snapshots of prompts: an extension of syrupy, which keeps one text file for each.

Only this module imports syrupy.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..errors import MissingExtraError
from ..prompt import Prompt
from .outlining import changes, outlined

try:
    from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
    from syrupy.terminal import context_style, received_style, reset, snapshot_style
except ModuleNotFoundError as error:
    raise MissingExtraError(
        f"snapshots need the package `{error.name}`", hint="pip install 'cuecard[testing]'"
    ) from None

__all__ = ["PromptSnapshotExtension"]

_STYLES = {"- ": snapshot_style, "+ ": received_style, "  ": context_style}


class PromptSnapshotExtension(SingleFileSnapshotExtension):
    """Keeps a prompt as its lines, under the scopes, variables and providers that made them."""

    _write_mode = WriteMode.TEXT
    file_extension = "prompt.txt"

    def serialize(self, data: Any, **options: Any) -> str:
        """The prompt, or a plain text, for review; what is to be left out has to be named there.

        Raises:
            TypeError: it is neither.
        """
        if not isinstance(data, (Prompt, str)):
            raise TypeError(f"expected a `Prompt` or a text, got `{type(data).__name__}`")
        return f"{outlined(data)}\n"

    def diff_lines(self, serialized_data: Any, snapshot_data: Any) -> Iterator[str]:
        """What changed, by what made it."""
        for line in changes(str(snapshot_data), str(serialized_data)):
            yield reset(_STYLES[line[:2]](line))
