// The table of datasets.

import { h, say, keyed, count, bytes, percent, bar, confirm, announce } from "./dom.js";
import * as http from "./http.js";
import * as live from "./live.js";

export function datasets(root) {
  const body = h("tbody");
  const empty = h("p", { class: "quiet" }, "No dataset yet. ", h("code", null, "tensorcache load NAME FILE"), " makes one.");
  const note = h("p", { class: "problem", role: "status" });
  const more = h("p", { class: "quiet" }, "These are the first ones; ", h("code", null, "tensorcache ls"), " lists all.");
  const head = ["Dataset", "Rows", "Items", "Columns", "Size", "In memory", "Readers", "Generation", "Actions"];
  const table = h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table of datasets" },
    h("table", null, h("thead", null, h("tr", null, head.map((t, i) => h("th", { scope: "col", class: i > 0 && i < 8 && i !== 5 ? "num" : null }, t)))), body),
  );
  root.append(empty, table, note, more);
  live.on("datasets", (list) => {
    empty.hidden = list.datasets.length > 0;
    table.hidden = list.datasets.length === 0;
    more.hidden = !list.next;
    keyed(body, list.datasets, (d) => d.dataset, (d) => row(d.dataset, note));
  });
}

function row(name, note) {
  const cell = () => h("td", { class: "num" });
  const [rows, items, columns, size, readers, generation] = [cell(), cell(), cell(), cell(), cell(), cell()];
  const memory = h("td", { class: "memory" });
  let shownMemory = "";
  const act = (what, work) => async (e) => {
    const button = e.currentTarget;
    button.disabled = true;
    try {
      await work();
      say(note, "");
      announce(`${name}: ${what}`);
    } catch (err) {
      say(note, `${name}: ${err.message}${err.hint ? `. ${err.hint}` : ""}`);
    }
    button.disabled = false;
    live.refresh("datasets").catch(() => {});
  };
  const remove = async () => {
    if (await confirm(`Remove ${name}?`, "Its files are deleted from the cache. Trainers that have it open keep it until they end; the sources stay as they are.", "Remove")) {
      await http.remove(http.dataset(name));
    }
  };
  const button = (text, does, work, kind) => h("button", { type: "button", class: kind, "aria-label": `${text} ${name}`, title: does, onclick: act(text.toLowerCase(), work) }, text);
  const root = h(
    "tr",
    null,
    h("th", { scope: "row" }, h("a", { href: `#/datasets/${encodeURIComponent(name)}` }, name)),
    rows, items, columns, size, memory, readers, generation,
    h(
      "td",
      { class: "actions" },
      button("Preload", "read it into memory", () => http.post(http.dataset(name, "/preload"), {})),
      button("Unload", "drop its pages from memory, not its files", () => http.post(http.dataset(name, "/unload"), {})),
      button("Remove", "delete it from the cache", remove, "danger"),
    ),
  );
  return {
    root,
    update(d) {
      say(rows, count(d.rows));
      say(items, count(d.items));
      say(columns, count(d.columns.length));
      say(size, bytes(d.bytes));
      say(readers, count(d.readers));
      say(generation, String(d.generation));
      const share = d.resident_bytes == null || d.bytes === 0 ? null : Math.min(1, d.resident_bytes / d.bytes);
      const text = share == null ? "–" : percent(share);
      const label = share == null ? "" : `${bytes(d.resident_bytes)} of ${bytes(d.bytes)} in memory`;
      if (label + text !== shownMemory) {
        shownMemory = label + text;
        memory.replaceChildren(...(share == null ? [text] : [bar(label, [[share, "resident"]]), h("span", { class: "num" }, text)]));
      }
    },
  };
}
