// The pasted template, kept for this tab, so that a reload does not lose it.

const KEY = "cuecard.scratch";

export function keepScratch(text) {
  try {
    sessionStorage.setItem(KEY, text);
  } catch {
    // It is too long, or storage is switched off: then it lives until the next reload.
  }
}

/** The template that was kept; null when there is none. */
export function keptScratch() {
  try {
    return sessionStorage.getItem(KEY);
  } catch {
    return null;
  }
}
