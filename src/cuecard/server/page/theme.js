// Sets the chosen colours before the first paint; it is no module, as those run later.
"use strict";
(() => {
  let chosen = null;
  try {
    chosen = localStorage.getItem("cuecard.theme");
  } catch {
    // Storage may be switched off; then the system's colours are used.
  }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();
