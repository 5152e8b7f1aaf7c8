// The prompt from its beginning to its end as one bar, in the colours of its scopes.

import { number, svg } from "./dom.js";

const WIDTH = 1000;

export function sizeChart(linked, choose) {
  const total = Math.max(1, linked.text.length);
  const scale = (at) => (WIDTH * at) / total;
  const bars = stretches(linked.segments).map(({ start, end, scope, keys }) =>
    svg(
      "rect",
      {
        class: scope,
        x: scale(start).toFixed(2),
        y: 0,
        height: 18,
        width: Math.max(0.4, scale(end - start)).toFixed(2),
        on: { click: () => choose(keys[0]) },
      },
      svg("title", {
        text: `${scope}: ${keys.length === 1 ? `segment ${keys[0]}` : `segments ${keys[0]} to ${keys.at(-1)}`}, ${number(end - start)} characters`,
      }),
    ),
  );
  return svg(
    "svg",
    {
      viewBox: `0 0 ${WIDTH} 22`,
      preserveAspectRatio: "none",
      role: "img",
      class: "chart",
      "aria-label": "The prompt from its beginning to its end, by scope",
    },
    ...bars,
    svg(
      "rect",
      {
        class: "cut",
        x: Math.max(0, scale(linked.cut) - 1).toFixed(2),
        y: 0,
        width: 2,
        height: 22,
      },
      svg("title", { text: "the cacheable prefix ends here" }),
    ),
  );
}

// Runs of one scope; with thousands of segments a bar each would be thinner than a pixel.
function stretches(segments) {
  const found = [];
  const isCrowded = segments.length > 300;
  for (const { at, scope, key } of segments) {
    if (at.end === at.start) continue;
    const last = found.at(-1);
    if (isCrowded && last?.scope === scope && last.end === at.start) {
      last.end = at.end;
      last.keys.push(key);
    } else {
      found.push({ start: at.start, end: at.end, scope, keys: [key] });
    }
  }
  return found;
}
