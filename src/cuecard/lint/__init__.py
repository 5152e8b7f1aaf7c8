"""Lint: every mistake that can be found before a turn runs. One rule is one file in `rules/`.

The package can be called: `cuecard.lint(paths)` is `cuecard.lint.lint(paths)`.
"""

import sys
from types import ModuleType
from typing import Any

from .checking import Checker, Report, lint
from .claims import Claim
from .collecting import Target, collect, kind_of
from .document import Document
from .findings import Edit, Finding, Fix
from .fixing import Fixed, fix_document
from .pages import rule_index, rule_page
from .reading import read_target
from .remembering import Memory
from .rule import GROUPS, Rule, all_rules, find_rule
from .settings import Settings, common_folder, find_settings, read_settings

__all__ = [
    "GROUPS",
    "Checker",
    "Claim",
    "Document",
    "Edit",
    "Finding",
    "Fix",
    "Fixed",
    "Memory",
    "Report",
    "Rule",
    "Settings",
    "Target",
    "all_rules",
    "collect",
    "common_folder",
    "find_rule",
    "find_settings",
    "fix_document",
    "kind_of",
    "lint",
    "read_settings",
    "read_target",
    "rule_index",
    "rule_page",
]


class _Callable(ModuleType):
    """A module that stands for its function of the same name."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return lint(*arguments, **options)


sys.modules[__name__].__class__ = _Callable
