"""An open file: its text, which is changed piece by piece, and what is known of it."""

from __future__ import annotations

from functools import cached_property

from ..lint import Checker, Target
from ..lint.collecting import kind_of
from .analysis import Analysis
from .positions import Place, Positions

__all__ = ["OpenDocument"]


class OpenDocument:
    """A file that is open in an editor.

    Attributes:
        uri: what the editor calls it.
        path: where it is; a name for one that is nowhere yet.
        folder: where its settings are looked for.
        text: its text.
        version: the editor's number of the text.
        seconds: how long its last check took.

    Args:
        uri: what the editor calls it.
        path: where it is.
        folder: where its settings are looked for.
        text: its text.
        version: the editor's number of the text.
        encoding: what columns count.
    """

    def __init__(
        self, uri: str, path: str, folder: str, text: str, version: int | None, encoding: str
    ) -> None:
        self.uri = uri
        self.path = path
        self.folder = folder
        self.text = text
        self.version = version
        self._encoding = encoding
        self.seconds = 0.0
        self._analysis: Analysis | None = None

    @cached_property
    def positions(self) -> Positions:
        """The lines of the text."""
        return Positions(self.text, self._encoding)

    def change(self, start: Place | None, end: Place | None, text: str) -> None:
        """Replace a range of the text, or all of it."""
        if start is not None and end is not None:
            first, last = sorted((self.positions.offset(start), self.positions.offset(end)))
            text = self.text[:first] + text + self.text[last:]
        self.text = text
        self.__dict__.pop("positions", None)

    def analysis(self, checker: Checker) -> Analysis:
        """What is known of the text now, by the settings of a checker."""
        known = self._analysis
        if known is None or known.text != self.text or known.checker is not checker:
            target = Target(self.path, kind_of(self.path, checker.settings))
            known = self._analysis = Analysis(self.text, target, checker, known)
        return known

    def forget(self) -> None:
        """Look at everything anew, since files around this one have changed."""
        self._analysis = None
