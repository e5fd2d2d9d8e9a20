// Datasets, jobs, feeds and the machine's state, as they change. They come from the daemon's event
// stream; while it is not open, they are requested every two seconds.

import { get, Problem } from "./http.js";

const topics = {
  datasets: "/v1/datasets?limit=1000",
  jobs: "/v1/jobs?limit=1000",
  feeds: "/v1/feeds?limit=1000",
  machine: "/v1/machine",
};
const listeners = {};
const lastBodies = {};
const streamed = new Set(); // topics that the event stream has sent

/** on calls back with each new body of a topic, and at once with the last one. */
export function on(topic, callback) {
  (listeners[topic] ??= []).push(callback);
  if (lastBodies[topic]) callback(lastBodies[topic]);
}

function publish(topic, body) {
  lastBodies[topic] = body;
  for (const callback of listeners[topic] ?? []) callback(body);
}

/**
 * refresh requests a topic after a change, unless the event stream sends it. The stream sends only
 * changes: if it did not send the state between, it would not send that this state is over.
 */
export async function refresh(topic) {
  if (streamed.has(topic)) return;
  const body = await get(topics[topic]);
  if (!streamed.has(topic)) publish(topic, body);
}

let pollTimer, refreshTimer;

async function poll() {
  try {
    await Promise.all(Object.keys(topics).map(refresh));
    showBanner("");
  } catch (e) {
    if (e instanceof Problem && e.status === 401)
      showBanner("This browser is no longer logged in. Run tensorcache ui again.");
    else if (e instanceof Problem) showBanner(e.message);
    else showBanner("The daemon does not answer. It is asked again every two seconds.");
  }
}

function showBanner(text) {
  const b = document.getElementById("banner");
  if (b.textContent !== text) b.textContent = text;
  b.hidden = text === "";
}

/** start opens the event stream, which reconnects by itself. */
export function start() {
  const stream = new EventSource("/v1/events");
  streamed.clear();
  for (const topic of Object.keys(topics)) {
    stream.addEventListener(topic, (e) => {
      streamed.add(topic);
      publish(topic, JSON.parse(e.data));
    });
  }
  clearInterval(refreshTimer);
  refreshTimer = setInterval(() => {
    for (const topic of Object.keys(topics))
      if (pollTimer === undefined) refresh(topic).catch(() => {});
  }, 5000); // topics that the stream has not sent
  stream.addEventListener("open", () => {
    clearInterval(pollTimer);
    pollTimer = undefined;
    showBanner("");
    if (!lastBodies.machine) refresh("machine").catch(() => {});
  });
  stream.addEventListener("error", () => {
    streamed.clear();
    if (pollTimer === undefined) {
      pollTimer = setInterval(poll, 2000);
      poll();
    }
    if (stream.readyState === EventSource.CLOSED) setTimeout(start, 5000);
  });
}
