// The plan of the current spec: the number of windows, the reasons for rejected positions, the
// parts and the batches.

import { h, setChildren, count, plural, percent, bytes, itemName } from "./dom.js";
import { themeColors } from "./plot.js";
import { reasons, swatch } from "./patterns.js";
import { deliveryText } from "./words.js";

/** showPlan shows the response of POST …/plan. */
export function showPlan(root, p) {
  const c = themeColors();
  const rejected = Object.entries(p.rejected);
  setChildren(
    root,
    h("p", { class: "big" }, h("b", { class: "num" }, count(p.windows)), noun(p.windows)),
    h(
      "p",
      { class: "quiet num" },
      `of ${plural(p.positions, "position")} in ${plural(p.items, "item")}`,
    ),
    rejected.length
      ? h(
          "table",
          { class: "plain" },
          h("caption", null, "Rejected by"),
          h(
            "tbody",
            null,
            rejected.map(([r, n]) =>
              h(
                "tr",
                null,
                h("th", { scope: "row" }, swatch(r, c.reasons[r]), " ", r.replace("_", " ")),
                h("td", { class: "num" }, count(n)),
                h("td", { class: "num quiet" }, percent(n / p.positions)),
                h("td", { class: "quiet why" }, reasons[r]),
              ),
            ),
          ),
        )
      : h("p", { class: "quiet" }, "No position is rejected."),
    p.splits && partsTable(p.splits),
    h(
      "dl",
      { class: "facts" },
      p.first && fact("first", formatPlace(p.first)),
      p.last && fact("last", formatPlace(p.last)),
      fact("delivered as", [p.dtype, p.path && deliveryText(p.path)].filter(Boolean).join(", ")),
      fact("context", formatFeatures(p.features.context)),
      p.features.target?.length ? fact("target", formatFeatures(p.features.target)) : null,
      p.features.known?.length ? fact("known", formatFeatures(p.features.known)) : null,
      p.features.static?.length ? fact("static", formatFeatures(p.features.static)) : null,
      p.batches != null &&
        fact(
          "an epoch",
          `${plural(p.batches, "batch", "batches")}, the last of ${count(p.last_batch)}, ` +
            `${bytes(p.batch_bytes)} each`,
        ),
    ),
  );
}

const noun = (windows) => (windows === 1 ? " window" : " windows");
const fact = (name, value) => h("div", null, h("dt", null, name), h("dd", null, value));
const formatPlace = (w) => {
  const item = w.item == null ? "" : ` of ${itemName(w.item)}`;
  const time = w.time == null ? "" : `, ${String(w.time).replace("T", " ").replace("Z", "")}`;
  return `row ${count(w.start)}${item}${time}`;
};
const formatFeatures = (list) =>
  list.length > 8 ? `${list.slice(0, 7).join(", ")} … (${count(list.length)})` : list.join(", ");

function partsTable(splits) {
  return h(
    "table",
    { class: "plain" },
    h("caption", null, "Parts"),
    h(
      "thead",
      null,
      h(
        "tr",
        null,
        h("th", { scope: "col" }, "part"),
        h("th", { scope: "col", class: "num" }, "windows"),
        h("th", { scope: "col", class: "num" }, "positions"),
        h("th", { scope: "col" }, "rejected"),
      ),
    ),
    h(
      "tbody",
      null,
      splits.map((s) =>
        h(
          "tr",
          null,
          h("th", { scope: "row" }, s.name),
          h("td", { class: "num" }, count(s.windows)),
          h("td", { class: "num" }, count(s.positions)),
          h(
            "td",
            { class: "quiet" },
            Object.entries(s.rejected)
              .map(([r, n]) => `${r.replace("_", " ")} ${count(n)}`)
              .join(", ") || "–",
          ),
        ),
      ),
    ),
  );
}
