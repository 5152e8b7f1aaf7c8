// Taking things along: the prompt as text or as blocks, the view as a link.

import { $, number, opened, plural, say } from "./dom.js";
import { makeLink } from "./link.js";

export async function copy(text, what) {
  try {
    await (navigator.clipboard ? navigator.clipboard.writeText(text) : copyByHand(text));
    say(`Copied ${what}.`);
  } catch {
    say(`The browser did not let ${what} be copied.`, "error");
  }
}

// Without https or this machine's own address there is no clipboard to write to.
async function copyByHand(text) {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "away";
  (document.querySelector("dialog[open]") ?? document.body).append(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  if (!isCopied) throw new Error("refused");
}

export class Sharing {
  /** `view` gives what is looked at: {agent, profile, template, edited, context}. */
  constructor(view) {
    this.view = view;
    for (const id of ["share-text", "share-context"])
      $(id).addEventListener("change", () => this.#make());
    $("share-copy").addEventListener("click", () => copy($("share-link").value, "the link"));
    $("share-link").addEventListener("focus", () => $("share-link").select());
  }

  async open() {
    const { agent, edited } = this.view();
    $("share-text").checked = $("share-context").checked = false;
    $("share-text-row").hidden = !agent || !edited;
    $("share-note").textContent = agent
      ? "The link names the agent; whoever opens it sees the file as it then is. It holds no token."
      : "The link holds the template itself, behind the # of the address. It holds no token.";
    await this.#make();
    await opened($("share-dialog"));
  }

  async #make() {
    const { agent, profile, template, context } = this.view();
    const takesText = !agent || $("share-text").checked;
    const fragment = await makeLink({
      agent,
      profile,
      template: takesText ? template : undefined,
      context: $("share-context").checked ? context : undefined,
    });
    const link = location.origin + location.pathname + fragment;
    $("share-link").value = link;
    $("share-size").textContent =
      link.length > 8000
        ? `${plural(link.length, "character")}: some programs cut links as long as that.`
        : `${number(link.length)} characters`;
  }
}
