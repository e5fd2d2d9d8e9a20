// The elements of the window viewer.

import { h, setChildren } from "./dom.js";

/** viewerLayout fills root and returns the elements that the viewer changes, by name. */
export function viewerLayout(root) {
  const e = {};
  const div = (attrs) => h("div", attrs);
  e.title = h("h1", null);
  e.facts = h("p", { class: "quiet" });
  e.problem = h("p", { class: "problem", role: "alert" });
  e.itemRoot = div();
  e.columnsRoot = h("fieldset", { class: "columns" });
  e.chartRoot = h("div", {
    class: "plot main",
    tabindex: "0",
    role: "group",
    "aria-roledescription": "chart",
    "aria-describedby": "chart-help",
  });
  e.readout = h("p", { class: "readout num", "aria-hidden": "true" });
  e.legend = h("ul", { class: "legend" });
  e.range = h("span", { class: "quiet num", role: "status" });
  e.table = div();
  e.windowRoot = div();
  e.formRoot = div();
  e.answerRoot = h("div", { class: "answer", "aria-live": "polite", "aria-busy": "false" });
  e.planProblem = h("p", { class: "problem", id: "plan-problem", role: "status" });
  e.staleNote = h(
    "p",
    { class: "hint", hidden: true },
    "The plan, the chart and the window are those of the spec before.",
  );
  e.codeRoot = div();
  e.showAllButton = h("button", { type: "button", class: "small" }, "Show all rows");
  e.body = h("div", { class: "viewer", hidden: true });
  setChildren(
    root,
    h(
      "div",
      { class: "viewer-head" },
      h("a", { href: "#/", class: "back" }, "All datasets"),
      e.title,
      e.facts,
      e.problem,
    ),
    e.body,
  );
  e.body.append(
    h(
      "div",
      { class: "drawn" },
      h(
        "section",
        { "aria-labelledby": "h-series" },
        h("h2", { id: "h-series" }, "Series"),
        h("div", { class: "chosen" }, e.itemRoot, e.columnsRoot),
        e.legend,
        e.chartRoot,
        e.readout,
        h(
          "div",
          { class: "under" },
          e.range,
          e.showAllButton,
          h(
            "span",
            { class: "hint", id: "chart-help" },
            "Drag to zoom, click to pick the window of a row. " +
              "Keys: ← → move, + − zoom, 0 shows all.",
          ),
        ),
        h("details", null, h("summary", null, "The chart as a table"), e.table),
      ),
      h(
        "section",
        { "aria-labelledby": "h-window" },
        h("h2", { id: "h-window" }, "Picked window"),
        e.windowRoot,
      ),
    ),
    h(
      "div",
      { class: "spec" },
      h(
        "section",
        { "aria-labelledby": "h-plan" },
        h("h2", { id: "h-plan" }, "Plan"),
        e.planProblem,
        e.staleNote,
        e.answerRoot,
      ),
      h(
        "section",
        { "aria-labelledby": "h-spec" },
        h("h2", { id: "h-spec" }, "Spec"),
        e.formRoot,
      ),
    ),
    h(
      "section",
      { "aria-labelledby": "h-code" },
      h("h2", { id: "h-code" }, "The same in code"),
      e.codeRoot,
    ),
  );
  return e;
}
