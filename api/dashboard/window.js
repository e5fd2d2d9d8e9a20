// The selected window: its number, and its context and target as a feed delivers them.

import { h, setChildren, setText, setEnabled, count, number, itemName } from "./dom.js";
import { themeColors, stroke, watchSize, axis, valueAxis } from "./plot.js";
import { legendKey } from "./legend.js";
import { numberOrNull, paddedRange, rowTicks } from "./chart.js";

const maxTableRows = 200;

export class WindowPanel {
  /** callbacks is {pick(number)}, called when the user chooses another window. */
  constructor(root, callbacks) {
    this.callbacks = callbacks;
    this.input = h("input", {
      id: "window",
      type: "number",
      min: "0",
      step: "1",
      class: "number",
      "aria-describedby": "window-note",
      onchange: () => this.handleInput(),
    });
    this.note = h("p", { class: "hint", id: "window-note", role: "status" });
    this.facts = h("p", { class: "quiet" });
    this.plotRoot = h("div", { class: "plot", role: "img", "aria-label": "the picked window" });
    this.legend = h("ul", { class: "legend" });
    this.table = h("div", {
      class: "scroll",
      tabindex: "0",
      role: "region",
      "aria-label": "Values of the window",
    });
    const go = (by) => () =>
      this.callbacks.pick(
        (this.requestedNumber = (this.requestedNumber ?? this.shown?.number ?? -by) + by),
      );
    this.previous = h(
      "button",
      {
        type: "button",
        "aria-label": "Previous window",
        title: "previous window",
        onclick: go(-1),
      },
      "‹",
    );
    this.next = h(
      "button",
      { type: "button", "aria-label": "Next window", title: "next window", onclick: go(1) },
      "›",
    );
    setChildren(
      root,
      h(
        "div",
        { class: "pick" },
        h("label", { for: "window" }, "Window"),
        this.previous,
        this.input,
        this.next,
        this.note,
      ),
      this.facts,
      this.legend,
      this.plotRoot,
      h("details", null, h("summary", null, "The window as a table"), this.table),
    );
    watchSize(this.plotRoot, () => this.draw());
  }

  handleInput() {
    const n = Number(this.input.value);
    if (Number.isInteger(n) && this.input.value !== "") this.callbacks.pick(n);
    else setText(this.note, "want a whole number");
  }

  /** setCount sets the number of windows. */
  setCount(n) {
    this.count = n;
    this.input.max = String(Math.max(0, n - 1));
    this.updateButtons();
  }

  updateButtons() {
    const at = this.shown?.number;
    setEnabled(this.previous, this.count && at !== 0);
    setEnabled(this.next, this.count && !(at >= this.count - 1));
  }

  /** show draws a window, {w, features, spec, unit}. showRefusal says why there is none. */
  show(shown) {
    this.requestedNumber = undefined;
    this.shown = { number: shown.w.number, ...shown };
    const { w } = shown;
    this.input.value = String(w.number);
    this.input.removeAttribute("aria-invalid");
    setText(this.note, `of ${count(this.count ?? 0)}`);
    const at = w.time == null ? "" : `, ${String(w.time).replace("T", " ").replace("Z", "")}`;
    const part = w.part ? `, in ${w.part}` : this.shown.split ? ", in no part" : "";
    const pad = w.mask ? w.mask.filter((real) => !real).length : 0;
    const padding = pad ? `, ${count(pad)} rows of padding` : "";
    setText(this.facts, `${itemName(w.item)}, from row ${count(w.start)}${at}${part}${padding}`);
    this.updateButtons();
    this.draw();
    this.showTable();
  }

  showRefusal(text) {
    this.requestedNumber = undefined;
    setText(this.note, text);
    if (text && this.shown) this.input.value = String(this.shown.number);
  }

  clear() {
    this.requestedNumber = this.shown = undefined;
    this.input.value = "";
    this.plot?.destroy();
    this.plot = undefined;
    setChildren(this.legend);
    setChildren(this.table);
    setText(this.facts, "");
    this.updateButtons();
  }

  /**
   * samples returns the window's rows and, for each feature, its context and target values on them.
   */
  samples() {
    const { w, features, spec } = this.shown;
    const C = spec.context_length;
    const first = C + (spec.gap ?? 0) - (spec.overlap ?? 0);
    const real = (i) => i >= C || !w.mask || w.mask[i]; // not padding
    const total = Math.max(C, w.target ? first + w.target.length : 0);
    const rows = Array.from({ length: total }, (_, i) => w.start + i * (spec.dilation ?? 1));
    const names = [...new Set([...(features.context ?? []), ...(features.target ?? [])])];
    const selected = names.filter(
      (n) =>
        this.shown.columns.includes(n) || this.shown.columns.some((c) => n.startsWith(`${c}[`)),
    );
    const list = (selected.length ? selected : names).slice(0, 16);
    return {
      rows,
      first,
      list: list.map((name, i) => {
        const [c, t] = [features.context.indexOf(name), (features.target ?? []).indexOf(name)];
        return {
          name,
          color: stroke(
            themeColors(),
            this.shown.colored.includes(name)
              ? this.shown.colored.indexOf(name)
              : i + this.shown.colored.length,
          ).stroke, // as in the chart
          context: rows.map((_, i) => (c >= 0 && i < C && real(i) ? w.context[i][c] : null)),
          target: rows.map((_, i) =>
            t >= 0 && w.target && i >= first && real(i) ? w.target[i - first][t] : null,
          ),
        };
      }),
    };
  }

  draw() {
    this.plot?.destroy();
    this.plot = undefined;
    if (!this.shown || this.plotRoot.clientWidth === 0) return;
    const c = themeColors();
    const s = this.samples();
    const C = this.shown.spec.context_length;
    const series = [{}];
    const data = [s.rows];
    s.list.forEach((f) => {
      const style = {
        label: f.name,
        stroke: f.color,
        points: { show: s.rows.length < 80, size: 4 },
      };
      series.push({ ...style, width: 1.5 }, { ...style, width: 2, dash: [5, 3] });
      data.push(f.context.map(numberOrNull), f.target.map(numberOrNull));
    });
    const shade = (u, a, b, color) => {
      const [x, y] = [u.valToPos(a, "x", true), u.valToPos(b, "x", true)];
      u.ctx.fillStyle = color;
      u.ctx.fillRect(x, u.bbox.top, Math.max(y - x, 1), u.bbox.height);
    };
    const drawBackground = (u) => {
      shade(u, s.rows[0], s.rows[C - 1], `${c.context}22`);
      if (this.shown.w.target?.length) shade(u, s.rows[s.first], s.rows.at(-1), `${c.target}2e`);
    };
    setChildren(
      this.legend,
      s.list.map((f) => h("li", null, legendKey(f.color), f.name)),
      h("li", null, legendKey(c.context, "box"), "context (solid)"),
      this.shown.w.target?.length
        ? h("li", null, legendKey(c.target, "box dashed"), "target (dashed)")
        : null,
    );
    this.plot = new uPlot(
      {
        width: this.plotRoot.clientWidth,
        height: 220,
        padding: [10, 24, 0, 0],
        legend: { show: false },
        cursor: { drag: { x: false, y: false }, points: { size: 5 } },
        scales: { x: { time: false }, y: { range: (_u, min, max) => paddedRange(min, max) } },
        axes: [
          axis(c, {
            size: 30,
            splits: (u, _i, min, max) => rowTicks(u, min, max),
            values: (_u, v) => v.map(count),
          }),
          valueAxis(c),
        ],
        series,
        hooks: { drawClear: [drawBackground] },
      },
      data,
      this.plotRoot,
    );
    const { target } = this.shown.w;
    const targetRows = target ? ` and ${count(target.length)} target rows` : "";
    const names = s.list.map((f) => f.name).join(", ");
    this.plotRoot.setAttribute(
      "aria-label",
      `window ${this.shown.number}: ${count(C)} context rows${targetRows} of ${names}; ` +
        "a table follows",
    );
  }

  showTable() {
    const s = this.samples();
    const head = ["row", "part", ...s.list.map((f) => f.name)];
    const lines = s.rows.slice(0, maxTableRows).map((row, i) => {
      const C = this.shown.spec.context_length;
      const where =
        [i < C ? "context" : null, i >= s.first && this.shown.w.target ? "target" : null]
          .filter(Boolean)
          .join(" and ") || "gap";
      const padding = this.shown.w.mask && i < C && !this.shown.w.mask[i];
      return h(
        "tr",
        null,
        h("th", { scope: "row", class: "num" }, count(row)),
        h("td", null, padding ? "padding" : where),
        s.list.map((f) =>
          h(
            "td",
            { class: "num" },
            padding ? "–" : number(i < C ? (f.context[i] ?? f.target[i]) : f.target[i]),
          ),
        ),
      );
    });
    setChildren(
      this.table,
      h(
        "table",
        null,
        h(
          "thead",
          null,
          h(
            "tr",
            null,
            head.map((t, i) => h("th", { scope: "col", class: i === 1 ? null : "num" }, t)),
          ),
        ),
        h("tbody", null, lines),
      ),
      s.rows.length > maxTableRows
        ? h("p", { class: "quiet" }, `The first ${maxTableRows} of ${count(s.rows.length)} rows.`)
        : null,
    );
  }
}
