// Line ends: an editor of the browser knows only line feeds, a file keeps the ones that it has.

/** The line ends that a file's text has throughout; line feeds when they are mixed. */
export function endsOf(text) {
  return /\r\n/.test(text) && !/(^|[^\r])\n|\r(?!\n)/.test(text) ? "\r\n" : "\n";
}

export const inEditor = (text) => text.replace(/\r\n?/g, "\n");

export const inFile = (text, ends) => (ends === "\n" ? text : text.replaceAll("\n", ends));
