// Details: what the page knows of the part that is pointed at, in a place of fixed height, so
// that nothing moves away under the pointer.

import { el, number } from "./dom.js";

export function linesOf(span, offset = 0) {
  const ends =
    span.end_line > span.line && span.end_column === 1 ? span.end_line - 1 : span.end_line;
  const [first, last] = [span.line + offset, ends + offset];
  return first === last ? String(first) : `${first}-${last}`;
}

export class Details {
  constructor(place) {
    this.place = place;
    this.shown = null;
  }

  /** Show a part; `range` is the one of its places in the prompt that is meant, if any. */
  show(linked, key, range, held) {
    const name = `${key}/${range?.start}/${held}`;
    if (this.shown === name && this.linked === linked) return;
    [this.shown, this.linked] = [name, linked];
    const groups = facts(linked, key, range).map(([term, detail]) =>
      el("div", {}, el("dt", { text: term }), el("dd", { text: detail })),
    );
    if (held)
      groups.push(el("div", {}, el("dt", { text: "held" }), el("dd", { text: "Esc lets go" })));
    this.place.replaceChildren(el("dl", {}, ...groups));
  }

  clear(text) {
    if (this.shown === text) return;
    this.shown = text;
    this.place.replaceChildren(el("p", { class: "quiet", text }));
  }
}

function facts(linked, key, range) {
  const part = linked.parts.get(key);
  const [segment, inner] = key.split(".");
  const lines = linesOf(part.span);
  const found = [
    ["segment", inner ? `${segment}, an output in it` : `${segment}, ${part.kind}`],
    [lines.includes("-") ? "lines" : "line", lines],
    ["variables", part.variables.join(", ") || "none"],
    ["provider", part.providers.join(", ") || "none"],
    ["scope", part.scope],
  ];
  let [characters, tokens] = [part.characters, part.tokens];
  if (inner) {
    const places = linked.of("output", key);
    const at = range ? places.findIndex((place) => place.start === range.start) : -1;
    if (places.length > 1)
      found.push(["printed", at < 0 ? `${places.length} times` : `${at + 1} of ${places.length}`]);
    const counted = at < 0 ? places : [places[at]];
    const text = (place) => [...linked.text.slice(place.start, place.end)].length;
    characters = counted.reduce((sum, place) => sum + text(place), 0);
    tokens = counted.some((place) => place.tokens == null)
      ? null
      : counted.reduce((sum, place) => sum + place.tokens, 0);
  }
  found.push(["characters", number(characters)]);
  if (tokens != null) found.push(["tokens", number(tokens)]);
  return found;
}
