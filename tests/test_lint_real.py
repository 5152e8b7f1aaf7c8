"""False alarms: prompts that other projects ship, checked by the rules of two groups.

Each is checked with the names that it reads declared, and nothing else given. What is found
is listed here with the reason why it is no false alarm; anything else fails the test.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

import cuecard
from cuecard.lint import Checker, Finding, Settings, Target, all_rules, read_target
from cuecard.lint.document import Kind
from cuecard.lint.known import provided

from .test_chat_templates import templates
from .test_real_agents import AGENTS, SKILLS
from .test_real_prompts import PROMPTS

CODES = tuple(
    code
    for rule in all_rules()
    if rule.group in ("syntax", "variables")
    for code in (rule.code, *rule.also)
)

NO_METHOD = "fails at the render: a template sees data only, which has no such method"
NEVER_CHANGED = "a flag that is set in a loop, which does not change it outside"
HIDDEN = "one name means two things, and the outer one is read after the loop"
UNREAD = "the name is nowhere read"
NO_TEMPLATE = "documentation of Vue and Angular, whose braces are no template's"

EXPECTED: Mapping[str, Mapping[str, str]] = {
    "prompts": {
        "P106 `to_code_prompt`": NO_METHOD,
        "P106 `to_tool_calling_prompt`": NO_METHOD,
    },
    "chat": {
        "P102 `generation`": "the tag is one of training templates, and is refused",
        "P103 `fromjson`": "no filter of the engine",
        "P103 `from_json`": "no filter of the engine",
        "P105 `str`": "no function of the engine",
        "P105 `strftime_now`": "a function of another library, called without a guard",
        "P106 `append`": NO_METHOD,
        "P106 `pop`": NO_METHOD,
        "P106 `rsplit`": NO_METHOD,
        "P106 `update`": NO_METHOD,
        "P109 `add_tokens`": "refused: a namespace is passed to a macro",
        "P109 `content`": "refused: a namespace is passed on",
        "P109 `namespace(...)`": "refused: a namespace is put into a list",
        "P109 `ns_tool`": "refused: a namespace is passed on",
        "P111 ``": "the tag is longer than any that the engine's parser survives for certain",
        "P202 `message`.`reasoning_content`": "the template makes the messages without this key",
        "P202 `message`.`tool_calls`": "the template makes the messages without this key",
        "P214 `content`": "the loop only asks whether there is an item",
        "P214 `date_string`": "a date that is set for nothing",
        "P214 `first_user_prefix`": UNREAD,
        "P214 `has_tools`": UNREAD,
        "P214 `image_extensions`": UNREAD,
        "P214 `input_audio`": UNREAD,
        "P214 `loop_messages`": UNREAD,
        "P214 `min_count`": UNREAD,
        "P214 `pad_token`": UNREAD,
        "P214 `role`": UNREAD,
        "P214 `system_prompt`": UNREAD,
        "P214 `text_parts`": UNREAD,
        "P214 `thought_instructions`": UNREAD,
        "P214 `today`": UNREAD,
        "P214 `toolcall_begin_ds_token`": UNREAD,
        "P214 `toolcall_end_ds_token`": UNREAD,
        "P214 `toolcalls_begin_ds_token`": UNREAD,
        "P214 `toolcalls_end_ds_token`": UNREAD,
        "P214 `tools_in_user_message`": UNREAD,
        "P214 `toolsep_ds_token`": UNREAD,
        "P215 `content`": HIDDEN,
        "P215 `first`": NEVER_CHANGED,
        "P215 `found_item`": NEVER_CHANGED,
        "P215 `has_object_variants`": NEVER_CHANGED,
        "P215 `ns`": HIDDEN,
        "P215 `processed_content`": NEVER_CHANGED,
        "P215 `role`": HIDDEN,
        "P215 `thinking_budget`": "a value that is raised within the loop, and not after it",
    },
    "agents": {
        "P101": NO_TEMPLATE,
        "P105 `calculatePrice`": NO_TEMPLATE,
        "P105 `expensiveComputation`": NO_TEMPLATE,
        "P105 `formatTitle`": NO_TEMPLATE,
        "P106 `activeUsers`": NO_TEMPLATE,
        "P106 `toLocaleDateString`": NO_TEMPLATE,
        "P106 `userCount`": NO_TEMPLATE,
    },
}
"""Findings by where they are and by the names that they speak of."""

AT_LEAST = {"prompts": 42, "chat": 786, "agents": 110}


class Text(NamedTuple):
    """A text and what it is taken for."""

    name: str
    kind: Kind
    text: str
    profile: str


def texts(where: str) -> Iterator[Text]:
    if where == "prompts":
        yield from (Text(p.id, "template", p.text, "operator") for p in PROMPTS)
    elif where == "chat":
        for name, text in templates().items():
            yield Text(name, "template", text, "strict")
    else:
        for folder in (*AGENTS, *SKILLS):
            for file in sorted(folder.root.rglob("*.md")):
                kind: Kind = "skill" if file.name == "SKILL.md" else "agent"
                yield Text(str(file), kind, file.read_text("utf-8-sig"), "live")


def findings(text: Text) -> tuple[Finding, ...]:
    """What the two groups find in a text whose own names are declared."""
    profiles = {"*": text.profile}
    settings = Settings(select=CODES, profiles=profiles, only_declared=True, entry_points=False)
    document = read_target(Target(text.name, text.kind), settings, text.text)
    names = document.template.variables if document.template is not None else ()
    # Compiling takes most of the time, so the names are declared in the document itself.
    declared = provided(dict.fromkeys(names, "turn"), "a declared slot")
    document.variables = {**document.variables, **declared}
    return Checker(settings).check_document(document).findings


def short(finding: Finding) -> str:
    """The code of a finding and the names in its message."""
    if finding.code == "P101":
        return "P101"
    words = finding.message.split("`")[1::2]
    names = words if finding.code == "P202" else words[:1]
    return f"{finding.code} {'.'.join(f'`{name}`' for name in names) or '``'}"


@pytest.mark.parametrize("where", EXPECTED)
def test_no_false_alarms(where: str) -> None:
    """Nothing is found but what is listed, and all that is listed is found."""
    found: Counter[str] = Counter()
    count = 0
    for text in texts(where):
        count += 1
        found.update(map(short, findings(text)))
    assert count >= AT_LEAST[where]
    assert found.keys() == EXPECTED[where].keys()


def test_what_is_found_fails_at_the_render() -> None:
    """Methods that are reported in real prompts are those that a render refuses."""
    for prompt in PROMPTS:
        text = Text(prompt.id, "template", prompt.text, "operator")
        for finding in findings(text):
            assert finding.span is not None
            name = prompt.text[finding.span.start : finding.span.end]
            with pytest.raises(cuecard.UnknownNameError) as caught:
                cuecard.render(f"{{{{ x.{name}() }}}}", {"x": {name: "text"}})
            assert caught.value.code == finding.code
            assert caught.value.message == finding.message
            assert caught.value.hint == finding.hint


def test_examples_are_clean() -> None:
    """The templates of the examples have no finding of these groups."""
    folder = Path(__file__).parent.parent / "examples"
    # The folder of partials is given where one of them is rendered.
    checker = Checker(Settings(select=CODES, ignore=("P107",), entry_points=False))
    reports = [*checker.check([folder])]
    assert len(reports) >= 3
    assert [finding for report in reports for finding in report.findings] == []
