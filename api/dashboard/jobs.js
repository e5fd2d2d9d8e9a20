// Live jobs: how far they are, how long they take, and a way to cancel them.

import { h, say, keyed, counted, percent, seconds, announce } from "./dom.js";
import * as http from "./http.js";
import * as live from "./live.js";

const mostEnded = 8;
const running = (j) => j.state === "queued" || j.state === "running";

export function jobs(root) {
  const empty = h("p", { class: "quiet" }, "No job runs.");
  const list = h("ul", { class: "jobs" });
  const seen = new Map();
  root.append(empty, list);
  live.on("jobs", (body) => {
    const all = [...body.jobs].reverse(); // newest first
    for (const j of all) {
      if (!running(j) && seen.get(j.job) === true) announce(`${j.kind ?? "load"} of ${j.dataset}: ${j.error ? j.error.detail : j.state}`);
      seen.set(j.job, running(j));
    }
    const shown = [...all.filter(running), ...all.filter((j) => !running(j)).slice(0, mostEnded)];
    empty.hidden = shown.length > 0;
    keyed(list, shown, (j) => j.job, job);
  });
}

function job(j) {
  const state = h("span", { class: "state" });
  const facts = h("span", { class: "quiet num" });
  const meter = h("progress", { max: "1", "aria-label": `progress of ${j.job}` });
  const problem = h("p", { class: "problem" });
  let refused = "";
  const cancel = h(
    "button",
    {
      type: "button",
      "aria-label": `Cancel ${j.job}, ${j.kind ?? "load"} of ${j.dataset}`,
      onclick: () => http.remove(`/v1/jobs/${encodeURIComponent(j.job)}`).catch((e) => say(problem, (refused = e.message))),
    },
    "Cancel",
  );
  const root = h("li", { tabindex: "-1" }, h("span", { class: "what" }, `${j.kind ?? "load"} `, h("b", null, j.dataset)), state, meter, facts, cancel, problem);
  return {
    root,
    update(j) {
      const now = running(j);
      say(state, j.state === "running" ? j.phase : j.hit ? "already there" : j.state);
      state.className = `state ${j.state}`;
      meter.value = j.progress;
      if (!now && document.activeElement === cancel) root.focus();
      meter.hidden = cancel.hidden = !now;
      const parts = now ? [percent(j.progress), j.eta_s == null ? null : `${seconds(j.eta_s)} left`] : [`${seconds(j.seconds)}`];
      if (j.rows > 0) parts.push(counted(j.rows, "row"));
      say(facts, parts.filter(Boolean).join(" · "));
      say(problem, j.error ? `${j.error.detail}${j.error.hint ? `. ${j.error.hint}` : ""}` : now ? refused : "");
    },
  };
}
