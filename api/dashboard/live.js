// What changes by itself: datasets, jobs, feeds and the machine, by the daemon's event stream. While there is no stream they are
// asked for every two seconds.

import { get, Problem } from "./http.js";

const topics = { datasets: "/v1/datasets?limit=1000", jobs: "/v1/jobs?limit=1000", feeds: "/v1/feeds?limit=1000", machine: "/v1/machine" };
const listeners = {};
const last = {};
const told = new Set(); // the topics that the stream tells of

/** on calls back with each new body of a topic, and with the last one now. */
export function on(topic, callback) {
  (listeners[topic] ??= []).push(callback);
  if (last[topic]) callback(last[topic]);
}

function tell(topic, body) {
  last[topic] = body;
  for (const callback of listeners[topic] ?? []) callback(body);
}

/** refresh asks for a topic after something was done, unless the stream tells of it: that tells changes alone, so of a state in between, which it has not told, it would not say that it is over. */
export async function refresh(topic) {
  if (told.has(topic)) return;
  const body = await get(topics[topic]);
  if (!told.has(topic)) tell(topic, body);
}

let polling, asking;

async function poll() {
  try {
    await Promise.all(Object.keys(topics).map(refresh));
    banner("");
  } catch (e) {
    if (e instanceof Problem && e.status === 401) banner("This browser is no longer logged in. Run tensorcache ui again.");
    else if (e instanceof Problem) banner(e.message);
    else banner("The daemon does not answer. It is asked again every two seconds.");
  }
}

function banner(text) {
  const b = document.getElementById("banner");
  if (b.textContent !== text) b.textContent = text;
  b.hidden = text === "";
}

/** start opens the stream; it reconnects by itself. */
export function start() {
  const stream = new EventSource("/v1/events");
  told.clear();
  for (const topic of Object.keys(topics)) {
    stream.addEventListener(topic, (e) => {
      told.add(topic);
      tell(topic, JSON.parse(e.data));
    });
  }
  clearInterval(asking);
  asking = setInterval(() => {
    for (const topic of Object.keys(topics)) if (polling === undefined) refresh(topic).catch(() => {});
  }, 5000); // what the stream does not tell of
  stream.addEventListener("open", () => {
    clearInterval(polling);
    polling = undefined;
    banner("");
    if (!last.machine) refresh("machine").catch(() => {});
  });
  stream.addEventListener("error", () => {
    told.clear();
    if (polling === undefined) {
      polling = setInterval(poll, 2000);
      poll();
    }
    if (stream.readyState === EventSource.CLOSED) setTimeout(start, 5000);
  });
}
