"""One run of `cuecard check`: settings, files, memory, findings, and what is mended."""

from __future__ import annotations

import argparse
import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from difflib import unified_diff

from ..errors import PromptError
from ..files import name_of, read_text
from ..layout import plural, styled
from ..lint import (
    Checker,
    Finding,
    Memory,
    Report,
    Settings,
    Target,
    collect,
    common_folder,
    find_settings,
    fix_document,
    kind_of,
    read_settings,
    read_target,
)
from .output import write_text
from .progress import Progress

__all__ = ["CACHE", "Change", "Run", "check_once"]

CACHE = ".cuecard_cache"


@dataclass(frozen=True)
class Change:
    """A file that was mended: its text before and after."""

    path: str
    before: str
    after: str


@dataclass
class Run:
    """What one run did.

    Attributes:
        settings: what was configured.
        reports: what was found, and is left.
        fixed: the findings that were mended.
        changes: the files that were mended.
        mended_input: standard input as it is after mending, when that was asked for.
    """

    settings: Settings
    reports: list[Report] = field(default_factory=list)
    fixed: list[Finding] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    mended_input: str | None = None

    def difference(self, colour: bool) -> str:
        """What mending changes, as a unified diff."""
        return "".join(line for change in self.changes for line in _diff(change, colour))

    def mended_summary(self) -> str:
        """How much mending would change."""
        if not self.fixed:
            return "There is nothing to mend."
        files = plural(len(self.changes), "file")
        return f"--fix would mend {plural(len(self.fixed), 'finding')} in {files}."


def _diff(change: Change, colour: bool) -> Iterator[str]:
    # Only line feeds part lines: a form feed in one must not part the diff's.
    before, after = (_lines(text) for text in (change.before, change.after))
    styles = {"+": "32", "-": "31", "@": "36"}
    for line in unified_diff(before, after, change.path, change.path):
        text = line.rstrip("\n")
        yield styled(text, styles.get(line[0], ""), colour) + "\n"
        if not line.endswith("\n"):
            yield "\\ No newline at end of file\n"


def _lines(text: str) -> list[str]:
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def check_once(options: argparse.Namespace) -> Run:
    """Check what the options name, and mend it if they say so.

    Broken settings are a finding; then only what hardly depends on settings is checked.
    """
    faults: list[Report] = []
    try:
        settings = _settings(options)
    except PromptError as error:
        faults.append(_fault(error, options.config or "cuecard.toml"))
        settings = replace(Settings(), select=("P1",))
    run = Run(_asked(settings, options))
    use_memory = not (options.no_cache or faults)
    memory = Memory(run.settings.root / CACHE, run.settings) if use_memory else None
    checker = Checker(run.settings, memory)
    run.reports = [*faults, *_Session(checker, options, run).reports()]
    if memory is not None:
        memory.save()
    return run


def _settings(options: argparse.Namespace) -> Settings:
    if options.config is not None:
        return read_settings(options.config)
    named = [path for path in options.paths if path != "-"]
    return find_settings(common_folder([*named, *filter(None, [options.stdin_filename])] or "-"))


def _asked(settings: Settings, options: argparse.Namespace) -> Settings:
    """The settings with what the options say instead, or besides."""
    if options.select is not None:
        settings = replace(settings, select=options.select)
    if options.ignore is not None:
        settings = replace(settings, ignore=(*settings.ignore, *options.ignore))
    return settings


def _fault(error: PromptError, name: str) -> Report:
    path = error.template or name
    inside = os.path.relpath(path)
    path = path if inside.startswith(os.pardir) else inside
    found = Finding(error.message, error.span, error.hint, None, error.code, "error", path)
    return Report(path, (found,))


@contextmanager
def _without_collector() -> Iterator[None]:
    """Work without the collector of cyclic garbage: there is none, and looking takes a fifth."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class _Session:
    """Checks the files of one run, one by one."""

    def __init__(self, checker: Checker, options: argparse.Namespace, run: Run) -> None:
        self._checker = checker
        self._options = options
        self._run = run
        self._input: str | None = None

    def reports(self) -> list[Report]:
        targets = self._targets()
        reports = []
        with Progress("Checking", len(targets)) as progress, _without_collector():
            for target in targets:
                reports.append(self._report(target))
                progress.step()
        return self._checker.compare(reports)

    def _targets(self) -> list[Target]:
        paths = [path for path in self._options.paths if path != "-"]
        targets = collect(paths, self._checker.settings)
        if "-" in self._options.paths:
            targets.append(self._input_target())
        return targets

    def _input_target(self) -> Target:
        name = self._options.stdin_filename or "-"
        kind = kind_of(name, self._checker.settings)
        try:
            self._input = read_text("-")
        except PromptError as error:
            error.template = name_of(name)
            return Target(name, kind, error)
        return Target(name, kind)

    def _is_input(self, target: Target) -> bool:
        return target.path == (self._options.stdin_filename or "-") and self._input is not None

    def _report(self, target: Target) -> Report:
        text = self._input if self._is_input(target) else None
        if text is not None and self._options.fix:
            self._run.mended_input = text
        report = self._checker.check_safely(target, text)
        if not (self._options.fix or self._options.diff):
            return report
        if not any(finding.fix is not None for finding in report.findings):
            return report
        try:
            return self._mended(target, text)
        except PromptError as error:
            found = _fault(error, report.path).findings
            return report._replace(findings=(*found, *report.findings))

    def _mended(self, target: Target, text: str | None) -> Report:
        """The report on a file after it has been mended."""
        checker, options = self._checker, self._options
        document = read_target(target, checker.settings, text)
        fixed = fix_document(checker, target, document, unsafe=options.unsafe_fixes)
        before, after = document.mark + document.text, fixed.mark + fixed.text
        if after != before:
            if options.fix:
                self._write(target, after, text is not None)
            self._run.fixed.extend(fixed.fixed)
            self._run.changes.append(Change(document.path, before, after))
        return checker.check_safely(target, fixed.text if text is not None else None)

    def _write(self, target: Target, text: str, is_input: bool) -> None:
        if is_input:
            self._run.mended_input = text
            return
        write_text(text, target.path)
        if self._checker.memory is not None:
            self._checker.memory.forget(target)
