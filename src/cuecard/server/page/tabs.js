// Tabs as their ARIA pattern has them: one stop for Tab, arrows go between, the panel follows.

export class Tabs {
  /** `chosen` is called with the tab that is now the open one. */
  constructor(list, chosen) {
    this.tabs = [...list.querySelectorAll("[role=tab]")];
    this.chosen = chosen;
    list.addEventListener("click", (event) => {
      const tab = event.target.closest("[role=tab]");
      if (tab) this.open(tab);
    });
    list.addEventListener("keydown", (event) => {
      const at = this.tabs.indexOf(document.activeElement);
      const last = this.tabs.length - 1;
      const next = {
        ArrowRight: at === last ? 0 : at + 1,
        ArrowLeft: at === 0 ? last : at - 1,
        Home: 0,
        End: last,
      }[event.key];
      if (at < 0 || next === undefined) return;
      event.preventDefault();
      this.tabs[next].focus();
      this.open(this.tabs[next]);
    });
  }

  open(tab) {
    for (const other of this.tabs) {
      other.setAttribute("aria-selected", String(other === tab));
      other.tabIndex = other === tab ? 0 : -1;
    }
    this.chosen(tab);
  }
}
