"""The page of `cuecard serve`: segments, turns, plan, taking along, saving, tokens."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from .page_browser import Open, browsing, opening
from .service_process import RENDER, TOKENS, WRITE, Service, running, until

EXAMPLES = Path(__file__).parent.parent / "examples"
TURNS = '{"b": "x"}\n{"b": "x"}\n\n{"b": "a longer one\\nof two lines"}\n'


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for the module."""
    with browsing() as browser:
        yield browser


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copies of examples, and a file that tests write to."""
    folder = tmp_path_factory.mktemp("agents")
    for name in ("live", "turns"):
        shutil.copytree(EXAMPLES / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def service(folder: Path) -> Iterator[Service]:
    """A service that may write."""
    with running(folder) as service:
        yield service


@pytest.fixture
def show(browser: Browser, service: Service) -> Iterator[Open]:
    """Opens the page; all that were opened must be without complaint."""
    with opening(browser, service) as show:
        yield show


@pytest.fixture
def file(folder: Path, service: Service) -> Iterator[Path]:
    """An agent's file, of its own for each test, which the service knows.

    A test asks for it before the page, so that the page is closed when the file goes.
    """
    path = folder / "mine.md"
    path.write_bytes(b"---\r\nname: mine\r\ndescription: Says hello.\r\n---\r\nHello.\r\n")
    until(lambda: service.get("/v1/agents/mine").status_code == 200)
    yield path
    path.unlink()
    until(lambda: service.get("/v1/agents/mine").status_code == 404)


# sizes -------------------------------------------------------------------------------------------


def test_segments_are_listed_and_sorted(show: Open) -> None:
    """The table has each segment with its size, sorts, and leads to both texts."""
    opened = show().scratch("A{{ a }}\n{{ b }}{{ a }}", '{"a": "xy", "b": "12345678"}')
    opened.shows("Axy\n12345678xy")
    panel = opened.tool("Segments")
    expect(panel).to_contain_text("5 segments, 14 characters, 4 tokens")
    expect(panel).to_contain_text("Cacheable front: 1 character, 1 token")
    expect(panel).to_contain_text("it ends in line 1 of the prompt, before segment 2 (a)")
    rows = panel.get_by_role("row")
    expect(rows.nth(1)).to_have_text(re.compile("1.*text.*static.*1.*1.*A"))
    panel.get_by_role("button", name="characters").click()
    expect(rows.nth(1)).to_contain_text("12345678")
    expect(panel.get_by_role("columnheader", name="characters")).to_have_attribute(
        "aria-sort", "descending"
    )
    panel.get_by_role("button", name="characters").press("Enter")
    expect(rows.nth(1)).to_have_text(re.compile("^1text"))
    panel.get_by_role("button", name="Segment 4", exact=True).click()
    assert opened.painted("prompt-on") == ["12345678"]
    assert opened.painted("template-on") == ["{{ b }}"]
    assert opened.details["held"] == "Esc lets go"
    assert panel.locator("svg rect.turn").count() == 3
    panel.locator("svg rect.turn").first.click()
    assert opened.painted("template-on") == ["{{ a }}"]


def test_scopes_of_a_pasted_template(show: Open) -> None:
    """How long a variable holds is chosen beside its field; blocks and front follow."""
    opened = show().scratch("A{{ a }}B{{ b }}", '{"a": "xy", "b": "z"}')
    opened.shows("AxyBz")
    opened.page.get_by_role("radio", name="Form").check()
    opened.page.get_by_label("How long a holds").select_option("static")
    opened.paints("prompt-static", ["xy"])
    expect(opened.tool("Segments")).to_contain_text("Blocks: static 4, turn 1.")


def test_tokens_and_profile_are_chosen(show: Open) -> None:
    """Another counter or none, another profile: the page renders anew."""
    opened = show().scratch("a {{ b }}", "{}")
    expect(opened.page.get_by_role("alert")).to_contain_text("P201")
    opened.page.get_by_label("Profile").select_option("live")
    opened.shows("a ")
    expect(opened.page.get_by_text("2 characters, 1 token (estimated)")).to_be_visible()
    opened.page.get_by_label("Tokens").select_option("")
    expect(opened.page.get_by_text("2 characters", exact=True)).to_be_visible()


def test_a_long_prompt_stays_usable(show: Open) -> None:
    """200 kB in 2,000 segments: rendered, listed, pointed at, and edited."""
    lines = "".join(f"{number} {'x' * 180} {{{{ a }}}}\n" for number in range(1000))
    opened = show()
    # As a paste does; what is typed line by line takes the browser itself seconds.
    paste = opened.page.get_by_role("textbox", name="Template")
    paste.evaluate("(area, text) => { area.value = text; }", lines)
    opened.button("Open as scratch").click()
    opened.page.get_by_role("radio", name="JSON").check()
    opened.page.get_by_label("Context as JSON").fill('{"a": "value"}')
    opened.ends("x value\n")
    panel = opened.tool("Segments")
    expect(panel).to_contain_text(re.compile("2,00[01] segments"))
    panel.get_by_role("button", name="Show all 2,00").click()
    assert panel.locator("tbody tr").count() >= 2000
    panel.locator("[aria-label='Segment 1998']").click()
    assert opened.painted("template-on") == ["{{ a }}"]
    opened.editor.press("Control+End")
    opened.editor.press_sequentially("end {{ a }}")
    opened.ends("end value")
    numbers = opened.page.locator("#template .gutter span")
    expect(numbers.last).to_have_text("1001")
    assert numbers.count() < 60
    opened.editor.press("PageUp")
    opened.editor.press("PageUp")
    expect(numbers.last).not_to_have_text("1001")


# turns and plan ----------------------------------------------------------------------------------


def test_recorded_turns(show: Open) -> None:
    """Turns beside the agent: stepping shows each prompt, what changed, and where it broke."""
    opened = show("#agent=reviewer")
    panel = opened.tool("Turns")
    panel.get_by_label("Beside the agent").select_option("turns.jsonl")
    expect(panel.get_by_text("Turn 1 of 20")).to_be_visible()
    expect(panel).to_contain_text("This is the first turn")
    expect(panel.get_by_role("button", name="Previous")).to_be_disabled()
    panel.get_by_role("button", name="Next").click()
    expect(panel.get_by_text("Turn 2 of 20")).to_be_visible()
    expect(panel).to_contain_text(
        re.compile(r"The cache broke after [\d,]+ characters, at current_time")
    )
    expect(opened.page.get_by_role("heading", name="Prompt of turn 2")).to_be_visible()
    diff = panel.get_by_role("group", name="The text, compared with the turn before")
    expect(diff).to_contain_text("13:05")
    expect(diff).to_contain_text("13:06")
    opened.page.keyboard.press("Alt+.")
    expect(panel.get_by_text("Turn 3 of 20")).to_be_visible()
    expect(panel).to_contain_text(re.compile("variables.*todo_list_md"))
    changed = panel.get_by_role("button", name=re.compile("^segment .*todo_list_md"))
    changed.click()
    assert any("## Current Todo List" in text for text in opened.painted("prompt-on"))
    panel.get_by_role("button", name="Turn 20", exact=True).click()
    expect(panel.get_by_role("button", name="Next")).to_be_disabled()
    expect(panel).to_contain_text("What broke the cache, by characters lost")
    panel.get_by_role("button", name="Leave the turns").click()
    expect(opened.page.get_by_role("heading", name="Prompt", exact=True)).to_be_visible()


def test_providers_behind_a_change(show: Open) -> None:
    """When a provider's variable differs between turns, the provider is named."""
    opened = show("#agent=spoke")
    panel = opened.tool("Turns")
    panel.get_by_role("button", name="Paste turns").click()
    opened.dialog.get_by_label("Turns").fill('{"user_id": "ann"}\n{"user_id": "bob"}')
    opened.dialog.get_by_role("button", name="Use them").click()
    panel.get_by_role("button", name="Next").click()
    expect(panel).to_contain_text(re.compile("variables.*user_id"))
    expect(opened.prompt).to_contain_text("you help bob at")


def test_turns_of_ones_own(show: Open, tmp_path: Path) -> None:
    """A file or pasted lines; what a turn lacks is taken from the page's context."""
    (tmp_path / "mine.jsonl").write_text(TURNS, "utf-8")
    opened = show().scratch("{{ a }} {{ b }}", '{"a": "A", "b": ""}')
    panel = opened.tool("Turns")
    panel.get_by_label("A file of yours").set_input_files(tmp_path / "mine.jsonl")
    opened.shows("A x")
    panel.get_by_role("button", name="Next").click()
    expect(panel).to_contain_text("Nothing changed: the cache holds.")
    opened.page.keyboard.press("Alt+.")
    opened.shows("A a longer one\nof two lines")
    expect(panel).to_contain_text("segment 3: b (line 1)")
    opened.page.keyboard.press("Alt+,")
    opened.shows("A x")
    panel.get_by_role("button", name="Paste turns").click()
    opened.dialog.get_by_label("Turns").fill('{"b": "1"}\nnot json')
    opened.dialog.get_by_role("button", name="Use them").click()
    expect(opened.note).to_contain_text("Line 2 of the pasted text cannot be read")
    expect(panel.get_by_text("Turn 2 of 3")).to_be_visible()


def test_the_plan(show: Open) -> None:
    """Which providers are asked, what it took, and which are not and why."""
    opened = show("#agent=spoke")
    panel = opened.tool("Plan")
    row = panel.get_by_role("row", name=re.compile("^current_date"))
    expect(row).to_have_text(
        re.compile(r"current_date0yescalled[\d.]+ mscurrent_date, current_time")
    )
    expect(panel.get_by_role("row", name=re.compile("^agent_tools"))).to_have_text(
        re.compile("no.*not called.*tools.*unread")
    )
    expect(panel).to_contain_text("The last render took")
    opened.editor.press("Control+End")
    opened.editor.press_sequentially("{{ tools }}")
    expect(panel.get_by_role("row", name=re.compile("^agent_tools"))).to_contain_text("yes")


# taking along ------------------------------------------------------------------------------------


def test_copying(show: Open) -> None:
    """The prompt as text, and as the blocks that Anthropic's API takes."""
    opened = show(permissions=["clipboard-read", "clipboard-write"])
    opened.scratch("Hello {{ name }}!\n", '{"name": "Ann"}').shows("Hello Ann!\n")
    opened.button("Copy text").click()
    expect(opened.note).to_contain_text("Copied the prompt (11 characters).")
    assert opened.page.evaluate("navigator.clipboard.readText()") == "Hello Ann!\n"
    opened.button("Copy blocks").click()
    expect(opened.note).to_contain_text("Copied the blocks")
    blocks = json.loads(opened.page.evaluate("navigator.clipboard.readText()"))
    assert "".join(block["text"] for block in blocks) == "Hello Ann!\n"
    assert blocks[0]["type"] == "text"


def test_a_link_carries_no_values(show: Open) -> None:
    """A link has the template; the context only when the user says that it holds no secrets."""
    opened = show(permissions=["clipboard-read", "clipboard-write"])
    opened.scratch("Hello {{ name }}!", '{"name": "Ann"}').shows("Hello Ann!")
    opened.page.get_by_label("Profile").select_option("live")
    opened.button("Link").click()
    link = opened.dialog.get_by_label("Link", exact=True)
    plain = link.input_value()
    opened.dialog.get_by_label("The context holds no secrets").check()
    expect(link).not_to_have_value(plain)
    opened.dialog.get_by_role("button", name="Copy the link").click()
    expect(opened.note).to_contain_text("Copied the link.")
    full = opened.page.evaluate("navigator.clipboard.readText()")
    assert full == link.input_value()
    other = show(plain.partition("/#")[2] and "#" + plain.partition("#")[2])
    expect(other.editor).to_have_value("Hello {{ name }}!")
    other.shows("Hello !")
    third = show("#" + full.partition("#")[2])
    third.shows("Hello Ann!")
    expect(third.page.get_by_label("Profile")).to_have_value("live")
    assert "context" not in third.page.url


def test_a_link_to_an_agent(show: Open) -> None:
    """A link names the agent; unsaved changes go along when asked for."""
    opened = show("#agent=spoke")
    expect(opened.prompt).to_contain_text("bicycle")
    opened.button("Link").click()
    expect(opened.dialog.get_by_label("Link", exact=True)).to_have_value(
        f"{opened.origin}/#agent=spoke"
    )
    expect(opened.dialog.get_by_label("Take my unsaved template")).to_be_hidden()
    opened.dialog.get_by_role("button", name="Close").click()
    opened.editor.fill("changed {{ agent_name }}")
    opened.shows("changed spoke")
    opened.button("Link").click()
    opened.dialog.get_by_label("Take my unsaved template").check()
    expect(opened.dialog.get_by_label("Link", exact=True)).to_have_value(re.compile("template="))
    other = show(
        "#" + opened.dialog.get_by_label("Link", exact=True).input_value().partition("#")[2]
    )
    expect(other.editor).to_have_value("changed {{ agent_name }}")
    expect(other.page.get_by_text("edited, not saved")).to_be_visible()


def test_a_broken_link(show: Open) -> None:
    """A link that was cut on its way says so."""
    opened = show("#template=!!!")
    expect(opened.note).to_contain_text("This link cannot be read")
    expect(opened.page.get_by_role("heading", name="Agents")).to_be_visible()


# saving ------------------------------------------------------------------------------------------


def test_saving_shows_what_changes(file: Path, show: Open) -> None:
    """A save shows the difference first, and keeps the line ends of the file."""
    opened = show("#agent=mine")
    opened.shows("Hello.\n")
    opened.editor.press("Control+End")
    opened.editor.press_sequentially("Bye.\n")
    opened.shows("Hello.\nBye.\n")
    opened.page.keyboard.press("Control+s")
    diff = opened.dialog.get_by_role("group", name="What changes")
    expect(diff).to_contain_text("+Bye.")
    assert diff.locator(".gone").count() == 0
    opened.dialog.get_by_role("button", name="Cancel").click()
    assert b"Bye" not in file.read_bytes()
    opened.button("Save", exact=True).click()
    opened.dialog.get_by_role("button", name="Save").click()
    expect(opened.note).to_contain_text("Saved")
    expect(opened.page.get_by_text("as in the file")).to_be_visible()
    assert file.read_bytes().endswith(b"---\r\nHello.\r\nBye.\r\n")
    opened.page.keyboard.press("Control+s")
    expect(opened.note).to_contain_text("There is nothing to save")


@pytest.mark.parametrize("choice", ["Keep editing", "Take the file's text", "Save mine over it"])
def test_the_file_changed_meanwhile(file: Path, show: Open, choice: str) -> None:
    """Nobody's text is lost: the user keeps editing, takes the other text, or saves over it."""
    opened = show("#agent=mine", refusals=[409])
    opened.shows("Hello.\n")
    mine = opened.editor.input_value() + "Mine.\n"
    opened.editor.press("Control+End")
    opened.editor.press_sequentially("Mine.\n")
    theirs = file.read_bytes() + b"Theirs.\r\n"
    file.write_bytes(theirs)
    opened.page.keyboard.press("Control+s")
    opened.dialog.get_by_role("button", name="Save").click()
    expect(opened.dialog.get_by_role("heading", name="The file changed meanwhile")).to_be_visible()
    expect(opened.dialog).to_contain_text("+Mine.")
    expect(opened.dialog).to_contain_text("-Theirs.")
    opened.dialog.get_by_role("button", name=choice).click()
    if choice == "Save mine over it":
        expect(opened.note).to_contain_text("Saved")
        assert file.read_bytes() == mine.replace("\n", "\r\n").encode()
        return
    assert file.read_bytes() == theirs
    if choice == "Take the file's text":
        expect(opened.editor).to_have_value(theirs.decode().replace("\r\n", "\n"))
        expect(opened.page.get_by_text("as in the file")).to_be_visible()
        opened.editor.press("Control+z")
    expect(opened.editor).to_have_value(mine)


# who may -----------------------------------------------------------------------------------------


def test_tokens(show: Open, folder: Path, tmp_path: Path) -> None:
    """The page asks for a token, tries another when it is refused, and keeps it for the tab."""
    tokens = tmp_path / "tokens"
    tokens.write_text(TOKENS, "utf-8")
    tokens.chmod(0o600)
    with running(folder, options=("--token-file", str(tokens)), token=WRITE) as service:
        opened = show(to=service, refusals=[401, 403])
        dialog = opened.dialog
        expect(dialog.get_by_role("heading", name="This service asks for a token")).to_be_visible()
        dialog.get_by_label("Token").fill("wrong-token-0123456789")
        dialog.get_by_role("button", name="Use it").click()
        expect(dialog).to_contain_text("The one that was given is not known here.")
        dialog.get_by_label("Token").fill(RENDER)
        dialog.get_by_label("Token").press("Enter")
        opened.page.get_by_role("link", name=re.compile("^spoke")).click()
        expect(opened.prompt).to_contain_text("bicycle")
        expect(opened.button("Save", exact=True)).to_be_disabled()
        expect(opened.page.get_by_text("read-only")).to_be_visible()
        assert RENDER not in opened.page.url
        assert not any(RENDER in url for url in opened.requests)
        assert opened.page.evaluate("JSON.stringify(localStorage)") == "{}"
        opened.page.reload()
        expect(opened.prompt).to_contain_text("bicycle")
        other = show(to=service, refusals=[401])
        other.dialog.get_by_role("button", name="Cancel").click()
        expect(other.page.get_by_text("The agents could not be listed")).to_be_visible()
        for page in (opened, other):
            page.close()
            page.close = lambda: None  # type: ignore[method-assign]


def test_a_service_that_does_not_write(show: Open, folder: Path) -> None:
    """Nothing can be saved where nothing may be written, and the page says why."""
    with running(folder, options=("--read-only",)) as service:
        opened = show("#agent=spoke", to=service)
        expect(opened.page.get_by_text("read-only")).to_be_visible()
        expect(opened.button("Save", exact=True)).to_be_disabled()
        opened.editor.press("Control+s")
        expect(opened.note).to_contain_text("does not let you write")
        opened.close()
        opened.close = lambda: None  # type: ignore[method-assign]
