"""The page of `cuecard serve`: by keyboard, on small screens, in the dark, with hostile texts."""

import json
import os
import re
import shutil
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from .page_browser import NARROW, WIDE, Open, browsing, opening
from .service_process import Service, running

EXAMPLES = Path(__file__).parent.parent / "examples"
WCAG = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa")

HOSTILE = (
    '</script><img src=x onerror="window.hit=1"><!-- \'" &amp; &lt; ]]> <script>window.hit=1'
    "</script> </textarea></div>\tä😀\u2028\u202eabc\u202c\x1b[31m{single} $1 ${x}"
)
AGENT = f"""\
---
name: "<img src=x onerror='window.hit=1'>"
description: "<b onmouseover='window.hit=1'>bold</b> \u202egnirts {"long" * 300}"
---
{HOSTILE} {{{{ x }}}}{{% for y in ys %}}{{{{ y }}}}
{{% endfor %}}{"w" * 3000}
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for the module."""
    with browsing() as browser:
        yield browser


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service of two examples, and of an agent that would like to be more than text."""
    folder = tmp_path_factory.mktemp("agents")
    for name in ("live", "reviewer", "turns"):
        shutil.copytree(EXAMPLES / name, folder / name)
    (folder / "hostile.md").write_text(AGENT, "utf-8")
    with running(folder) as service:
        yield service


@pytest.fixture
def show(browser: Browser, service: Service) -> Iterator[Open]:
    """Opens the page; all that were opened must be without complaint."""
    with opening(browser, service) as show:
        yield show


# by keyboard -------------------------------------------------------------------------------------


def test_the_whole_way_by_keyboard(show: Open) -> None:
    """From the list to a changed prompt without a mouse."""
    opened = show()
    keyboard = opened.page.keyboard
    expect(opened.page.get_by_role("link", name=re.compile("^spoke"))).to_be_visible()
    keyboard.press("Tab")
    expect(opened.page.get_by_role("link", name="Skip to the work")).to_be_focused()
    keyboard.press("Enter")
    expect(opened.page.get_by_role("main")).to_be_focused()
    keyboard.press("Tab")
    expect(opened.page.get_by_label("Filter")).to_be_focused()
    keyboard.type("bicycle")
    keyboard.press("ArrowDown")
    keyboard.press("Enter")
    expect(opened.prompt).to_contain_text("bicycle workshop")
    keyboard.press("Alt+1")
    expect(opened.editor).to_be_focused()
    keyboard.press("Control+Home")
    keyboard.press("PageDown")
    assert opened.editor.evaluate("area => area.selectionStart") > 100
    keyboard.press("Control+End")
    keyboard.type("More.")
    expect(opened.prompt).to_contain_text("More.")
    keyboard.press("Alt+3")
    expect(opened.page.get_by_role("tab", name="Context")).to_be_focused()
    keyboard.press("ArrowRight")
    expect(opened.page.get_by_role("tabpanel", name="Findings")).to_be_visible()
    keyboard.press("End")
    expect(opened.page.get_by_role("tabpanel", name="Plan")).to_be_visible()


def test_the_editor_is_no_trap(show: Open) -> None:
    """Tab leaves the editor in both directions; other keys indent."""
    opened = show().scratch("one\ntwo\nthree", "{}")
    opened.shows("one\ntwo\nthree")
    opened.editor.press("Control+Home")
    opened.editor.press("Shift+ArrowDown")
    opened.editor.press("Control+]")
    expect(opened.editor).to_have_value("  one\ntwo\nthree")
    opened.editor.press("Control+[")
    expect(opened.editor).to_have_value("one\ntwo\nthree")
    opened.editor.press("Tab")
    expect(opened.button("Copy text")).to_be_focused()
    opened.page.keyboard.press("Shift+Tab")
    expect(opened.editor).to_be_focused()


def test_help_lists_the_keys(show: Open) -> None:
    """F1 opens the help, Escape closes it, and the focus is where it was."""
    opened = show().scratch("text", "{}")
    opened.editor.focus()
    opened.page.keyboard.press("F1")
    for key in ("Ctrl S", "F8", "Ctrl Enter", "Alt , Alt ."):
        expect(opened.dialog).to_contain_text(re.compile(r"\W*".join(map(re.escape, key.split()))))
    opened.page.keyboard.press("Escape")
    expect(opened.dialog).to_be_hidden()
    expect(opened.editor).to_be_focused()


# what it looks like ------------------------------------------------------------------------------


def _shades(page: Page) -> list[int]:
    colours = page.evaluate(
        "[getComputedStyle(document.body)].flatMap(s => [s.backgroundColor, s.color])"
    )
    return [sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in colours]


def test_light_and_dark(show: Open) -> None:
    """The page follows the system until the button is used, which is remembered."""
    opened = show(scheme="dark")
    ground, ink = _shades(opened.page)
    assert ground < 100 < 500 < ink
    toggle = opened.button("Dark colours")
    expect(toggle).to_have_attribute("aria-pressed", "true")
    toggle.click()
    expect(toggle).to_have_attribute("aria-pressed", "false")
    ground, ink = _shades(opened.page)
    assert ground > 700 > 200 > ink
    opened.page.reload()
    assert _shades(opened.page)[0] > 700


def test_small_screens(show: Open) -> None:
    """On a telephone panes are tabs, and nothing is wider than the screen."""
    opened = show(size=NARROW)
    page = opened.page
    is_wider = "document.documentElement.scrollWidth > innerWidth"
    expect(page.get_by_role("link", name=re.compile("^spoke"))).to_be_visible()
    assert not page.evaluate(is_wider)
    page.get_by_role("link", name=re.compile("^spoke")).click()
    panes = page.get_by_role("tablist", name="Panes")
    expect(opened.editor).to_be_visible()
    expect(page.locator("#prompt")).to_be_hidden()
    panes.get_by_role("tab", name="Prompt").click()
    expect(opened.prompt).to_contain_text("bicycle workshop")
    expect(page.locator("#template")).to_be_hidden()
    assert not page.evaluate(is_wider)
    panes.get_by_role("tab", name="Tools").click()
    for name in ("Context", "Findings", "Segments", "Turns", "Plan"):
        expect(opened.tool(name)).to_be_visible()
        assert not page.evaluate(is_wider), name
    opened.tool("Segments").get_by_role("button", name="Segment 2", exact=True).click()
    opened.button("Link").click()
    expect(opened.dialog).to_be_visible()
    assert not page.evaluate(is_wider)


def test_details_move_nothing(show: Open) -> None:
    """However much is told of a part, and whatever fails, both texts stay where they are."""
    names = " ".join(f"{{{{ a_rather_long_name_{number} }}}}" for number in range(40))
    opened = show().scratch(f"{{% if true %}}{names}{{% endif %}} x", "{}")
    opened.page.get_by_label("Profile").select_option("live")
    expect(opened.prompt).to_contain_text("x")
    places = [opened.page.locator(pane).bounding_box() for pane in ("#template", "#prompt")]
    opened.caret_to("{% if")
    assert len(opened.details["variables"]) > 800
    opened.editor.fill("{{")
    expect(opened.page.get_by_role("alert")).to_contain_text("P1")
    assert [opened.page.locator(pane).bounding_box() for pane in ("#template", "#prompt")] == places


def test_motion_is_reduced(show: Open) -> None:
    """Whoever wants no motion gets none."""
    opened = show(reduced_motion="reduce").scratch("{{ x }}", "{}")
    moving = opened.page.evaluate(
        """() => [...document.querySelectorAll("*")].filter(element => {
            const style = getComputedStyle(element);
            return style.animationName !== "none" || parseFloat(style.transitionDuration) > 0;
        }).length"""
    )
    assert moving == 0


# everybody's -------------------------------------------------------------------------------------


def _refusals(page: Page, *rules: str) -> list[str]:
    only = {"type": "rule", "values": rules} if rules else {"type": "tag", "values": WCAG}
    options = {"resultTypes": ["violations"], "runOnly": only, "elementRef": False}
    if not page.evaluate("'axe' in globalThis"):
        page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8"))
    found = page.evaluate("options => axe.run(options)", options)["violations"]
    return [
        f"{violation['id']}: {[node['html'][:200] for node in violation['nodes'][:3]]}"
        for violation in found
        if violation["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nobody_is_shut_out(show: Open, scheme: str, size: tuple[int, int]) -> None:
    """Axe finds nothing serious in any view, panel or dialog."""
    # Its script is put in as text, which the page's own policy would rightly refuse.
    opened = show(scheme=scheme, size=size, bypass_csp=True)
    page = opened.page
    # In the dark only the colours differ.
    rules = ("color-contrast",) if scheme == "dark" else ()
    expect(page.get_by_role("link", name=re.compile("^spoke"))).to_be_visible()
    assert _refusals(page, *rules) == []
    page.get_by_role("link", name=re.compile("^spoke")).click()
    expect(page.locator("#prompt .mirror")).to_contain_text("bicycle workshop")
    for pane in ("Prompt", "Tools") if size == NARROW else ():
        page.get_by_role("tablist", name="Panes").get_by_role("tab", name=pane).click()
        assert _refusals(page, *rules) == [], pane
    for name in ("Findings", "Segments", "Plan", "Turns"):
        opened.tool(name)
        assert _refusals(page, *rules) == [], name
    opened.button("Paste turns").click()
    opened.dialog.get_by_label("Turns").fill('{"user_id": "a"}\n{"user_id": "b"}')
    assert _refusals(page, *rules) == []
    opened.dialog.get_by_role("button", name="Use them").click()
    opened.tool("Turns").get_by_role("button", name="Next").click()
    expect(page.get_by_role("group", name="The text, compared")).to_be_visible()
    assert _refusals(page, *rules) == []
    page.get_by_role("radio", name="JSON")
    opened.tool("Context").get_by_role("radio", name="JSON").check()
    page.get_by_label("Context as JSON").fill("{")
    expect(page.get_by_text("Not JSON yet")).to_be_visible()
    assert _refusals(page, *rules) == []
    for name in ("Help and keys", "Link"):
        opened.button(name).click()
        expect(opened.dialog).to_be_visible()
        assert _refusals(page, *rules) == [], name
        page.keyboard.press("Escape")
    page.locator("#template textarea").evaluate(
        "area => { area.value += 'x {{'; area.dispatchEvent(new Event('input')); }"
    )
    expect(page.locator("#verdict")).to_contain_text("error")
    page.keyboard.press("Control+s")
    expect(opened.dialog).to_be_visible()
    assert _refusals(page, *rules) == []


# hostile texts -----------------------------------------------------------------------------------


def test_hostile_texts_stay_text(show: Open) -> None:
    """Markup, script and what turns text around are shown as text, wherever they come from."""
    opened = show()
    page = opened.page
    entry = page.get_by_role("link", name=re.compile("<img src=x"))
    expect(entry).to_contain_text("<b onmouseover='window.hit=1'>bold</b> \u2039U+202E\u203agnirts")
    entry.click()
    body = AGENT.split("---\n", 2)[2].replace("{{ x }}", HOSTILE)
    expect(page.locator("#agent-name")).to_contain_text("<img src=x")
    page.get_by_role("radio", name="JSON").check()
    page.get_by_label("Context as JSON").fill(
        json.dumps({"x": HOSTILE, "ys": [HOSTILE, "<b>"], "<i>not read</i>": 1})
    )
    start = body.index("{% for")
    end = body.index("{% endfor %}")
    loop = f"{HOSTILE}\n<b>\n"
    opened.shows(body[:start] + loop + body[end + len("{% endfor %}") :])
    opened.point(opened.prompt, "<b>")
    assert opened.painted("template-on") == ["{{ y }}"]
    page.get_by_role("radio", name="Form").check()
    expect(page.get_by_text("<i>not read</i>", exact=True)).to_be_visible()
    for name in ("Segments", "Findings", "Plan", "Turns"):
        opened.tool(name)
    opened.button("Paste turns").click()
    opened.dialog.get_by_label("Turns").fill('{"x": "<u>1</u>"}\n{"x": "<u>2</u>"}')
    opened.dialog.get_by_role("button", name="Use them").click()
    opened.tool("Turns").get_by_role("button", name="Next").click()
    expect(page.get_by_role("group", name="The text, compared")).to_contain_text("<u>2</u>")
    assert page.evaluate("window.hit") is None
    assert page.locator("img, b, i, u, script:not([src])").count() == 0
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")


def test_the_policy_refuses_everything_else(show: Open) -> None:
    """Even markup that got in could neither run nor load anything."""
    opened = show()
    opened.page.evaluate(
        """() => {
            const add = markup => document.body.insertAdjacentHTML("beforeend", markup);
            add('<img src="https://example.invalid/x.png" onerror="window.hit = 1">');
            add('<iframe srcdoc="<script>parent.hit = 1</script>"></iframe>');
            add('<p style="color: red">styled</p>');
            const script = document.createElement("script");
            script.textContent = "window.hit = 1";
            document.body.append(script);
        }"""
    )
    opened._until(lambda: opened.page.evaluate("violations.length >= 4"), True)
    assert opened.page.evaluate("window.hit") is None
    assert all("Content Security Policy" in complaint for complaint in opened.complaints)
    opened.complaints.clear()
    opened.requests.clear()
    opened.page.evaluate("globalThis.violations = []")


# a picture ---------------------------------------------------------------------------------------


def test_a_picture_of_the_page(show: Open, tmp_path: Path) -> None:
    """The page with an agent, for `docs/images/page.png`: CUECARD_PAGE_PICTURE says where to."""
    opened = show("#agent=spoke")
    opened.page.get_by_label("User").fill("ann")
    opened.page.get_by_label("repairs", exact=True).fill(
        '[{"number": 4711, "bicycle": "a red tandem", "state": "wheels are out"}]'
    )
    expect(opened.prompt).to_contain_text("a red tandem, wheels are out")
    opened.tool("Segments")
    opened.point(opened.prompt, "a red tandem")
    assert opened.details["variables"] == "repairs"
    expect(opened.page.get_by_text("no findings")).to_be_visible()
    picture = Path(os.environ.get("CUECARD_PAGE_PICTURE") or tmp_path / "page.png")
    opened.page.screenshot(path=picture)
    assert picture.read_bytes().startswith(b"\x89PNG")
