"""The page of `cuecard serve`, in a real browser, against the real service: texts and prompts."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Route, expect

from .page_browser import Open, browsing, opening
from .service_process import Service, running

EXAMPLES = Path(__file__).parent.parent / "examples"

FORMS = """\
---
name: forms
description: Takes one input of each type.
profile: strict
inputs:
  title: {type: string, description: What it is called}
  count: {type: integer, default: 3}
  share: {type: number, required: false}
  draft: {type: boolean, required: false}
  tags: {type: array, required: false}
---
{{ title }} {{ count }} {{ share }} {{ draft }} {{ tags | tojson }}
"""
LOOP = """\
# {{ title }}
{% for tool in tools %}
- {{ tool.name }}: {{ tool.use }};
{% endfor %}
end
"""
TOOLS = """\
{"title": "T", "tools": [
  {"name": "read", "use": "reads\\nfiles"},
  {"name": "write", "use": "writes"}
]}
"""
LOOPED = "# T\n- read: reads\nfiles;\n- write: writes;\nend\n"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for the module."""
    with browsing() as browser:
        yield browser


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service of copies of the examples, and of an agent with inputs and one with a mistake."""
    folder = tmp_path_factory.mktemp("agents")
    for name in ("live", "turns", "reviewer"):
        shutil.copytree(EXAMPLES / name, folder / name)
    (folder / "forms.md").write_text(FORMS, "utf-8")
    (folder / "wrong.md").write_text(
        "---\nname: wrong\ndescription: It has a mistake.\n---\n{% if %}", "utf-8"
    )
    with running(folder) as service:
        yield service


@pytest.fixture
def show(browser: Browser, service: Service) -> Iterator[Open]:
    """Opens the page; all that were opened must be without complaint."""
    with opening(browser, service) as show:
        yield show


# choosing ----------------------------------------------------------------------------------------


def test_an_agent_is_found_by_words(show: Open) -> None:
    """The list says what is there, the filter takes words, Enter opens the first that is left."""
    opened = show()
    expect(opened.page.get_by_text("6 agents", exact=True)).to_be_visible()
    wrong = opened.page.get_by_role("link", name=re.compile("^wrong"))
    expect(wrong).to_contain_text("1 problem")
    opened.page.get_by_label("Filter").fill("bicycle LIVE")
    expect(opened.page.get_by_text("1 of 6 agents")).to_be_visible()
    opened.page.keyboard.press("Enter")
    expect(opened.editor).to_have_value((EXAMPLES / "live" / "agent.md").read_text("utf-8"))
    expect(opened.page).to_have_title("spoke - cuecard")
    opened.button("cuecard").click()
    opened.page.get_by_label("Filter").fill("nothing like it")
    expect(opened.page.get_by_text("0 of 6 agents")).to_be_visible()


def test_the_way_back_leads_through_agents(show: Open) -> None:
    """The browser's own way back and forward changes the agent, and drafts are still there."""
    opened = show("#agent=forms")
    opened.editor.press("Control+End")
    opened.editor.press_sequentially("unsaved")
    expect(opened.page.get_by_text("edited, not saved")).to_be_visible()
    opened.button("cuecard").click()
    opened.page.get_by_role("link", name="spoke").click()
    expect(opened.editor).to_have_value(re.compile("bicycle"))
    opened.page.go_back()
    opened.page.go_back()
    expect(opened.editor).to_have_value(FORMS + "unsaved")
    expect(opened.page.get_by_text("edited, not saved")).to_be_visible()


def test_the_last_agent_that_was_asked_for_stays(show: Open) -> None:
    """One whose file comes later than the next one's is not shown; nobody types meanwhile."""
    opened = show("#agent=wrong")
    held: list[Route] = []
    opened.page.route("**/v1/agents/forms/file", lambda route: held.append(route))
    opened.page.evaluate("location.hash = '#agent=forms'")
    opened._until(lambda: len(held), 1)
    expect(opened.editor).not_to_be_editable()
    opened.page.evaluate("location.hash = '#agent=spoke'")
    expect(opened.editor).to_have_value(re.compile("bicycle"))
    with opened.page.expect_response("**/v1/agents/forms/file"):
        held[0].continue_()
    expect(opened.page).to_have_title("spoke - cuecard")
    expect(opened.editor).to_have_value(re.compile("bicycle"))
    expect(opened.editor).to_be_editable()


def test_an_agent_that_is_not_there(show: Open) -> None:
    """A link to an agent that has gone says so and shows the others."""
    opened = show("#agent=gone", refusals=[404])
    expect(opened.note).to_contain_text("gone cannot be opened")
    expect(opened.page.get_by_role("link", name="forms")).to_be_visible()


def test_a_pasted_template(show: Open) -> None:
    """A template of one's own is rendered, and is still there after a reload."""
    opened = show().scratch("Hello {{ name }}!", '{"name": "Ann"}')
    opened.shows("Hello Ann!")
    expect(opened.button("Save", exact=True)).to_be_disabled()
    opened.page.reload()
    expect(opened.editor).to_have_value("Hello {{ name }}!")


# editing -----------------------------------------------------------------------------------------


def test_tags_are_coloured(show: Open) -> None:
    """Each part of a tag has its colour, what only looks like one has none."""
    opened = show().scratch(
        "---\nname: x\n---\n{# note #}{% for a in b | sort %}{{ a ~ 'it' ~ 12 }}{% endfor %}"
        "{% raw %}{{ raw }}{% endraw %} {single} {{ '}}' }}"
    )
    assert opened.painted("template-header") == ["name"]
    assert opened.painted("template-comment") == ["{# note #}"]
    assert opened.painted("template-filter") == [" sort"]
    assert opened.painted("template-string") == ["'it'", "'}}'"]
    assert opened.painted("template-number") == ["12"]
    assert opened.painted("template-word") == ["for", "in", "endfor", "raw", "endraw"]
    assert "".join(opened.painted("template-delimiter")) == "{%%}{{}}{%%}{%%}{%%}{{}}"


def test_the_prompt_follows_what_is_typed(show: Open) -> None:
    """Typing in the template or in a field renders anew; undo is the browser's own."""
    opened = show().scratch("Hello {{ name }}!", '{"name": "Ann"}')
    opened.shows("Hello Ann!")
    opened.editor.press("Control+End")
    opened.editor.press_sequentially(" Bye {{ name }}.")
    opened.shows("Hello Ann! Bye Ann.")
    opened.editor.press("Control+z")
    opened.shows("Hello Ann!")
    opened.page.get_by_role("radio", name="Form").check()
    opened.page.get_by_label("name", exact=True).fill("Bob")
    opened.shows("Hello Bob!")


def test_a_late_answer_is_dropped(show: Open) -> None:
    """When an older render is answered after a newer one, the newer one stays."""
    opened = show().scratch("first", "{}")
    opened.shows("first")
    held: list[Route] = []

    def hold(route: Route) -> None:
        if "second" in (route.request.post_data or ""):
            held.append(route)
        else:
            route.continue_()

    opened.page.route("**/v1/explain", hold)
    opened.editor.fill("second")
    opened._until(lambda: len(held), 1)
    opened.editor.fill("third")
    opened.shows("third")
    held[0].continue_()
    opened.editor.fill("fourth")
    opened.shows("fourth")


def test_an_error_leaves_the_last_prompt(show: Open) -> None:
    """A template that fails shows why and where, above the greyed prompt of before."""
    opened = show().scratch("Hello {{ name }}!", '{"name": "Ann"}')
    opened.shows("Hello Ann!")
    opened.editor.fill("Hello\n{{ name }}, {{ nmae }}!")
    alert = opened.page.get_by_role("alert")
    expect(alert).to_contain_text("P201")
    expect(alert).to_contain_text("nmae")
    expect(opened.prompt).to_have_class(re.compile("stale"))
    expect(opened.prompt).to_contain_text("Hello Ann!")
    alert.get_by_role("button", name="Go to line 2, column 16").click()
    assert opened.selected == "nmae"
    opened.editor.fill("Hello {{ name }}.")
    opened.shows("Hello Ann.")
    expect(alert).to_be_hidden()


def test_the_service_is_gone(show: Open) -> None:
    """When the service cannot be reached, the page says so and keeps everything."""
    opened = show().scratch("a", "{}")
    opened.shows("a")
    opened.page.route("**/v1/**", lambda route: route.abort())
    opened.editor.fill("ab")
    expect(opened.page.get_by_role("alert")).to_contain_text("could not be reached")
    expect(opened.page.get_by_text("not checked")).to_be_visible()
    opened.complaints = [c for c in opened.complaints if "ERR_FAILED" not in c]
    opened.page.unroute("**/v1/**")
    opened.editor.fill("abc")
    opened.shows("abc")


def test_findings_are_marked_in_place(show: Open) -> None:
    """What check finds is underlined, listed with its place, and can be gone to."""
    opened = show("#agent=forms")
    expect(opened.page.get_by_text("no findings")).to_be_visible()
    broken = FORMS.replace("{{ title }}", "{{ title | uper }}")
    opened.editor.fill(broken)
    panel = opened.tool("Findings")
    row = panel.get_by_role("button", name=re.compile(r"^12:12.*upper"))
    expect(row).to_be_visible()
    expect(opened.page.get_by_role("tab", name=re.compile(r"Findings \(\d"))).to_be_visible()
    marked = opened.painted("template-error")
    assert marked != []
    row.click()
    expect(opened.editor).to_be_focused()
    opened.page.keyboard.press("F8")
    assert opened.note.text_content() is not None
    expect(opened.note).to_contain_text(re.compile(r"P\d+: "))
    # Text in front of a mark moves it along until the next check.
    opened.editor.press("Control+Home")
    opened.editor.press_sequentially(" ")
    assert opened.painted("template-error") == marked


def test_the_verdict_leads_to_the_findings(show: Open) -> None:
    """What stands beside the title says how many there are, and opens the list."""
    opened = show().scratch("{{ a }} {% if %}")
    opened.button("1 error").click()
    panel = opened.page.get_by_role("tabpanel", name="Findings")
    panel.get_by_role("button", name=re.compile(r"^1:")).press("Enter")
    expect(opened.editor).to_be_focused()


def test_fixes_are_applied_and_undone(show: Open) -> None:
    """What can be mended safely is mended in the editor, as an edit that undo takes back."""
    opened = show()
    broken = "---\nname: a\ndescription: say: hello\n---\nHi\n"
    opened.scratch(broken)
    opened.tool("Findings").get_by_role("button", name="Apply 1 fix").click()
    expect(opened.editor).to_have_value(broken.replace("say: hello", '"say: hello"'))
    opened.shows("Hi\n")
    opened.editor.press("Control+z")
    expect(opened.editor).to_have_value(broken)


# the context -------------------------------------------------------------------------------------


def test_the_form_is_made_from_inputs(show: Open) -> None:
    """Each input has a field of its type; form and JSON are two views of one state."""
    opened = show("#agent=forms")
    page = opened.page
    title = page.get_by_label("title", exact=True)
    expect(title).to_have_attribute("aria-required", "true")
    expect(page.get_by_text("What it is called", exact=True)).to_be_visible()
    expect(page.get_by_text("integer, optional, default 3")).to_be_visible()
    title.fill("T")
    page.get_by_label("draft", exact=True).select_option("false")
    page.get_by_label("share", exact=True).fill("1.0")
    page.get_by_label("tags", exact=True).fill('["a", 12345678901234567890]')
    opened.shows('T 3 1.0 False ["a", 12345678901234567890]\n')
    page.get_by_label("count", exact=True).fill("many")
    expect(page.get_by_text("This is no number.")).to_be_visible()
    page.get_by_role("radio", name="JSON").check()
    json = page.get_by_label("Context as JSON")
    assert '"share": 1.0' in json.input_value()
    json.fill('{"title": "U", "draft": true, "tags": [], "count": 4, "share": 2}')
    opened.shows("U 4 2 True []\n")
    page.get_by_role("radio", name="Form").check()
    expect(title).to_have_value("U")
    expect(page.get_by_label("draft", exact=True)).to_have_value("true")
    expect(page.get_by_label("count", exact=True)).to_have_value("4")
    title.fill("")
    expect(page.get_by_role("alert")).to_contain_text("title")


def test_the_form_follows_the_template(show: Open) -> None:
    """A variable that is written into the template gets a field, and what is not read says so."""
    opened = show().scratch("{{ a }}", '{"a": "1", "old": true}')
    opened.page.get_by_role("radio", name="Form").check()
    expect(opened.page.get_by_text("not read")).to_be_visible()
    opened.editor.fill("{{ a }} {{ fresh | default('?') }}")
    opened.page.get_by_label("fresh", exact=True).fill("new")
    opened.shows("1 new")


def test_json_that_is_none_yet(show: Open) -> None:
    """Broken JSON is marked, sent nowhere, and the last prompt stays."""
    opened = show().scratch("Hello {{ name }}!", '{"name": "Ann"}')
    opened.shows("Hello Ann!")
    asked = len(opened.requests)
    opened.page.get_by_label("Context as JSON").fill('{"name": Ann}')
    expect(opened.page.get_by_text("Not JSON yet")).to_be_visible()
    expect(opened.page.get_by_role("alert")).to_contain_text("The context is not JSON yet")
    assert opened.painted("json-error") == ["A"]
    expect(opened.prompt).to_have_class(re.compile("stale"))
    assert not any("explain" in url for url in opened.requests[asked:])
    opened.page.get_by_label("Context as JSON").fill("[1]")
    expect(opened.page.get_by_text("must be an object")).to_be_visible()


def test_a_context_beside_the_agent(show: Open) -> None:
    """A recorded context is taken from its file."""
    opened = show("#agent=reviewer")
    context = opened.tool("Context")
    context.get_by_label("Beside the agent").select_option("context.json")
    expect(opened.prompt).to_contain_text("You are **Argus**, the code reviewer of Fjordkasse.")
    expect(context.get_by_label("organisation", exact=True)).to_have_value("Fjordkasse")


def test_whom_the_turn_is_for(show: Open) -> None:
    """User, session and time zone reach the providers."""
    opened = show("#agent=spoke")
    opened.page.get_by_label("User").fill("ann")
    expect(opened.prompt).to_contain_text("and you help ann at the counter")
    opened.page.get_by_label("Time zone").fill("Nowhere/Land")
    expect(opened.prompt).to_contain_text("ann")
    opened.page.get_by_label("Time zone").fill("Asia/Tokyo")
    opened.page.get_by_label("Session id").fill("s-1")
    expect(opened.page.get_by_role("alert")).to_be_hidden()


# where it comes from -----------------------------------------------------------------------------


def test_pointing_at_output_shows_its_source(show: Open) -> None:
    """An output of a loop lights the one tag that made it, and its siblings; itself most."""
    opened = show().scratch(LOOP, TOOLS)
    opened.shows(LOOPED)
    opened.point(opened.prompt, "write")
    assert opened.painted("prompt-on") == ["read", "write"]
    assert opened.painted("prompt-at") == ["write"]
    assert opened.painted("template-on") == ["{{ tool.name }}"]
    assert opened.details == {
        "segment": "4, an output in it",
        "line": "3",
        "variables": "tools",
        "provider": "none",
        "scope": "turn",
        "printed": "2 of 2",
        "characters": "5",
        "tokens": "2",
    }
    opened.page.mouse.move(5, 5)
    assert opened.painted("prompt-on") == opened.painted("template-on") == []


def test_pointing_at_source_shows_its_output(show: Open) -> None:
    """The caret in a tag, or the mouse over it, lights all that it printed."""
    opened = show().scratch(LOOP, TOOLS)
    opened.shows(LOOPED)
    opened.caret_to("{{ tool.use }}")
    opened.paints("prompt-on", ["reads\nfiles", "writes"])
    assert opened.details["printed"] == "2 times"
    opened.point(opened.page.locator("#template"), "{{ title }}")
    opened.paints("prompt-on", ["T"])
    opened.page.mouse.move(5, 5)
    opened.paints("prompt-on", ["reads\nfiles", "writes"])
    expect(opened.page.get_by_text("3:", exact=False).first).to_be_visible()


def test_providers_and_scopes_are_told(show: Open) -> None:
    """What a provider gave has its name, and the colours and the legend tell how long it holds."""
    opened = show("#agent=spoke")
    opened.page.get_by_label("User").fill("ann")
    expect(opened.prompt).to_contain_text("help ann at")
    opened.point(opened.prompt, "ann")
    assert opened.details["provider"] == "agent_metadata"
    assert opened.details["scope"] == "session"
    assert opened.details["line"] == "6"
    assert opened.painted("prompt-static") == ["spoke"]
    assert opened.painted("prompt-session") == ["ann"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", opened.painted("prompt-day")[0])
    assert re.fullmatch(r"\d\d:\d\d", opened.painted("prompt-turn")[0])
    legend = opened.page.get_by_role("list", name="How long parts of the prompt stay the same")
    expect(legend).to_contain_text(
        re.compile(r"static 3\d\d.*session 3.*day 10.*turn 5.*cacheable front")
    )


def test_keys_go_through_the_prompt(show: Open) -> None:
    """Arrows go from part to part, Enter goes to the source, Ctrl+Enter comes back."""
    opened = show().scratch(LOOP, TOOLS)
    opened.shows(LOOPED)
    opened.page.keyboard.press("Alt+2")
    expect(opened.prompt).to_be_focused()
    opened.page.keyboard.press("Home")
    assert opened.painted("prompt-at") == ["# "]
    opened.page.keyboard.press("ArrowDown")
    assert opened.painted("prompt-at") == ["T"]
    opened.page.keyboard.press("End")
    opened.page.keyboard.press("ArrowUp")
    opened.page.keyboard.press("ArrowUp")
    assert opened.painted("prompt-at") == ["writes"]
    opened.page.keyboard.press("Enter")
    expect(opened.editor).to_be_focused()
    assert opened.selected == "{{ tool.use }}"
    opened.page.keyboard.press("Control+Enter")
    expect(opened.prompt).to_be_focused()
    assert opened.painted("prompt-at") == ["reads\nfiles"]
    opened.page.keyboard.press("Escape")
    assert opened.painted("prompt-on") == []


def test_a_click_holds(show: Open) -> None:
    """What was clicked stays lit wherever the mouse goes, until Escape."""
    opened = show().scratch(LOOP, TOOLS)
    opened.shows(LOOPED)
    opened.point(opened.prompt, "write")
    opened.page.mouse.down()
    opened.page.mouse.up()
    assert opened.details["held"] == "Esc lets go"
    opened.point(opened.prompt, "files")
    opened.point(opened.page.locator("#template"), "{{ title }}")
    assert opened.painted("template-on") == ["{{ tool.name }}"]
    opened.prompt.press("Escape")
    assert opened.painted("template-on") == []


def test_wide_characters_shift_nothing(show: Open) -> None:
    """Characters that the browser counts twice stand in front, and links still fit."""
    opened = show().scratch("😀😀 {{ a }} 👩‍🚀 {{ b }}.", '{"a": "🎈x", "b": "y"}')
    opened.shows("😀😀 🎈x 👩‍🚀 y.")
    opened.caret_to("{{ b }}")
    opened.paints("prompt-on", ["y"])
    opened.caret_to("{{ a }}")
    opened.paints("prompt-on", ["🎈x"])
    assert opened.details["characters"] == "2"


def test_links_are_those_of_the_api(show: Open, service: Service) -> None:
    """On the reviewer, each part that keys reach lights what the API names for it."""
    text = (EXAMPLES / "reviewer" / "agent.md").read_text("utf-8")
    opened = show("#agent=reviewer")
    opened.tool("Context").get_by_label("Beside the agent").select_option("context.json")
    expect(opened.prompt).to_contain_text("Argus")
    context = service.get("/v1/agents/reviewer/contexts/context.json").json()["context"]
    data = service.post("/v1/agents/reviewer/explain", {"extra_vars": context}).json()
    shift, prompt = data["body_start"], data["text"]
    outputs = [s for s in data["segments"] if s["kind"] == "output" and s["end"] > s["start"]]
    opened.page.keyboard.press("Alt+2")
    found = opened.page.evaluate(
        """() => {
            const prompt = document.getElementById("prompt");
            const press = key => prompt.dispatchEvent(new KeyboardEvent("keydown", {key}));
            const text = name => [...(CSS.highlights.get(name) ?? [])].map(range =>
                range.startContainer.data.slice(range.startOffset, range.endOffset));
            const found = [];
            for (let step = 0, last = null; step < 1000; step++) {
                press(step ? "ArrowDown" : "Home");
                const [range] = CSS.highlights.get("prompt-at");
                if (range.startOffset === last) break;
                last = range.startOffset;
                found.push([text("prompt-at")[0], text("template-on").join("")]);
            }
            return found;
        }"""
    )
    assert "".join(part for part, _ in found) == prompt
    assert len(found) > 150
    for segment in outputs:
        part = prompt[segment["start"] : segment["end"]]
        span = segment["span"]
        assert [part, text[shift + span["start"] : shift + span["end"]]] in found


# its modules -------------------------------------------------------------------------------------


def test_a_line_diff_holds_both_texts(show: Open) -> None:
    """Whatever two texts are, the diff gives both back, and equal lines stay equal."""
    texts = ["", "a", "a\n", "a\nb\nc\n", "b\nc\na\n", "c\nx\nb\ny\na", "\n\n", "a\nb\nx\nc\n"]
    texts += ["\n".join("abcabba"), "\n".join("cbabac"), "x\n" * 40, "x\ny\n" * 30]
    found = show().page.evaluate(
        """async texts => {
            const { lineDiff } = await import("/assets/line_diff.js");
            return texts.flatMap(before =>
                texts.map(after => [before, after, lineDiff(before, after)]));
        }""",
        texts,
    )
    assert len(found) == len(texts) ** 2
    for before, after, lines in found:
        assert "\n".join(line for sign, line in lines if sign != "+") == before
        assert "\n".join(line for sign, line in lines if sign != "-") == after
        assert (before == after) == all(sign == " " for sign, _ in lines)
    (edits,) = (lines for before, after, lines in found if (before, after) == tuple(texts[8:10]))
    assert sum(sign != " " for sign, _ in edits) == 5  # as in the paper of the algorithm


def test_a_fault_of_json_is_found_where_it_is(show: Open) -> None:
    """What the browser's parser takes has no fault, and what it refuses has one."""
    faults = {
        '{"a": 1.50, "b": [true, null, -0e1, "\\u00e9"], "c": {"d": {}}} ': None,
        "[1, 2,]": 6,
        '{"name": Ann}': 9,
        '{"a" 1}': 5,
        '{"a": "x': 6,
        "[01]": 2,
        '["a\nb"]': 1,
        "[] []": 3,
        "": 0,
    }
    found = show().page.evaluate(
        """async texts => {
            const { faultAt } = await import("/assets/json.js");
            const isJson = text => {
                try { JSON.parse(text); return true; } catch { return false; }
            };
            return texts.map(text => [isJson(text), faultAt(text)]);
        }""",
        list(faults),
    )
    assert found == [[fault is None, fault] for fault in faults.values()]
