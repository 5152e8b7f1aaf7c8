// The list of agents, with a filter; what is wrong with their files is said beside them.

import { $, el, plural } from "./dom.js";

export class AgentsList {
  constructor() {
    this.agents = [];
    this.diagnostics = [];
    $("filter").addEventListener("input", () => this.draw());
    $("filter").addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown" || event.key === "Enter") {
        event.preventDefault();
        const first = $("agents").querySelector("a");
        if (event.key === "Enter") first?.click();
        else first?.focus();
      }
    });
    $("agents").addEventListener("keydown", (event) => {
      const links = [...$("agents").querySelectorAll("a")];
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step || !links.includes(document.activeElement)) return;
      event.preventDefault();
      (links[links.indexOf(document.activeElement) + step] ?? $("filter")).focus();
    });
  }

  show({ agents, diagnostics }) {
    this.agents = agents;
    this.diagnostics = diagnostics;
    this.draw();
  }

  failed(error) {
    $("agents-count").textContent =
      `The agents could not be listed: ${error.message}. Load the page again to try once more.`;
    $("agents").replaceChildren();
  }

  draw() {
    const words = $("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = ({ id, name, description, path }) => {
      const text = `${id} ${name} ${description ?? ""} ${path}`.toLowerCase();
      return words.every((word) => text.includes(word));
    };
    const found = this.agents.filter(fits);
    $("agents-count").textContent =
      this.agents.length === 0
        ? "There is no agent in the service's folders. Paste a template, or put an agent file there."
        : words.length
          ? `${found.length} of ${plural(this.agents.length, "agent")}`
          : plural(this.agents.length, "agent");
    $("agents").replaceChildren(...found.map((agent) => this.#row(agent)));
  }

  #row(agent) {
    const { id, name, description, path, problems } = agent;
    return el(
      "li",
      {},
      el(
        "a",
        { href: `#agent=${encodeURIComponent(id)}` },
        el(
          "span",
          { class: "name" },
          el("strong", { text: id }),
          id === name ? "" : el("span", { class: "quiet", text: name }),
          problems ? el("span", { class: "badge", text: plural(problems, "problem") }) : "",
        ),
        el("span", { class: "about", text: description ?? "No description." }),
        el("span", { class: "quiet path", text: path }),
      ),
    );
  }
}
