"""The prompt: a rendered text, where each part came from, its cache blocks and its changes."""

from .blocks import Block
from .diff import PromptDiff
from .outline import Form, Outline
from .result import Prompt
from .runs import ProviderRun
from .scope import Scope, widest
from .segments import Marks, Prefix, Segment

__all__ = [
    "Block",
    "Form",
    "Marks",
    "Outline",
    "Prefix",
    "Prompt",
    "PromptDiff",
    "ProviderRun",
    "Scope",
    "Segment",
    "widest",
]
