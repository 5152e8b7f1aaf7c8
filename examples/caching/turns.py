"""A template bound to what stays the same: what a turn renders, and what a cache keeps of it."""

from pathlib import Path

import cuecard
from cuecard import Scope
from cuecard.tokens import find_counter

source = Path(__file__).with_name("prompt.j2").read_text(encoding="utf-8")
scopes = {"name": Scope.STATIC, "tools": Scope.STATIC, "notes": Scope.SESSION}
template = cuecard.Template(source, name="prompt.j2", scopes=scopes)
tools = [
    {"name": "orders", "description": "find an order"},
    {"name": "stock", "description": "count articles"},
]
bound = template.bind({"name": "Argus", "tools": tools})
print("a turn gives", ", ".join(sorted(bound.variables)))

before = None
for now, notes in (("13:05", "Likes tea."), ("13:06", "Likes tea."), ("13:07", "Drinks coffee.")):
    prompt = bound.trace(now=now, notes=notes).with_counter(find_counter("estimate"))
    print(f"\n{now}")
    for block in prompt.blocks():
        print(f"  {block.scope.name:8} {len(block.text):4} characters")
    print(f"  cacheable: {prompt.cacheable_prefix}")
    if before is not None:
        change = prompt.diff(before)
        place = change.segment.span.line
        names = ", ".join(change.variables)
        print(f"  since the last turn: {names} (line {place}) changed character {change.offset}")
    before = prompt

print("\nfor Anthropic's API:")
for part in before.anthropic_system():
    print(f"  {len(part['text']):4} characters {part.get('cache_control', '')}")
