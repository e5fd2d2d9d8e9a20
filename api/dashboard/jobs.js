// The jobs: their progress, their times, and buttons to cancel them.

import {
  h,
  setText,
  showProblem,
  syncChildren,
  plural,
  percent,
  seconds,
  announce,
} from "./dom.js";
import * as http from "./http.js";
import * as live from "./live.js";

const maxEnded = 8;
const endText = (j) => (j.state !== "cancelled" && j.error ? j.error.detail : j.state);
const isActive = (j) => j.state === "queued" || j.state === "running";

export function showJobs(root) {
  const empty = h("p", { class: "quiet" }, "No job runs.");
  const list = h("ul", { class: "jobs" });
  const seen = new Map();
  root.append(empty, list);
  live.on("jobs", (body) => {
    const all = [...body.jobs].reverse(); // newest first
    for (const j of all) {
      if (!isActive(j) && seen.get(j.job) === true)
        announce(`${j.kind ?? "load"} of ${j.dataset}: ${endText(j)}`);
      seen.set(j.job, isActive(j));
    }
    const shown = [...all.filter(isActive), ...all.filter((j) => !isActive(j)).slice(0, maxEnded)];
    empty.hidden = shown.length > 0;
    syncChildren(list, shown, (j) => j.job, jobElement);
  });
}

function jobElement(j) {
  const state = h("span", { class: "state" });
  const facts = h("span", { class: "quiet num" });
  const meter = h("progress", { max: "1", "aria-label": `progress of ${j.job}` });
  const problem = h("p", { class: "problem" });
  let cancelProblem = null;
  const cancel = h(
    "button",
    {
      type: "button",
      "aria-label": `Cancel ${j.job}, ${j.kind ?? "load"} of ${j.dataset}`,
      onclick: () =>
        http
          .remove(`/v1/jobs/${encodeURIComponent(j.job)}`)
          .catch((e) => showProblem(problem, (cancelProblem = e))),
    },
    "Cancel",
  );
  const root = h(
    "li",
    { tabindex: "-1" },
    h("span", { class: "what" }, `${j.kind ?? "load"} `, h("b", null, j.dataset)),
    state,
    meter,
    facts,
    cancel,
    problem,
  );
  return {
    root,
    update(j) {
      const active = isActive(j);
      setText(state, j.state === "running" ? j.phase : j.hit ? "already there" : j.state);
      state.className = `state ${j.state}`;
      meter.value = j.progress;
      if (!active && document.activeElement === cancel) root.focus();
      meter.hidden = cancel.hidden = !active;
      const parts = active
        ? [percent(j.progress), j.eta_s == null ? null : `${seconds(j.eta_s)} left`]
        : [`${seconds(j.seconds)}`];
      if (j.rows > 0) parts.push(plural(j.rows, "row"));
      setText(facts, parts.filter(Boolean).join(" · "));
      const failed = j.state !== "cancelled" && j.error; // to cancel is no failure
      showProblem(problem, failed ? j.error : active ? cancelProblem : null);
    },
  };
}
