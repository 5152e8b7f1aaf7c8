// Saving: what changes is shown first; when the file changed meanwhile, nobody's text is lost.

import { $, el, opened, say } from "./dom.js";
import { agentPath } from "./api.js";
import { drawDiff } from "./line_diff.js";

export class Saving {
  /**
   * `state` gives {key, path, text, saved, revision}, texts as in the file; `saved` is called
   * with {text, revision} of what the file now is, `take` with the same to edit it instead.
   */
  constructor(api, { state, saved, take }) {
    Object.assign(this, { api, state, saved, take });
  }

  async open() {
    const { text, saved, path } = this.state();
    if (text === saved) return say("There is nothing to save: the file has this text already.");
    const choice = await this.#ask(
      "Save to the file?",
      `This is what changes in ${path}.`,
      saved,
      text,
      [
        ["cancel", "Cancel"],
        ["save", "Save", true],
      ],
    );
    if (choice === "save") await this.#save(this.state().revision);
  }

  async #save(revision) {
    const { key, text, path } = this.state();
    try {
      const answer = await this.api.put(`${agentPath(key)}/file`, { text, revision });
      this.saved({ text, revision: answer.revision });
      say(`Saved ${path}.`);
    } catch (error) {
      if (error.status === 409) await this.#conflict();
      else
        say(
          `Not saved. ${error.code} ${error.message}${error.hint ? ` (${error.hint})` : ""}`,
          "error",
        );
    }
  }

  async #conflict() {
    const { key, path, text } = this.state();
    const file = await this.api.get(`${agentPath(key)}/file`).catch((error) => {
      say(`Not saved, and the file cannot be read: ${error.message}`, "error");
      return null;
    });
    if (!file) return;
    const choice = await this.#ask(
      "The file changed meanwhile",
      `Somebody else changed ${path} since it was opened. Nothing was saved. This is how your text differs from the file as it is now.`,
      file.text,
      text,
      [
        ["cancel", "Keep editing"],
        ["take", "Take the file's text"],
        ["over", "Save mine over it", true],
      ],
    );
    if (choice === "over") await this.#save(file.revision);
    else if (choice === "take") {
      this.take(file, text);
      say("This is the file's text now. Undo in the editor brings yours back.");
    } else {
      say("Nothing was saved. Your text is still here.");
    }
  }

  #ask(title, note, before, after, choices) {
    $("save-title").textContent = title;
    $("save-note").textContent = note;
    $("save-diff").replaceChildren(...drawDiff(before, after));
    const dialog = $("save-dialog");
    $("save-buttons").replaceChildren(
      ...choices.map(([value, text, isPrimary]) =>
        el("button", {
          type: "button",
          class: isPrimary ? "primary" : null,
          text,
          on: { click: () => dialog.close(value) },
        }),
      ),
    );
    return opened(dialog);
  }
}
