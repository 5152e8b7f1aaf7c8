// Turns: step through recorded turns; what changed since the one before, and where the cache broke.

import { $, el, number, opened, plural, say } from "./dom.js";
import { isObject, parse } from "./json.js";
import { linesOf } from "./details.js";
import { drawDiff } from "./line_diff.js";

const MOST_TURNS = 1000;

export class Turns {
  /**
   * `load` reads a recorded file, `report` gives the service's report on all turns, `explain`
   * that on one, `enter` is called with the turn to show (null for none), `choose` with a key.
   */
  constructor({ load, report, explain, enter, choose }) {
    Object.assign(this, { load, report, explain, enter, choose });
    this.panel = $("panel-turns");
    this.reset([]);
  }

  /** Start anew: other recorded files, no turns. */
  reset(files) {
    Object.assign(this, { files, turns: [], name: "", index: 0, series: null, failure: null });
    this.draw();
  }

  get current() {
    return this.turns[this.index] ?? null;
  }

  /** The template or the context changed: what is known of the turns is old. */
  async refresh() {
    if (!this.turns.length) return;
    const found = await this.report(this.turns);
    if (!found) return;
    this.series = found.value ?? null;
    this.failure = found.error ?? null;
    this.draw();
    await this.#compare();
  }

  step(by) {
    if (this.turns.length) this.go(Math.min(Math.max(this.index + by, 0), this.turns.length - 1));
  }

  async go(index) {
    this.index = index;
    this.draw();
    this.enter(this.current, index);
    await this.#compare();
  }

  async #use(turns, name) {
    if (!turns.length) return say("There is no turn in it.", "error");
    if (turns.length > MOST_TURNS)
      return say(`These are more than ${number(MOST_TURNS)} turns.`, "error");
    Object.assign(this, { turns, name, index: 0, series: null, failure: null });
    this.enter(this.current, 0);
    await this.refresh();
  }

  #read(text, name) {
    const turns = [];
    for (const [index, line] of text.split(/\r?\n/).entries()) {
      if (!line.trim()) continue;
      try {
        const turn = parse(line);
        if (!isObject(turn)) throw new SyntaxError("it is no object");
        turns.push(turn);
      } catch (error) {
        return say(`Line ${index + 1} of ${name} cannot be read: ${error.message}`, "error");
      }
    }
    return this.#use(turns, name);
  }

  draw() {
    const focused = this.panel.contains(document.activeElement) ? document.activeElement.id : "";
    this.changes = el("div", { class: "changes" });
    this.panel.replaceChildren(
      this.#sources(),
      ...(this.turns.length
        ? this.#body()
        : [
            el("p", {
              class: "empty",
              text: "Choose recorded turns: JSON Lines, the context of one turn a line. What a turn lacks is taken from the context of this page.",
            }),
          ]),
    );
    if (focused) $(focused)?.focus();
  }

  #sources() {
    const choice = el(
      "select",
      {
        id: "turns-file",
        on: {
          change: async () => {
            const found = choice.value && (await this.load(choice.value));
            if (found) await this.#use(found, choice.value);
          },
        },
      },
      el("option", { value: "", text: "choose a file" }),
      ...this.files.map((name) =>
        el("option", { value: name, text: name, selected: name === this.name }),
      ),
    );
    const file = el("input", {
      type: "file",
      accept: ".jsonl,.ndjson,.txt",
      on: {
        change: async () => {
          const [chosen] = file.files;
          if (chosen) await this.#read(await chosen.text(), chosen.name);
        },
      },
    });
    return el(
      "div",
      { class: "row" },
      this.files.length
        ? el("label", { class: "small" }, el("span", { text: "Beside the agent" }), choice)
        : "",
      el("label", { class: "small" }, el("span", { text: "A file of yours" }), file),
      el("button", {
        type: "button",
        text: "Paste turns",
        on: { click: () => this.#paste() },
      }),
      this.turns.length
        ? el("button", {
            type: "button",
            text: "Leave the turns",
            on: {
              click: () => {
                this.reset(this.files);
                this.enter(null, 0);
              },
            },
          })
        : "",
    );
  }

  async #paste() {
    if ((await opened($("turns-dialog"))) === "ok")
      await this.#read($("turns-text").value, "the pasted text");
  }

  #body() {
    const { index, turns } = this;
    const stepper = el(
      "div",
      { class: "row" },
      el("button", {
        id: "turn-before",
        type: "button",
        text: "← Previous",
        disabled: index === 0,
        on: { click: () => this.step(-1) },
      }),
      el("strong", { role: "status", text: `Turn ${index + 1} of ${turns.length}` }),
      el("button", {
        id: "turn-next",
        type: "button",
        text: "Next →",
        disabled: index === turns.length - 1,
        on: { click: () => this.step(1) },
      }),
      el("span", { class: "quiet", text: this.name }),
    );
    if (this.failure)
      return [
        stepper,
        el("p", {
          class: "error-text",
          text: `${this.failure.code} ${this.failure.message}`,
        }),
      ];
    if (!this.series) return [stepper, el("p", { class: "quiet", text: "Comparing the turns." })];
    return [stepper, el("div", { class: "turns" }, this.#table(), this.changes), this.#culprits()];
  }

  #table() {
    const rows = this.series.turns.map((turn, index) =>
      el(
        "tr",
        { "aria-current": index === this.index ? "true" : null },
        el(
          "td",
          {},
          el("button", {
            type: "button",
            class: "plain",
            id: `turn-${index}`,
            "aria-label": `Turn ${turn.turn}`,
            text: turn.turn,
            on: { click: () => this.go(index) },
          }),
        ),
        el("td", { class: "figure", text: number(turn.characters) }),
        el("td", { class: "figure", text: number(turn.tokens) }),
        el("td", {
          class: "figure",
          text: index
            ? `${number(turn.common.characters)} (${share(turn.common.characters, turn.characters)})`
            : "",
        }),
        el("td", { class: "figure", text: index ? number(turn.lost.characters) : "" }),
        el("td", { text: index ? firstChange(turn) : "" }),
      ),
    );
    return el(
      "table",
      {},
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          ...["turn", "characters", "tokens", "same front", "lost", "first change"].map((text) =>
            el("th", { scope: "col", text }),
          ),
        ),
      ),
      el("tbody", {}, ...rows),
    );
  }

  #culprits() {
    const { culprits, compared } = this.series;
    if (!compared)
      return el("p", { class: "quiet", text: "There is no turn to compare with another." });
    if (!culprits.length)
      return el("p", { class: "quiet", text: "The prompt is the same at all turns." });
    return el(
      "div",
      {},
      el("h3", { text: "What broke the cache, by characters lost" }),
      el(
        "ul",
        {},
        ...culprits.map((culprit) =>
          el("li", {
            text: `${culprit.variables.join(", ") || "text"} (line ${culprit.lines}): ${culprit.breaks} of ${plural(compared, "turn")}, ${number(culprit.lost.characters)} characters`,
          }),
        ),
      ),
    );
  }

  /** What differs from the turn before, by segments. */
  async #compare() {
    const { index, turns, series } = this;
    if (!series) return;
    const place = this.changes;
    if (index === 0) {
      place.replaceChildren(
        el("p", {
          class: "quiet",
          text: "This is the first turn: there is none to compare it with.",
        }),
      );
      return;
    }
    const both = await Promise.all([this.explain(turns[index - 1]), this.explain(turns[index])]);
    if (place !== this.changes || both.some((one) => !one)) return;
    const changed = changedSegments(...both);
    const of = (name) =>
      [...new Set(changed.flatMap((segment) => segment[name]))].join(", ") || "none";
    const turn = series.turns[index];
    place.replaceChildren(
      el("p", {}, el("strong", { text: broke(turn) })),
      el(
        "dl",
        { class: "facts" },
        ...[
          ["variables", of("variables")],
          ["providers", of("providers")],
          ["segments", changed.length || "none"],
        ].map(([term, detail]) =>
          el("div", {}, el("dt", { text: term }), el("dd", { text: detail })),
        ),
      ),
      el(
        "ul",
        { class: "changed" },
        ...changed.map((segment) =>
          el(
            "li",
            {},
            el("button", {
              type: "button",
              class: "plain",
              on: { click: () => this.choose(segment.key) },
              text: `segment ${segment.number}: ${segment.variables.join(", ") || segment.kind} (line ${linesOf(segment.span)})`,
            }),
            el("span", { class: `chip ${segment.scope}`, text: segment.scope }),
          ),
        ),
      ),
      el(
        "div",
        {
          class: "diff",
          tabindex: "0",
          role: "group",
          "aria-label": "The text, compared with the turn before",
        },
        ...drawDiff(both[0].text, both[1].text),
      ),
    );
  }
}

const share = (part, whole) => `${whole ? ((100 * part) / whole).toFixed(1) : "100.0"} %`;

function firstChange(turn) {
  if (!turn.span) return "none";
  return `${turn.variables.join(", ") || "text"} (line ${linesOf(turn.span)})`;
}

function broke(turn) {
  if (!turn.span) return "Nothing changed: the cache holds.";
  return `The cache broke after ${plural(turn.common.characters, "character")}, at ${firstChange(turn)}; ${number(turn.lost.characters)} were lost.`;
}

function changedSegments(before, now) {
  const textOf = (linked, segment) => linked.text.slice(segment.at.start, segment.at.end);
  const olds = new Map(
    before.segments.map((segment) => [
      `${segment.span.start}-${segment.span.end}`,
      textOf(before, segment),
    ]),
  );
  return now.segments.filter(
    (segment) => olds.get(`${segment.span.start}-${segment.span.end}`) !== textOf(now, segment),
  );
}
