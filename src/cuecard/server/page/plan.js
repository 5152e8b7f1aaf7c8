// The plan: which providers this agent's turn asks, which were asked, what it took and why not.

import { $, el } from "./dom.js";

const STATES = {
  called: "called",
  kept: "kept: what it gave still holds",
  failed: "failed",
  skipped: "not called",
};

/** Draw the plan; `runs` is what the last render says of each provider, if anything did. */
export function drawPlan(plan, timings) {
  const panel = $("panel-plan");
  if (!plan?.length) {
    panel.replaceChildren(
      el("p", {
        class: "empty",
        text: "A pasted template has no providers: open an agent to see which ones its turn asks.",
      }),
    );
    return;
  }
  const runs = new Map((timings?.providers ?? []).map((run) => [run.provider, run]));
  const asked = plan.filter((step) => step.runs).length;
  const took =
    timings?.seconds == null ? "" : ` The last render took ${milliseconds(timings.seconds)}.`;
  panel.replaceChildren(
    el("p", {
      class: "totals",
      text: `${asked} of ${plan.length} providers are asked.${took}`,
    }),
    el(
      "table",
      {},
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          ...["provider", "priority", "asked", "last render", "took", "variables", "why"].map(
            (text) => el("th", { scope: "col", text }),
          ),
        ),
      ),
      el("tbody", {}, ...plan.map((step) => row(step, runs.get(step.provider)))),
    ),
  );
}

function row(step, run) {
  const failed = run?.state === "failed";
  return el(
    "tr",
    {},
    el("th", { scope: "row", text: step.provider }),
    el("td", { class: "figure", text: step.priority }),
    el("td", { text: step.runs ? "yes" : "no" }),
    el("td", {
      class: failed ? "error-text" : null,
      text: run ? (STATES[run.state] ?? run.state) : "",
    }),
    el("td", { class: "figure", text: run?.seconds ? milliseconds(run.seconds) : "" }),
    el("td", {
      text: (run?.variables?.length ? run.variables : (step.variables ?? [])).join(", "),
    }),
    el("td", {
      text: (failed || run?.state === "skipped" ? run.reason : null) ?? step.reason ?? "",
    }),
  );
}

const milliseconds = (seconds) => `${(1000 * seconds).toFixed(seconds < 0.01 ? 2 : 0)} ms`;
