// The Python code and the command that make the same windows.

import { h, setChildren, announce } from "./dom.js";

/** toPython formats a value as a Python literal. */
export function toPython(v) {
  if (v === null) return "None";
  if (v === true) return "True";
  if (v === false) return "False";
  if (Array.isArray(v)) {
    const text = v.map(toPython).join(", ");
    return v.some((x) => typeof x === "string")
      ? `[${text}]`
      : `(${text}${v.length === 1 ? "," : ""})`;
  }
  if (typeof v === "object")
    return `{${Object.entries(v)
      .map(([k, x]) => `${toPython(k)}: ${toPython(x)}`)
      .join(", ")}}`;
  return JSON.stringify(v);
}

const keywords = (dict) =>
  Object.entries(dict ?? {})
    .map(([k, v]) => `${k}=${toPython(v)}`)
    .join(", ");

/** pythonCode makes the windows in Python, and gets the selected window if there is a number. */
export function pythonCode(dataset, request, plan, number) {
  const lines = [
    "import tensorcache",
    "",
    "cache = tensorcache.connect()",
    `data = cache.dataset(${toPython(dataset)})`,
    `windows = data.windows(${keywords(request.spec)})`,
  ];
  for (const cut of request.cuts ?? []) {
    if (cut.latest) lines.push("windows = windows.latest()");
    else if (cut.where) {
      const { context_before_split } = cut;
      const all = context_before_split === undefined ? {} : { context_before_split };
      lines.push(`windows = windows.where(${keywords({ ...cut.where, ...all })})`);
    } else if (cut.split)
      lines.push(`windows = windows.split(${keywords(cut.split)})[${cut.part ?? 0}]`);
  }
  if (request.split) {
    const names = (plan?.splits ?? []).map((s) => (/^[A-Za-z_]\w*$/.test(s.name) ? s.name : null));
    const targets = names.length && names.every(Boolean) ? names.join(", ") : "parts";
    lines.push(`${targets} = windows.split(${keywords(request.split)})`);
  }
  if (number != null) lines.push(`window = windows[${number}]  # window.context, window.target`);
  if (hasBatches(request)) {
    const { batch_size, order, min_items, seed, num_replicas, tail } = request.options;
    const given = Object.fromEntries(
      Object.entries({ batch_size, order, min_items, seed, num_replicas, tail }).filter(
        ([, v]) => v !== undefined,
      ),
    );
    lines.push(`feed = windows.feed(${keywords(given)})`);
  }
  return lines.join("\n");
}

/** hasBatches reports whether a request has a batch size, which is null for whole groups. */
const hasBatches = ({ options }) => options?.batch_size === null || Boolean(options?.batch_size);

const quote = (text) =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** commandLine makes the plan in a terminal. It returns null if no flag exists for a field. */
export function commandLine(dataset, request) {
  const words = ["tensorcache", "plan", quote(dataset)];
  const flag = (name, v) => {
    const text = `--${name.replaceAll("_", "-")}`;
    if (typeof v === "boolean" || String(v).startsWith("-"))
      words.push(`${text}=${quote(String(v))}`);
    else words.push(text, quote(String(v)));
  };
  const bounds = (v, between) => v.map((x) => x ?? "").join(between);
  for (const [k, v] of Object.entries(request.spec ?? {})) {
    if (k === "rows") flag(k, bounds(v, ":"));
    else if (k === "time") flag(k, bounds(v, ","));
    else if (k === "max_missing") flag(k, v === null ? "any" : v);
    else if (k === "pad_value") flag(k, v ?? "nan");
    else if (v === null || (Array.isArray(v) && v.some((x) => /[,"]/.test(x)))) return null;
    else flag(k, Array.isArray(v) ? v.join(",") : v);
  }
  for (const [k, v] of Object.entries(request.split ?? {})) {
    if (k === "names") continue;
    if (Array.isArray(v) && v.some((x) => x === null || typeof x === "object")) return null;
    flag(
      ["lengths", "fractions", "at_times", "items"].includes(k) ? `split_${k}` : k,
      Array.isArray(v) ? v.join(",") : v,
    );
  }
  for (const cut of request.cuts ?? []) {
    if (!cut.latest) return null;
    flag("latest", true);
  }
  if (hasBatches(request))
    for (const [k, v] of Object.entries(request.options)) if (k !== "seed") flag(k, v ?? "all");
  return words.join(" ");
}

/** showCode shows texts by title, each with a button that copies it. */
export function showCode(root, texts) {
  setChildren(
    root,
    Object.entries(texts)
      .filter(([, text]) => text)
      .map(([title, text]) => {
        const copy = h(
          "button",
          {
            type: "button",
            class: "small",
            "aria-label": `Copy the ${title} lines`,
            onclick: () => copyText(text, title),
          },
          "Copy",
        );
        return h(
          "figure",
          { class: "code" },
          h("figcaption", null, title, copy),
          h("pre", { tabindex: "0", "aria-label": `${title} lines` }, h("code", null, text)),
        );
      }),
  );
}

async function copyText(text, title) {
  try {
    await navigator.clipboard.writeText(text);
    announce(`${title} lines copied`);
  } catch {
    announce("this browser does not let the page copy; select the text instead");
  }
}
