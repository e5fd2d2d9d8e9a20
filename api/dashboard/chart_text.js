// The chart as text: its label, one point, and a table of all points.

import { h, setChildren, count, itemName, plural, number } from "./dom.js";

const maxTableRows = 40;
const maxReadoutColumns = 6;

/** chartLabel describes the chart for screen readers. */
export function chartLabel(series, stretches) {
  const names = series.series.map((f) => f.column).join(", ");
  const rows = `rows ${count(series.from)} to ${count(series.to)}`;
  const rejected = Object.entries(stretches?.rejected ?? {}).map(
    ([r, n]) => `${count(n)} rejected by ${r.replace("_", " ")}`,
  );
  const windows = stretches && plural(stretches.windows, "window");
  const positions = windows ? `${[windows, ...rejected].join(", ")}. ` : "";
  return `${itemName(series.item)}: ${names}, ${rows}. ${positions}A table follows.`;
}

/** valueText formats the minimum and the maximum of point i of a feature. */
const valueText = (f, i) =>
  f.min[i] === f.max[i] ? number(f.min[i]) : `${number(f.min[i])} … ${number(f.max[i])}`;

/** pointText describes point i of a series. */
export function pointText(series, times, i) {
  const values = series.series.slice(0, maxReadoutColumns).map((f) => {
    const missing = f.missing[i] && f.min[i] != null ? ` (${count(f.missing[i])} missing)` : "";
    return `${f.column} ${valueText(f, i)}${missing}`;
  });
  return [`row ${count(series.row[i])}`, times?.text(series.row[i]), ...values]
    .filter(Boolean)
    .join("   ");
}

/** showChartTable shows a series as a table of at most maxTableRows points. */
export function showChartTable(root, series, times) {
  const s = series;
  const step = Math.max(1, Math.ceil(s.row.length / maxTableRows));
  const rows = [];
  for (let i = 0; i < s.row.length; i += step) {
    const time = times?.text(s.row[i]);
    rows.push(
      h(
        "tr",
        null,
        h("th", { scope: "row", class: "num" }, count(s.row[i])),
        time == null ? null : h("td", null, time),
        s.series.map((f) => h("td", { class: "num" }, valueText(f, i))),
      ),
    );
  }
  const names = ["row", ...(s.time ? ["time"] : []), ...s.series.map((f) => f.column)];
  const head = names.map((t) => h("th", { scope: "col", class: t === "time" ? null : "num" }, t));
  const points = plural(s.row.length, "drawn point");
  setChildren(
    root,
    h(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "Values of the chart" },
      h("table", null, h("thead", null, h("tr", null, head)), h("tbody", null, rows)),
    ),
    step > 1
      ? h(
          "p",
          { class: "quiet" },
          `Every ${count(step)}th of ${points}; least … greatest where a point stands for ` +
            "several rows.",
        )
      : null,
  );
}
