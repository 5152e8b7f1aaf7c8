// Findings: what `check` says of the text, in a list and as underlines in the editor.

import { $, el, plural, visible } from "./dom.js";
import { offsetOf, toUnits } from "./offsets.js";

/** Findings with places in the browser's offsets. */
export function placed(diagnostics, text) {
  const units = toUnits(text);
  return diagnostics.map((finding) => {
    if (finding.start != null) {
      return {
        ...finding,
        from: units(finding.start),
        to: units(Math.max(finding.start, finding.end ?? finding.start)),
      };
    }
    if (finding.line == null) return { ...finding, from: null, to: null };
    const from = offsetOf(text, finding.line, finding.column ?? 1);
    // Without an end, the word there is meant.
    return {
      ...finding,
      from,
      to: from + (/^[\w.]+/.exec(text.slice(from, from + 200))?.[0].length ?? 1),
    };
  });
}

/** Ranges to underline, by severity; each is at least one character. */
export function marksOf(findings) {
  const marks = { error: [], warning: [] };
  for (const { severity, from, to } of findings) {
    if (from !== null)
      marks[severity === "error" ? "error" : "warning"].push([from, Math.max(to, from + 1)]);
  }
  return marks;
}

export class Findings {
  constructor({ go, fix }) {
    this.go = go;
    this.fix = fix;
    this.found = [];
    this.panel = $("panel-findings");
  }

  show(found, { fixed = null, said = [] } = {}) {
    this.found = [...found, ...said];
    const errors = this.found.filter((finding) => finding.severity === "error").length;
    this.#verdict(errors, this.found.length - errors);
    const fixable = fixed === null ? [] : found.filter((finding) => finding.fixable);
    this.panel.replaceChildren(
      el(
        "div",
        { class: "row" },
        el("p", {
          class: "quiet",
          text: found.length
            ? plural(found.length, "finding")
            : "The check found nothing: the template reads well.",
        }),
        fixed === null
          ? null
          : el("button", {
              type: "button",
              class: "primary",
              on: { click: () => this.fix(fixed) },
              text: `Apply ${fixable.length ? plural(fixable.length, "fix").replace("fixs", "fixes") : "fixes"}`,
            }),
      ),
      el("ul", { class: "findings" }, ...found.map((finding) => this.#row(finding))),
      said.length ? el("h3", { text: "This render said" }) : "",
      el("ul", { class: "findings" }, ...said.map((finding) => this.#row(finding))),
    );
  }

  /** The text changed or could not be checked; what is known is old. */
  unknown(text) {
    this.found = [];
    $("verdict").textContent = "not checked";
    $("verdict").dataset.tone = "plain";
    this.panel.replaceChildren(el("p", { class: "quiet", text }));
  }

  #verdict(errors, warnings) {
    const parts = [
      errors && plural(errors, "error"),
      warnings && plural(warnings, "warning"),
    ].filter(Boolean);
    $("verdict").textContent = parts.join(", ") || "no findings";
    $("verdict").dataset.tone = errors ? "error" : warnings ? "warning" : "plain";
    $("tab-findings").textContent = this.found.length
      ? `Findings (${this.found.length})`
      : "Findings";
  }

  #row(finding) {
    const where = finding.line == null ? "" : `${finding.line}:${finding.column ?? 1}`;
    const words = [
      el("span", { class: "place", text: where || "file" }),
      el("strong", { class: finding.severity, text: `${finding.severity} ${finding.code}` }),
      el("span", { class: "message", text: finding.message }),
      finding.hint ? el("span", { class: "hint", text: finding.hint }) : "",
    ];
    const isPlaced = finding.from !== null && finding.from !== undefined;
    return el(
      "li",
      {},
      isPlaced
        ? el("button", { type: "button", on: { click: () => this.go(finding) } }, ...words)
        : el("div", {}, ...words),
    );
  }

  /** Go to the finding after (or before) an offset, round the end. */
  step(offset, direction) {
    const placedOnes = this.found
      .filter((finding) => finding.from !== null)
      .sort((a, b) => a.from - b.from);
    if (!placedOnes.length) return null;
    const next =
      direction > 0
        ? (placedOnes.find((finding) => finding.from > offset) ?? placedOnes[0])
        : (placedOnes.findLast((finding) => finding.from < offset) ?? placedOnes.at(-1));
    this.go(next);
    return visible(`${next.code}: ${next.message}`);
  }
}
