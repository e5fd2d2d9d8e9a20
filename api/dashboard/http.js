// Requests of the control API, and problems as it tells them.

/** Problem is an answer that refuses: detail to show, hint what to do, field what is at fault. */
export class Problem extends Error {
  constructor(p) {
    super(p.detail);
    Object.assign(this, p);
  }
}

async function ask(method, path, body, signal) {
  const init = { method, signal, headers: {} };
  if (body !== undefined) {
    init.headers["Content-Type"] = "application/json";
    init.body = JSON.stringify(body);
  }
  const res = await fetch(path, init);
  const text = await res.text();
  let parsed;
  try {
    parsed = JSON.parse(text);
  } catch {
    parsed = { type: "internal", status: res.status, detail: `the daemon answered ${res.status} without JSON` };
  }
  if (!res.ok) throw new Problem(parsed);
  return parsed;
}

export const get = (path, signal) => ask("GET", path, undefined, signal);
export const post = (path, body, signal) => ask("POST", path, body, signal);
export const put = (path, body) => ask("PUT", path, body);
export const remove = (path) => ask("DELETE", path);

/** dataset is the path of a dataset, with what follows it. */
export const dataset = (name, rest = "") => `/v1/datasets/${encodeURIComponent(name)}${rest}`;

/** query writes parameters, those that are null left out. */
export function query(parameters) {
  const q = new URLSearchParams();
  for (const [k, v] of Object.entries(parameters)) if (v != null && v !== "") q.set(k, v);
  return `?${q}`;
}

/** latest gives a function of which only the last call counts: the ones before it are aborted and never settle. */
export function latest(work) {
  let current;
  return async (...args) => {
    current?.abort();
    const own = (current = new AbortController());
    try {
      const result = await work(own.signal, ...args);
      return own.signal.aborted ? new Promise(() => {}) : result;
    } catch (e) {
      if (own.signal.aborted) return new Promise(() => {});
      throw e;
    }
  };
}
