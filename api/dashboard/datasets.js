// The table of datasets.

import {
  h,
  setText,
  syncChildren,
  setEnabled,
  showProblem,
  count,
  bytes,
  percent,
  bar,
  confirm,
} from "./dom.js";
import { minuteOf } from "./facts.js";
import { DatasetList } from "./dataset_list.js";
import * as http from "./http.js";
import * as live from "./live.js";

export function showDatasets(root) {
  const body = h("tbody");
  const empty = h(
    "p",
    { class: "quiet" },
    "No dataset yet. ",
    h("code", null, "tensorcache load NAME FILE"),
    " makes one.",
  );
  const note = h("p", { role: "status" });
  const more = h(
    "p",
    { class: "quiet" },
    "These are among the first thousand; ",
    h("code", null, "tensorcache ls"),
    " lists all.",
  );
  const head = [
    "Dataset",
    "Rows",
    "Items",
    "Columns",
    "Size",
    "In memory",
    "Readers",
    "Generation",
    "Loaded (UTC)",
    "Actions",
  ];
  const table = h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table of datasets" },
    h(
      "table",
      null,
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          head.map((t, i) =>
            h("th", { scope: "col", class: i > 0 && i < 9 && i !== 5 ? "num" : null }, t),
          ),
        ),
      ),
      body,
    ),
  );
  let list = { datasets: [] };
  const update = () => {
    empty.hidden = list.datasets.length > 0;
    table.hidden = list.datasets.length === 0;
    more.hidden = !list.next;
    syncChildren(
      body,
      picker.pick(list.datasets),
      (d) => d.dataset,
      (d) => datasetRow(d.dataset, note),
    );
  };
  const picker = new DatasetList(update);
  root.append(empty, picker.root, table, picker.more, note, more);
  live.on("datasets", (body) => {
    list = body;
    update();
  });
}

function datasetRow(name, note) {
  const cell = (what) => h("td", { class: "num", "data-what": what });
  const [rows, items, columns, size, readers, generation, loaded] = [
    "rows",
    "items",
    "columns",
    "size",
    "readers",
    "generation",
    "loaded",
  ].map(cell);
  const memory = h("td", { class: "memory", "data-what": "in memory" });
  let shownMemory = "";
  const withStatus = (work) => async (e) => {
    const button = e.currentTarget;
    setEnabled(button, false);
    try {
      setText(note, await work());
      note.className = "quiet";
    } catch (err) {
      note.className = "problem";
      showProblem(note, { ...err, detail: `${name}: ${err.message}` });
    }
    setEnabled(button, true);
    live.refresh("datasets").catch(() => {});
  };
  const preload = async () => {
    await http.post(http.datasetPath(name, "/preload"), {});
    return `${name} is read into memory, as far as it is not there.`;
  };
  const unload = async () => {
    const u = await http.post(http.datasetPath(name, "/unload"), {});
    const remaining = u.resident_bytes == null ? "an unknown part" : bytes(u.resident_bytes);
    return u.kept
      ? `${name}: ${remaining} of ${bytes(u.bytes)} stay in memory: ${u.kept}.`
      : `${name}: nothing of it is in memory now; its files stay.`;
  };
  const remove = async () => {
    if (
      !(await confirm(
        `Remove ${name}?`,
        "Its files are deleted from the cache. Trainers that have it open keep it until they " +
          "end; the sources stay as they are.",
        "Remove",
      ))
    )
      return "";
    await http.remove(http.datasetPath(name));
    return `${name} is removed.`;
  };
  const button = (text, does, work, kind) =>
    h(
      "button",
      {
        type: "button",
        class: kind,
        "aria-label": `${text} ${name}`,
        title: does,
        onclick: withStatus(work),
      },
      text,
    );
  const root = h(
    "tr",
    null,
    h("th", { scope: "row" }, h("a", { href: `#/datasets/${encodeURIComponent(name)}` }, name)),
    rows,
    items,
    columns,
    size,
    memory,
    readers,
    generation,
    loaded,
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
      setText(rows, count(d.rows));
      setText(items, count(d.items));
      setText(columns, count(d.columns.length));
      setText(size, bytes(d.bytes));
      setText(readers, count(d.readers));
      setText(generation, String(d.generation));
      setText(loaded, minuteOf(d.created));
      const share =
        d.resident_bytes == null || d.bytes === 0 ? null : Math.min(1, d.resident_bytes / d.bytes);
      const text = share == null ? "–" : percent(share);
      const label =
        share == null ? "" : `${bytes(d.resident_bytes)} of ${bytes(d.bytes)} in memory`;
      if (label + text !== shownMemory) {
        shownMemory = label + text;
        memory.replaceChildren(
          ...(share == null
            ? [text]
            : [bar(label, [[share, "resident"]]), h("span", { class: "num" }, text)]),
        );
      }
    },
  };
}
