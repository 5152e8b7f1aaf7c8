// Offsets: the service counts characters (code points), the browser UTF-16 units. They differ
// after the first emoji, so each offset is converted where it arrives.

/** A function from an offset in code points to one in units. */
export function toUnits(text) {
  // The n-th wide character stands at wide[n] (in code points): n units more are before what follows.
  const wide = [];
  for (const found of text.matchAll(/[\ud800-\udbff][\udc00-\udfff]/g)) {
    wide.push(found.index - wide.length);
  }
  if (!wide.length) return (offset) => offset;
  return (offset) => offset + countBelow(wide, offset);
}

function countBelow(sorted, limit) {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Offsets at which lines begin. */
export function lineStarts(text) {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

/** The offset of a line and a column (in characters), both from 1. */
export function offsetOf(text, line, column) {
  const starts = lineStarts(text);
  const start = starts[Math.min(Math.max(line, 1), starts.length) - 1];
  const row = text.slice(
    start,
    text.indexOf("\n", start) < 0 ? undefined : text.indexOf("\n", start),
  );
  return start + Math.min(toUnits(row)(Math.max(0, column - 1)), row.length);
}

/** The last range that begins at or before an offset and reaches beyond it; null for none. */
export function rangeAt(ranges, offset) {
  let [low, high] = [0, ranges.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ranges[middle].start <= offset) low = middle + 1;
    else high = middle;
  }
  const found = ranges[low - 1];
  return found && offset < found.end ? found : null;
}
