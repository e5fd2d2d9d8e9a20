// The feeds: rates and waiting times, one card for each feed.

import {
  h,
  setChildren,
  setText,
  showProblem,
  syncChildren,
  count,
  bytes,
  percent,
  confirm,
} from "./dom.js";
import * as http from "./http.js";
import * as live from "./live.js";
import { lineChart } from "./plot.js";
import { deliveryText } from "./words.js";
import { RateMeter } from "./rates.js";

const maxSamples = 180;

export function showFeeds(root) {
  const empty = h("p", { class: "quiet" }, "No trainer is attached.");
  const list = h("div", { class: "feeds" });
  root.append(empty, list);
  live.on("feeds", (body) => {
    empty.hidden = body.feeds.length > 0;
    syncChildren(list, body.feeds, (f) => f.feed, feedCard);
  });
}

function feedCard(f) {
  const facts = h("dl", { class: "facts" });
  const verdict = h("p", { class: "verdict" });
  const ratePlot = h("div", { class: "plot", role: "img" });
  const waitPlot = h("div", { class: "plot", role: "img" });
  const rows = h("tbody");
  const samples = { t: [], batches: [], windows: [], trainer: [], daemon: [] };
  const meter = new RateMeter();
  let charts;
  const problem = h("p", { class: "problem", role: "status" });
  const closeFeed = async () => {
    if (
      !(await confirm(
        `Close feed ${f.feed} of ${f.dataset}?`,
        "Its trainer gets an error at its next batch. It can go on where it was by the state " +
          "that it saved.",
        "Close feed",
      ))
    )
      return;
    await http
      .remove(`/v1/feeds/${encodeURIComponent(f.feed)}`)
      .catch((e) => showProblem(problem, e));
  };
  const close = h(
    "button",
    { type: "button", "aria-label": `Close feed ${f.feed} of ${f.dataset}`, onclick: closeFeed },
    "Close",
  );
  const root = h(
    "article",
    { class: "card", "aria-label": `feed ${f.feed} of ${f.dataset}` },
    h(
      "div",
      { class: "card-head" },
      h(
        "h3",
        null,
        f.feed,
        " ",
        h("a", { href: `#/datasets/${encodeURIComponent(f.dataset)}` }, f.dataset),
      ),
      close,
    ),
    facts,
    verdict,
    problem,
    h("div", { class: "pair" }, ratePlot, waitPlot),
    h(
      "details",
      null,
      h("summary", null, "The last figures as a table"),
      h(
        "table",
        null,
        h(
          "thead",
          null,
          h(
            "tr",
            null,
            ["seconds", "batches/s", "windows/s", "trainer waits", "daemon waits"].map((t) =>
              h("th", { scope: "col", class: "num" }, t),
            ),
          ),
        ),
        rows,
      ),
    ),
  );
  const draw = () => {
    charts ??= [
      lineChart(ratePlot, ["batches/s", "windows/s"], [0, 1]),
      lineChart(waitPlot, ["trainer waits", "daemon waits"], [2, 3], [0, 1]),
    ];
    charts[0].show([samples.t, samples.batches, samples.windows]);
    charts[1].show([samples.t, samples.trainer, samples.daemon]);
  };
  const text = (v, unit) => (v == null ? "–" : unit(v));
  return {
    root,
    end: () => charts?.forEach((c) => c.end()),
    update(f) {
      setChildren(
        facts,
        fact("batches", count(f.batches)),
        fact("epoch", count(f.epoch)),
        fact("consumed", count(f.consumed)),
        fact("delivery", deliveryText(f.path || f.delivery)),
        fact("ring", `${f.slots} × ${bytes(f.slot_bytes)}`),
        fact("process", f.pid ? String(f.pid) : "elsewhere"),
      );
      setText(verdict, f.verdict);
      const r = meter.add(f);
      if (r) {
        for (const k of Object.keys(samples)) samples[k].push(r[k]);
        for (const list of Object.values(samples)) if (list.length > maxSamples) list.shift();
        ratePlot.setAttribute(
          "aria-label",
          `${text(r.batches, (v) => v.toFixed(0))} batches and ` +
            `${text(r.windows, (v) => v.toFixed(0))} windows a second`,
        );
        waitPlot.setAttribute(
          "aria-label",
          `the trainer waits ${text(r.trainer, percent)} of its time, ` +
            `the daemon ${text(r.daemon, percent)}`,
        );
        const last = samples.t.length - 1;
        setChildren(
          rows,
          Array.from({ length: Math.min(10, last + 1) }, (_, i) => last - i).map((i) =>
            h(
              "tr",
              null,
              [
                samples.t[i].toFixed(0),
                text(samples.batches[i], (v) => v.toFixed(1)),
                text(samples.windows[i], (v) => v.toFixed(0)),
                text(samples.trainer[i], percent),
                text(samples.daemon[i], percent),
              ].map((x) => h("td", { class: "num" }, x)),
            ),
          ),
        );
        draw();
      }
    },
  };
}

const fact = (name, value) => h("div", null, h("dt", null, name), h("dd", { class: "num" }, value));
