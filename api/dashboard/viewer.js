// The window viewer: an item drawn, its splits and rejected starts, a window picked, the spec edited with plan's answer beside it.

import { h, put, say, allow, count, counted, number, itemName, bytes } from "./dom.js";
import * as http from "./http.js";
import { decoded, json, write } from "./state.js";
import { colors, stroke } from "./plot.js";
import { Chart } from "./chart.js";
import { clock } from "./ticks.js";
import { reasons, swatch, whyNone } from "./patterns.js";
import { Items } from "./items.js";
import { Form } from "./form.js";
import { WindowPanel, key } from "./window.js";
import { answer } from "./answer.js";
import * as code from "./code.js";

const mostShown = 3; // columns that are drawn unless told otherwise
const points = () => Math.max(300, Math.min(2000, Math.round(innerWidth)));

/** named are the columns that an address names, in the order of the dataset. */
function named(text, columns) {
  const wanted = text.split(",").map(decoded);
  return columns.filter((c) => wanted.includes(c));
}

export class Viewer {
  constructor(root) {
    this.root = root;
    const get = (work) => http.latest(work);
    this.fetchSeries = get((signal, q) => http.get(http.dataset(this.name, `/series${http.query(q)}`), signal));
    this.fetchPlan = get((signal, body) => http.post(http.dataset(this.name, "/plan"), body, signal));
    this.fetchStretches = get((signal) => this.askStretches(signal));
    this.fetchWindow = get((signal, body) => http.post(http.dataset(this.name, "/windows"), body, signal));
    this.build();
  }

  build() {
    const d = (attrs) => h("div", attrs);
    this.title = h("h1", null);
    this.facts = h("p", { class: "quiet" });
    this.problem = h("p", { class: "problem", role: "alert" });
    this.itemRoot = d();
    this.columnsRoot = h("fieldset", { class: "columns" });
    this.chartRoot = h("div", { class: "plot main", tabindex: "0", role: "group", "aria-roledescription": "chart", "aria-describedby": "chart-help" });
    this.readout = h("p", { class: "readout num", "aria-hidden": "true" });
    this.legend = h("ul", { class: "legend" });
    this.range = h("span", { class: "quiet num", role: "status" });
    this.table = d();
    this.windowRoot = d();
    this.formRoot = d();
    this.answerRoot = h("div", { class: "answer", "aria-live": "polite", "aria-busy": "false" });
    this.stale = h("p", { class: "hint", hidden: true }, "The spec is refused; this is the plan of the one before.");
    this.codeRoot = d();
    this.whole = h("button", { type: "button", class: "small", onclick: () => this.zoom(0, this.rows) }, "Show all rows");
    put(
      this.root,
      h("div", { class: "viewer-head" }, h("a", { href: "#/", class: "back" }, "All datasets"), this.title, this.facts, this.problem),
      h(
        "div",
        { class: "viewer" },
        h(
          "div",
          { class: "drawn" },
          h("section", { "aria-labelledby": "h-series" }, h("h2", { id: "h-series" }, "Series"), h("div", { class: "chosen" }, this.itemRoot, this.columnsRoot), this.legend, this.chartRoot, this.readout,
            h("div", { class: "under" }, this.range, this.whole, h("span", { class: "hint", id: "chart-help" }, "Drag to zoom, click to pick the window of a row. Keys: ← → move, + − zoom, 0 shows all.")),
            h("details", null, h("summary", null, "The chart as a table"), this.table)),
          h("section", { "aria-labelledby": "h-window" }, h("h2", { id: "h-window" }, "Picked window"), this.windowRoot),
          h("section", { "aria-labelledby": "h-code" }, h("h2", { id: "h-code" }, "The same in code"), this.codeRoot),
        ),
        h(
          "div",
          { class: "spec" },
          h("section", { "aria-labelledby": "h-plan" }, h("h2", { id: "h-plan" }, "Plan"), this.stale, this.answerRoot),
          h("section", { "aria-labelledby": "h-spec" }, h("h2", { id: "h-spec" }, "Spec"), this.formRoot),
        ),
      ),
    );
    this.items = new Items(this.itemRoot, (it) => this.choose(it));
    this.chart = new Chart(this.chartRoot, { zoom: (a, b) => this.zoom(a, b), pick: (row) => this.pickRow(row), hover: (i) => this.hover(i), range: () => [this.from, this.to, this.rows] });
    this.panel = new WindowPanel(this.windowRoot, { pick: (n) => this.pick(n) });
    this.form = new Form(this.formRoot, (request) => this.edited(request));
  }

  close() {
    this.name = undefined;
  }

  /** open shows what an address says. */
  async open(state) {
    const mine = (this.opening = {});
    this.name = state.dataset;
    say(this.title, state.dataset);
    say(this.problem, "");
    try {
      const [d, list] = await Promise.all([http.get(http.dataset(this.name)), http.get(http.dataset(this.name, `/items${http.query({ limit: 1, after: Number(state.code || 0) - 1 })}`))]);
      if (this.opening !== mine) return;
      this.describe(d);
      const item = list.items[0];
      if (!item) throw new Error("the dataset has no item of this number");
      this.setItem(item);
      this.selected = state.columns ? named(state.columns, this.columns) : this.columns.slice(0, mostShown);
      this.drawColumns();
      this.from = Math.min(Math.max(0, Number(state.from) || 0), this.rows);
      this.to = Math.min(Number(state.to) || this.rows, this.rows);
      this.asked = state.window === undefined ? undefined : Math.max(0, Number(state.window) || 0);
      this.number = this.asked;
      this.window = this.stretches = this.planned = undefined;
      this.request = Object.fromEntries(["spec", "split", "cuts", "options"].map((k) => [k, json(state[k], undefined)]).filter(([, v]) => v !== undefined));
      this.request.spec ??= this.someSpec(item.rows);
      this.form.show(this.request);
      await Promise.all([this.draw(), this.plan()]);
    } catch (e) {
      if (this.opening === mine) say(this.problem, `${e.message}${e.hint ? `. ${e.hint}` : ""}`);
    }
  }

  describe(d) {
    this.columns = d.manifest.columns.filter((c) => c.role === "value" && c.dtype !== "timestamp").map((c) => c.name);
    const step = d.manifest.time_step;
    say(this.facts, [counted(d.rows, "row"), counted(d.items, "item"), counted(this.columns.length, "value column"), bytes(d.bytes), `generation ${d.generation}`, step && step.jumps > 0 ? `${count(step.jumps)} jumps in time` : null].filter(Boolean).join(" · "));
  }

  /** someSpec is one to begin with, of about a hundredth of the item. */
  someSpec(rows) {
    const context = Math.max(1, Math.min(336, Math.floor(rows / 8)));
    return { context_length: context, prediction_length: Math.max(rows > 1 ? 1 : 0, Math.min(96, Math.floor(rows / 24))) };
  }

  setItem(item) {
    this.code = item.code;
    this.rows = item.rows;
    this.items.show(this.name, item);
  }

  choose(item) {
    this.setItem(item);
    this.from = 0;
    this.to = item.rows;
    this.window = undefined;
    this.draw();
    this.plan();
  }

  drawColumns() {
    put(
      this.columnsRoot,
      h("legend", null, "Columns"),
      this.columns.slice(0, 200).map((name) =>
        h("label", null, h("input", { type: "checkbox", checked: this.selected.includes(name), onchange: (e) => this.toggle(name, e.target.checked) }), " ", name),
      ),
      this.columns.length > 200 ? h("p", { class: "hint" }, `and ${count(this.columns.length - 200)} more`) : null,
    );
  }

  toggle(name, wanted) {
    this.selected = this.columns.filter((c) => (c === name ? wanted : this.selected.includes(c)));
    this.draw();
    this.drawWindow();
  }

  zoom(from, to) {
    const least = Math.min(this.rows, 8);
    from = Math.max(0, Math.min(Math.round(from), this.rows - least));
    this.from = from;
    this.to = Math.min(this.rows, Math.max(Math.round(to), from + least));
    this.draw();
  }

  /** draw fetches the rows that are shown, as many points as there are pixels. */
  async draw() {
    this.remember();
    say(this.range, `rows ${count(this.from)} to ${count(this.to)} of ${count(this.rows)}`);
    allow(this.whole, this.from > 0 || this.to < this.rows);
    if (this.selected.length === 0) {
      this.series = undefined;
      this.chart.show({});
      return;
    }
    try {
      performance.mark("series-asked");
      this.series = await this.fetchSeries({ code: this.code, columns: JSON.stringify(this.selected), from: this.from, to: this.to, points: points() });
      say(this.problem, "");
    } catch (e) {
      say(this.problem, `${e.message}${e.hint ? `. ${e.hint}` : ""}`);
      return;
    }
    this.paint();
    performance.mark("series-drawn");
    performance.measure("series", "series-asked", "series-drawn");
    this.tabulate();
  }

  /** paint draws what is known now. */
  paint() {
    if (!this.series) return;
    this.chart.show({ series: this.series, splits: this.stretches?.splits, stretches: this.stretches?.stretches, window: this.window && this.extent(this.window) });
    const c = colors();
    put(
      this.legend,
      this.series.series.map((f, i) => h("li", null, key(stroke(c, i).stroke), f.column)),
      Object.keys(this.stretches?.rejected ?? {}).map((r) => h("li", { title: reasons[r] }, swatch(r, c.reasons[r]), `no window starts here: ${r.replace("_", " ")}`)),
    );
    const lost = Object.entries(this.stretches?.rejected ?? {}).map(([r, n]) => `${count(n)} rejected by ${r.replace("_", " ")}`);
    this.chartRoot.setAttribute("aria-label", `${itemName(this.series.item)}: ${this.series.series.map((f) => f.column).join(", ")}, rows ${count(this.series.from)} to ${count(this.series.to)}. ${this.stretches ? `${count(this.stretches.windows)} windows${lost.length ? `, ${lost.join(", ")}` : ""}. ` : ""}A table follows.`);
    this.hover(null);
  }

  /** extent is the rows of a window's context and target. */
  extent(w) {
    const { context_length: C, gap = 0, overlap = 0, dilation: D = 1 } = this.request.spec;
    const first = w.start + (C + gap - overlap) * D;
    return { context: [w.start, w.start + (C - 1) * D + 1], target: w.target?.length ? [first, first + (w.target.length - 1) * D + 1] : null };
  }

  hover(i) {
    const s = this.series;
    if (!s || i == null) {
      say(this.readout, "\u00a0");
      return;
    }
    const time = this.chart.times?.at(s.row[i]);
    const value = (f) => (f.min[i] === f.max[i] ? number(f.min[i]) : `${number(f.min[i])} … ${number(f.max[i])}`);
    say(this.readout, [`row ${count(s.row[i])}`, time == null ? null : clock(time), ...s.series.slice(0, 6).map((f) => `${f.column} ${value(f)}${f.missing[i] && f.min[i] != null ? ` (${count(f.missing[i])} missing)` : ""}`)].filter(Boolean).join("   "));
  }

  tabulate() {
    const s = this.series;
    const every = Math.max(1, Math.ceil(s.row.length / 40));
    const lines = [];
    for (let i = 0; i < s.row.length; i += every) {
      const time = this.chart.times?.at(s.row[i]);
      lines.push(h("tr", null, h("th", { scope: "row", class: "num" }, count(s.row[i])), time == null ? null : h("td", null, clock(time)), s.series.map((f) => h("td", { class: "num" }, f.min[i] === f.max[i] ? number(f.min[i]) : `${number(f.min[i])} … ${number(f.max[i])}`))));
    }
    const head = ["row", ...(s.time ? ["time"] : []), ...s.series.map((f) => f.column)];
    put(this.table, h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Values of the chart" }, h("table", null, h("thead", null, h("tr", null, head.map((t) => h("th", { scope: "col", class: t === "time" ? null : "num" }, t)))), h("tbody", null, lines))), every > 1 ? h("p", { class: "quiet" }, `Every ${count(every)}th of ${counted(s.row.length, "drawn point")}; least … greatest where a point stands for several rows.`) : null);
  }

  /** askStretches asks for the item's positions; with a split for those of its parts too, which positions in no part are not in. */
  async askStretches(signal) {
    const { spec, cuts, split } = this.request;
    const ask = (body) => http.post(http.dataset(this.name, "/stretches"), { spec, cuts, ...body, code: this.code }, signal);
    const [all, parts] = await Promise.all([ask({}), split ? ask({ split }) : null]);
    if (!parts) return all;
    const lost = parts.stretches.filter((s) => s.reason === "split");
    const rejected = lost.length ? { ...all.rejected, split: lost.reduce((n, s) => n + s.positions - s.windows, 0) } : all.rejected;
    return { ...all, rejected, splits: parts.splits, stretches: [...all.stretches, ...lost] };
  }

  edited(request) {
    this.request = request;
    clearTimeout(this.waiting);
    this.answerRoot.setAttribute("aria-busy", "true");
    this.waiting = setTimeout(() => this.plan(), 250);
  }

  /** plan asks for the plan and the item's stretches; what is refused stands beside its field. */
  async plan() {
    this.remember();
    const name = this.name;
    const [plan, stretches] = await Promise.allSettled([this.fetchPlan(this.request), this.fetchStretches()]);
    if (this.name !== name) return;
    this.form.refuse(plan.reason ?? null);
    this.stale.hidden = plan.status === "fulfilled" || !this.planned;
    this.answerRoot.setAttribute("aria-busy", "false");
    if (stretches.value) this.stretches = stretches.value; // also where there is no window at all: they say why
    if (!plan.value) {
      this.paint();
      return;
    }
    this.planned = plan.value;
    answer(this.answerRoot, plan.value);
    this.panel.bounds(plan.value.windows);
    const asked = this.asked;
    this.asked = undefined;
    if (asked !== undefined) return this.pick(Math.min(asked, plan.value.windows - 1));
    if (this.stretches?.windows === 0) return this.unpick("this item has no window");
    const first = this.stretches?.stretches.find((s) => s.windows > 0);
    if (!first) return this.paint(); // the item's positions could not be asked for
    const row = this.window?.code === this.code ? this.window.start : first.from;
    return this.take({ code: this.code, row: Math.max(0, row) }, { code: this.code, row: Math.max(0, first.to - 1) });
  }

  unpick(text) {
    this.window = this.number = undefined;
    this.panel.clear();
    this.panel.refuse(text);
    this.told();
    this.paint();
  }

  /** pick shows a window by its number. */
  pick(n) {
    const most = this.planned?.windows ?? 0;
    if (most === 0) return this.unpick("no window exists");
    if (n < 0 || n >= most) {
      this.panel.refuse(`want a number from 0 to ${count(most - 1)}`);
      return;
    }
    return this.take({ numbers: [n] });
  }

  /** pickRow shows the window that holds a row of the item. */
  async pickRow(row) {
    if (this.planned) await this.take({ code: this.code, row });
  }

  /** take shows a window; otherwise names one to show where there is none. */
  async take(which, otherwise) {
    const { spec, cuts, split } = this.request;
    let body;
    try {
      body = await this.fetchWindow({ spec, cuts, split, ...which });
    } catch (e) {
      this.panel.refuse(e.message);
      return;
    }
    const w = body.windows[0];
    if (!w && otherwise) return this.take(otherwise);
    if (!w) {
      this.panel.refuse(`no window holds row ${count(which.row)}${whyNone(this.stretches?.stretches ?? [], which.row, this.stretches?.stride)}`);
      return;
    }
    this.features = body.features;
    this.window = w;
    this.number = w.number;
    if (w.code !== this.code) {
      const list = await http.get(http.dataset(this.name, `/items${http.query({ limit: 1, after: w.code - 1 })}`));
      this.setItem(list.items[0]);
      this.from = 0;
      this.to = this.rows;
      this.stretches = await this.fetchStretches();
      await this.draw();
    } else this.paint();
    this.drawWindow();
    this.told();
  }

  drawWindow() {
    if (this.window) this.panel.show({ w: this.window, features: this.features, spec: this.request.spec, columns: this.selected, colored: this.series?.series.map((f) => f.column) ?? [], split: this.request.split });
  }

  /** told writes what is shown into the address and as code. */
  told() {
    this.remember();
    code.lines(this.codeRoot, { Python: code.pythonLines(this.name, this.request, this.planned, this.window?.number), "Command line": code.commandLine(this.name, this.request) });
  }

  remember() {
    if (!this.name || this.selected === undefined) return;
    const all = this.from === 0 && this.to === this.rows;
    const { spec, split, cuts, options } = this.request ?? {};
    write(this.name, { code: this.code || null, columns: this.selected.map(encodeURIComponent).join(","), from: all ? null : this.from, to: all ? null : this.to, window: this.number ?? null, spec, split, cuts, options });
  }
}
