// A line diff of two texts, by Myers' algorithm, with the lines around a change.

import { el } from "./dom.js";

const AROUND = 3;
const MOST_EDITS = 1500; // Beyond, what lies between the equal ends is shown as replaced.

/** Lines with a sign: " " equal, "-" gone, "+" new. */
export function lineDiff(before, after) {
  const [a, b] = [before.split("\n"), after.split("\n")];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let same = 0;
  while (
    same < Math.min(a.length, b.length) - start &&
    a[a.length - 1 - same] === b[b.length - 1 - same]
  )
    same++;
  return [
    ...a.slice(0, start).map((line) => [" ", line]),
    ...middle(a.slice(start, a.length - same), b.slice(start, b.length - same)),
    ...a.slice(a.length - same).map((line) => [" ", line]),
  ];
}

function middle(a, b) {
  const trace = shortest(a, b);
  if (!trace) return [...a.map((line) => ["-", line]), ...b.map((line) => ["+", line])];
  const found = [];
  let [x, y] = [a.length, b.length];
  for (let d = trace.length - 1; d >= 0; d--) {
    const furthest = trace[d];
    const k = x - y;
    const isDown =
      k === -d || (k !== d && (furthest.get(k - 1) ?? -1) < (furthest.get(k + 1) ?? -1));
    const from = isDown ? k + 1 : k - 1;
    const beforeX = d === 0 ? 0 : furthest.get(from);
    const beforeY = d === 0 ? 0 : beforeX - from;
    while (x > beforeX && y > beforeY) {
      found.push([" ", a[x - 1]]);
      x--;
      y--;
    }
    if (d > 0) found.push(isDown ? ["+", b[y - 1]] : ["-", a[x - 1]]);
    [x, y] = [beforeX, beforeY];
  }
  return found.reverse();
}

// For each number of edits, how far each diagonal got before it; null when there are too many.
function shortest(a, b) {
  const furthest = new Map([[1, 0]]);
  const trace = [];
  for (let d = 0; d <= Math.min(a.length + b.length, MOST_EDITS); d++) {
    trace.push(new Map(furthest));
    for (let k = -d; k <= d; k += 2) {
      const isDown = k === -d || (k !== d && furthest.get(k - 1) < furthest.get(k + 1));
      let x = isDown ? furthest.get(k + 1) : furthest.get(k - 1) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      furthest.set(k, x);
      if (x >= a.length && x - k >= b.length) return trace;
    }
  }
  return null;
}

const NAMES = { " ": "same", "-": "gone", "+": "new" };

/** The changed lines and those around them, as elements. */
export function drawDiff(before, after) {
  const lines = lineDiff(before, after);
  const near = new Uint8Array(lines.length);
  lines.forEach(([sign], at) => {
    if (sign !== " ") near.fill(1, Math.max(0, at - AROUND), at + AROUND + 1);
  });
  const rows = [];
  let skipped = 0;
  lines.forEach(([sign, line], at) => {
    if (!near[at]) {
      skipped++;
      return;
    }
    if (skipped) rows.push(gap(skipped));
    skipped = 0;
    rows.push(
      el(
        "div",
        { class: `line ${NAMES[sign]}` },
        el("span", { class: "sign", text: sign }),
        el("span", { text: line }),
      ),
    );
  });
  if (skipped) rows.push(gap(skipped));
  return rows;
}

const gap = (count) =>
  el("div", { class: "gap", text: `${count} equal line${count === 1 ? "" : "s"}` });
