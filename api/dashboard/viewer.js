// The window viewer: the chart of an item with its splits and rejected positions, the selected
// window, and the form of the spec with its plan.

import { setChildren, setText, setEnabled, showProblem, count } from "./dom.js";
import * as http from "./http.js";
import * as live from "./live.js";
import { readRequest, selectColumns, readState, writeState } from "./state.js";
import { Chart } from "./chart.js";
import { showLegend } from "./legend.js";
import { explainNoWindow } from "./patterns.js";
import { fetchStretches, windowRows } from "./stretches.js";
import { ItemBox } from "./items.js";
import { defaultSpec } from "./fields.js";
import { Form } from "./form.js";
import { WindowPanel } from "./window.js";
import { viewerLayout } from "./viewer_layout.js";
import { ColumnBoxes, chartColumns, selectedAtFirst } from "./columns.js";
import { chartLabel, pointText, showChartTable } from "./chart_text.js";
import { datasetFacts, generationId } from "./facts.js";
import { showPlan } from "./plan.js";
import * as code from "./code.js";

const maxDrawn = 3; // default number of columns in the chart
const points = () => Math.max(300, Math.min(2000, Math.round(innerWidth)));

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
    this.fetchStretches = get((signal, request) =>
      fetchStretches(this.name, request, this.code, signal),
    );
    this.fetchWindow = get((signal, body) =>
      http.post(http.datasetPath(this.name, "/windows"), body, signal),
    );
    this.build();
    live.on("datasets", (list) => this.handleDatasets(list));
  }

  build() {
    Object.assign(this, viewerLayout(this.root));
    this.showAllButton.addEventListener("click", () => this.zoom(0, this.rows));
    this.boxes = new ColumnBoxes(this.columnsRoot, (name, on) => this.toggle(name, on));
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
    this.clear();
    this.opening = this.name = this.listMeanwhile = undefined;
    this.isOpening = false;
  }

  /** clear removes all that is shown of a dataset, and drops the answers that are on their way. */
  clear() {
    clearTimeout(this.planTimer);
    for (const fetch of [this.fetchSeries, this.fetchPlan, this.fetchStretches, this.fetchWindow])
      fetch.cancel();
    this.body.hidden = true;
    this.shown = this.selected = this.series = this.stretches = this.planned = undefined;
    this.window = this.number = undefined;
    this.chart.show({});
    this.panel.clear();
    setText(this.facts, "");
    setText(this.problem, "");
  }

  /** fail says why a request failed. Nothing is shown of a dataset that is not there. */
  fail(e) {
    if (e.type === "dataset_not_found") this.clear();
    showProblem(this.problem, e);
  }

  /** handleDatasets opens the dataset again if it was removed or if there is another generation. */
  handleDatasets(list) {
    if (this.isOpening) this.listMeanwhile = list;
    if (this.name === undefined || this.isOpening) return;
    const d = list.datasets.find((d) => d.dataset === this.name);
    const isSame = d ? generationId(d) === this.shown?.id : !this.shown || list.next;
    if (!isSame) this.open(readState());
  }

  /** open shows the state of the address. */
  async open(state) {
    const thisOpening = (this.opening = {});
    this.isOpening = true;
    if (this.shown?.dataset !== state.dataset) this.clear();
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
      const item = list.items[0];
      if (!item) throw new Error(`item ${state.code ?? 0}: the dataset has no item with this code`);
      this.shown = { dataset: d.dataset, id: generationId(d) };
      this.body.hidden = false;
      this.showFacts(d);
      this.setItem(item);
      this.selected = state.columns
        ? selectColumns(state.columns, this.columns)
        : selectedAtFirst(d.manifest).slice(0, maxDrawn);
      this.boxes.show(this.columns, (c) => this.selected.includes(c));
      this.from = Math.min(Math.max(0, Number(state.from) || 0), this.rows);
      this.to = Math.min(Number(state.to) || this.rows, this.rows);
      this.requestedWindow =
        state.window === undefined ? undefined : Math.max(0, Number(state.window) || 0);
      this.number = this.requestedWindow;
      this.window = this.stretches = this.planned = undefined;
      setChildren(this.answerRoot);
      this.request = readRequest(state);
      this.request.spec ??= defaultSpec(item.rows);
      this.form.show(this.request);
      await Promise.all([this.draw(), this.plan()]);
    } catch (e) {
      if (this.opening !== thisOpening) return;
      this.clear();
      this.fail(e);
    } finally {
      if (this.opening === thisOpening) this.endOpening();
    }
  }

  endOpening() {
    this.isOpening = false;
    const list = this.listMeanwhile;
    this.listMeanwhile = undefined;
    if (list) this.handleDatasets(list);
  }

  showFacts(d) {
    this.columns = chartColumns(d.manifest);
    setText(this.facts, datasetFacts(d, this.columns.length));
  }

  setItem(item) {
    this.code = item.item_code;
    this.rows = item.rows;
    this.items.show(this.name, item);
  }

  chooseItem(item) {
    this.setItem(item);
    this.from = 0;
    this.to = item.rows;
    this.stretches = undefined;
    this.clearWindow("");
    this.draw();
    this.plan();
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
        item_code: this.code,
        columns: JSON.stringify(this.selected),
        from: this.from,
        to: this.to,
        points: points(),
      });
      setText(this.problem, "");
    } catch (e) {
      this.fail(e);
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
      window: this.window && windowRows(this.window, this.planned.request.spec),
    });
    showLegend(this.legend, this.series, this.stretches);
    this.chartRoot.setAttribute("aria-label", chartLabel(this.series, this.stretches));
    this.hover(null);
  }

  hover(i) {
    const known = this.series && i != null;
    setText(this.readout, known ? pointText(this.series, this.chart.times, i) : "\u00a0");
  }

  handleEdit(request) {
    this.request = request;
    clearTimeout(this.planTimer);
    this.answerRoot.setAttribute("aria-busy", "true");
    this.planTimer = setTimeout(() => this.plan(), 250);
  }

  /**
   * plan requests the plan and the positions of the item. If the daemon refuses the request, the
   * page shows the plan, the chart and the window of the request before.
   */
  async plan() {
    this.saveState();
    const { opening, request } = this;
    const [plan, stretches] = await Promise.allSettled([
      this.fetchPlan(request),
      this.fetchStretches(request),
    ]);
    if (this.opening !== opening) return;
    if (plan.reason?.type === "dataset_not_found") return this.fail(plan.reason);
    this.answerRoot.setAttribute("aria-busy", "false");
    this.form.showProblem(plan.reason ?? null);
    showProblem(this.planProblem, plan.reason);
    if (plan.reason) return this.showRefused(plan.reason, stretches.value);
    this.planned = { ...plan.value, request };
    this.stretches = stretches.value;
    this.staleNote.hidden = true;
    showPlan(this.answerRoot, plan.value);
    this.panel.setCount(plan.value.windows);
    const requested = this.requestedWindow;
    this.requestedWindow = undefined;
    if (requested !== undefined) return this.pick(Math.min(requested, plan.value.windows - 1));
    if (this.stretches?.windows === 0) return this.clearWindow("this item has no window");
    const first = this.stretches?.stretches.find((s) => s.windows > 0);
    if (!first) return this.render(); // the request for the positions failed
    const row = this.window?.item_code === this.code ? this.window.start : first.from;
    return this.showWindow(
      { item_code: this.code, row: Math.max(0, row) },
      { item_code: this.code, row: Math.max(0, first.to - 1) },
    );
  }

  /** showRefused shows why no window exists, or what was planned before the refused request. */
  showRefused(problem, stretches) {
    if (problem.type === "no_windows" && stretches) {
      this.stretches = stretches;
      this.planned = undefined;
      setChildren(this.answerRoot);
      this.panel.setCount(0);
      this.clearWindow("no window exists");
    }
    this.staleNote.hidden = !this.planned;
    this.render();
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
    if (this.planned) await this.showWindow({ item_code: this.code, row });
  }

  /**
   * showWindow requests a window and shows it, or the window of another request if there is none.
   */
  async showWindow(request, fallback) {
    const { opening } = this;
    const { spec, cuts, split } = this.planned.request;
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
    if (w.item_code !== this.code) {
      const list = await http.get(
        http.datasetPath(this.name, `/items${http.query({ limit: 1, after: w.item_code - 1 })}`),
      );
      if (this.opening !== opening) return;
      this.setItem(list.items[0]);
      this.from = 0;
      this.to = this.rows;
      this.stretches = await this.fetchStretches(this.planned.request);
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
        spec: this.planned.request.spec,
        columns: this.selected,
        colored: this.series?.series.map((f) => f.column) ?? [],
        split: this.planned.request.split,
      });
  }

  /** updateCode writes the state to the address and shows it as code. */
  updateCode() {
    this.saveState();
    const request = this.planned?.request ?? this.request;
    code.showCode(this.codeRoot, {
      Python: code.pythonCode(this.name, request, this.planned, this.window?.number),
      "Command line": code.commandLine(this.name, request),
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
