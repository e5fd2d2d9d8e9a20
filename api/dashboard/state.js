// The state of the view is in the address, so that it can be stored and shared:
// #/datasets/NAME?code=0&window=17&spec={...}

let known; // the address that was read or written last

/** readState returns {dataset, ...}; dataset is "" on the overview. */
export function readState() {
  known = location.hash;
  const [path, search] = location.hash.replace(/^#/, "").split(/\?(.*)/s);
  const [, kind, name] = path.split("/");
  const state = {
    section: name ? "" : (kind ?? ""),
    dataset: kind === "datasets" && name ? decode(name) : "",
  };
  for (const [k, v] of new URLSearchParams(search ?? "")) state[k] = v;
  return state;
}

/** decode decodes a part of the address. It returns a text with invalid escapes as it is. */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** selectColumns returns the columns that an address names, in the order of the dataset. */
export function selectColumns(text, columns) {
  const names = text.split(",").map(decode);
  return columns.filter((c) => names.includes(c));
}

/** readRequest returns the plan request of a state: {spec, split, cuts, options}. */
export const readRequest = (state) =>
  Object.fromEntries(
    ["spec", "split", "cuts", "options"]
      .map((k) => [k, parseJSON(state[k], undefined)])
      .filter(([, v]) => v !== undefined),
  );

/**
 * writeState writes parameters to the address, without a new entry in the history. It does nothing
 * if the address is a new one, whose event "hashchange" is still to come.
 */
export function writeState(dataset, parameters) {
  if (location.hash !== known) return;
  const q = new URLSearchParams();
  for (const [k, v] of Object.entries(parameters))
    if (v != null && v !== "") q.set(k, typeof v === "object" ? JSON.stringify(v) : v);
  const text = q.toString();
  history.replaceState(
    null,
    "",
    `#/datasets/${encodeURIComponent(dataset)}${text ? `?${text}` : ""}`,
  );
  known = location.hash;
}

/** parseJSON returns the fallback for an empty or invalid text. */
export function parseJSON(text, fallback) {
  try {
    return text ? JSON.parse(text) : fallback;
  } catch {
    return fallback;
  }
}
