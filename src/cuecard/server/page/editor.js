// An editor: a textarea, so that undo, selection, input methods and screen readers are the
// browser's own, over a text of the same shape that carries the colours.

import { el } from "./dom.js";
import { TextSurface } from "./text_surface.js";

const MOST_LINES_TYPED = 400; // Browsers take seconds to insert more than that as if it was typed.

export class Editor {
  /** `speech` names the ranges of a text by kind (see highlighting.js). */
  constructor(scroller, { label, prefix, speech, describedBy }) {
    this.surface = new TextSurface(scroller, prefix);
    this.speech = speech;
    this.area = el("textarea", {
      "aria-label": label,
      "aria-describedby": describedBy,
      spellcheck: "false",
      autocomplete: "off",
      autocapitalize: "off",
      wrap: "soft",
    });
    this.surface.mirror.setAttribute("aria-hidden", "true");
    this.surface.sheet.append(this.area);
    this.listeners = { input: [], caret: [], point: [] };
    this.marks = {};
    this.last = "";
    this.area.addEventListener("input", () => this.#changed());
    this.area.addEventListener("keydown", (event) => this.#key(event));
    document.addEventListener("selectionchange", () => {
      if (document.activeElement === this.area) this.#tell("caret", this.caret);
    });
    this.area.addEventListener("mousemove", (event) => {
      this.#tell("point", this.surface.offsetAt(event.clientX, event.clientY));
    });
    this.area.addEventListener("mouseleave", () => this.#tell("point", null));
    this.surface.text = "";
    this.lock();
  }

  on(name, listener) {
    this.listeners[name].push(listener);
  }

  #tell(name, value) {
    for (const listener of this.listeners[name]) listener(value);
  }

  get text() {
    return this.area.value;
  }

  get caret() {
    return this.area.selectionStart;
  }

  /** Take no input until the next text is there, which would replace it. */
  lock() {
    this.area.readOnly = true;
  }

  /** Show another text; nobody is told, and there is no way back to the one before. */
  load(text) {
    this.area.value = this.last = text;
    this.area.readOnly = false;
    this.marks = {};
    this.#paint();
  }

  /** Change the text as if somebody had typed it; whether undo takes it back. */
  replace(text) {
    const old = this.text;
    if (old === text) return true;
    const [start, end, piece] = changedPart(old, text);
    const lines = Math.max(piece.split("\n").length, old.slice(start, end).split("\n").length);
    this.area.focus();
    this.area.setSelectionRange(start, end);
    const typed =
      lines <= MOST_LINES_TYPED &&
      document.execCommand(piece ? "insertText" : "delete", false, piece);
    if (typed && this.text === text) return true;
    this.area.value = text;
    this.#changed();
    return false;
  }

  /** Go to a place: focus, caret and view. */
  select(start, end = start) {
    this.area.focus({ preventScroll: true });
    this.area.setSelectionRange(start, end);
    this.surface.reveal(start, end);
    this.#tell("caret", start);
  }

  /** Underline places; `marks` are ranges by severity. */
  mark(marks) {
    this.marks = marks;
    for (const name of ["error", "warning"]) this.surface.paint(name, marks[name] ?? [], 20);
  }

  #changed() {
    this.#moveMarks();
    this.#paint();
    this.#tell("input", this.text);
  }

  // Until the next check, what is marked stays with its text; what was changed is not marked.
  #moveMarks() {
    const [start, end, piece] = changedPart(this.last, this.text);
    const by = piece.length - (end - start);
    for (const [name, ranges] of Object.entries(this.marks)) {
      this.marks[name] = ranges
        .filter((range) => range[1] <= start || range[0] >= end)
        .map((range) => (range[1] <= start ? range : [range[0] + by, range[1] + by]));
    }
    this.last = this.text;
  }

  #paint() {
    this.surface.text = this.text;
    for (const [kind, ranges] of Object.entries(this.speech(this.text))) {
      this.surface.paint(kind, ranges, 10);
    }
    this.mark(this.marks);
  }

  #key(event) {
    const page = { PageDown: 1, PageUp: -1 }[event.key];
    if (page && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      this.#turnPage(page, event.shiftKey);
    } else if ((event.ctrlKey || event.metaKey) && (event.key === "]" || event.key === "[")) {
      event.preventDefault();
      this.#indent(event.key === "]");
    }
  }

  // The textarea is as high as its text, so what it takes for a page is all of it. The caret
  // stays where it is on the screen while the text moves behind it.
  #turnPage(direction, extend) {
    const { scroller } = this.surface;
    const { selectionStart, selectionEnd, selectionDirection } = this.area;
    const isBackward = selectionDirection === "backward";
    const [anchor, focus] = isBackward
      ? [selectionEnd, selectionStart]
      : [selectionStart, selectionEnd];
    const frame = scroller.getBoundingClientRect();
    const box = this.surface.boxAt(focus);
    const before = scroller.scrollTop;
    scroller.scrollTop += direction * (scroller.clientHeight - 24);
    const edge = direction > 0 ? this.text.length : 0;
    const x = Math.max(box.left, frame.left + 60);
    const y = Math.min(Math.max(box.top + 4, frame.top + 6), frame.bottom - 6);
    const to = scroller.scrollTop === before ? edge : (this.surface.offsetAt(x, y) ?? edge);
    const [start, end] = extend ? [Math.min(anchor, to), Math.max(anchor, to)] : [to, to];
    this.area.setSelectionRange(start, end, to < anchor ? "backward" : "forward");
  }

  #indent(deeper) {
    const { selectionStart, selectionEnd } = this.area;
    const start = this.text.lastIndexOf("\n", selectionStart - 1) + 1;
    const found = this.text.indexOf("\n", Math.max(selectionEnd - 1, start));
    const end = found < 0 ? this.text.length : found;
    const old = this.text.slice(start, end);
    const changed = old.replace(deeper ? /^(?=.|$)/gm : /^ {1,2}|^\t/gm, deeper ? "  " : "");
    if (changed === old) return;
    this.replace(this.text.slice(0, start) + changed + this.text.slice(end));
    this.area.setSelectionRange(start, start + changed.length);
  }
}

/** Where two texts differ: start and end in the first, and what the second has there. */
function changedPart(old, text) {
  const most = Math.min(old.length, text.length);
  let start = 0;
  while (start < most && old[start] === text[start]) start++;
  let same = 0;
  while (same < most - start && old[old.length - 1 - same] === text[text.length - 1 - same]) same++;
  return [start, old.length - same, text.slice(start, text.length - same)];
}
