// The chart of an item's rows: the minimum and maximum of each interval, shaded splits, marks of
// rejected positions, and the selected window.

import { count } from "./dom.js";
import { themeColors, stroke, watchSize, axis, valueAxis } from "./plot.js";
import { pattern } from "./patterns.js";
import { RowTimes, roundNumbers } from "./ticks.js";

const stripHeight = 14; // pixels of the strip that marks where windows start

export class Chart {
  /**
   * callbacks are zoom(from, to), pick(row), hover(interval or null), and range(), which returns
   * [from, to, rows of the item].
   */
  constructor(root, callbacks) {
    this.root = root;
    this.callbacks = callbacks;
    watchSize(root, () => this.draw());
    root.addEventListener("keydown", (e) => this.handleKey(e));
  }

  /**
   * show draws a view: series, stretches and splits as in the daemon's responses, and window as
   * {context, target}, each [from, to) in rows.
   */
  show(view) {
    this.view = view;
    this.draw();
  }

  draw() {
    const { series } = this.view ?? {};
    this.plot?.destroy();
    this.plot = undefined;
    if (!series || series.row.length === 0 || this.root.clientWidth === 0) return;
    const c = (this.colors = themeColors());
    this.times = new RowTimes(series);
    // one row per point: minimum and maximum are equal
    const single = series.row.length === series.to - series.from;
    const data = [series.row];
    const list = [{}];
    const bands = [];
    series.series.forEach((f, i) => {
      const style = {
        ...stroke(c, i),
        width: 1,
        points: { show: series.row.length < 60 },
        spanGaps: false,
      };
      data.push(f.max.map(numberOrNull));
      list.push({ label: f.column, ...style });
      if (single) return;
      data.push(f.min.map(numberOrNull));
      list.push({ label: f.column, ...style });
      bands.push({ series: [data.length - 2, data.length - 1], fill: `${c.series[i % 8]}55` });
    });
    this.plot = new uPlot(
      {
        width: this.root.clientWidth,
        height: 340,
        padding: [22, Math.max(12, this.times.labelWidth() / 2), 0, 0], // half a label at the end
        legend: { show: false },
        scales: {
          x: { time: false, range: () => rowRange(series) },
          y: { range: (_u, min, max) => paddedRange(min, max) },
        },
        cursor: { drag: { x: true, y: false, setScale: false }, points: { size: 5 } },
        select: { show: true },
        axes: [
          axis(c, {
            size: this.times.times ? 40 : 30,
            splits: (u, _i, min, max) =>
              (u.marks = this.times.ticks(min, max, u.bbox.width / devicePixelRatio))?.rows ??
              rowTicks(u, min, max),
            values: (u, at) => u.marks?.texts ?? at.map(count),
          }),
          valueAxis(c),
        ],
        series: list,
        bands,
        hooks: {
          drawClear: [(u) => this.drawBackground(u)],
          draw: [(u) => this.drawForeground(u)],
          setSelect: [(u) => this.zoomToSelection(u)],
          setCursor: [(u) => this.callbacks.hover(u.cursor.idx ?? null)],
        },
      },
      data,
      this.root,
    );
    this.plot.over.addEventListener("click", (e) => this.handleClick(e));
    this.plot.over.addEventListener("dblclick", () => this.callbacks.zoom(0, series.rows));
  }

  /** drawBackground shades the splits and the window behind the lines. */
  drawBackground(u) {
    const { splits, window } = this.view;
    const c = this.colors;
    splits?.forEach((s, i) => {
      if (s.from < s.to && i % 2 === 0) this.fill(u, s.from, s.to, c.split);
    });
    if (window) {
      this.fill(u, window.context[0], window.context[1], `${c.context}38`);
      if (window.target) this.fill(u, window.target[0], window.target[1], `${c.target}48`);
    }
  }

  /** drawForeground draws names, borders and the strip of rejected positions. */
  drawForeground(u) {
    const { splits, stretches, window } = this.view;
    const c = this.colors;
    const { ctx } = u;
    const px = devicePixelRatio;
    ctx.save();
    ctx.font = `${12 * px}px system-ui, sans-serif`;
    ctx.textAlign = "left";
    ctx.textBaseline = "bottom";
    splits?.forEach((s) => {
      const [a, b] = this.pixelRange(u, s.from, s.to);
      if (s.from >= s.to || b <= a) return;
      ctx.fillStyle = c.quiet;
      ctx.fillRect(a, u.bbox.top - 4 * px, px, u.bbox.height + 4 * px);
      this.text(u, s.name, a + 5 * px, u.bbox.top - 5 * px, b - a - 8 * px, c.text);
    });
    ctx.textBaseline = "top";
    if (window) this.outline(u, window);
    const top = u.bbox.top + u.bbox.height - stripHeight * px;
    for (const s of stretches ?? []) {
      if (s.reason === null) continue;
      const [a, b] = this.pixelRange(u, s.from, Math.max(s.to, s.from + 1));
      if (b <= a) continue;
      const width = Math.max(b - a, 2 * px);
      ctx.fillStyle = c.page;
      ctx.fillRect(a, top, width, stripHeight * px);
      ctx.fillStyle = pattern(ctx, s.reason, c.reasons[s.reason]);
      ctx.fillRect(a, top, width, stripHeight * px);
      ctx.strokeStyle = c.reasons[s.reason];
      ctx.lineWidth = px;
      ctx.strokeRect(a + px / 2, top + px / 2, Math.max(width - px, px), (stripHeight - 1) * px);
      const reasonText = s.reason.replace("_", " ");
      if (ctx.measureText(reasonText).width + 10 * px < width) {
        ctx.fillStyle = c.page;
        ctx.fillRect(
          a + 4 * px,
          top - 18 * px,
          ctx.measureText(reasonText).width + 6 * px,
          16 * px,
        );
        this.text(u, reasonText, a + 7 * px, top - 16 * px, width, c.reasons[s.reason]);
      }
    }
    ctx.restore();
  }

  outline(u, w) {
    const { ctx } = u;
    const px = devicePixelRatio;
    for (const [name, range, color] of [
      ["context", w.context, this.colors.context],
      ["target", w.target, this.colors.target],
    ]) {
      if (!range) continue;
      const [a, b] = this.pixelRange(u, range[0], range[1]);
      if (b <= a) continue;
      ctx.strokeStyle = color;
      ctx.lineWidth = 1.5 * px;
      ctx.setLineDash(name === "target" ? [5 * px, 3 * px] : []);
      ctx.strokeRect(a, u.bbox.top, b - a, u.bbox.height);
      ctx.setLineDash([]);
      this.text(u, name, a + 4 * px, u.bbox.top + 4 * px, b - a - 6 * px, color, true);
    }
  }

  text(u, text, x, y, maxWidth, color, withBackground) {
    const { ctx } = u;
    const width = ctx.measureText(text).width;
    if (width > maxWidth) return;
    if (withBackground) {
      ctx.fillStyle = this.colors.page;
      ctx.fillRect(x - 2, y - 2, width + 4, 16 * devicePixelRatio);
    }
    ctx.fillStyle = color;
    ctx.fillText(text, x, y);
  }

  /** pixelRange returns the pixels of the rows [from, to), limited to the plot. */
  pixelRange(u, from, to) {
    const at = (row) =>
      Math.min(Math.max(u.valToPos(row, "x", true), u.bbox.left), u.bbox.left + u.bbox.width);
    return [at(from), at(to)];
  }

  fill(u, from, to, color) {
    const [a, b] = this.pixelRange(u, from, to);
    u.ctx.fillStyle = color;
    u.ctx.fillRect(a, u.bbox.top, b - a, u.bbox.height);
  }

  zoomToSelection(u) {
    const { left, width } = u.select;
    if (width < 4) return;
    const [a, b] = [u.posToVal(left, "x"), u.posToVal(left + width, "x")];
    u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
    this.dragged = true; // so that the click at the end of the drag selects no window
    setTimeout(() => (this.dragged = false));
    this.callbacks.zoom(Math.floor(a), Math.ceil(b) + 1);
  }

  handleClick(e) {
    if (this.dragged) return;
    const box = this.plot?.over.getBoundingClientRect();
    if (box) this.callbacks.pick(Math.round(this.plot.posToVal(e.clientX - box.left, "x")));
  }

  /**
   * handleKey pans with the arrow keys and zooms with plus and minus; 0 shows all rows. The keys
   * also work while rows load, because the range is known before.
   */
  handleKey(e) {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const [first, end, rows] = this.callbacks.range();
    const n = end - first;
    const step = Math.max(1, Math.round(n / 8));
    const zoomed = (width) => [(first + end - width) / 2, (first + end + width) / 2];
    const panned = (by) => {
      const from = Math.min(Math.max(0, first + by), rows - n);
      return [from, from + n];
    };
    const to = {
      ArrowLeft: panned(-step),
      ArrowRight: panned(step),
      "+": zoomed(n / 2),
      "=": zoomed(n / 2),
      "-": zoomed(n * 2),
      0: [0, rows],
    }[e.key];
    if (!to) return;
    e.preventDefault();
    this.callbacks.zoom(...to);
  }
}

/** numberOrNull returns null for values that are missing or not finite. */
export const numberOrNull = (v) => (typeof v === "number" ? v : null);

/** paddedRange returns a range slightly wider than the values. */
export function paddedRange(min, max) {
  if (min == null || max == null) return [0, 1];
  const margin = (max - min || Math.abs(max) || 1) * 0.06;
  return [min - margin * 1.6, max + margin];
}

/** rowRange returns the first and the last row; a single row lies in the middle. */
const rowRange = ({ from, to }) => (to - from > 1 ? [from, to - 1] : [from - 0.5, from + 0.5]);

/** rowTicks returns round row numbers for the width of a plot. */
export const rowTicks = (u, min, max) =>
  roundNumbers(min, max, u.bbox.width / devicePixelRatio / 90, 1).values;
