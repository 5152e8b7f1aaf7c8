// The page: which view is open, what the address says, keys that work everywhere.

import { $, opened, say } from "./dom.js";
import { AgentsList } from "./agents_list.js";
import { Api } from "./api.js";
import { makeLink, readLink } from "./link.js";
import { keepScratch, keptScratch } from "./scratch.js";
import { Tabs } from "./tabs.js";
import { Workbench } from "./workbench.js";

const api = new Api(askToken);
const bench = new Workbench(api);
const list = new AgentsList();
const tools = new Tabs($("tabs"), (tab) => {
  for (const other of tools.tabs) $(other.getAttribute("aria-controls")).hidden = other !== tab;
  if (tab.id === "tab-segments") bench.segments.draw();
  bench.context.editor.surface.redraw();
});
new Tabs($("panes"), (tab) => bench.showPane(tab.dataset.pane));

async function askToken(wasRefused) {
  $("token").value = "";
  $("token-note").textContent = wasRefused
    ? "The one that was given is not known here."
    : "Whoever runs it can give you one.";
  return (await opened($("token-dialog"))) === "ok" ? $("token").value.trim() : null;
}

// views -------------------------------------------------------------------------------------------

let route = 0;

async function follow() {
  const mine = ++route;
  let state;
  try {
    state = await readLink(location.hash);
  } catch {
    state = {};
    say("This link cannot be read: it may have been cut.", "error");
  }
  if (mine !== route) return;
  if (state.agent) await openAgent(state);
  else if (state.template !== undefined) openScratch(state);
  else if (location.hash === "#scratch" && keptScratch() !== null)
    openScratch({ template: keptScratch() });
  else await openStart();
}

async function openStart() {
  bench.leave();
  document.body.dataset.view = "start";
  document.title = "cuecard";
  $("agent-name").textContent = $("agent-facts").textContent = "";
  try {
    list.show(await api.get("/v1/agents"));
  } catch (error) {
    list.failed(error);
  }
}

async function openAgent({ agent, ...given }) {
  try {
    if (!(await bench.openAgent(agent, given))) return;
  } catch (error) {
    say(`${agent} cannot be opened: ${error.message}`, "error");
    history.replaceState(null, "", location.pathname);
    return openStart();
  }
  showBench();
  // What the link brought is in the page now; the address need not repeat it.
  if (given.template !== undefined || given.context !== undefined) {
    history.replaceState(null, "", await makeLink({ agent, profile: given.profile }));
  }
}

function openScratch({ template, ...given }) {
  keepScratch(template);
  history.replaceState(null, "", "#scratch");
  bench.openScratch(template, given);
  showBench();
}

function showBench() {
  document.body.dataset.view = "bench";
  bench.showPane("template");
  $("work").focus({ preventScroll: true });
}

// listening ---------------------------------------------------------------------------------------

$("home").addEventListener("click", () => {
  if (location.hash) location.hash = "";
  else openStart();
});
$("begin").addEventListener("click", () => openScratch({ template: $("paste").value }));
$("skip").addEventListener("click", (event) => {
  event.preventDefault();
  $("work").focus();
});
$("help").addEventListener("click", () => opened($("help-dialog")));
$("verdict").addEventListener("click", () => {
  bench.showPane("tools");
  tools.open($("tab-findings"));
  $("tab-findings").focus();
});
for (const button of document.querySelectorAll("[data-close]")) {
  button.addEventListener("click", () => button.closest("dialog").close("cancel"));
}
addEventListener("hashchange", follow);
addEventListener("beforeunload", (event) => {
  if (bench.hasUnsaved) event.preventDefault();
});

const inBench = () => document.body.dataset.view === "bench";
const KEYS = {
  F1: () => opened($("help-dialog")),
  "Ctrl+s": () => inBench() && bench.save(),
  F8: () => inBench() && bench.stepFinding(1),
  "Shift+F8": () => inBench() && bench.stepFinding(-1),
  "Alt+1": () => goTo("template", bench.editor.area),
  "Alt+2": () => goTo("prompt", $("prompt")),
  "Alt+3": () => goTo("tools", document.querySelector("#tabs [aria-selected=true]")),
  "Alt+,": () => bench.turns.step(-1),
  "Alt+.": () => bench.turns.step(1),
};

function goTo(pane, target) {
  if (!inBench()) return;
  bench.showPane(pane);
  target.focus();
}

document.addEventListener("keydown", (event) => {
  const held =
    (event.ctrlKey || event.metaKey ? "Ctrl+" : "") +
    (event.altKey ? "Alt+" : "") +
    (event.shiftKey ? "Shift+" : "");
  const key = event.altKey
    ? ({ Digit1: "1", Digit2: "2", Digit3: "3", Comma: ",", Period: "." }[event.code] ?? event.key)
    : event.key;
  const action = KEYS[held + key];
  if (!action) return;
  event.preventDefault();
  if (!document.querySelector("dialog[open]")) action();
});

// colours -----------------------------------------------------------------------------------------

const dark = matchMedia("(prefers-color-scheme: dark)");
const isDark = () =>
  (document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark";
const showTheme = () => $("theme").setAttribute("aria-pressed", String(isDark()));
$("theme").addEventListener("click", () => {
  const theme = isDark() ? "light" : "dark";
  document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem("cuecard.theme", theme);
  } catch {
    // It holds for this visit then.
  }
  showTheme();
});
dark.addEventListener("change", showTheme);

// beginning ---------------------------------------------------------------------------------------

showTheme();
tools.open($("tab-context"));
try {
  bench.equip(await api.get("/v1/me"));
  await follow();
} catch (error) {
  // Without a token or a service there is nothing to follow; a reload tries again.
  list.failed(error);
}
