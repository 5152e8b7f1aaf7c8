"""Control tokens: what a value could use to look like another message of the conversation.

Chat formats part messages by words of their own, such as `<|im_start|>`. In the text of a
template they are its author's; in a value they are somebody else's. They are reported, and
never changed: what to do about them is for whoever calls the model, whose API may well take
them for plain text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..source import Diagnostic
from .segments import Segment, Traced

__all__ = ["CONTROL_TOKENS", "find_control_tokens"]

CONTROL_TOKENS = {
    "ChatML": r"<\|(?:im_start|im_end|im_sep|endoftext|endofprompt|fim_\w+)\|>",
    "Harmony": r"<\|(?:start|end|message|channel|constrain|return|call)\|>",
    "Llama": r"<\|(?:begin_of_text|end_of_text|start_header_id|end_header_id|eot_id|eom_id"
    r"|python_tag)\|>|<<SYS>>|<</SYS>>|\[/?INST\]",
    "Mistral": r"\[/?(?:SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT)\]",
    "Gemma": r"<(?:start|end)_of_turn>",
    "Phi and GLM": r"<\|(?:system|user|assistant|observation|tool)\|>",
    "DeepSeek": r"<\uff5c[^<>\uff5c\n]{1,40}\uff5c>",
    "Command R": r"<\|(?:START|END)_OF_TURN_TOKEN\|>|<\|(?:SYSTEM|USER|CHATBOT)_TOKEN\|>",
    "sentence marks": r"</?s>|<(?:bos|eos|unk|pad)>",
    "Claude's old prompts": r"\n\n(?:Human|Assistant):",
}
"""Patterns of the tokens, by the format that they belong to. As of November 2026."""

_PATTERN = re.compile(
    "|".join(f"(?P<f{number}>{text})" for number, text in enumerate(CONTROL_TOKENS.values()))
)


def find_control_tokens(prompt: Traced) -> Iterator[Diagnostic]:
    """A warning (P915) for each control token that a value has a part in."""
    formats = list(CONTROL_TOKENS)
    for found in _PATTERN.finditer(prompt.text):
        segment = _foreign(prompt, found.start(), found.end())
        if segment is not None:
            name = formats[int(str(found.lastgroup)[1:])]
            listed = ", ".join(f"`{variable}`" for variable in sorted(segment.variables))
            yield Diagnostic(
                "P915",
                f"a value{' of ' + listed if listed else ''} holds a control token of {name}, "
                f"`{found[0].strip()}`, at character {found.start():,} of the prompt",
                segment.span,
                segment.template,
                "warning",
                "leave it out of the value, if the model's API does not take it for plain text",
            )


def _foreign(prompt: Traced, start: int, end: int) -> Segment | None:
    """The part that a value made of a range of the text; None when it is the template's own."""
    position = start
    while position < end:
        segment = prompt.segment_at(position)
        if segment is None:
            return None
        # A block whose outputs could not be traced may have printed a value anywhere.
        if segment.kind == "output" or (segment.kind == "block" and not segment.children):
            return segment
        position = min(
            [segment.end, *(c.start for c in segment.children if c.start > position), end]
        )
    return None
