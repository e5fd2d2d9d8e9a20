// The Python and command lines that give the same windows.

import { h, put, announce } from "./dom.js";

/** python writes a value as Python does. */
export function python(v) {
  if (v === null) return "None";
  if (v === true) return "True";
  if (v === false) return "False";
  if (Array.isArray(v)) {
    const text = v.map(python).join(", ");
    return v.some((x) => typeof x === "string") ? `[${text}]` : `(${text}${v.length === 1 ? "," : ""})`;
  }
  if (typeof v === "object") return `{${Object.entries(v).map(([k, x]) => `${python(k)}: ${python(x)}`).join(", ")}}`;
  return JSON.stringify(v);
}

const keywords = (dict) => Object.entries(dict ?? {}).map(([k, v]) => `${k}=${python(v)}`).join(", ");

/** pythonLines give the windows in Python; number is the picked one. */
export function pythonLines(dataset, request, plan, number) {
  const lines = ["import tensorcache", "", "cache = tensorcache.connect()", `data = cache.dataset(${python(dataset)})`, `windows = data.windows(${keywords(request.spec)})`];
  for (const cut of request.cuts ?? []) {
    if (cut.latest) lines.push("windows = windows.latest()");
    else if (cut.where) lines.push(`windows = windows.where(${keywords({ ...cut.where, ...(cut.context_before_split === undefined ? {} : { context_before_split: cut.context_before_split }) })})`);
    else if (cut.split) lines.push(`windows = windows.split(${keywords(cut.split)})[${cut.part ?? 0}]`);
  }
  if (request.split) {
    const names = (plan?.splits ?? []).map((s) => (/^[A-Za-z_]\w*$/.test(s.name) ? s.name : null));
    const left = names.length && names.every(Boolean) ? names.join(", ") : "parts";
    lines.push(`${left} = windows.split(${keywords(request.split)})`);
  }
  if (number != null) lines.push(`window = windows[${number}]  # window.context, window.target`);
  if (request.options?.batch_size) {
    const { batch_size, order, seed, num_replicas, tail } = request.options;
    const given = Object.fromEntries(Object.entries({ batch_size, order, seed, num_replicas, tail }).filter(([, v]) => v !== undefined));
    lines.push(`feed = windows.feed(${keywords(given)})`);
  }
  return lines.join("\n");
}

const quote = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** commandLine is the same for a terminal; null where the command line cannot say it. */
export function commandLine(dataset, request) {
  const words = ["tensorcache", "plan", quote(dataset)];
  const flag = (name, v) => {
    const text = `--${name.replaceAll("_", "-")}`;
    if (typeof v === "boolean" || String(v).startsWith("-")) words.push(`${text}=${quote(String(v))}`);
    else words.push(text, quote(String(v)));
  };
  const bounds = (v, between) => v.map((x) => x ?? "").join(between);
  for (const [k, v] of Object.entries(request.spec ?? {})) {
    if (k === "rows") flag(k, bounds(v, ":"));
    else if (k === "time") flag(k, bounds(v, ","));
    else if (k === "max_missing") flag(k, v === null ? "any" : v);
    else if (v === null || (Array.isArray(v) && v.some((x) => /[,"]/.test(x)))) return null;
    else flag(k, Array.isArray(v) ? v.join(",") : v);
  }
  for (const [k, v] of Object.entries(request.split ?? {})) {
    if (k === "names") continue;
    if (Array.isArray(v) && v.some((x) => x === null || typeof x === "object")) return null;
    flag(["lengths", "fractions", "at_times", "items"].includes(k) ? `split_${k}` : k, Array.isArray(v) ? v.join(",") : v);
  }
  for (const cut of request.cuts ?? []) {
    if (!cut.latest) return null;
    flag("latest", true);
  }
  if (request.options?.batch_size) for (const [k, v] of Object.entries(request.options)) if (k !== "seed") flag(k, v);
  return words.join(" ");
}

/** lines shows both, each with a button that copies it. */
export function lines(root, texts) {
  put(
    root,
    Object.entries(texts).filter(([, text]) => text).map(([title, text]) => {
      const copy = h("button", { type: "button", class: "small", "aria-label": `Copy the ${title} lines`, onclick: () => copied(text, title) }, "Copy");
      return h("figure", { class: "code" }, h("figcaption", null, title, copy), h("pre", { tabindex: "0", "aria-label": `${title} lines` }, h("code", null, text)));
    }),
  );
}

async function copied(text, title) {
  try {
    await navigator.clipboard.writeText(text);
    announce(`${title} lines copied`);
  } catch {
    announce("this browser does not let the page copy; select the text instead");
  }
}
