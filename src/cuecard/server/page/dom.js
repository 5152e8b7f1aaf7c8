// Elements made from data. Text goes in as text only, so nothing that a user or a file says
// can become markup.

export const $ = (id) => document.getElementById(id);

const SVG = "http://www.w3.org/2000/svg";

/** An element; `props` are attributes, but for `text`, `on` (listeners) and `data`. */
export function el(tag, props = {}, ...children) {
  return filled(document.createElement(tag), props, children);
}

/** The same in the namespace of SVG. */
export function svg(tag, props = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), props, children);
}

function filled(element, { text, on = {}, data = {}, ...attributes }, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, String(value));
  }
  if (text != null) element.textContent = visible(text);
  Object.assign(element.dataset, data);
  for (const [name, listener] of Object.entries(on)) element.addEventListener(name, listener);
  element.append(...children.filter((child) => child != null));
  return element;
}

/** Text with its control characters as pictures, and what would turn its order as codes. */
export function visible(text) {
  return String(text)
    .replace(/[\0-\x08\x0b-\x1f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)))
    .replace(
      /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
      (c) => `\u2039U+${c.charCodeAt(0).toString(16).toUpperCase()}\u203a`,
    );
}

/**
 * Set the text of an element that has nothing else. Its text node is kept: when nodes come and
 * go between two keystrokes, browsers undo what was typed letter by letter.
 */
export function write(element, text) {
  const shown = visible(text);
  const { firstChild } = element;
  if (firstChild?.nodeType !== Node.TEXT_NODE) element.textContent = shown;
  else if (firstChild.data !== shown) firstChild.data = shown;
}

const LONGEST_NOTE = 6000;
let gone = 0;

/** Say something in passing; it is read out, and moves nothing. */
export function say(text, tone = "plain") {
  const note = $("note");
  note.textContent = visible(text);
  note.dataset.tone = tone;
  note.hidden = false;
  clearTimeout(gone);
  gone = setTimeout(() => {
    note.hidden = true;
  }, LONGEST_NOTE);
}

export const number = (value) => (value == null ? "" : value.toLocaleString("en"));

export function plural(count, noun) {
  return `${number(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** Call a function once nothing has asked for it for a while. */
export function debounced(milliseconds, action) {
  let timer = 0;
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(action, milliseconds);
  };
  later.cancel = () => clearTimeout(timer);
  return later;
}

/** Call a function at most once a frame. */
export function eachFrame(action) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      action();
    });
  };
}

/** Open a dialog; the promise has its `returnValue` once it is closed. */
export function opened(dialog) {
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue), { once: true });
  });
}
