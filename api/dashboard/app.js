// The page: which view is shown, and its header.

import { h, put, say, bytes, bar } from "./dom.js";
import { get } from "./http.js";
import * as live from "./live.js";
import { read } from "./state.js";
import { datasets } from "./datasets.js";
import { jobs } from "./jobs.js";
import { feeds } from "./feeds.js";
import { Viewer } from "./viewer.js";

const main = document.getElementById("main");
const viewer = new Viewer(document.getElementById("viewer"));
let shown;

function route() {
  const state = read();
  document.getElementById("overview").hidden = state.dataset !== "";
  document.getElementById("viewer").hidden = state.dataset === "";
  document.title = state.dataset ? `${state.dataset} · tensorcache` : "tensorcache";
  if (state.dataset) viewer.open(state);
  else viewer.close();
  if (shown !== undefined && shown !== state.dataset) {
    main.focus({ preventScroll: true }); // a new view begins at its top, for the keyboard too
    scrollTo(0, 0);
  }
  shown = state.dataset;
}

function machine(m) {
  const { limit, budget, resident, rings, loading } = m.memory;
  const text = `${bytes(resident)} of datasets in memory, ${bytes(rings)} of rings, ${bytes(loading)} of loads, of a budget of ${bytes(budget)} (machine: ${bytes(limit)})`;
  put(
    document.getElementById("machine"),
    h("span", { class: "quiet" }, "memory"),
    bar(text, [
      [resident / budget, "resident"],
      [rings / budget, "rings"],
      [loading / budget, "loading"],
    ]),
    h("span", { class: "num" }, `${bytes(resident + rings + loading)} of ${bytes(budget)}`),
  );
}

document.getElementById("skip").addEventListener("click", (e) => {
  e.preventDefault(); // the address is the view's
  main.focus();
});
addEventListener("hashchange", route);
datasets(document.getElementById("datasets"));
jobs(document.getElementById("jobs"));
feeds(document.getElementById("feeds"));
live.on("machine", machine);
route();
live.start();
const health = await get("/v1/health").catch(() => null);
if (health) say(document.getElementById("about"), `${health.version} · ${health.dir}`);
