// Characters and tokens by segment, as a table that sorts and a bar; rows lead to both texts.

import { $, el, number, plural } from "./dom.js";
import { linesOf } from "./details.js";
import { sizeChart } from "./size_chart.js";

const FIRST_ROWS = 150;
const MOST_KEPT = 500; // With more rows, a table that is drawn at each change would be felt.
const COLUMNS = [
  ["number", "#", (s) => s.number],
  ["kind", "kind", (s) => s.kind],
  ["lines", "lines", (s) => s.span.line],
  ["scope", "scope", (s) => ["static", "session", "day", "turn"].indexOf(s.scope)],
  ["characters", "characters", (s) => s.characters],
  ["tokens", "tokens", (s) => s.tokens ?? 0],
  ["variables", "variables", (s) => s.variables.join(", ")],
  ["text", "text", null],
];

export class SegmentsTable {
  /** `choose` is called with the key of a segment, `point` as one is pointed at, or null. */
  constructor({ choose, point }) {
    this.choose = choose;
    this.point = point;
    this.panel = $("panel-segments");
    this.sort = { column: "number", down: false };
    this.all = false;
    this.linked = null;
    this.clear();
  }

  clear() {
    this.linked = null;
    this.panel.replaceChildren(
      el("p", {
        class: "empty",
        text: "Once a prompt is rendered, its segments and their sizes stand here.",
      }),
    );
  }

  show(linked) {
    this.linked = linked;
    this.all &&= linked.segments.length <= MOST_KEPT;
    if (!this.panel.hidden) this.draw();
  }

  draw() {
    const { linked } = this;
    if (!linked) return;
    const { data } = linked;
    const front = data.cacheable_prefix;
    const size = ({ characters, tokens }) =>
      plural(characters, "character") + (tokens == null ? "" : `, ${plural(tokens, "token")}`);
    const rows = this.#sorted();
    const shown = this.all ? rows : rows.slice(0, FIRST_ROWS);
    const most = Math.max(1, ...rows.map((row) => row.characters));
    const focused = this.panel.contains(document.activeElement)
      ? document.activeElement.dataset.focus
      : null;
    this.panel.replaceChildren(
      sizeChart(linked, this.choose),
      el(
        "p",
        { class: "totals" },
        el("span", { text: `${plural(data.segments.length, "segment")}, ${size(data)}.` }),
        el("span", { text: ` Cacheable front: ${size(front)}, ${this.#endOfFront()}.` }),
        el("span", {
          text: ` Blocks: ${data.blocks.map((block) => `${block.scope} ${number(block.characters)}`).join(", ") || "none"}.`,
        }),
      ),
      el(
        "table",
        {},
        el("thead", {}, el("tr", {}, ...COLUMNS.map((column) => this.#head(column)))),
        el("tbody", {}, ...shown.map((row) => this.#row(row, most))),
      ),
      rows.length > shown.length
        ? el("button", {
            type: "button",
            text: `Show all ${number(rows.length)} segments`,
            on: {
              click: () => {
                this.all = true;
                this.draw();
              },
            },
          })
        : "",
    );
    if (focused) this.panel.querySelector(`[data-focus="${focused}"]`)?.focus();
  }

  #endOfFront() {
    const { linked } = this;
    if (linked.cut >= linked.text.length) return "all of it";
    const next = linked.segments.find((segment) => segment.at.end > linked.cut);
    const line = linked.text.slice(0, linked.cut).split("\n").length;
    return (
      `it ends in line ${number(line)} of the prompt, before segment ${next?.number ?? "?"}` +
      (next?.variables.length ? ` (${next.variables.join(", ")})` : "")
    );
  }

  #sorted() {
    const [, , value] = COLUMNS.find(([name]) => name === this.sort.column);
    const direction = this.sort.down ? -1 : 1;
    return [...this.linked.segments].sort((a, b) => {
      const [left, right] = [value(a), value(b)];
      return direction * (left < right ? -1 : left > right ? 1 : 0) || a.number - b.number;
    });
  }

  #head([name, text, value]) {
    if (!value) return el("th", { scope: "col", text });
    const isSorted = this.sort.column === name;
    return el(
      "th",
      {
        scope: "col",
        class: name,
        "aria-sort": isSorted ? (this.sort.down ? "descending" : "ascending") : null,
      },
      el("button", {
        type: "button",
        data: { focus: name },
        text: `${text}${isSorted ? (this.sort.down ? " ↓" : " ↑") : ""}`,
        on: { click: () => this.#order(name, isSorted) },
      }),
    );
  }

  #order(name, isSorted) {
    const numeric = name === "characters" || name === "tokens";
    this.sort = { column: name, down: isSorted ? !this.sort.down : numeric };
    this.draw();
  }

  #row(segment, most) {
    const { key, at } = segment;
    const meter = el("span", { class: `meter ${segment.scope}`, "aria-hidden": "true" });
    meter.style.width = `${(100 * segment.characters) / most}%`;
    const excerpt = this.linked.text
      .slice(at.start, Math.min(at.end, at.start + 80))
      .replace(/\n/g, "⏎");
    return el(
      "tr",
      { on: { mouseenter: () => this.point(key), mouseleave: () => this.point(null) } },
      el(
        "td",
        {},
        el("button", {
          type: "button",
          class: "plain",
          "aria-label": `Segment ${segment.number}`,
          text: segment.number,
          data: { focus: `row-${key}` },
          on: {
            click: () => this.choose(key),
            focus: () => this.point(key),
            blur: () => this.point(null),
          },
        }),
      ),
      el("td", { text: segment.kind }),
      el("td", { text: linesOf(segment.span) }),
      el("td", {}, el("span", { class: `chip ${segment.scope}`, text: segment.scope })),
      el(
        "td",
        { class: "figure" },
        el("span", { text: number(segment.characters) }),
        el("span", { class: "track" }, meter),
      ),
      el("td", { class: "figure", text: number(segment.tokens) }),
      el("td", { text: segment.variables.join(", ") }),
      el("td", { class: "excerpt", text: excerpt }),
    );
  }
}
