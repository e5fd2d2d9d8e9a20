// Requests to the control API, and its problems.

/** Problem is an RFC 9457 problem; hint says what to do, field what is wrong. */
export class Problem extends Error {
  constructor(p) {
    super(p.detail);
    Object.assign(this, p);
  }
}

async function request(method, path, body, signal) {
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
    parsed = {
      type: "internal",
      status: res.status,
      detail: `the daemon answered ${res.status} without JSON`,
    };
  }
  if (!res.ok) throw new Problem(parsed);
  return parsed;
}

export const get = (path, signal) => request("GET", path, undefined, signal);
export const post = (path, body, signal) => request("POST", path, body, signal);
export const put = (path, body) => request("PUT", path, body);
export const remove = (path) => request("DELETE", path);

/** datasetPath returns the path of a dataset, or of something below it. */
export const datasetPath = (name, rest = "") => `/v1/datasets/${encodeURIComponent(name)}${rest}`;

/** query formats query parameters, without those that are null or empty. */
export function query(parameters) {
  const q = new URLSearchParams();
  for (const [k, v] of Object.entries(parameters)) if (v != null && v !== "") q.set(k, v);
  return `?${q}`;
}

/**
 * latestOnly wraps an asynchronous function. Each call aborts the one before it, whose promise then
 * never settles. Its method cancel aborts the last one.
 */
export function latestOnly(work) {
  let current;
  const call = async (...args) => {
    current?.abort();
    const controller = (current = new AbortController());
    try {
      const result = await work(controller.signal, ...args);
      return controller.signal.aborted ? new Promise(() => {}) : result;
    } catch (e) {
      if (controller.signal.aborted) return new Promise(() => {});
      throw e;
    }
  };
  call.cancel = () => current?.abort();
  return call;
}
