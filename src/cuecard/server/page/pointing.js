// Pointing: what the mouse, the caret or a list means is lit in both texts and told below them.

import { say } from "./dom.js";

const HINT =
  "Point at a part of the prompt, or put the caret into a tag, to see where it comes from.";

export class Pointing {
  /**
   * `state` gives {linked, hasSource}: the links, and whether they fit what is in the editor;
   * `go` has `toSource(start, end)` and `toPane(name)`.
   */
  constructor({ editor, prompt, details, state, go }) {
    Object.assign(this, { editor, prompt, details, state, go });
  }

  get linked() {
    return this.state().linked;
  }

  /** Nothing is meant. */
  clear() {
    this.details.clear(HINT);
  }

  /** Light the source of a key, if it is still what was rendered. */
  lightSource(key) {
    const ranges = key === null || !this.state().hasSource ? [] : this.linked.of("source", key);
    this.editor.surface.paint(
      "on",
      ranges.map((range) => [range.start, range.end]),
      5,
    );
    return ranges;
  }

  /** A range of the output is meant. */
  atOutput(range, held) {
    if (!range) return this.#unlight();
    this.prompt.light(range.key, range);
    const [first] = this.lightSource(range.key);
    if (first) this.editor.surface.reveal(first.start, first.end);
    this.details.show(this.linked, range.key, range, held);
  }

  /** All that belongs to a key is meant; gives the first range of its output. */
  atKey(key) {
    if (key === null) return this.#unlight();
    const [first] = this.prompt.light(key);
    this.lightSource(key);
    this.details.show(this.linked, key, null, false);
    return first;
  }

  #unlight() {
    if (this.prompt.held) return;
    this.prompt.light(null);
    this.lightSource(null);
    this.details.clear(HINT);
  }

  /** The mouse is at an offset of the editor, or beside its text (null). */
  hover(offset) {
    if (this.prompt.held || !this.state().hasSource) return;
    const range = this.linked.at("source", offset);
    if (range) this.#showSource(range.key);
    else if (document.activeElement === this.editor.area) this.caret(this.editor.caret);
    else this.#unlight();
  }

  #showSource(key) {
    const first = this.atKey(key);
    if (first) this.prompt.surface.reveal(first.start, first.end);
  }

  #tagAt(offset) {
    if (!this.state().hasSource) return null;
    for (const at of [offset, offset - 1]) {
      const range = this.linked.at("source", at);
      if (range && this.linked.parts.get(range.key).kind !== "text") return range;
    }
    return null;
  }

  /** The caret is at an offset of the editor. */
  caret(offset) {
    const range = this.#tagAt(offset);
    this.prompt.held = false;
    if (range) this.#showSource(range.key);
    else this.#unlight();
  }

  /** Leave the editor for what the tag at the caret printed. */
  toOutput() {
    const range =
      this.#tagAt(this.editor.caret) ??
      (this.state().hasSource ? this.linked.at("source", this.editor.caret) : null);
    const [first] = range ? this.linked.of("output", range.key) : [];
    if (!first) return say("Nothing of the prompt comes from here.");
    this.go.toPane("prompt");
    this.prompt.goTo(first);
  }

  /** Leave the prompt for the source of a key. */
  toSource(key) {
    if (!this.state().hasSource) return say("The template changed since this prompt was rendered.");
    const [first] = this.linked.of("source", key);
    if (first) this.go.toSource(first.start, first.end);
  }

  /** Hold a segment that was chosen in a list: both texts show it. */
  hold(key) {
    if (!this.linked?.parts.has(key)) return;
    this.prompt.held = true;
    const first = this.atKey(key);
    const [source] = this.lightSource(key);
    this.details.show(this.linked, key, null, true);
    if (first) this.prompt.surface.reveal(first.start, first.end);
    if (source) this.editor.surface.reveal(source.start, source.end);
  }
}
