// Links: source and output of an explanation cut into ranges, so that each knows its
// counterparts. A key is the number of a segment, or that and the number of an output in it.

import { rangeAt, toUnits } from "./offsets.js";

/** An explanation with offsets of the browser, and its links. */
export class Linked {
  constructor(data, sent) {
    const toText = toUnits(sent);
    const toPrompt = toUnits(data.text);
    this.data = data;
    this.text = data.text;
    this.parts = new Map();
    this.source = [];
    this.output = [];
    const start = data.body_start ?? 0;
    for (const segment of data.segments) {
      this.#add(String(segment.number), segment, (at) => toText(at + start), toPrompt);
    }
    this.cut = toPrompt(data.cacheable_prefix.characters);
  }

  #add(key, segment, toText, toPrompt) {
    const keys = new Map();
    const spans = segment.children
      .map(({ span }) => [toText(span.start), toText(span.end)])
      .sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    for (const [start, end] of spans) {
      if (!keys.has(`${start}-${end}`))
        keys.set(`${start}-${end}`, { start, end, key: `${key}.${keys.size + 1}` });
    }
    const nameOf = ({ span }) => keys.get(`${toText(span.start)}-${toText(span.end)}`).key;
    const place = (part) => ({ start: toPrompt(part.start), end: toPrompt(part.end) });
    this.parts.set(key, { ...segment, key, at: place(segment) });
    for (const child of segment.children) {
      const name = nameOf(child);
      if (!this.parts.has(name)) this.parts.set(name, { ...child, key: name, at: place(child) });
    }
    const children = segment.children.map((child) => ({
      ...place(child),
      key: nameOf(child),
      tokens: child.tokens,
    }));
    nested(
      this.output,
      { ...place(segment), key, tokens: segment.tokens },
      children.sort((a, b) => a.start - b.start),
    );
    const span = { start: toText(segment.span.start), end: toText(segment.span.end), key };
    const last = this.source.at(-1);
    const from = Math.max(span.start, last ? last.end : 0);
    if (span.end > from) nested(this.source, { ...span, start: from }, [...keys.values()]);
  }

  /** The range of the source or of the output at an offset; null for none. */
  at(side, offset) {
    return offset == null ? null : rangeAt(this[side], offset);
  }

  /** All ranges of a side that belong to a key; a block has those of the outputs in it. */
  of(side, key) {
    this.index ??= { source: byKey(this.source), output: byKey(this.output) };
    return this.index[side].get(key) ?? [];
  }

  /** What the lists of the page say of each segment. */
  get segments() {
    return this.data.segments.map((segment) => this.parts.get(String(segment.number)));
  }
}

function byKey(ranges) {
  const found = new Map();
  const add = (key, range) => found.get(key)?.push(range) ?? found.set(key, [range]);
  for (const range of ranges) {
    add(range.key, range);
    const block = range.key.split(".")[0];
    if (block !== range.key) add(block, range);
  }
  return found;
}

// What would overlap or leave the whole is not told apart.
function nested(found, whole, inner) {
  let position = whole.start;
  for (const part of inner) {
    if (part.start < position || part.end < part.start || part.end > whole.end) continue;
    if (part.start > position) found.push({ ...whole, start: position, end: part.start });
    if (part.end > part.start) found.push(part);
    position = part.end;
  }
  if (whole.end > position) found.push({ ...whole, start: position });
}
