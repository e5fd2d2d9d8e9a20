// The checkboxes of a dataset's columns, and a search among them.

import { h, setChildren, setText, count } from "./dom.js";

const maxShown = 60;
const maxWidth = 64; // the widest column of shape [rows, n] that a chart takes whole

/** chartColumns returns what the chart can draw: value columns, and the parts of very wide ones. */
export function chartColumns(manifest) {
  return manifest.columns
    .filter((c) => c.role === "value" && c.dtype !== "timestamp")
    .flatMap(({ name, shape }) =>
      shape?.[1] > maxWidth ? Array.from({ length: shape[1] }, (_, i) => `${name}[${i}]`) : [name],
    );
}

/** selectedAtFirst returns those of the columns of the chart that windows include unnamed. */
export function selectedAtFirst(manifest) {
  const columns = chartColumns({ columns: manifest.columns.filter((c) => !c.named_only) });
  return columns.length > 0 ? columns : chartColumns(manifest);
}

export class ColumnBoxes {
  /** onToggle is called with a column and whether it is checked now. */
  constructor(root, onToggle) {
    this.onToggle = onToggle;
    this.list = h("div", { class: "boxes" });
    this.note = h("p", { class: "hint", role: "status" });
    this.search = h("input", {
      type: "search",
      placeholder: "Find a column",
      "aria-label": "Find a column",
      autocomplete: "off",
      spellcheck: "false",
      oninput: () => this.draw(),
    });
    setChildren(root, h("legend", null, "Columns"), this.search, this.list, this.note);
  }

  /** show lists the columns. The selected ones come first, as a search must not hide them. */
  show(columns, isSelected) {
    this.columns = columns;
    this.isSelected = isSelected;
    this.search.value = "";
    this.search.hidden = columns.length <= maxShown;
    this.draw();
  }

  draw() {
    const text = this.search.value.trim().toLowerCase();
    const found = this.columns.filter((c) => c.toLowerCase().includes(text));
    const isAll = this.columns.length <= maxShown;
    const selected = isAll ? [] : this.columns.filter(this.isSelected);
    const others = isAll ? found : found.filter((c) => !this.isSelected(c));
    const shown = others.slice(0, maxShown);
    setChildren(
      this.list,
      [...selected, ...shown].map((name) => h("label", null, this.box(name), " ", name)),
    );
    const rest = others.length - shown.length;
    setText(
      this.note,
      found.length === 0
        ? "no column is named so"
        : rest > 0
          ? `${count(rest)} more of ${count(this.columns.length)}; type to find them`
          : "",
    );
  }

  box(name) {
    return h("input", {
      type: "checkbox",
      checked: this.isSelected(name),
      onchange: (e) => this.onToggle(name, e.target.checked),
    });
  }
}
