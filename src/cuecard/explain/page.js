"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const panel = document.getElementById("panel");
  const panes = [document.getElementById("source"), document.getElementById("output")];

  // Pieces of both sides by key; a block has those of the outputs within it too.
  const byKey = new Map();
  const byRange = new Map();
  const add = (map, name, piece) => map.get(name)?.push(piece) ?? map.set(name, [piece]);
  for (const piece of document.querySelectorAll("[data-key]")) {
    const { key, range } = piece.dataset;
    add(byKey, key, piece);
    const block = key.split(".")[0];
    if (block !== key) add(byKey, block, piece);
    add(byRange, range, piece);
  }
  const paneOf = (piece) => piece.closest(".pane");
  const otherPane = (pane) => panes[1 - panes.indexOf(pane)];
  const within = (pane, key) => (byKey.get(key) ?? []).filter((piece) => pane.contains(piece));

  // Showing -----------------------------------------------------------------------------------
  let lit = [];
  let held = null;

  const clear = () => {
    for (const piece of lit) piece.classList.remove("on", "at");
    lit = [];
    panel.replaceChildren();
  };

  const show = (piece) => {
    clear();
    const { key, range } = piece.dataset;
    lit = byKey.get(key) ?? [];
    for (const other of lit) other.classList.add("on");
    for (const same of byRange.get(range)) same.classList.add("at");
    describe(piece);
    bringIntoView(otherPane(paneOf(piece)), key);
  };

  const bringIntoView = (pane, key) => {
    const pieces = within(pane, key);
    const frame = pane.getBoundingClientRect();
    const isVisible = (piece) => {
      const box = piece.getBoundingClientRect();
      return box.bottom > frame.top && box.top < frame.bottom;
    };
    if (!pieces.length || pieces.some(isVisible)) return;
    const box = pieces[0].getBoundingClientRect();
    pane.scrollTop += box.top - frame.top - frame.height / 3;
  };

  const describe = (piece) => {
    const { key, range } = piece.dataset;
    const part = data.parts[key];
    const [segment, inner] = key.split(".");
    const ranges = inner ? ranges_of(key) : [];
    const facts = [
      ["segment", inner ? `${segment}, an output in it` : `${segment}, ${part.kind}`],
      [part.lines.includes("-") ? "lines" : "line", part.lines],
      ["variables", part.variables.join(", ") || "none"],
      ["scope", part.scope],
    ];
    let [characters, tokens] = [part.characters, part.tokens];
    if (inner) {
      const at = ranges.indexOf(range);
      if (ranges.length > 1) {
        facts.push(["printed", at < 0 ? `${ranges.length} times` : `${at + 1} of ${ranges.length}`]);
      }
      const counted = at < 0 ? ranges : [range];
      characters = sum(counted.map((name) => data.ranges[name][0]));
      tokens = counted.length && data.ranges[counted[0]][1] === null ? null
        : sum(counted.map((name) => data.ranges[name][1]));
    }
    facts.push(["characters", characters.toLocaleString("en")]);
    if (tokens !== null) facts.push(["tokens", tokens.toLocaleString("en")]);
    if (held) facts.push(["held", "Esc lets go"]);
    for (const [name, text] of facts) {
      const [group, term, detail] = ["div", "dt", "dd"].map((tag) => document.createElement(tag));
      term.textContent = name;
      detail.textContent = text;
      group.append(term, detail);
      panel.append(group);
    }
  };
  const ranges_of = (key) => [...new Set(within(panes[1], key).map((p) => p.dataset.range))];
  const sum = (numbers) => numbers.reduce((total, one) => total + one, 0);

  // Pointing ------------------------------------------------------------------------------------
  const pieceOf = (event) => event.target.closest?.("[data-key]") ?? null;
  for (const pane of panes) {
    pane.addEventListener("mouseover", (event) => {
      if (held) return;
      const piece = pieceOf(event);
      if (piece) show(piece);
      else clear();
    });
    pane.addEventListener("mouseleave", () => { if (!held) clear(); });
    pane.addEventListener("click", (event) => {
      const piece = pieceOf(event);
      if (piece && held !== piece) {
        held = piece;
        show(piece);
      } else {
        letGo();
      }
    });
  }
  const letGo = () => {
    held = null;
    clear();
  };

  // Keys: one stop a side, and from there by the arrows -------------------------------------------
  for (const pane of panes) {
    const stops = [];
    for (const pieces of byRange.values()) if (pane.contains(pieces[0])) stops.push(pieces[0]);
    const enter = (piece) => {
      for (const stop of stops) stop.tabIndex = -1;
      piece.tabIndex = 0;
    };
    if (stops.length) enter(stops[0]);
    pane.addEventListener("focusin", (event) => {
      const piece = pieceOf(event);
      if (!piece) return;
      enter(piece);
      if (!held) show(piece);
    });
    pane.addEventListener("keydown", (event) => {
      const piece = pieceOf(event);
      if (!piece) return;
      const index = stops.indexOf(piece);
      const target = {
        ArrowDown: stops[index + 1],
        ArrowRight: stops[index + 1],
        ArrowUp: stops[index - 1],
        ArrowLeft: stops[index - 1],
        Home: stops[0],
        End: stops[stops.length - 1],
        Enter: within(otherPane(pane), piece.dataset.key)[0],
      }[event.key];
      if (!target) return;
      event.preventDefault();
      held = null;
      focusOn(target);
    });
  }
  const focusOn = (piece) => {
    const first = byRange.get(piece.dataset.range)[0];
    first.tabIndex = 0;
    first.focus();
  };
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") letGo();
  });
})();
