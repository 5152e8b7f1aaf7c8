// The prompt: coloured by how long its parts hold, gone through by keys or pointer.

import { $, el, number, plural, visible } from "./dom.js";
import { TextSurface } from "./text_surface.js";

export const SCOPES = ["static", "session", "day", "turn"];

export class PromptPane {
  /** `point` is called with a range of the output or null, `enter` with the one to leave for. */
  constructor({ point, enter }) {
    this.scroller = $("prompt");
    this.surface = new TextSurface(this.scroller, "prompt");
    this.point = point;
    this.linked = null;
    this.held = false;
    this.current = null;
    this.enter = enter;
    this.cut = el("div", {
      class: "cut",
      title: "the cacheable prefix ends here",
      hidden: true,
    });
    this.surface.sheet.append(this.cut);
    this.scroller.addEventListener("mousemove", (event) => {
      if (!this.held) this.#go(this.#under(event), false);
    });
    this.scroller.addEventListener("mouseleave", () => {
      if (!this.held) this.#go(null, false);
    });
    this.scroller.addEventListener("click", (event) => this.#click(event));
    this.scroller.addEventListener("keydown", (event) => this.#key(event));
    new ResizeObserver(() => this.#placeCut()).observe(this.surface.sheet);
  }

  /** Show an explanation. */
  show(linked) {
    this.linked = linked;
    this.current = null;
    this.held = false;
    if (this.surface.text !== linked.text) this.surface.text = linked.text;
    this.#colour();
    this.#placeCut();
    $("prompt-empty").hidden = linked.text !== "";
    $("prompt-empty").textContent = "This prompt is empty: the template printed nothing.";
    this.#sizes();
    this.#legend();
    this.stale(false);
  }

  stale(isStale) {
    this.scroller.classList.toggle("stale", isStale);
  }

  clear(text) {
    this.linked = null;
    this.current = null;
    this.surface.text = "";
    for (const scope of SCOPES)
      for (const depth of ["", "-inner"]) this.surface.paint(scope + depth, []);
    $("prompt-empty").hidden = false;
    $("prompt-empty").textContent = text;
    $("sizes").textContent = "";
    $("legend").replaceChildren();
    this.cut.hidden = true;
    this.stale(false);
  }

  /** Light all ranges of a key, and one of them most. */
  light(key, range = null) {
    const ranges = key === null ? [] : this.linked.of("output", key);
    this.surface.paint(
      "on",
      ranges.map((r) => [r.start, r.end]),
      30,
    );
    this.surface.paint("at", range ? [[range.start, range.end]] : [], 40);
    return ranges;
  }

  letGo() {
    this.held = false;
    this.#go(null, false);
  }

  /** Focus the pane at a range. */
  goTo(range) {
    this.scroller.focus({ preventScroll: true });
    this.held = false;
    this.#go(range, true);
  }

  #colour() {
    const ranges = Object.fromEntries(
      SCOPES.flatMap((scope) => [
        [scope, []],
        [`${scope}-inner`, []],
      ]),
    );
    for (const range of this.linked.output) {
      const part = this.linked.parts.get(range.key);
      const inner = range.key.includes(".");
      if (part.kind === "text") continue;
      ranges[inner ? `${part.scope}-inner` : part.scope]?.push([range.start, range.end]);
    }
    for (const [name, found] of Object.entries(ranges))
      this.surface.paint(name, found, name.includes("-") ? 2 : 1);
  }

  #placeCut() {
    const { linked } = this;
    const isWithin = linked && linked.cut > 0 && linked.cut < linked.text.length;
    this.cut.hidden = !isWithin;
    if (!isWithin || !this.scroller.clientHeight) return;
    const sheet = this.surface.sheet.getBoundingClientRect();
    const box = this.surface.boxAt(linked.cut);
    this.cut.style.top = `${box.top - sheet.top}px`;
    this.cut.style.left = `${box.left - sheet.left - 1}px`;
    this.cut.style.height = `${box.height}px`;
  }

  #sizes() {
    const { data } = this.linked;
    const parts = [plural(data.characters, "character")];
    if (data.tokens != null)
      parts.push(
        `${plural(data.tokens, "token")}${data.counter?.exact === false ? " (estimated)" : ""}`,
      );
    $("sizes").textContent = parts.join(", ");
  }

  #legend() {
    const sizes = Object.fromEntries(SCOPES.map((scope) => [scope, 0]));
    for (const segment of this.linked.segments) sizes[segment.scope] += segment.characters;
    const { characters } = this.linked.data.cacheable_prefix;
    const share = this.linked.data.characters
      ? (100 * characters) / this.linked.data.characters
      : 0;
    $("legend").replaceChildren(
      ...SCOPES.map((scope) =>
        el(
          "li",
          {},
          el("span", { class: `chip ${scope}`, text: scope }),
          ` ${number(sizes[scope])}`,
        ),
      ),
      el(
        "li",
        {},
        el("span", { class: "cut-sign", "aria-hidden": "true" }),
        ` cacheable front ${number(characters)} (${share.toFixed(1)} %)`,
      ),
    );
  }

  #under(event) {
    if (!this.linked) return null;
    return this.linked.at("output", this.surface.offsetAt(event.clientX, event.clientY));
  }

  #go(range, scroll) {
    this.current = range;
    if (range && scroll) this.surface.reveal(range.start, range.end);
    this.point(range, this.held);
  }

  #click(event) {
    if (String(getSelection())) return;
    const range = this.#under(event);
    const isSame = this.held && range?.start === this.current?.start;
    this.held = Boolean(range) && !isSame;
    this.#go(range, false);
  }

  #key(event) {
    if (!this.linked || event.ctrlKey || event.metaKey || event.altKey) return;
    const ranges = this.linked.output;
    const index = this.current
      ? ranges.findIndex((range) => range.start === this.current.start)
      : -1;
    const step = {
      ArrowDown: index + 1,
      ArrowRight: index + 1,
      ArrowUp: index - 1,
      ArrowLeft: index - 1,
      Home: 0,
      End: ranges.length - 1,
    }[event.key];
    if (step !== undefined && ranges.length) {
      event.preventDefault();
      this.held = false;
      this.#go(ranges[Math.min(Math.max(step, 0), ranges.length - 1)], true);
    } else if (event.key === "Enter" && this.current) {
      event.preventDefault();
      this.enter(this.current);
    } else if (event.key === "Escape") {
      this.letGo();
    }
  }
}

/** Say why there is no newer prompt; `go` is called when the place is chosen. */
export function showFailure(error, go) {
  const place = $("failure");
  place.hidden = !error;
  if (!error) {
    place.replaceChildren();
    return;
  }
  const where = error.span ? `line ${error.span.line}, column ${error.span.column}` : null;
  place.replaceChildren(
    el("p", {}, el("strong", { text: error.code || "error" }), ` ${visible(error.message)}`),
    error.hint ? el("p", { class: "quiet", text: error.hint }) : "",
    where
      ? el("button", {
          type: "button",
          class: "plain",
          text: `Go to ${where}`,
          on: { click: go },
        })
      : "",
  );
}
