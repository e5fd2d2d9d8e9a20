// The legend of the chart, and its marks.

import { h, setChildren } from "./dom.js";
import { themeColors, stroke } from "./plot.js";
import { reasons, swatch } from "./patterns.js";

/** showLegend names the lines of a series and the reasons of its rejected positions. */
export function showLegend(root, series, stretches) {
  const c = themeColors();
  setChildren(
    root,
    series.series.map((f, i) => h("li", null, legendKey(stroke(c, i).stroke), f.column)),
    Object.keys(stretches?.rejected ?? {}).map((r) =>
      h(
        "li",
        { title: reasons[r] },
        swatch(r, c.reasons[r]),
        `no window starts here: ${r.replace("_", " ")}`,
      ),
    ),
  );
}

/** legendKey returns the mark of a line in a legend. */
export function legendKey(color, kind = "") {
  const k = h("span", { class: `key ${kind}`, "aria-hidden": "true" });
  k.style.setProperty("--key", color);
  return k;
}
