// The window viewer: the chart of an item with its splits and rejected positions, the selected
// window, and the form of the spec with its plan.

import { h, setChildren, setText, setEnabled, count, plural, bytes } from "./dom.js";
import * as http from "./http.js";
import { decode, parseJSON, writeState } from "./state.js";
import { themeColors, stroke } from "./plot.js";
import { Chart } from "./chart.js";
import { reasons, swatch, explainNoWindow } from "./patterns.js";
import { ItemBox } from "./items.js";
import { defaultSpec } from "./fields.js";
import { Form } from "./form.js";
import { WindowPanel, legendKey } from "./window.js";
import { viewerLayout, columnBoxes } from "./viewer_layout.js";
import { chartLabel, pointText, showChartTable } from "./chart_text.js";
import { showPlan } from "./plan.js";
import * as code from "./code.js";

const maxDrawn = 3; // default number of columns in the chart
const points = () => Math.max(300, Math.min(2000, Math.round(innerWidth)));

/** selectColumns returns the columns that an address names, in the order of the dataset. */
function selectColumns(text, columns) {
  const names = text.split(",").map(decode);
  return columns.filter((c) => names.includes(c));
}

export class Viewer {
  constructor(root) {
    this.root = root;
    const get = (work) => http.latestOnly(work);
    this.fetchSeries = get((signal, q) =>
      http.get(http.datasetPath(this.name, `/series${http.query(q)}`), signal),
    );
    this.fetchPlan = get((signal, body) =>
      http.post(http.datasetPath(this.name, "/plan"), body, signal),
    );
    this.fetchStretches = get((signal) => this.askStretches(signal));
    this.fetchWindow = get((signal, body) =>
      http.post(http.datasetPath(this.name, "/windows"), body, signal),
    );
    this.build();
  }

  build() {
    Object.assign(this, viewerLayout(this.root));
    this.showAllButton.addEventListener("click", () => this.zoom(0, this.rows));
    this.items = new ItemBox(this.itemRoot, (it) => this.chooseItem(it));
    this.chart = new Chart(this.chartRoot, {
      zoom: (a, b) => this.zoom(a, b),
      pick: (row) => this.pickRow(row),
      hover: (i) => this.hover(i),
      range: () => [this.from, this.to, this.rows],
    });
    this.panel = new WindowPanel(this.windowRoot, { pick: (n) => this.pick(n) });
    this.form = new Form(this.formRoot, (request) => this.handleEdit(request));
  }

  close() {
    this.name = undefined;
  }

  /** open shows the state of the address. */
  async open(state) {
    const thisOpening = (this.opening = {});
    this.name = state.dataset;
    setText(this.title, state.dataset);
    setText(this.problem, "");
    try {
      const [d, list] = await Promise.all([
        http.get(http.datasetPath(this.name)),
        http.get(
          http.datasetPath(
            this.name,
            `/items${http.query({ limit: 1, after: Number(state.code || 0) - 1 })}`,
          ),
        ),
      ]);
      if (this.opening !== thisOpening) return;
      this.showFacts(d);
      const item = list.items[0];
      if (!item) throw new Error("the dataset has no item of this number");
      this.setItem(item);
      this.selected = state.columns
        ? selectColumns(state.columns, this.columns)
        : this.columns.slice(0, maxDrawn);
      this.drawColumns();
      this.from = Math.min(Math.max(0, Number(state.from) || 0), this.rows);
      this.to = Math.min(Number(state.to) || this.rows, this.rows);
      this.requestedWindow =
        state.window === undefined ? undefined : Math.max(0, Number(state.window) || 0);
      this.number = this.requestedWindow;
      this.window = this.stretches = this.planned = undefined;
      this.request = Object.fromEntries(
        ["spec", "split", "cuts", "options"]
          .map((k) => [k, parseJSON(state[k], undefined)])
          .filter(([, v]) => v !== undefined),
      );
      this.request.spec ??= defaultSpec(item.rows);
      this.form.show(this.request);
      await Promise.all([this.draw(), this.plan()]);
    } catch (e) {
      if (this.opening === thisOpening) setText(this.problem, http.problemText(e));
    }
  }

  showFacts(d) {
    this.columns = d.manifest.columns
      .filter((c) => c.role === "value" && c.dtype !== "timestamp")
      .map((c) => c.name);
    const step = d.manifest.time_step;
    setText(
      this.facts,
      [
        plural(d.rows, "row"),
        plural(d.items, "item"),
        plural(this.columns.length, "value column"),
        bytes(d.bytes),
        `generation ${d.generation}`,
        step && step.jumps > 0 ? `${count(step.jumps)} jumps in time` : null,
      ]
        .filter(Boolean)
        .join(" · "),
    );
  }

  setItem(item) {
    this.code = item.code;
    this.rows = item.rows;
    this.items.show(this.name, item);
  }

  chooseItem(item) {
    this.setItem(item);
    this.from = 0;
    this.to = item.rows;
    this.window = undefined;
    this.draw();
    this.plan();
  }

  drawColumns() {
    const toggle = (name, checked) => this.toggle(name, checked);
    setChildren(this.columnsRoot, columnBoxes(this.columns, this.selected, toggle));
  }

  toggle(name, checked) {
    this.selected = this.columns.filter((c) => (c === name ? checked : this.selected.includes(c)));
    this.draw();
    this.drawWindow();
  }

  zoom(from, to) {
    const minRows = Math.min(this.rows, 8);
    from = Math.max(0, Math.min(Math.round(from), this.rows - minRows));
    this.from = from;
    this.to = Math.min(this.rows, Math.max(Math.round(to), from + minRows));
    this.draw();
  }

  /** draw requests the rows of the visible range, with as many points as there are pixels. */
  async draw() {
    this.saveState();
    setText(this.range, `rows ${count(this.from)} to ${count(this.to)} of ${count(this.rows)}`);
    setEnabled(this.showAllButton, this.from > 0 || this.to < this.rows);
    if (this.selected.length === 0) {
      this.series = undefined;
      this.chart.show({});
      return;
    }
    try {
      performance.mark("series-asked");
      this.series = await this.fetchSeries({
        code: this.code,
        columns: JSON.stringify(this.selected),
        from: this.from,
        to: this.to,
        points: points(),
      });
      setText(this.problem, "");
    } catch (e) {
      setText(this.problem, http.problemText(e));
      return;
    }
    this.render();
    performance.mark("series-drawn");
    performance.measure("series", "series-asked", "series-drawn");
    showChartTable(this.table, this.series, this.chart.times);
  }

  /** render draws what has been received. */
  render() {
    if (!this.series) return;
    this.chart.show({
      series: this.series,
      splits: this.stretches?.splits,
      stretches: this.stretches?.stretches,
      window: this.window && this.windowRows(this.window),
    });
    const c = themeColors();
    setChildren(
      this.legend,
      this.series.series.map((f, i) => h("li", null, legendKey(stroke(c, i).stroke), f.column)),
      Object.keys(this.stretches?.rejected ?? {}).map((r) =>
        h(
          "li",
          { title: reasons[r] },
          swatch(r, c.reasons[r]),
          `no window starts here: ${r.replace("_", " ")}`,
        ),
      ),
    );
    this.chartRoot.setAttribute("aria-label", chartLabel(this.series, this.stretches));
    this.hover(null);
  }

  /** windowRows returns the rows of a window's context and target. */
  windowRows(w) {
    const { context_length: C, gap = 0, overlap = 0, dilation: D = 1 } = this.request.spec;
    const first = w.start + (C + gap - overlap) * D;
    return {
      context: [w.start, w.start + (C - 1) * D + 1],
      target: w.target?.length ? [first, first + (w.target.length - 1) * D + 1] : null,
    };
  }

  hover(i) {
    const known = this.series && i != null;
    setText(this.readout, known ? pointText(this.series, this.chart.times, i) : "\u00a0");
  }

  /**
   * askStretches requests the positions of the item. With a split, it also requests those of its
   * parts, because positions in no part are missing there.
   */
  async askStretches(signal) {
    const { spec, cuts, split } = this.request;
    const post = (body) =>
      http.post(
        http.datasetPath(this.name, "/stretches"),
        { spec, cuts, ...body, code: this.code },
        signal,
      );
    const [all, parts] = await Promise.all([post({}), split ? post({ split }) : null]);
    if (!parts) return all;
    const inNoPart = parts.stretches.filter((s) => s.reason === "split");
    const rejected = inNoPart.length
      ? { ...all.rejected, split: inNoPart.reduce((n, s) => n + s.positions - s.windows, 0) }
      : all.rejected;
    return { ...all, rejected, splits: parts.splits, stretches: [...all.stretches, ...inNoPart] };
  }

  handleEdit(request) {
    this.request = request;
    clearTimeout(this.planTimer);
    this.answerRoot.setAttribute("aria-busy", "true");
    this.planTimer = setTimeout(() => this.plan(), 250);
  }

  /**
   * plan requests the plan and the positions of the item. Problems are shown beside their fields.
   */
  async plan() {
    this.saveState();
    const name = this.name;
    const [plan, stretches] = await Promise.allSettled([
      this.fetchPlan(this.request),
      this.fetchStretches(),
    ]);
    if (this.name !== name) return;
    this.form.showProblem(plan.reason ?? null);
    this.staleNote.hidden = plan.status === "fulfilled" || !this.planned;
    this.answerRoot.setAttribute("aria-busy", "false");
    // also if there is no window, because they say why
    if (stretches.value) this.stretches = stretches.value;
    if (!plan.value) {
      this.render();
      return;
    }
    this.planned = plan.value;
    showPlan(this.answerRoot, plan.value);
    this.panel.setCount(plan.value.windows);
    const requested = this.requestedWindow;
    this.requestedWindow = undefined;
    if (requested !== undefined) return this.pick(Math.min(requested, plan.value.windows - 1));
    if (this.stretches?.windows === 0) return this.clearWindow("this item has no window");
    const first = this.stretches?.stretches.find((s) => s.windows > 0);
    if (!first) return this.render(); // the request for the positions failed
    const row = this.window?.code === this.code ? this.window.start : first.from;
    return this.showWindow(
      { code: this.code, row: Math.max(0, row) },
      { code: this.code, row: Math.max(0, first.to - 1) },
    );
  }

  clearWindow(text) {
    this.window = this.number = undefined;
    this.panel.clear();
    this.panel.showRefusal(text);
    this.updateCode();
    this.render();
  }

  /** pick shows a window by its number. */
  pick(n) {
    const most = this.planned?.windows ?? 0;
    if (most === 0) return this.clearWindow("no window exists");
    if (n < 0 || n >= most) {
      this.panel.showRefusal(`want a number from 0 to ${count(most - 1)}`);
      return;
    }
    return this.showWindow({ numbers: [n] });
  }

  /** pickRow shows the window that contains a row of the item. */
  async pickRow(row) {
    if (this.planned) await this.showWindow({ code: this.code, row });
  }

  /**
   * showWindow requests a window and shows it, or the window of another request if there is none.
   */
  async showWindow(request, fallback) {
    const { spec, cuts, split } = this.request;
    let body;
    try {
      body = await this.fetchWindow({ spec, cuts, split, ...request });
    } catch (e) {
      this.panel.showRefusal(e.message);
      return;
    }
    const w = body.windows[0];
    if (!w && fallback) return this.showWindow(fallback);
    if (!w) {
      const { stretches = [], stride } = this.stretches ?? {};
      const reason = explainNoWindow(stretches, request.row, stride);
      this.panel.showRefusal(`no window holds row ${count(request.row)}${reason}`);
      return;
    }
    this.features = body.features;
    this.window = w;
    this.number = w.number;
    if (w.code !== this.code) {
      const list = await http.get(
        http.datasetPath(this.name, `/items${http.query({ limit: 1, after: w.code - 1 })}`),
      );
      this.setItem(list.items[0]);
      this.from = 0;
      this.to = this.rows;
      this.stretches = await this.fetchStretches();
      await this.draw();
    } else this.render();
    this.drawWindow();
    this.updateCode();
  }

  drawWindow() {
    if (this.window)
      this.panel.show({
        w: this.window,
        features: this.features,
        spec: this.request.spec,
        columns: this.selected,
        colored: this.series?.series.map((f) => f.column) ?? [],
        split: this.request.split,
      });
  }

  /** updateCode writes the state to the address and shows it as code. */
  updateCode() {
    this.saveState();
    code.showCode(this.codeRoot, {
      Python: code.pythonCode(this.name, this.request, this.planned, this.window?.number),
      "Command line": code.commandLine(this.name, this.request),
    });
  }

  saveState() {
    if (!this.name || this.selected === undefined) return;
    const all = this.from === 0 && this.to === this.rows;
    const { spec, split, cuts, options } = this.request ?? {};
    writeState(this.name, {
      code: this.code || null,
      columns: this.selected.map(encodeURIComponent).join(","),
      from: all ? null : this.from,
      to: all ? null : this.to,
      window: this.number ?? null,
      spec,
      split,
      cuts,
      options,
    });
  }
}
