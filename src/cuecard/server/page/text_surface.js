// A text shown as one text node that scrolls: offsets to places on the screen and back, ranges
// painted by name, numbers of the lines that can be seen. No element a line, however long it is.

import { eachFrame, el, write } from "./dom.js";
import { lineStarts } from "./offsets.js";

const registry = globalThis.CSS?.highlights ?? null;

export class TextSurface {
  /** `scroller` holds the text; `prefix` begins the names of what is painted here. */
  constructor(scroller, prefix) {
    this.scroller = scroller;
    this.prefix = prefix;
    this.node = document.createTextNode("");
    this.gutter = el("div", { class: "gutter", "aria-hidden": "true" });
    this.mirror = el("div", { class: "mirror" }, this.node);
    this.sheet = el("div", { class: "sheet" }, this.gutter, this.mirror);
    scroller.append(this.sheet);
    this.starts = [0];
    this.firstLine = 1;
    const redraw = eachFrame(() => this.#number());
    scroller.addEventListener("scroll", redraw, { passive: true });
    new ResizeObserver(redraw).observe(this.sheet);
    this.redraw = redraw;
  }

  get text() {
    return this.node.data.slice(0, -1);
  }

  set text(text) {
    // The extra line break gives an empty last line its height.
    this.node.data = `${text}\n`;
    this.starts = lineStarts(text);
    this.redraw();
  }

  /** Paint ranges ([start, end] each) under a name, in place of those painted under it. */
  paint(name, ranges, priority = 0) {
    if (!registry) return;
    const full = `${this.prefix}-${name}`;
    if (!ranges.length) {
      registry.delete(full);
      return;
    }
    const highlight = new Highlight();
    for (const [start, end] of ranges) if (end > start) highlight.add(this.#range(start, end));
    highlight.priority = priority;
    registry.set(full, highlight);
  }

  #range(start, end) {
    const last = this.node.data.length;
    return new StaticRange({
      startContainer: this.node,
      startOffset: Math.min(start, last),
      endContainer: this.node,
      endOffset: Math.min(end, last),
    });
  }

  /** Where a character is on the screen. */
  boxAt(offset) {
    const range = document.createRange();
    const at = Math.min(Math.max(0, offset), this.node.data.length - 1);
    range.setStart(this.node, at);
    range.setEnd(this.node, at + 1);
    return range.getClientRects()[0] ?? range.getBoundingClientRect();
  }

  /** The character at a place of the screen; null beside the text. */
  offsetAt(x, y) {
    const place = caretAt(x, y);
    if (!place || !this.sheet.contains(place.node)) return null;
    // A caret stands between characters: at the right half of one it is behind it.
    const before = place.offset > 0 ? this.boxAt(place.offset - 1) : null;
    const isWithin =
      before && x >= before.left && x < before.right && y >= before.top && y < before.bottom;
    return isWithin ? place.offset - 1 : place.offset;
  }

  /** Scroll so that a range can be seen; nothing moves when it can be already. */
  reveal(start, end = start) {
    const frame = this.scroller.getBoundingClientRect();
    if (!frame.height) return;
    const [first, last] = [this.boxAt(start), this.boxAt(Math.max(start, end - 1))];
    const beginsInView = first.top >= frame.top && first.bottom <= frame.bottom;
    const reachesIntoView = first.top < frame.top && last.bottom > frame.top;
    if (beginsInView || reachesIntoView) return;
    this.scroller.scrollTop += first.top - frame.top - frame.height / 3;
  }

  #number() {
    const frame = this.scroller.getBoundingClientRect();
    if (!frame.height) return;
    const top = this.sheet.getBoundingClientRect().top;
    let [low, high] = [0, this.starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.boxAt(this.starts[middle]).top <= frame.top) low = middle;
      else high = middle - 1;
    }
    let used = 0;
    for (let line = low; line < this.starts.length; line++) {
      const box = this.boxAt(this.starts[line]);
      if (box.top > frame.bottom) break;
      const number = this.gutter.children[used] ?? this.gutter.appendChild(el("span"));
      used++;
      number.hidden = false;
      number.style.top = `${box.top - top}px`;
      number.style.lineHeight = `${box.height}px`;
      write(number, line + this.firstLine);
    }
    // Those that are left over are kept: see `write`.
    for (const number of [...this.gutter.children].slice(used)) number.hidden = true;
  }
}

function caretAt(x, y) {
  if (document.caretPositionFromPoint) {
    const place = document.caretPositionFromPoint(x, y);
    return place && { node: place.offsetNode, offset: place.offset };
  }
  const range = document.caretRangeFromPoint?.(x, y);
  return range && { node: range.startContainer, offset: range.startOffset };
}
