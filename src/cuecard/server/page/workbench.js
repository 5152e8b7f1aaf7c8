// The workbench: one text and one context, kept checked and rendered while they change; and the
// links between what the panes show. It holds the state; the panes show it.

import { $, debounced, el, number, plural, say, write } from "./dom.js";
import { agentPath, Latest } from "./api.js";
import { Context } from "./context.js";
import { Details } from "./details.js";
import { Editor } from "./editor.js";
import { Findings, marksOf, placed } from "./findings.js";
import * as highlighting from "./highlighting.js";
import { print } from "./json.js";
import { endsOf, inEditor, inFile } from "./line_ends.js";
import { Linked } from "./linking.js";
import { lineStarts, offsetOf } from "./offsets.js";
import { drawPlan } from "./plan.js";
import { Pointing } from "./pointing.js";
import { PromptPane, showFailure } from "./prompt_pane.js";
import { Saving } from "./saving.js";
import { keepScratch } from "./scratch.js";
import { SegmentsTable } from "./segments_table.js";
import { copy, Sharing } from "./sharing.js";
import { Turns } from "./turns.js";

const RENDER_AFTER = 180; // Milliseconds without a change; a render takes a few.
const CHECK_AFTER = 320;
const TOO_BUSY = 429; // Then the same is asked again a little later.

export class Workbench {
  constructor(api) {
    this.api = api;
    this.drafts = new Map();
    this.calls = { render: new Latest(), check: new Latest(), turns: new Latest() };
    this.renderSoon = debounced(RENDER_AFTER, () => this.render());
    this.checkSoon = debounced(CHECK_AFTER, () => this.check());
    this.editor = new Editor($("template"), {
      label: "Template",
      prefix: "template",
      speech: highlighting.template,
      describedBy: "editor-keys",
    });
    this.prompt = new PromptPane({
      point: (range, held) => this.pointing.atOutput(range, held),
      enter: (range) => this.pointing.toSource(range.key),
    });
    this.pointing = new Pointing({
      editor: this.editor,
      prompt: this.prompt,
      details: new Details($("details")),
      state: () => ({ linked: this.linked, hasSource: this.#hasSource }),
      go: {
        toSource: (start, end) => this.#goTo(start, end),
        toPane: (name) => this.showPane(name),
      },
    });
    this.context = new Context({
      changed: () => this.#contextChanged(),
      loadFile: (name) => this.#contextFile(name),
    });
    this.findings = new Findings({
      go: (finding) => this.#goTo(finding.from, finding.to),
      fix: (text) => this.#fix(text),
    });
    this.segments = new SegmentsTable({
      choose: (key) => this.pointing.hold(key),
      point: (key) => this.pointing.atKey(key),
    });
    this.turns = new Turns({
      load: (name) => this.#beside("turns", name),
      report: (turns) => this.#report(turns),
      explain: (turn) => this.#explained(turn),
      enter: (turn) => this.#enterTurn(turn),
      choose: (key) => this.pointing.hold(key),
    });
    this.saving = new Saving(api, {
      state: () => ({
        key: this.key,
        path: this.agent.path,
        text: this.fileText,
        saved: this.saved,
        revision: this.revision,
      }),
      saved: (file) => this.#isSaved(file),
      take: (file) => this.#take(file),
    });
    this.sharing = new Sharing(() => ({
      agent: this.key,
      profile: $("profile").value,
      template: this.editor.text,
      edited: this.isEdited,
      context: this.context.text,
    }));
    this.#listen();
  }

  #listen() {
    this.editor.on("input", () => this.#textChanged());
    this.editor.on("caret", (offset) => {
      this.#place(offset);
      this.pointing.caret(offset);
    });
    this.editor.on("point", (offset) => this.pointing.hover(offset));
    this.editor.area.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        this.pointing.toOutput();
      }
    });
    $("save").addEventListener("click", () => this.save());
    $("share").addEventListener("click", () => this.sharing.open());
    $("copy-text").addEventListener("click", () => this.#copy((data) => data.text, "the prompt"));
    $("copy-blocks").addEventListener("click", () =>
      this.#copy((data) => print(data.anthropic), "the blocks"),
    );
    for (const id of ["profile", "counter"])
      $(id).addEventListener("change", () => this.#contextChanged());
  }

  /** Take what the service can do: counters, profiles, whether the user may write. */
  equip(me) {
    this.me = me;
    const fill = (select, names) =>
      select.replaceChildren(
        select.options[0],
        ...names.map((name) => el("option", { value: name, text: name })),
      );
    fill($("profile"), me.profiles);
    fill($("counter"), me.counters);
    if (me.counters.includes("estimate")) $("counter").value = "estimate";
  }

  // opening -------------------------------------------------------------------------------------

  /** Open an agent; false when something else was opened before its file was there. */
  async openAgent(key, { profile = "", template, context } = {}) {
    this.leave();
    this.editor.lock();
    const mine = this.opening;
    let agent, file;
    try {
      [agent, file] = await Promise.all([
        this.api.get(agentPath(key)),
        this.api.get(`${agentPath(key)}/file`),
      ]);
    } catch (error) {
      if (mine === this.opening) throw error;
    }
    if (mine !== this.opening) return false;
    const draft = this.drafts.get(key);
    Object.assign(this, {
      key,
      agent,
      saved: file.text,
      revision: file.revision,
      ends: endsOf(file.text),
    });
    let text = template ?? inEditor(file.text);
    if (draft?.isEdited && template === undefined) {
      // It is a change of the file as it was then: a save must notice a newer one.
      ({ text } = draft);
      Object.assign(this, {
        saved: draft.saved,
        revision: draft.revision,
        ends: endsOf(draft.saved),
      });
    }
    this.#open(text, context ?? draft?.context ?? "{}", {
      profile: profile || draft?.profile || "",
      who: draft?.who ?? {},
    });
    this.context.describe(agent.inputs);
    return true;
  }

  openScratch(template, { profile = "", context } = {}) {
    this.leave();
    Object.assign(this, { key: null, agent: null, saved: null, revision: null, ends: "\n" });
    this.#open(inEditor(template), context ?? "{}", { profile, who: {} });
  }

  #open(text, context, { profile, who }) {
    Object.assign(this, { linked: null, linkedText: null, turn: null });
    $("profile").value = profile;
    this.editor.load(text);
    this.context.describe([]);
    this.context.load(context, {
      isAgent: Boolean(this.key),
      files: this.agent?.contexts ?? [],
    });
    this.context.who = who;
    this.turns.reset(this.agent?.turns ?? []);
    this.segments.clear();
    this.findings.unknown("The template is being checked.");
    this.prompt.clear("The prompt is being rendered.");
    showFailure(null);
    $("prompt-title").textContent = "Prompt";
    drawPlan(this.agent?.plan, null);
    this.pointing.clear();
    this.#title();
    this.#place(0);
    $("template").scrollTop = $("prompt").scrollTop = 0;
    this.render();
    this.check();
  }

  /** Keep what was changed, for when this agent is opened again. */
  leave() {
    this.opening = {};
    for (const call of Object.values(this.calls)) call.stop();
    this.renderSoon.cancel();
    this.checkSoon.cancel();
    if (this.key) {
      this.drafts.set(this.key, {
        text: this.editor.text,
        isEdited: this.isEdited,
        saved: this.saved,
        revision: this.revision,
        context: this.context.text,
        who: this.context.who,
        profile: $("profile").value,
      });
    }
    this.key = null;
    this.agent = null;
  }

  get isEdited() {
    return this.saved != null && this.editor.text !== inEditor(this.saved);
  }

  get hasUnsaved() {
    return (
      (this.key && this.isEdited) ||
      [...this.drafts].some(([key, draft]) => key !== this.key && draft.isEdited)
    );
  }

  get fileText() {
    return this.isEdited ? inFile(this.editor.text, this.ends) : this.saved;
  }

  get mayWrite() {
    return (
      Boolean(this.agent?.writable) &&
      !this.me?.read_only &&
      (this.me?.roles ?? []).includes("write")
    );
  }

  #title() {
    write($("agent-name"), this.key ?? "scratch");
    const title = `${this.key ?? "scratch"} - cuecard`;
    if (document.title !== title) document.title = title;
    const state = !this.key
      ? "not a file"
      : this.isEdited
        ? "edited, not saved"
        : this.mayWrite
          ? "as in the file"
          : "read-only";
    write(
      $("agent-facts"),
      [this.agent && shortly(this.agent.path), state].filter(Boolean).join(" · "),
    );
    $("save").classList.toggle("primary", Boolean(this.isEdited));
    $("save").disabled = !this.key || !this.mayWrite;
    $("save").title = !this.key
      ? "A pasted template has no file"
      : this.mayWrite
        ? "Save to the file (Ctrl S)"
        : "This service does not let you write";
  }

  // changes -------------------------------------------------------------------------------------

  #textChanged() {
    this.#title();
    this.pointing.lightSource(null);
    this.renderSoon();
    this.checkSoon();
    if (!this.key) keepScratch(this.editor.text);
  }

  #contextChanged() {
    this.renderSoon();
    this.checkSoon();
  }

  #enterTurn(turn) {
    this.turn = turn;
    this.render();
  }

  async #contextFile(name) {
    return this.#beside("contexts", name);
  }

  async #beside(kind, name) {
    try {
      const answer = await this.api.get(
        `${agentPath(this.key)}/${kind}/${encodeURIComponent(name)}`,
      );
      return kind === "turns" ? answer.turns : answer.context;
    } catch (error) {
      say(`${name} cannot be read: ${error.message}`, "error");
      return null;
    }
  }

  #fix(text) {
    const undoable = this.editor.replace(inEditor(text));
    say(undoable ? "The fixes are in the editor; undo takes them back." : "The fixes are in the editor.");
  }

  // asking the service --------------------------------------------------------------------------

  /** Render anew what is there now; only the latest answer is shown. */
  async render() {
    if (this.context.error) {
      this.#fail({
        code: "JSON",
        message: "The context is not JSON yet.",
        hint: this.context.error,
      });
      return;
    }
    const busy = setTimeout(() => {
      $("busy").hidden = false;
    }, 400);
    const sent = this.editor.text;
    const { turn } = this;
    const found = await this.calls.render.run((signal) =>
      this.#explain(this.#valuesOf(turn), sent, signal),
    );
    clearTimeout(busy);
    if (!found) return;
    $("busy").hidden = true;
    if (found.error?.status === TOO_BUSY) this.renderSoon();
    else if (found.error) this.#fail(found.error);
    else this.#show(found.value, sent, turn);
    if (this.turns.turns.length) this.#refreshTurns();
  }

  #refreshTurns() {
    const asked = JSON.stringify([
      this.editor.text,
      this.context.text,
      this.context.turn,
      this.context.scopes,
      $("profile").value,
      $("counter").value,
    ]);
    if (asked === this.turnsAsked && this.turns.series) return;
    this.turnsAsked = asked;
    this.turns.refresh();
  }

  #valuesOf(turn) {
    return turn ? { ...this.context.value, ...turn } : this.context.value;
  }

  #explain(values, sent, signal) {
    const profile = $("profile").value || null;
    const tokens = $("counter").value || null;
    if (!this.key) {
      return this.api.post(
        "/v1/explain",
        {
          text: sent,
          context: values,
          profile,
          tokens,
          scopes: this.context.scopes,
          name: "scratch.md",
        },
        { signal },
      );
    }
    // The agent's own text is rendered where it is loaded, an edited one in a process of its own.
    const own = !profile && this.saved === sent;
    return this.api.post(
      `${agentPath(this.key)}/explain`,
      {
        extra_vars: values,
        ...this.context.turn,
        scopes: this.context.scopes,
        tokens,
        ...(own ? {} : { text: sent, profile }),
      },
      { signal },
    );
  }

  async #explained(turn) {
    const sent = this.editor.text;
    try {
      return new Linked(await this.#explain(this.#valuesOf(turn), sent), sent);
    } catch (error) {
      say(`This turn cannot be rendered: ${error.message}`, "error");
      return null;
    }
  }

  #report(turns) {
    const body = {
      text: this.editor.text,
      turns: turns.map((turn) => this.#valuesOf(turn)),
      scopes: this.context.scopes,
      tokens: $("counter").value || null,
      name: this.agent?.path ?? "scratch.md",
      profile: $("profile").value || this.linked?.data.profile || this.agent?.profile || null,
    };
    if (this.key) Object.assign(body, { agent: this.key, ...this.context.turn });
    return this.calls.turns.run((signal) => this.api.post("/v1/turns", body, { signal }));
  }

  /** Check the text; what is found is marked where it is. */
  async check() {
    const sent = this.editor.text;
    const body = {
      text: sent,
      name: this.agent?.path ?? "scratch.md",
      profile: $("profile").value || null,
    };
    const found = await this.calls.check.run((signal) =>
      this.api.post("/v1/check", body, { signal }),
    );
    if (!found) return;
    if (found.error?.status === TOO_BUSY) return this.checkSoon();
    if (found.error) {
      this.findings.unknown(`The template could not be checked: ${found.error.message}`);
      return;
    }
    const { diagnostics, fixed, inputs } = found.value;
    this.checked = { found: placed(diagnostics, sent), fixed, text: sent };
    this.#showFindings();
    if (inputs && !diagnostics.some(({ code }) => code.startsWith("P1") && code < "P115"))
      this.context.describe(inputs);
  }

  #showFindings() {
    if (!this.checked || this.checked.text !== this.editor.text) return;
    const { found, fixed } = this.checked;
    const known = new Set(found.map(({ code, line }) => `${code}:${line}`));
    const said = !this.#hasSource
      ? []
      : placed(
          this.linked.data.diagnostics.filter(({ code, line }) => !known.has(`${code}:${line}`)),
          this.editor.text,
        );
    this.editor.mark(marksOf([...found, ...said]));
    this.findings.show(found, { fixed, said });
  }

  // showing -------------------------------------------------------------------------------------

  #fail(error) {
    $("busy").hidden = true;
    showFailure(error, () => this.#goToSpan(error.span));
    if (this.linked) this.prompt.stale(true);
    else this.prompt.clear("There is no prompt yet: what stands below is in its way.");
  }

  #show(data, sent, turn) {
    $("prompt-title").textContent = turn
      ? `Prompt of turn ${this.turns.turns.indexOf(turn) + 1}`
      : "Prompt";
    this.linked = new Linked(data, sent);
    this.linkedText = sent;
    this.prompt.show(this.linked);
    this.segments.show(this.linked);
    drawPlan(data.plan ?? this.agent?.plan, data.timings);
    const fault = data.diagnostics.find(({ severity }) => severity === "error");
    showFailure(
      fault
        ? {
            ...fault,
            message: `${fault.message}. A running agent would get the template as it stands.`,
            span: fault.line ? fault : null,
          }
        : null,
      () => this.#goToSpan(fault),
    );
    this.pointing.clear();
    this.#showFindings();
    if (document.activeElement === this.editor.area) this.pointing.caret(this.editor.caret);
  }

  get #hasSource() {
    return this.linked && this.linkedText === this.editor.text;
  }

  #place(offset) {
    const starts = lineStarts(this.editor.text.slice(0, offset));
    const column = [...this.editor.text.slice(starts.at(-1), offset)].length + 1;
    write($("caret"), `${number(starts.length)}:${column}`);
  }

  // going -----------------------------------------------------------------------------------------

  #goTo(start, end) {
    this.showPane("template");
    this.editor.select(start, Math.max(start, end));
  }

  #goToSpan(span) {
    if (!span) return;
    const start = offsetOf(this.editor.text, span.line, span.column);
    const end = span.end_line ? offsetOf(this.editor.text, span.end_line, span.end_column) : start;
    this.#goTo(start, end);
  }

  // actions -------------------------------------------------------------------------------------

  /** Bring a pane into view, where there is room for one only. */
  showPane(name) {
    document.body.dataset.pane = name;
    for (const tab of document.querySelectorAll("#panes [role=tab]")) {
      tab.setAttribute("aria-selected", String(tab.dataset.pane === name));
      tab.tabIndex = tab.dataset.pane === name ? 0 : -1;
    }
    this.editor.surface.redraw();
    this.prompt.surface.redraw();
  }

  stepFinding(direction) {
    say(this.findings.step(this.editor.caret, direction) ?? "There is no finding to go to.");
  }

  save() {
    if (!this.key) say("A pasted template has no file. Copy it into one, or share it as a link.");
    else if (!this.mayWrite) say("This service does not let you write.", "error");
    else this.saving.open();
  }

  #isSaved({ text, revision }) {
    Object.assign(this, { saved: text, revision, ends: endsOf(text) });
    this.#title();
    this.render();
  }

  #take({ text, revision }) {
    Object.assign(this, { saved: text, revision, ends: endsOf(text) });
    this.editor.replace(inEditor(text));
    this.#title();
  }

  #copy(pick, what) {
    if (!this.linked) return say("There is no prompt to copy yet.");
    return copy(
      pick(this.linked.data),
      `${what} (${plural(this.linked.data.characters, "character")})`,
    );
  }
}

/** The end of a path, which tells files apart where there is little room. */
const shortly = (path) => path.split(/[\\/]/).slice(-2).join("/");
