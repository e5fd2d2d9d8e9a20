// The address names what is shown, so that a view can be kept and given on: #/datasets/NAME?code=0&window=17&spec={...}

/** read gives {dataset, ...}; dataset is "" on the overview. */
export function read() {
  const [path, search] = location.hash.replace(/^#/, "").split(/\?(.*)/s);
  const [, kind, name] = path.split("/");
  const state = { dataset: kind === "datasets" && name ? decoded(name) : "" };
  for (const [k, v] of new URLSearchParams(search ?? "")) state[k] = v;
  return state;
}

/** decoded is a part of an address as text; what is no escape stays. */
export function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** write puts a state into the address, without a new entry in the history. */
export function write(dataset, parameters) {
  const q = new URLSearchParams();
  for (const [k, v] of Object.entries(parameters)) if (v != null && v !== "") q.set(k, typeof v === "object" ? JSON.stringify(v) : v);
  const text = q.toString();
  history.replaceState(null, "", `#/datasets/${encodeURIComponent(dataset)}${text ? `?${text}` : ""}`);
}

/** json reads a parameter that holds JSON; otherwise where it holds none. */
export function json(text, otherwise) {
  try {
    return text ? JSON.parse(text) : otherwise;
  } catch {
    return otherwise;
  }
}
