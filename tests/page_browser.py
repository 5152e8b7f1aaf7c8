"""A browser in front of a service: what is open, what it asks for, and what it complains about."""

import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from .service_process import Service

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WIDE, NARROW = (1280, 800), (360, 740)
_PATIENCE = 20_000  # Milliseconds; a machine that runs other tests too is at times slow.
_REFUSED = re.compile(r"the server responded with a status of (\d+)")
_WATCH = """
globalThis.violations = [];
document.addEventListener("securitypolicyviolation", (event) => {
  violations.push(`${event.violatedDirective} ${event.blockedURI}`);
});
"""


@contextmanager
def browsing() -> Iterator[Browser]:
    """The machine's own Chromium: what Playwright would download is not needed."""
    found = next(filter(None, map(shutil.which, CHROMIUM)), None)
    assert found is not None, "there is no Chromium; `make test` installs it on Debian as root"
    expect.set_options(timeout=_PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=list(OPTIONS))
        yield browser
        browser.close()


class Opened:
    """The page of a service that is open in a browser of its own storage.

    Args:
        browser: opens it.
        origin: the service's address, without a slash at its end.
        fragment: what stands behind the address.
        refusals: statuses of answers that the test brings about, which the browser notes on its
            console; 422 is what a template without its context gets.
        options: as of Playwright's `new_context`.
    """

    def __init__(
        self,
        browser: Browser,
        origin: str,
        fragment: str = "",
        *,
        refusals: Sequence[int] = (422,),
        size: tuple[int, int] = WIDE,
        scheme: Any = "light",
        **options: Any,
    ) -> None:
        self.origin = origin
        self.refusals = refusals
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.context = browser.new_context(
            viewport={"width": size[0], "height": size[1]}, color_scheme=scheme, **options
        )
        self.context.set_default_timeout(_PATIENCE)
        self.context.add_init_script(_WATCH)
        self.page = self.watch(self.context.new_page())
        self.page.goto(origin + "/" + fragment)
        agent = re.match(r"#agent=([\w-]+)", fragment)
        if agent is not None and 404 not in refusals:
            # Until then there is another field, for a template of one's own.
            expect(self.page).to_have_title(f"{agent[1]} - cuecard")

    def watch(self, page: Page) -> Page:
        """Note what a page says on its console and asks for."""
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        return page

    def close(self) -> None:
        """Close it, and see that nothing was amiss."""
        violations = self.page.evaluate("globalThis.violations")
        self.context.close()
        assert violations == [], violations
        unexpected = [
            complaint
            for complaint in self.complaints
            if not (found := _REFUSED.search(complaint)) or int(found[1]) not in self.refusals
        ]
        assert unexpected == [], unexpected
        elsewhere = [url for url in self.requests if not url.startswith(self.origin + "/")]
        assert elsewhere == [], elsewhere

    # where things are ----------------------------------------------------------------------------

    def button(self, name: str, **more: Any) -> Locator:
        """A button by its label."""
        return self.page.get_by_role("button", name=name, **more)

    @property
    def editor(self) -> Locator:
        """The editor of the template."""
        return self.page.get_by_role("region", name="Template").get_by_role("textbox")

    @property
    def prompt(self) -> Locator:
        """The prompt."""
        return self.page.get_by_role("group", name=re.compile("^Prompt"))

    @property
    def dialog(self) -> Locator:
        """The dialog that is open."""
        return self.page.get_by_role("dialog")

    @property
    def note(self) -> Locator:
        """What was said in passing."""
        return self.page.locator("#note")

    def tool(self, name: str) -> Locator:
        """The panel of a tool, brought to the front."""
        self.page.get_by_role("tab", name=re.compile(f"^{name}")).click()
        return self.page.get_by_role("tabpanel", name=re.compile(f"^{name}"))

    # what they hold ------------------------------------------------------------------------------

    def scratch(self, template: str, context: str | None = None) -> "Opened":
        """Open a template of one's own, and give it a context."""
        self.page.get_by_role("textbox", name="Template").fill(template)
        self.button("Open as scratch").click()
        if context is not None:
            self.page.get_by_role("radio", name="JSON").check()
            self.page.get_by_label("Context as JSON").fill(context)
        return self

    def shows(self, text: str) -> None:
        """Wait until the prompt is a text, byte for byte."""
        mirror = self.prompt.locator(".mirror")
        try:
            self.page.wait_for_function(
                "([pane, text]) => pane.textContent === text + '\\n'",
                arg=[mirror.element_handle(), text],
            )
        except Exception:
            assert mirror.text_content() == text + "\n", mirror.text_content()
            raise
        expect(self.prompt).not_to_have_class(re.compile("stale"))

    def ends(self, text: str) -> None:
        """Wait until the prompt ends with a text; for prompts that no message should repeat."""
        self._until(
            lambda: self.prompt.locator(".mirror").evaluate(
                "(pane, text) => pane.textContent.endsWith(text + '\\n')", text
            ),
            True,
        )

    def painted(self, name: str) -> list[str]:
        """The texts that are painted under a name, such as `prompt-on`."""
        found = self.page.evaluate(
            """name => [...(CSS.highlights.get(name) ?? [])].map(range =>
                range.startContainer.data.slice(range.startOffset, range.endOffset))""",
            name,
        )
        return [str(text) for text in found]

    def paints(self, name: str, texts: list[str]) -> None:
        """Wait until just some texts are painted under a name."""
        self._until(lambda: sorted(self.painted(name)), sorted(texts))

    def _until(self, look: Callable[[], Any], expected: Any) -> None:
        for _ in range(_PATIENCE // 20):
            if look() == expected:
                return
            self.page.wait_for_timeout(20)
        assert look() == expected, look()

    @property
    def details(self) -> dict[str, str]:
        """The details of what is pointed at."""
        groups = self.page.locator("#details dl > div").evaluate_all(
            "groups => groups.map(g => [g.children[0].textContent, g.children[1].textContent])"
        )
        return dict(groups)

    @property
    def selected(self) -> str:
        """What is selected in the editor that has the focus."""
        text = self.page.evaluate(
            """() => { const area = document.activeElement;
                return area.value.slice(area.selectionStart, area.selectionEnd); }"""
        )
        return str(text)

    def caret_to(self, text: str) -> None:
        """Put the caret of the template's editor into the first place of a text."""
        self.editor.evaluate(
            """(area, text) => { area.focus();
                const at = area.value.indexOf(text) + 1; area.setSelectionRange(at, at); }""",
            text,
        )

    def point(self, pane: Locator, text: str) -> None:
        """Move the mouse to the middle of the first place of a text in a pane."""
        x, y = pane.locator(".mirror").evaluate(
            """(mirror, text) => {
                const node = mirror.firstChild;
                const at = node.data.indexOf(text);
                const range = document.createRange();
                range.setStart(node, at);
                range.setEnd(node, at + text.length);
                const box = range.getClientRects()[0];
                return [box.left + box.width / 2, box.top + box.height / 2];
            }""",
            text,
        )
        self.page.mouse.move(x - 3, y)
        self.page.mouse.move(x, y)


Open = Callable[..., Opened]


@contextmanager
def opening(browser: Browser, service: Service) -> Iterator[Open]:
    """Opens the page of a service; all that were opened must be without complaint."""
    opened: list[Opened] = []

    def call(fragment: str = "", to: Service = service, **options: Any) -> Opened:
        opened.append(Opened(browser, f"http://127.0.0.1:{to.port}", fragment, **options))
        return opened[-1]

    yield call
    for page in opened:
        page.close()
