// The item's rows as a chart: least to greatest of each bucket, splits shaded, rejected starts marked, the picked window on top.

import { colors, stroke, watch, axis, short } from "./plot.js";
import { pattern } from "./patterns.js";
import { Times } from "./ticks.js";

const ribbon = 14; // pixels of the strip that marks where windows start

export class Chart {
  /** of: {zoom(from, to), pick(row), hover(bucket or null)} are called when somebody asks so; range() is [from, to, rows of the item]. */
  constructor(root, of) {
    this.root = root;
    this.of = of;
    watch(root, () => this.draw());
    root.addEventListener("keydown", (e) => this.key(e));
  }

  /** show draws: series as the daemon sends it, stretches and splits as its answer, window as {context, target} in rows. */
  show(view) {
    this.view = view;
    this.draw();
  }

  draw() {
    const { series } = this.view ?? {};
    this.plot?.destroy();
    this.plot = undefined;
    if (!series || series.row.length === 0 || this.root.clientWidth === 0) return;
    const c = (this.colors = colors());
    this.times = new Times(series);
    const single = series.row.length === series.to - series.from; // a row a point: least and greatest are one
    const data = [series.row];
    const list = [{}];
    const bands = [];
    series.series.forEach((f, i) => {
      const look = { ...stroke(c, i), width: 1, points: { show: series.row.length < 60 }, spanGaps: false };
      data.push(f.max.map(plain));
      list.push({ label: f.column, ...look });
      if (single) return;
      data.push(f.min.map(plain));
      list.push({ label: f.column, ...look });
      bands.push({ series: [data.length - 2, data.length - 1], fill: `${c.series[i % 8]}55` });
    });
    this.plot = new uPlot(
      {
        width: this.root.clientWidth,
        height: 340,
        padding: [22, 12, 0, 0],
        legend: { show: false },
        scales: { x: { time: false, range: () => [series.from, Math.max(series.from + 1, series.to - 1)] }, y: { range: (_u, min, max) => span(min, max) } },
        cursor: { drag: { x: true, y: false, setScale: false }, points: { size: 5 } },
        select: { show: true },
        axes: [
          axis(c, {
            size: this.times.times ? 40 : 30,
            splits: (u, _i, min, max) => (u.marks = this.times.marks(min, max, u.bbox.width / devicePixelRatio / 110))?.rows ?? ticks(min, max),
            values: (u, at) => u.marks?.texts ?? at.map(short),
          }),
          axis(c, { size: 58, values: (_u, v) => v.map(short) }),
        ],
        series: list,
        bands,
        hooks: {
          drawClear: [(u) => this.under(u)],
          draw: [(u) => this.over(u)],
          setSelect: [(u) => this.selected(u)],
          setCursor: [(u) => this.of.hover(u.cursor.idx ?? null)],
        },
      },
      data,
      this.root,
    );
    this.plot.over.addEventListener("click", (e) => this.clicked(e));
    this.plot.over.addEventListener("dblclick", () => this.of.zoom(0, series.rows));
  }

  /** under draws splits and the window behind the lines. */
  under(u) {
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

  /** over draws names, edges and the ribbon. */
  over(u) {
    const { splits, stretches, window } = this.view;
    const c = this.colors;
    const { ctx } = u;
    const px = devicePixelRatio;
    ctx.save();
    ctx.font = `${12 * px}px system-ui, sans-serif`;
    ctx.textAlign = "left";
    ctx.textBaseline = "bottom";
    splits?.forEach((s) => {
      const [a, b] = this.ends(u, s.from, s.to);
      if (s.from >= s.to || b <= a) return;
      ctx.fillStyle = c.quiet;
      ctx.fillRect(a, u.bbox.top - 4 * px, px, u.bbox.height + 4 * px);
      this.text(u, s.name, a + 5 * px, u.bbox.top - 5 * px, b - a - 8 * px, c.text);
    });
    ctx.textBaseline = "top";
    if (window) this.outline(u, window);
    const top = u.bbox.top + u.bbox.height - ribbon * px;
    for (const s of stretches ?? []) {
      if (s.reason === null) continue;
      const [a, b] = this.ends(u, s.from, Math.max(s.to, s.from + 1));
      if (b <= a) continue;
      const width = Math.max(b - a, 2 * px);
      ctx.fillStyle = c.page;
      ctx.fillRect(a, top, width, ribbon * px);
      ctx.fillStyle = pattern(ctx, s.reason, c.reasons[s.reason]);
      ctx.fillRect(a, top, width, ribbon * px);
      ctx.strokeStyle = c.reasons[s.reason];
      ctx.lineWidth = px;
      ctx.strokeRect(a + px / 2, top + px / 2, Math.max(width - px, px), (ribbon - 1) * px);
      const say = s.reason.replace("_", " ");
      if (ctx.measureText(say).width + 10 * px < width) {
        ctx.fillStyle = c.page;
        ctx.fillRect(a + 4 * px, top - 18 * px, ctx.measureText(say).width + 6 * px, 16 * px);
        this.text(u, say, a + 7 * px, top - 16 * px, width, c.reasons[s.reason]);
      }
    }
    ctx.restore();
  }

  outline(u, w) {
    const { ctx } = u;
    const px = devicePixelRatio;
    for (const [name, range, color] of [["context", w.context, this.colors.context], ["target", w.target, this.colors.target]]) {
      if (!range) continue;
      const [a, b] = this.ends(u, range[0], range[1]);
      if (b <= a) continue;
      ctx.strokeStyle = color;
      ctx.lineWidth = 1.5 * px;
      ctx.setLineDash(name === "target" ? [5 * px, 3 * px] : []);
      ctx.strokeRect(a, u.bbox.top, b - a, u.bbox.height);
      ctx.setLineDash([]);
      this.text(u, name, a + 4 * px, u.bbox.top + 4 * px, b - a - 6 * px, color, true);
    }
  }

  text(u, text, x, y, room, color, backed) {
    const { ctx } = u;
    const width = ctx.measureText(text).width;
    if (width > room) return;
    if (backed) {
      ctx.fillStyle = this.colors.page;
      ctx.fillRect(x - 2, y - 2, width + 4, 16 * devicePixelRatio);
    }
    ctx.fillStyle = color;
    ctx.fillText(text, x, y);
  }

  /** ends are the pixels of rows [from, to), inside the plot. */
  ends(u, from, to) {
    const at = (row) => Math.min(Math.max(u.valToPos(row, "x", true), u.bbox.left), u.bbox.left + u.bbox.width);
    return [at(from), at(to)];
  }

  fill(u, from, to, color) {
    const [a, b] = this.ends(u, from, to);
    u.ctx.fillStyle = color;
    u.ctx.fillRect(a, u.bbox.top, b - a, u.bbox.height);
  }

  selected(u) {
    const { left, width } = u.select;
    if (width < 4) return;
    const [a, b] = [u.posToVal(left, "x"), u.posToVal(left + width, "x")];
    u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
    this.dragged = true; // the click that ends the drag picks nothing
    setTimeout(() => (this.dragged = false));
    this.of.zoom(Math.floor(a), Math.ceil(b) + 1);
  }

  clicked(e) {
    if (this.dragged) return;
    const box = this.plot?.over.getBoundingClientRect();
    if (box) this.of.pick(Math.round(this.plot.posToVal(e.clientX - box.left, "x")));
  }

  /** key pans with the arrows and zooms with plus and minus; 0 shows all. */
  key(e) {
    if (!this.view?.series || e.ctrlKey || e.metaKey || e.altKey) return;
    const [first, end, rows] = this.of.range();
    const n = end - first;
    const step = Math.max(1, Math.round(n / 8));
    const around = (width) => [(first + end - width) / 2, (first + end + width) / 2];
    const move = (by) => {
      const from = Math.min(Math.max(0, first + by), rows - n);
      return [from, from + n];
    };
    const to = { ArrowLeft: move(-step), ArrowRight: move(step), "+": around(n / 2), "=": around(n / 2), "-": around(n * 2), 0: [0, rows] }[e.key];
    if (!to) return;
    e.preventDefault();
    this.of.zoom(...to);
  }
}

/** plain is a cell as a number to draw, null where it is missing or not finite. */
export const plain = (v) => (typeof v === "number" ? v : null);

/** span is a range a little wider than the values. */
export function span(min, max) {
  if (min == null || max == null) return [0, 1];
  const room = (max - min || Math.abs(max) || 1) * 0.06;
  return [min - room * 1.6, max + room];
}

function ticks(min, max) {
  const rough = (max - min) / 8;
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1)));
  const step = Math.max(1, [1, 2, 5, 10].map((f) => f * power).find((s) => s >= rough) ?? power * 10);
  const out = [];
  for (let v = Math.ceil(min / step) * step; v <= max; v += step) out.push(v);
  return out;
}
