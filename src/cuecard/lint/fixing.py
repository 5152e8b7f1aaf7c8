"""Fixing: edits are made, and kept only if the template still renders the same.

A safe fix must not change any text that could be rendered. That is tried: the template is
rendered before and after with values that are made up from what it reads; where the texts
differ, or the file would no longer be read, the fix is left out. Where an absent name would
end the render it is tried once more under a profile that goes on, so that the rest is seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from ..errors import PromptError
from ..profile import Profile
from ..template import Template
from .checking import Checker
from .collecting import Target
from .document import Document
from .findings import Edit, Finding, Fix
from .reading import read_target
from .sampling import contexts

__all__ = ["Fixed", "fix_document"]

_MOST_ROUNDS = 100


class Fixed(NamedTuple):
    """A file that was mended.

    Attributes:
        text: all of it, as it is now, but for a byte order mark.
        fixed: the findings that were mended.
        left: the findings that are left.
        mark: the byte order mark that the file begins with; "" when it has none now.
    """

    text: str
    fixed: tuple[Finding, ...]
    left: tuple[Finding, ...]
    mark: str = ""


def fix_document(
    checker: Checker, target: Target, document: Document, *, unsafe: bool = False
) -> Fixed:
    """Mend what can be mended in a file, which is not written.

    Args:
        checker: what checks it.
        target: the file.
        document: the file as it was read.
        unsafe: whether to use fixes too that may change the rendered text.
    """
    fixed: list[Finding] = []
    refused: set[tuple[str, tuple[Edit, ...]]] = set()
    for _ in range(_MOST_ROUNDS):
        findings = checker.check_document(document).findings
        wanted = [f for f in findings if _is_wanted(f, unsafe) and _id(f) not in refused]
        # What is safe comes first, by itself: only that is held against the rendered text.
        chosen = list(_apart(filter(_is_safe, wanted))) or list(_apart(wanted))
        if not chosen:
            break
        mended, done = _mend(checker, target, document, chosen)
        if done:
            # The places of the others have moved.
            document, refused = mended, set()
            fixed.extend(done)
        else:
            refused.update(map(_id, chosen))
    left = checker.check_document(document).findings
    return Fixed(document.text, tuple(fixed), left, document.mark)


def _is_wanted(finding: Finding, unsafe: bool) -> bool:
    return finding.fix is not None and bool(finding.fix.edits) and (finding.fix.safe or unsafe)


def _is_safe(finding: Finding) -> bool:
    return finding.fix is not None and finding.fix.safe


def _id(finding: Finding) -> tuple[str, tuple[Edit, ...]]:
    return finding.code, _edits(finding)


def _edits(finding: Finding) -> tuple[Edit, ...]:
    return finding.fix.edits if finding.fix is not None else ()


def _apart(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Findings whose edits do not touch each other."""
    taken: list[Edit] = []
    for finding in findings:
        edits = _edits(finding)
        if all(e.end < t.start or e.start > t.end for e in edits for t in taken):
            taken.extend(edits)
            yield finding


def _mend(
    checker: Checker, target: Target, document: Document, findings: list[Finding]
) -> tuple[Document, list[Finding]]:
    """The document with these findings mended, or with the first part that does not spoil it."""
    changed = _changed(checker, target, document, findings)
    if changed is not None:
        return changed, findings
    if len(findings) == 1:
        return document, []
    half = len(findings) // 2
    mended, done = _mend(checker, target, document, findings[:half])
    if done:
        return mended, done
    return _mend(checker, target, document, findings[half:])


def _changed(
    checker: Checker, target: Target, document: Document, findings: list[Finding]
) -> Document | None:
    """The document with these findings mended; None when that would spoil it."""
    fixes = [finding.fix for finding in findings if finding.fix is not None]
    text = _edited(document, fixes)
    try:
        changed = read_target(target, checker.settings, text)
    except PromptError:
        return None
    if document.failure is None and changed.failure is not None:
        return None
    if document.header_error is None and changed.header_error is not None:
        return None
    if document.agent_error is None and changed.agent_error is not None:
        return None
    if all(fix.safe for fix in fixes) and not _renders_alike(document, changed):
        return None
    return changed


def _edited(document: Document, fixes: Iterable[Fix]) -> str:
    """The file with its byte order mark, unless an edit removes that, too."""
    text = document.mark + document.text
    shift = len(document.mark)
    for edit in sorted((edit for fix in fixes for edit in fix.edits), reverse=True):
        text = text[: edit.start + shift] + edit.text + text[edit.end + shift :]
    return text


def _renders_alike(before: Document, after: Document) -> bool:
    if before.template is None or before.header_error is not None or after.template is None:
        # Nothing could be rendered before, so that nothing can have changed.
        return before.template is None or before.header_error is not None
    if before.body.text == after.body.text and before.profile == after.profile:
        return True
    if before.tree is None or before.names is None:
        return after.template.render({}) == before.template.render({})
    samples = list(contexts(before.tree, before.names))
    return all(
        _rendered(first, sample) == _rendered(second, sample)
        for first, second in zip(_ways(before), _ways(after), strict=True)
        for sample in samples
    )


def _ways(document: Document) -> list[Template]:
    """The template, and once more so that absent names do not end its render."""
    lenient: Profile = replace(document.profile, undefined="chainable", fallback=False)
    assert document.template is not None
    return [
        document.template,
        Template(document.body, profile=lenient, partials=document.folder),
    ]


def _rendered(template: Template, values: Mapping[str, Any]) -> tuple[bool, str]:
    try:
        return True, template.render(values)
    except PromptError as error:
        return False, error.code
