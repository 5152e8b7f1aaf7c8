"""The prompt: a rendered text, where each part came from, its cache blocks and its changes."""

from .blocks import Block
from .diff import PromptDiff
from .result import Prompt
from .scope import Scope, widest
from .segments import Piece, Prefix, Segment

__all__ = ["Block", "Piece", "Prefix", "Prompt", "PromptDiff", "Scope", "Segment", "widest"]
