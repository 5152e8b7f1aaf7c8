// The context: one state, JSON text, seen as that text or as a form of the declared inputs; and
// for an agent whom the turn is for.

import { $, el } from "./dom.js";
import { ContextForm } from "./context_form.js";
import { Editor } from "./editor.js";
import * as highlighting from "./highlighting.js";
import { faultAt, isObject, parse, print } from "./json.js";

export class Context {
  /** `changed` is called after each change; `loadFile` with a recorded context's name. */
  constructor({ changed, loadFile }) {
    this.changed = changed;
    this.loadFile = loadFile;
    this.value = {};
    this.error = null;
    this.form = new ContextForm((value) => this.#fromForm(value));
    this.#build();
  }

  get text() {
    return this.editor.text;
  }

  /** Whom the turn is for, as the service takes it. */
  get turn() {
    const read = (id) => $(id).value.trim();
    const [user, session, zone] = [read("user"), read("session"), read("zone")];
    const given = (values) => {
      const entries = Object.entries(values).filter(([, value]) => value);
      return entries.length ? Object.fromEntries(entries) : null;
    };
    return {
      session: session ? given({ id: session, user_id: user, time_zone: zone }) : null,
      auth: given({ user_id: user, time_zone: zone }),
    };
  }

  get who() {
    return { user: $("user").value, session: $("session").value, zone: $("zone").value };
  }

  set who({ user = "", session = "", zone = "" }) {
    [$("user").value, $("session").value, $("zone").value] = [user, session, zone];
  }

  get scopes() {
    return this.form.scopes;
  }

  /** Show another context, of an agent or of a scratch template. */
  load(text, { isAgent, files = [] }) {
    this.editor.load(text);
    this.#read();
    this.who_fields.hidden = !isAgent;
    this.form.scopes = {};
    this.files.hidden = !files.length;
    this.fileChoice.replaceChildren(
      el("option", { value: "", text: "choose a file" }),
      ...files.map((name) => el("option", { value: name, text: name })),
    );
    this.form.draw(this.value);
  }

  /** Which inputs there are; the form is drawn anew only when they changed. */
  describe(inputs) {
    this.form.describe(inputs, this.value);
  }

  replace(value) {
    this.editor.load(print(value));
    this.#read();
    this.form.draw(this.value);
    this.changed();
  }

  #build() {
    const view = (name, text) =>
      el(
        "label",
        { class: "choice" },
        el("input", {
          type: "radio",
          name: "context-view",
          value: name,
          on: { change: () => this.#view(name) },
        }),
        el("span", { text }),
      );
    this.fileChoice = el("select", { on: { change: () => this.#chosen() } });
    this.files = el(
      "label",
      { class: "small", hidden: true },
      el("span", { text: "Beside the agent" }),
      this.fileChoice,
    );
    this.note = el("p", { class: "error-text", role: "status" });
    this.jsonPlace = el("div", { class: "surface", id: "context-json" });
    this.who_fields = el(
      "fieldset",
      { class: "who" },
      el("legend", { text: "This turn is for" }),
      ...[
        ["user", "User"],
        ["session", "Session id"],
        ["zone", "Time zone"],
      ].map(([id, text]) =>
        el(
          "label",
          { class: "field" },
          el("span", { text }),
          el("input", {
            id,
            autocomplete: "off",
            spellcheck: "false",
            placeholder: id === "zone" ? "Europe/Oslo" : "",
            on: { input: () => this.changed() },
          }),
        ),
      ),
    );
    $("panel-context").replaceChildren(
      el(
        "div",
        { class: "row" },
        el(
          "div",
          { role: "radiogroup", "aria-label": "View of the context", class: "choices" },
          view("form", "Form"),
          view("json", "JSON"),
        ),
        this.files,
        this.note,
      ),
      el(
        "div",
        { class: "context" },
        el("div", { class: "values" }, this.form.place, this.jsonPlace),
        this.who_fields,
      ),
    );
    this.editor = new Editor(this.jsonPlace, {
      label: "Context as JSON",
      prefix: "json",
      speech: highlighting.json,
      describedBy: "editor-keys",
    });
    this.editor.on("input", () => this.#typed());
    $("panel-context").querySelector("input[value=form]").checked = true;
    this.#view("form");
  }

  #view(name) {
    this.form.place.hidden = name !== "form";
    this.jsonPlace.hidden = name !== "json";
    if (name === "form") this.form.draw(this.value);
    else this.editor.surface.redraw();
  }

  #typed() {
    this.#read();
    this.changed();
  }

  #read() {
    const text = this.editor.text;
    this.error = null;
    this.editor.mark({});
    try {
      const value = text.trim() ? parse(text) : {};
      if (!isObject(value)) throw new SyntaxError("the context must be an object: { ... }");
      this.value = value;
    } catch (error) {
      this.error = error.message;
      const at = faultAt(text);
      if (at !== null)
        this.editor.mark({ error: [[Math.max(0, Math.min(at, text.length - 1)), at + 1]] });
    }
    this.note.textContent = this.error ? `Not JSON yet: ${this.error}` : "";
    this.form.broken(this.error !== null);
  }

  #fromForm(value) {
    this.editor.load(print(value));
    this.#read();
    this.changed();
  }

  async #chosen() {
    const name = this.fileChoice.value;
    if (!name) return;
    const value = await this.loadFile(name);
    if (value) this.replace(value);
    this.fileChoice.value = "";
  }
}
