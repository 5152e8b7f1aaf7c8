"""The page of `cuecard explain --html`, in a real browser, from a file."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from .page_browser import browsing
from .running import Run, write

LOOP = """\
# {{ title }}
{% for tool in tools %}
- {{ tool.name }}: {{ tool.use }};
{% endfor %}
finish
"""
TOOLS = {
    "title": "T",
    "tools": [{"name": "read", "use": "reads\nfiles"}, {"name": "write", "use": "writes"}],
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for the module."""
    with browsing() as browser:
        yield browser


class Opened:
    """A page that is open, and all that it complained about or asked for."""

    def __init__(self, page: Page, file: Path) -> None:
        self.page = page
        self.complaints: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        page.goto(file.resolve().as_uri())

    def text(self, pane: str) -> str:
        """All text of a pane."""
        text = self.page.locator(f"#{pane}").evaluate("pane => pane.textContent")
        assert isinstance(text, str)
        return text

    def lit(self, pane: str, style: str = "on") -> list[str]:
        """What is highlighted in a pane, range by range."""
        found = self.page.locator(f"#{pane}").evaluate(
            """(pane, style) => {
                const ranges = new Map();
                for (const piece of pane.querySelectorAll("." + style)) {
                    const name = piece.dataset.range;
                    ranges.set(name, (ranges.get(name) ?? "") + piece.textContent);
                }
                return [...ranges.values()];
            }""",
            style,
        )
        return [str(text) for text in found]

    def point(self, pane: str, text: str) -> None:
        """Move the mouse to the first range of a pane that holds a text."""
        self.page.locator(f"#{pane} [data-key]", has_text=text).first.hover()

    @property
    def panel(self) -> dict[str, str]:
        """The details of what is pointed at."""
        groups = self.page.locator("#panel > div").evaluate_all(
            "groups => groups.map(g => [g.children[0].textContent, g.children[1].textContent])"
        )
        return dict(groups)


def explain(
    run: Run, browser: Browser, template: str, values: Any, *arguments: str, scheme: Any = "light"
) -> Opened:
    """The page about a template, opened."""
    write("t.md", template)
    write("v.json", json.dumps(values))
    result = run("explain", "t.md", "--vars", "v.json", "--html", "o.html", *arguments)
    assert result == (0, "", "")
    return Opened(browser.new_page(color_scheme=scheme), Path("o.html"))


def test_pointing_at_output_shows_its_source(run: Run, browser: Browser) -> None:
    """An output of a loop lights the one tag that made it, and its siblings; itself most."""
    opened = explain(run, browser, LOOP, TOOLS)
    opened.point("output", "write")
    assert opened.lit("source") == ["{{ tool.name }}"]
    assert opened.lit("output") == ["read", "write"]
    assert opened.lit("output", "at") == ["write"]
    opened.point("output", "reads")
    assert opened.lit("source") == ["{{ tool.use }}"]
    assert opened.lit("output", "at") == ["reads\nfiles"]


def test_pointing_at_source_shows_its_output(run: Run, browser: Browser) -> None:
    """A tag in a loop lights all that it printed, text its own, a block's text the block."""
    opened = explain(run, browser, LOOP, TOOLS)
    opened.point("source", "{{ tool.use }}")
    assert opened.lit("output") == ["reads\nfiles", "writes"]
    opened.point("source", "finish")
    assert "".join(opened.lit("output")) == "finish\n"
    opened.point("source", "{% for")
    assert "".join(opened.lit("output")) == "- read: reads\nfiles;\n- write: writes;\n"
    assert "".join(opened.lit("source")) == LOOP[LOOP.index("{% for") : LOOP.index("\nfinish")]
    opened.page.mouse.move(5, 5)
    assert opened.lit("source") == opened.lit("output") == []


def test_panel_tells_about_a_segment(run: Run, browser: Browser) -> None:
    """The panel has place, variables, scope and size of what is pointed at."""
    opened = explain(
        *(run, browser, LOOP, TOOLS),
        *("--scope", "tools=session", "--tokens", "estimate"),
    )
    opened.point("output", "writes")
    assert opened.panel == {
        "segment": "4, an output in it",
        "line": "3",
        "variables": "tools",
        "scope": "session",
        "printed": "2 of 2",
        "characters": "6",
        "tokens": "2",
    }
    opened.point("source", "{{ tool.use }}")
    assert (opened.panel["printed"], opened.panel["characters"]) == ("2 times", "17")
    opened.point("source", "{{ title }}")
    assert opened.panel == {
        "segment": "2, output",
        "line": "1",
        "variables": "title",
        "scope": "turn",
        "characters": "1",
        "tokens": "1",
    }


def test_every_range_points_at_its_source(run: Run, browser: Browser) -> None:
    """On the reviewer's page, each range lights exactly the source that the JSON names."""
    folder = Path(__file__).parent.parent / "examples" / "reviewer"
    files = (str(folder / "agent.md"), "--vars", str(folder / "context.json"))
    data = json.loads(run("explain", *files, "--json").out)
    assert run("explain", *files, "--html", "o.html") == (0, "", "")
    source = (folder / "agent.md").read_text("utf-8").split("---\n", 2)[2]
    opened = Opened(browser.new_page(), Path("o.html"))
    assert opened.text("source") == source
    assert opened.text("output") == data["text"]
    shown = opened.page.evaluate(
        """() => [...new Set([...document.querySelectorAll("#output [data-range]")]
            .map(piece => piece.dataset.range))].map(range => {
                const pieces = [...document.querySelectorAll(`[data-range="${range}"]`)];
                pieces[0].dispatchEvent(new MouseEvent("mouseover", {bubbles: true}));
                const text = all => [...all].map(piece => piece.textContent).join("");
                return [text(pieces), text(document.querySelectorAll("#source .on"))];
            })"""
    )
    expected = [
        [data["text"][start:end], source[span["start"] : span["end"]]]
        for segment in data["segments"]
        for start, end, span in _ranges(segment)
    ]
    assert shown == expected
    assert len(expected) > 150


def _ranges(segment: dict[str, Any]) -> Iterator[tuple[int, int, dict[str, int]]]:
    """The ranges of the output: outputs within a block, and what stands between them."""
    position = segment["start"]
    for child in segment["children"]:
        if child["start"] > position:
            yield position, child["start"], segment["span"]
        if child["end"] > child["start"]:
            yield child["start"], child["end"], child["span"]
        position = child["end"]
    if segment["end"] > position:
        yield position, segment["end"], segment["span"]


def test_keyboard_reaches_everything(run: Run, browser: Browser) -> None:
    """Tab enters a side, arrows go through it, Enter goes over, Escape lets go."""
    opened = explain(run, browser, LOOP, TOOLS)
    keyboard = opened.page.keyboard
    keyboard.press("Tab")
    assert "".join(opened.lit("source", "at")) == "# "
    for _ in range(3):
        keyboard.press("ArrowDown")
    assert opened.lit("source", "at") == ["{% for tool in tools %}\n- "]
    keyboard.press("ArrowRight")
    assert opened.lit("output") == ["read", "write"]
    keyboard.press("Enter")
    assert opened.lit("output", "at") == ["read"]
    keyboard.press("Enter")
    assert opened.lit("source", "at") == ["{{ tool.name }}"]
    keyboard.press("End")
    assert "".join(opened.lit("output", "at") or opened.lit("output")) == "finish\n"
    keyboard.press("Tab")
    assert opened.lit("output", "at") == ["read"]
    keyboard.press("Home")
    assert opened.lit("output", "at") == ["# "]
    keyboard.press("Escape")
    assert opened.lit("output") == []


def test_a_click_holds(run: Run, browser: Browser) -> None:
    """What was clicked stays lit wherever the mouse goes, until Escape."""
    opened = explain(run, browser, LOOP, TOOLS)
    opened.page.locator("#output [data-key]", has_text="write").first.click()
    opened.point("source", "{{ title }}")
    assert opened.lit("source") == ["{{ tool.name }}"]
    opened.page.keyboard.press("Escape")
    assert opened.lit("source") == []
    opened.point("source", "{{ tool.use }}")
    assert opened.lit("output") == ["reads\nfiles", "writes"]


def test_the_other_side_comes_into_view(run: Run, browser: Browser) -> None:
    """In a long prompt, what belongs to what is pointed at is scrolled to."""
    opened = explain(run, browser, "{{ a }}\n" + "x\n" * 500 + "{{ b }}", {"a": "A", "b": "B"})
    last = opened.page.locator("#output [data-key]", has_text="B").last
    assert not last.evaluate("e => e.getBoundingClientRect().top < innerHeight")
    opened.page.evaluate("document.querySelector('#source').scrollTop = 1e9")
    opened.point("source", "{{ b }}")
    assert last.evaluate("e => e.getBoundingClientRect().top < innerHeight")


HOSTILE = (
    '</script><img src=x onerror="window.hit=1"><!--data--> \'" &amp; &lt; <!-- ]]> '
    "<script>window.hit=1</script> </div></body>\r\n\tä😀\u2028\u202e\x00\x1b[31m"
)


def test_a_hostile_prompt_stays_text(run: Run, browser: Browser) -> None:
    """Markup and script in template, values and file name are text; nothing is requested."""
    template = f"{HOSTILE} {{{{ x }}}}{{% for y in ys %}}{{{{ y }}}}\r\n{{% endfor %}}"
    name = "a<img src=x onerror='window.hit=1'>.md"
    write(name, template)
    write("v.json", json.dumps({"x": HOSTILE, "ys": [HOSTILE, "<b>"]}))
    arguments = (name, "--vars", "v.json", "--scope", "<i>nope</i>=day")
    text = json.loads(run("explain", *arguments, "--json").out)["text"]
    assert run("explain", *arguments, "--html", "o.html").status == 0
    opened = Opened(browser.new_page(), Path("o.html"))
    pictures = str.maketrans({"\x00": "\u2400", "\x1b": "\u241b"})
    assert opened.text("source") == template.translate(pictures)
    assert opened.text("output") == text.translate(pictures)
    assert opened.page.title() == f"{name} - cuecard explain"
    assert opened.page.evaluate("window.hit") is None
    assert opened.page.locator("img, b, i").count() == 0
    opened.point("output", "<b>")
    assert opened.lit("source") == ["{{ y }}"]
    assert opened.complaints == []
    assert opened.requests == [Path("o.html").resolve().as_uri()]


def test_policy_refuses_everything_else(run: Run, browser: Browser) -> None:
    """Even markup that got in could neither run nor load anything."""
    opened = explain(run, browser, LOOP, TOOLS)
    opened.page.evaluate(
        """() => {
            const add = markup => document.body.insertAdjacentHTML("beforeend", markup);
            add('<img src="https://example.invalid/x.png" onerror="window.hit = 1">');
            add('<iframe srcdoc="<script>parent.hit = 1</script>"></iframe>');
            const script = document.createElement("script");
            script.textContent = "window.hit = 1";
            document.body.append(script);
        }"""
    )
    opened.page.wait_for_timeout(300)
    assert opened.page.evaluate("window.hit") is None
    assert len(opened.complaints) >= 3
    assert all("Content Security Policy" in complaint for complaint in opened.complaints)


def test_prefix_is_marked(run: Run, browser: Browser) -> None:
    """A line stands where the cacheable prefix ends, and adds nothing to the text."""
    opened = explain(run, browser, LOOP, TOOLS, "--scope", "title=static")
    before = opened.page.evaluate(
        """() => {
            const range = document.createRange();
            range.setStart(document.querySelector("#output"), 0);
            range.setEndBefore(document.querySelector("#output .cut"));
            return range.toString();
        }"""
    )
    assert before == "# T\n"


def test_silent_tags_are_faint(run: Run, browser: Browser) -> None:
    """A tag that printed nothing this time can be told from the others."""
    opened = explain(run, browser, "{{ a }}{{ b }}{% if b %}b{% endif %}", {"a": 1, "b": ""})
    faint = opened.page.locator("#source .silent").evaluate_all(
        "pieces => pieces.map(piece => piece.textContent)"
    )
    assert faint == ["{{ b }}", "{% if b %}b{% endif %}"]


def test_light_and_dark(run: Run, browser: Browser) -> None:
    """The page follows the reader's colour scheme, with text that stands out in both."""
    shades = []
    for scheme in ("light", "dark"):
        opened = explain(run, browser, LOOP, TOOLS, scheme=scheme)
        colours = opened.page.evaluate(
            "[getComputedStyle(document.body)].flatMap(s => [s.backgroundColor, s.color])"
        )
        shades.append([sum(map(int, c[4:-1].split(", "))) for c in colours])
    (light_ground, light_ink), (dark_ground, dark_ink) = shades
    assert light_ground > 700 > 200 > light_ink
    assert dark_ground < 100 < 500 < dark_ink


def test_details_move_nothing(run: Run, browser: Browser) -> None:
    """However many variables a segment reads, its details leave both texts where they are."""
    names = [f"a_rather_long_name_{number}" for number in range(40)]
    opened = explain(
        *(run, browser),
        f"{{% if true %}}{' '.join(f'{{{{ {name} }}}}' for name in names)}{{% endif %}}\nrest\n",
        dict.fromkeys(names, "x"),
    )
    pane = opened.page.locator("#output")
    before = pane.bounding_box()
    opened.page.locator("#source [data-key='1']").first.hover()
    assert all(name in opened.panel["variables"] for name in names)
    assert pane.bounding_box() == before
