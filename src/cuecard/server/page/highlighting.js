// Which characters of a template or of JSON have which part of speech. Only ranges are made:
// the CSS Custom Highlight API colours them in place, without an element for each.

const WORDS = new Set(
  (
    "and as autoescape block call continue break debug do elif else endautoescape endblock endcall " +
    "endfilter endfor endif endmacro endraw endset endwith extends filter for from if ignore import " +
    "in include is loop macro missing not or raw recursive required scoped set true false none " +
    "True False None with without context"
  ).split(" "),
);
const CLOSERS = { "{{": "}}", "{%": "%}" };
const PIECE =
  /("(?:[^"\\]|\\[^])*"|'(?:[^'\\]|\\[^])*')|(\d+(?:\.\d+)?)|(\|\s*[A-Za-z_]\w*)|([A-Za-z_]\w*)|([-+]?[}%]\})|[^]/gy;

/** Ranges of a template by kind: header, delimiter, word, string, number, filter, comment. */
export function template(text) {
  const found = {
    header: [],
    delimiter: [],
    word: [],
    string: [],
    number: [],
    filter: [],
    comment: [],
  };
  const add = (kind, start, end) => found[kind].push([start, end]);
  let at = header(text, add);
  for (;;) {
    const start = text.indexOf("{", at);
    if (start < 0 || start + 1 >= text.length) return found;
    const opener = text.slice(start, start + 2);
    if (opener === "{#") {
      const end = text.indexOf("#}", start + 2);
      at = end < 0 ? text.length : end + 2;
      add("comment", start, at);
    } else if (opener in CLOSERS) {
      at = tag(text, start, CLOSERS[opener], add);
    } else {
      at = start + 1;
    }
  }
}

function header(text, add) {
  const whole = /^\ufeff?---[ \t]*\r?\n(?:[^]*?\n)?---[ \t]*(?:\r?\n|$)/.exec(text);
  if (!whole) return 0;
  for (const key of whole[0].matchAll(/^[ \t-]*([\w.-]+)(?=:)/gm)) {
    const start = key.index + key[0].length - key[1].length;
    add("header", start, start + key[1].length);
  }
  return whole[0].length;
}

function tag(text, start, closer, add) {
  const marked = /[-+]/.test(text[start + 2] ?? "") ? 3 : 2;
  add("delimiter", start, start + marked);
  PIECE.lastIndex = start + marked;
  let first = null;
  for (let piece; (piece = PIECE.exec(text));) {
    const [whole, string, digits, filter, name, close] = piece;
    const end = piece.index + whole.length;
    if (close?.endsWith(closer)) {
      add("delimiter", piece.index, end);
      return first === "raw" ? afterRaw(text, end, add) : end;
    }
    first ??= name ?? (whole.trim() ? whole : null);
    if (string) add("string", piece.index, end);
    else if (digits) add("number", piece.index, end);
    else if (filter) add("filter", piece.index + 1, end);
    else if (name && WORDS.has(name)) add("word", piece.index, end);
  }
  return text.length;
}

function afterRaw(text, from, add) {
  const close = /\{%[-+]?\s*endraw\s*[-+]?%\}/g;
  close.lastIndex = from;
  const found = close.exec(text);
  return found ? tag(text, found.index, "%}", add) : text.length;
}

/** Ranges of JSON by kind: key, string, number, word. */
export function json(text) {
  const found = { header: [], string: [], number: [], word: [] };
  const piece =
    /("(?:[^"\\\n]|\\.)*")(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)|\b(true|false|null)\b/g;
  for (const match of text.matchAll(piece)) {
    const kind = match[1] ? (match[2] ? "header" : "string") : match[3] ? "number" : "word";
    found[kind].push([match.index, match.index + (match[1] ?? match[0]).length]);
  }
  return found;
}
