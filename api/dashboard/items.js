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
    this.searching = null; // the search that is not answered yet
    this.fetchItems = http.latestOnly((signal, text) =>
      http.get(
        http.datasetPath(this.dataset, `/items${http.query({ search: text, limit: maxShown })}`),
        signal,
      ),
    );
  }

  /** show shows the name of an item. */
  show(dataset, item) {
    this.cancel();
    this.dataset = dataset;
    this.item = item;
    this.input.value = itemName(item.item);
    this.input.disabled = item.item == null;
    setText(this.note, "");
  }

  cancel() {
    this.fetchItems.cancel();
    this.searching = null;
  }

  search(text = this.input.value.trim()) {
    if (this.input.disabled) return;
    const searching = this.fetchItems(text).then(
      (body) => this.open(body),
      (e) => this.open({ items: [] }, e.message),
    );
    this.searching = searching.then(() => (this.searching = null));
  }

  open(body, problem = "") {
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
          : problem,
    );
  }

  close() {
    this.cancel();
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
    if (e.key === "ArrowDown") this.afterSearch(() => this.move(1));
    else if (e.key === "ArrowUp") this.afterSearch(() => this.move(-1));
    else if (e.key === "Enter" && (this.searching || !this.list.hidden))
      this.afterSearch(() => this.choose(Math.max(0, this.active)));
    else if (e.key === "Escape") this.close();
    else return;
    e.preventDefault();
  }

  /** afterSearch calls act when the list has what was searched for. */
  afterSearch(act) {
    if (this.searching) this.searching.then(act);
    else act();
  }

  /** move makes the next item of the list active, or opens the list. */
  move(step) {
    if (this.list.hidden) this.search("");
    else {
      this.active = (this.active + step + this.results.length) % this.results.length;
      [...this.list.children].forEach((li, i) =>
        li.setAttribute("aria-selected", String(i === this.active)),
      );
      this.input.setAttribute("aria-activedescendant", `item-${this.active}`);
      this.list.children[this.active].scrollIntoView({ block: "nearest" });
    }
  }
}
