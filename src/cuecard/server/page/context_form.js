// A form made from inputs: a field for each, by its type; an empty field is not sent.

import { el } from "./dom.js";
import { isNumber, numberOf, parse, print } from "./json.js";

const SCOPES = ["turn", "day", "session", "static"];

export class ContextForm {
  /** `changed` is called with the whole context. */
  constructor(changed) {
    this.changed = changed;
    this.place = el("div", { class: "form" });
    this.inputs = [];
    this.value = {};
    this.scopes = {};
    this.fields = new Map();
  }

  /** Take other inputs; those of the context that nobody declared follow them. */
  describe(inputs, value) {
    if (JSON.stringify(inputs) === JSON.stringify(this.inputs)) return;
    this.inputs = inputs;
    this.draw(value);
  }

  /** Whether the JSON cannot be read: then the form shows what was last right, and waits. */
  broken(isBroken) {
    for (const control of this.place.querySelectorAll("input, select, textarea"))
      control.disabled = isBroken;
  }

  draw(value) {
    this.value = value;
    const declared = new Set(this.inputs.map((input) => input.name));
    const others = Object.keys(value)
      .filter((name) => !declared.has(name))
      .map((name) => ({
        name,
        type: "any",
        required: false,
        default: null,
        description: null,
        extra: true,
      }));
    const shown = [...this.inputs, ...others];
    const wanted = JSON.stringify(shown);
    if (wanted !== this.drawn) {
      this.drawn = wanted;
      this.fields.clear();
      this.place.replaceChildren(
        ...(shown.length
          ? shown.map((input) => this.#field(input))
          : [
              el("p", {
                class: "empty",
                text: "This template reads no variable. What it reads appears here as fields.",
              }),
            ]),
      );
    }
    for (const [name, field] of this.fields) {
      if (document.activeElement !== field.control)
        field.show(Object.hasOwn(value, name) ? value[name] : undefined);
    }
  }

  #field(input) {
    const make = { boolean: choice, integer: line, number: line, string: text }[input.type] ?? data;
    const id = `input-${this.fields.size}`; // A name may hold anything.
    const note = el("span", { class: "error-text", id: `${id}-note` });
    const field = make(input, (value) => this.#set(input.name, value), note);
    field.control.id = id;
    field.control.setAttribute("aria-describedby", `${id}-about ${id}-note`);
    if (input.required) field.control.setAttribute("aria-required", "true");
    this.fields.set(input.name, field);
    const about = [
      input.extra ? "not read" : input.type,
      input.required ? "required" : "optional",
      input.default != null ? `default ${shortly(input.default)}` : null,
    ].filter((fact) => fact && !(input.extra && fact !== "not read"));
    return el(
      "div",
      { class: "input" },
      el(
        "div",
        { class: "name" },
        el("label", { for: id, text: input.name }),
        input.required ? el("span", { class: "required", "aria-hidden": "true", text: "*" }) : "",
        el("span", { class: "quiet", id: `${id}-about`, text: about.join(", ") }),
        input.extra ? "" : this.#scope(input.name),
      ),
      input.description ? el("p", { class: "quiet", text: input.description }) : "",
      field.control,
      note,
    );
  }

  #scope(name) {
    return el(
      "select",
      {
        "aria-label": `How long ${name} holds`,
        on: {
          change: (event) => {
            this.scopes = { ...this.scopes, [name]: event.target.value };
            this.changed(this.value);
          },
        },
      },
      ...SCOPES.map((scope) =>
        el("option", {
          value: scope,
          text: scope,
          selected: (this.scopes[name] ?? "turn") === scope,
        }),
      ),
    );
  }

  #set(name, value) {
    const { [name]: before, ...others } = this.value;
    if (value === undefined && before === undefined) return;
    // A key keeps its place among the others.
    const next = value === undefined ? others : { ...this.value, [name]: value };
    this.value = next;
    this.changed(next);
  }
}

const shortly = (value) => (typeof value === "string" ? value : JSON.stringify(value)).slice(0, 60);

function text(input, set) {
  const control = el("textarea", {
    rows: "1",
    spellcheck: "false",
    on: { input: () => set(control.value === "" ? undefined : control.value) },
  });
  return {
    control,
    show: (value) => {
      control.value =
        value === undefined || value === null
          ? ""
          : typeof value === "string"
            ? value
            : print(value);
    },
  };
}

function line(input, set, note) {
  const control = el("input", {
    inputmode: input.type === "integer" ? "numeric" : "decimal",
    autocomplete: "off",
    on: {
      input: () => {
        const given = control.value.trim();
        const value = given === "" ? undefined : numberOf(given);
        note.textContent = value === null ? "This is no number." : "";
        if (value !== null) set(value);
      },
    },
  });
  return {
    control,
    show: (value) => {
      control.value =
        value === undefined || value === null
          ? ""
          : isNumber(value)
            ? JSON.stringify(value)
            : String(value);
      note.textContent = "";
    },
  };
}

function choice(input, set) {
  const control = el(
    "select",
    { on: { change: () => set({ true: true, false: false }[control.value]) } },
    el("option", { value: "", text: "not given" }),
    el("option", { value: "true", text: "true" }),
    el("option", { value: "false", text: "false" }),
  );
  return {
    control,
    show: (value) => {
      control.value = typeof value === "boolean" ? String(value) : "";
    },
  };
}

// Whatever JSON can say; text that is no JSON is meant as it is, where any type will do.
function data(input, set, note) {
  const control = el("textarea", {
    rows: "2",
    class: "code",
    spellcheck: "false",
    on: {
      input: () => {
        const given = control.value.trim();
        note.textContent = "";
        if (given === "") return set(undefined);
        try {
          set(parse(given));
        } catch (error) {
          if (input.type === "any" && !/^[[{"]/.test(given)) set(control.value);
          else note.textContent = `Not JSON yet: ${error.message}`;
        }
      },
    },
  });
  return {
    control,
    show: (value) => {
      control.value = value === undefined ? "" : isPlainText(input, value) ? value : print(value);
      note.textContent = "";
    },
  };
}

// A text may stand without quotes only where it cannot be read as anything else.
function isPlainText(input, value) {
  if (input.type !== "any" || typeof value !== "string" || value === "" || value !== value.trim())
    return false;
  if (/^[[{"]/.test(value)) return false;
  try {
    parse(value);
    return false;
  } catch {
    return true;
  }
}
