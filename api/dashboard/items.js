// The input to choose an item. The daemon searches for the text; arrow keys and Enter choose.

import { h, setChildren, setText, count, plural, itemName } from "./dom.js";
import * as http from "./http.js";

const maxShown = 20;

export class ItemBox {
  /** onChoose is called with an item of the daemon's list. */
  constructor(root, onChoose) {
    this.onChoose = onChoose;
    this.list = h("ul", { id: "items", role: "listbox", "aria-label": "Items", hidden: true });
    this.note = h("p", { class: "hint", role: "status" });
    this.input = h("input", {
      id: "item",
      type: "text",
      role: "combobox",
      "aria-expanded": "false",
      "aria-controls": "items",
      "aria-autocomplete": "list",
      autocomplete: "off",
      spellcheck: "false",
      oninput: () => this.search(),
      onclick: () => this.search(""),
      onkeydown: (e) => this.handleKey(e),
      onblur: () => this.close(),
    });
    setChildren(
      root,
      h("label", { for: "item" }, "Item"),
      h("div", { class: "combo" }, this.input, this.list),
      this.note,
    );
    this.results = [];
    this.fetchItems = http.latestOnly((signal, text) =>
      http.get(
        http.datasetPath(this.dataset, `/items${http.query({ search: text, limit: maxShown })}`),
        signal,
      ),
    );
  }

  /** show shows the name of an item. */
  show(dataset, item) {
    this.fetchItems.cancel();
    this.dataset = dataset;
    this.item = item;
    this.input.value = itemName(item.item);
    this.input.disabled = item.item == null;
    setText(this.note, "");
  }

  async search(text = this.input.value.trim()) {
    if (this.input.disabled) return;
    try {
      const body = await this.fetchItems(text);
      this.open(body);
    } catch (e) {
      setText(this.note, e.message);
    }
  }

  open(body) {
    this.results = body.items;
    this.active = -1;
    setChildren(
      this.list,
      body.items.map((it, i) =>
        h(
          "li",
          {
            role: "option",
            id: `item-${i}`,
            "aria-selected": "false",
            onmousedown: (e) => (e.preventDefault(), this.choose(i)),
          },
          h("span", null, itemName(it.item)),
          h("span", { class: "quiet num" }, plural(it.rows, "row")),
        ),
      ),
    );
    this.list.hidden = body.items.length === 0;
    this.input.setAttribute("aria-expanded", String(body.items.length > 0));
    setText(
      this.note,
      body.count === 0
        ? "no item is named so"
        : body.count > body.items.length
          ? `${count(body.items.length)} of ${count(body.count)}; type to find others`
          : "",
    );
  }

  close() {
    this.list.hidden = true;
    this.active = -1;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
    if (this.item) this.input.value = itemName(this.item.item);
    setText(this.note, "");
  }

  choose(i) {
    const it = this.results[i];
    if (!it) return;
    this.item = it;
    this.close();
    this.onChoose(it);
  }

  handleKey(e) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (step && this.list.hidden) this.search("");
    else if (step && this.results.length) {
      this.active = (this.active + step + this.results.length) % this.results.length;
      [...this.list.children].forEach((li, i) =>
        li.setAttribute("aria-selected", String(i === this.active)),
      );
      this.input.setAttribute("aria-activedescendant", `item-${this.active}`);
      this.list.children[this.active].scrollIntoView({ block: "nearest" });
    } else if (e.key === "Enter" && !this.list.hidden) this.choose(Math.max(0, this.active));
    else if (e.key === "Escape") this.close();
    else return;
    e.preventDefault();
  }
}
