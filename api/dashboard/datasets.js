// The table of datasets.

import { h, say, keyed, allow, count, bytes, percent, bar, confirm } from "./dom.js";
import * as http from "./http.js";
import * as live from "./live.js";

export function datasets(root) {
  const body = h("tbody");
  const empty = h("p", { class: "quiet" }, "No dataset yet. ", h("code", null, "tensorcache load NAME FILE"), " makes one.");
  const note = h("p", { role: "status" });
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
  const cell = (what) => h("td", { class: "num", "data-what": what });
  const [rows, items, columns, size, readers, generation] = ["rows", "items", "columns", "size", "readers", "generation"].map(cell);
  const memory = h("td", { class: "memory", "data-what": "in memory" });
  let shownMemory = "";
  const act = (work) => async (e) => {
    const button = e.currentTarget;
    const tell = (kind, text) => {
      note.className = kind;
      say(note, text);
    };
    allow(button, false);
    try {
      tell("quiet", await work());
    } catch (err) {
      tell("problem", `${name}: ${err.message}${err.hint ? `. ${err.hint}` : ""}`);
    }
    allow(button, true);
    live.refresh("datasets").catch(() => {});
  };
  const preload = async () => {
    await http.post(http.dataset(name, "/preload"), {});
    return `${name} is read into memory, as far as it is not there.`;
  };
  const unload = async () => {
    const u = await http.post(http.dataset(name, "/unload"), {});
    const left = u.resident_bytes == null ? "an unknown part" : bytes(u.resident_bytes);
    return u.kept ? `${name}: ${left} of ${bytes(u.bytes)} stay in memory: ${u.kept}.` : `${name}: nothing of it is in memory now; its files stay.`;
  };
  const remove = async () => {
    if (!(await confirm(`Remove ${name}?`, "Its files are deleted from the cache. Trainers that have it open keep it until they end; the sources stay as they are.", "Remove"))) return "";
    await http.remove(http.dataset(name));
    return `${name} is removed.`;
  };
  const button = (text, does, work, kind) => h("button", { type: "button", class: kind, "aria-label": `${text} ${name}`, title: does, onclick: act(work) }, text);
  const root = h(
    "tr",
    null,
    h("th", { scope: "row" }, h("a", { href: `#/datasets/${encodeURIComponent(name)}` }, name)),
    rows, items, columns, size, memory, readers, generation,
    h(
      "td",
      { class: "actions" },
      button("Preload", "read it into memory", preload),
      button("Unload", "drop its pages from memory, not its files", unload),
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
