// JSON whose numbers stay as they were written: 1.0 is not 1 to a template, and an id of 19
// digits must not be rounded on its way through the page.

const keeps = typeof JSON.rawJSON === "function";

export function parse(text) {
  if (!keeps) return JSON.parse(text);
  return JSON.parse(text, (key, value, place) =>
    typeof value === "number" && String(value) !== place.source
      ? JSON.rawJSON(place.source)
      : value,
  );
}

export const print = (value) => JSON.stringify(value, null, 2);

export const isNumber = (value) => typeof value === "number" || (keeps && JSON.isRawJSON(value));

export const isObject = (value) =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !isNumber(value);

/** A number as its text says it; null when it is none. */
export function numberOf(text) {
  try {
    const value = parse(text.trim());
    return isNumber(value) ? value : null;
  } catch {
    return null;
  }
}

const STRING = /"(?:[^"\\\0-\x1f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null/y;
const DEEPEST = 500; // Values may have 64 levels; without a bound, the stack would end.
const BLANK = /[ \t\r\n]*/y;

/** Where a text stops being JSON: an offset, or null when it does not. Browsers do not tell. */
export function faultAt(text) {
  let at = 0;
  const take = (pattern) => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) at += found[0].length;
    return Boolean(found);
  };
  const skip = (character) => {
    take(BLANK);
    if (text[at] !== character) return false;
    at++;
    return take(BLANK);
  };
  const items = (close, item) => {
    if (skip(close)) return true;
    do if (!item()) return false;
    while (skip(","));
    return skip(close);
  };
  const entry = () => take(STRING) && skip(":") && value();
  let depth = 0;
  const value = () => {
    const isObject = skip("{");
    if (!isObject && !skip("[")) return take(STRING) || take(SCALAR);
    if (++depth > DEEPEST) return false;
    const isRight = isObject ? items("}", entry) : items("]", value);
    depth--;
    return isRight;
  };
  take(BLANK);
  const isWhole = value() && take(BLANK) && at === text.length;
  return isWhole ? null : at;
}
