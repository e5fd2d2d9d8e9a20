// Which datasets the overview lists: a search, an order, and a first part of a long list.

import { h, setText, plural, count } from "./dom.js";

const pageSize = 20;
const compareNames = (a, b) => (a.dataset < b.dataset ? -1 : a.dataset > b.dataset ? 1 : 0);
const orders = {
  name: compareNames,
  newest: (a, b) => Date.parse(b.created) - Date.parse(a.created),
  size: (a, b) => b.bytes - a.bytes,
  rows: (a, b) => b.rows - a.rows,
  "in memory": (a, b) => (b.resident_bytes ?? 0) - (a.resident_bytes ?? 0),
  readers: (a, b) => b.readers - a.readers,
};

export class DatasetList {
  /** onChange is called when the user wants others. */
  constructor(onChange) {
    this.limit = pageSize;
    const change = () => {
      this.limit = pageSize;
      onChange();
    };
    this.search = h("input", {
      type: "search",
      placeholder: "Find a dataset",
      "aria-label": "Find a dataset",
      autocomplete: "off",
      spellcheck: "false",
      oninput: change,
    });
    this.order = h(
      "select",
      { id: "dataset-order", onchange: change },
      Object.keys(orders).map((name) => h("option", { value: name }, name)),
    );
    this.found = h("span", { class: "quiet num", role: "status" });
    this.root = h(
      "div",
      { class: "pick" },
      this.search,
      h("label", { for: "dataset-order" }, "Sort by"),
      this.order,
      this.found,
    );
    this.more = h("button", {
      type: "button",
      onclick: () => {
        this.limit += 5 * pageSize;
        onChange();
      },
    });
  }

  /** pick returns the datasets to show. */
  pick(datasets) {
    const text = this.search.value.trim().toLowerCase();
    const found = datasets.filter((d) => d.dataset.toLowerCase().includes(text));
    const compare = orders[this.order.value];
    found.sort((a, b) => compare(a, b) || compareNames(a, b));
    const rest = found.length - this.limit;
    this.root.hidden = datasets.length < 2;
    this.more.hidden = rest <= 0;
    setText(this.more, `Show ${count(Math.min(rest, 5 * pageSize))} more`);
    const all = plural(datasets.length, "dataset");
    setText(this.found, text ? `${count(found.length)} of ${all}` : all);
    return found.slice(0, this.limit);
  }
}
