// The page: its header, and the overview or the viewer.

import { h, setChildren, setText, bytes, bar } from "./dom.js";
import { get } from "./http.js";
import * as live from "./live.js";
import { readState } from "./state.js";
import { showDatasets } from "./datasets.js";
import { showJobs } from "./jobs.js";
import { showFeeds } from "./feeds.js";
import { goToSection, showSections } from "./sections.js";
import { Viewer } from "./viewer.js";

const main = document.getElementById("main");
const viewer = new Viewer(document.getElementById("viewer"));
let shown;

function route() {
  const state = readState();
  document.getElementById("overview").hidden = state.dataset !== "";
  document.getElementById("viewer").hidden = state.dataset === "";
  document.title = state.dataset ? `${state.dataset} · tensorcache` : "tensorcache";
  if (state.dataset) viewer.open(state);
  else viewer.close();
  if (shown !== undefined && shown !== state.dataset) {
    main.focus({ preventScroll: true }); // for keyboards and screen readers, too
    scrollTo(0, 0);
  }
  shown = state.dataset;
  goToSection(state.section);
}

function machine(m) {
  const { limit, budget, resident, rings, loading } = m.memory;
  const text =
    `${bytes(resident)} of datasets in memory, ${bytes(rings)} of rings, ` +
    `${bytes(loading)} of loads, of a budget of ${bytes(budget)} (machine: ${bytes(limit)})`;
  setChildren(
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
  e.preventDefault(); // the hash is used for the view
  main.focus();
});
addEventListener("hashchange", route);
showSections(document.getElementById("sections"));
showDatasets(document.getElementById("datasets"));
showJobs(document.getElementById("jobs"));
showFeeds(document.getElementById("feeds"));
live.on("machine", machine);
route();
live.start();
const health = await get("/v1/health").catch(() => null);
if (health) setText(document.getElementById("about"), `${health.version} · ${health.dir}`);
