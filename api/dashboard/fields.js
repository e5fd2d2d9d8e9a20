// The fields of a window spec, a split and an order: how each is typed, and read into JSON.

const whole = (text) => (/^[+-]?\d+$/.test(text.trim()) ? Number(text) : text.trim());
const real = (text) => (text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text.trim());
const list = (read) => (text) => (text.trim().startsWith("[") ? parsed(text) : text.split(",").map((t) => (t.trim() === "" || t.trim() === "null" || t.trim() === "None" ? null : read(t))));
const names = (text) => (text.trim().startsWith("[") ? parsed(text) : text.split(",").map((t) => t.trim()));
const time = (text) => (/^[+-]?\d+$/.test(text.trim()) && text.trim().length > 4 ? Number(text) : text.trim());

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const shown = (v) => (v == null ? "" : Array.isArray(v) ? (v.some((x) => typeof x === "object" && x !== null) || v.some((x) => typeof x === "string" && /[,[]/.test(x)) ? JSON.stringify(v) : v.map((x) => x ?? "").join(", ")) : String(v));

// of: the dictionary it stands in. What read gives for something odd is sent as it is: the daemon says what is wrong with it.
const number = (of, name, label, hint) => ({ of, name, label, hint, read: whole, kind: "number" });
const text = (of, name, label, hint, read) => ({ of, name, label, hint, read, kind: "text" });
const choice = (of, name, label, options) => ({ of, name, label, options, read: (v) => v, kind: "choice" });
const tick = (of, name, label, otherwise) => ({ of, name, label, otherwise, kind: "tick" });

export const groups = [
  {
    title: "Window",
    open: true,
    fields: [
      number("spec", "context_length", "context_length", "rows a window looks back over"),
      number("spec", "prediction_length", "prediction_length", "rows to predict"),
      number("spec", "stride", "stride", "rows between starts"),
      number("spec", "gap", "gap", "rows between the two"),
    ],
  },
  {
    title: "Split",
    open: true,
    fields: [
      text("split", "lengths", "lengths", "rows of each part, as 8640, 2880, 2880; one may be left empty: the rest", list(whole)),
      text("split", "fractions", "fractions", "shares of the rows, as 0.7, 0.1, 0.2", list(real)),
      text("split", "at_times", "at_times", "bounds in time, as 2017-07-01", list(time)),
      text("split", "items", "items", "shares of the items, or lists of them in JSON", list(real)),
      number("split", "purge", "purge", "rows left out before each later part"),
      text("split", "names", "names", "one for each part", names),
      tick("split", "context_before_split", "context_before_split", true),
    ],
  },
  {
    title: "More of the spec",
    fields: [
      number("spec", "overlap", "overlap", "context rows that the target repeats"),
      number("spec", "dilation", "dilation", "rows between samples inside a window"),
      choice("spec", "anchor", "anchor", ["", "start", "end"]),
      number("spec", "min_context", "min_context", "least real context rows; fewer are padded"),
      text("spec", "rows", "rows", "use only rows from, to; either may be empty", list(whole)),
      text("spec", "time", "time", "use only times from, to; either may be empty", list(time)),
      text("spec", "max_step", "max_step", "largest step in time, as 1h", (t) => whole(t)),
      text("spec", "max_missing", "max_missing", "largest share of missing cells; any admits all", (t) => (t.trim() === "any" || t.trim() === "null" ? null : real(t))),
      tick("spec", "count_filled", "count_filled", false),
      text("spec", "columns", "columns", "of context and target, as a, b", names),
      text("spec", "context_columns", "context_columns", "", names),
      text("spec", "target_columns", "target_columns", "", names),
      text("spec", "known_columns", "known_columns", "known in advance", names),
      text("spec", "static_columns", "static_columns", "constant in an item", names),
      choice("spec", "dtype", "dtype", ["", "float32", "float64", "int32", "int64", "as stored"]),
      text("spec", "missing_value", "missing_value", "stands for a missing value", real),
    ],
  },
  {
    title: "Batches",
    fields: [
      number("options", "batch_size", "batch_size", "windows of a batch"),
      choice("options", "order", "order", ["", "sequential", "shuffle", "bootstrap", "random_start", "lanes"]),
      number("options", "seed", "seed", ""),
      number("options", "num_replicas", "num_replicas", "ranks that share an epoch"),
      choice("options", "tail", "tail", ["", "short", "wrap", "drop"]),
    ],
  },
];

export const fields = groups.flatMap((g) => g.fields);

/** value reads what was typed; undefined where nothing was. */
export function value(field, input) {
  if (field.kind === "tick") return input.checked === field.otherwise ? undefined : input.checked;
  if (input.value.trim() === "") return undefined;
  if (field.name === "dtype" && input.value === "as stored") return null;
  return field.read(input.value);
}

/** write puts a value of JSON into its input. */
export function write(field, input, v) {
  if (field.kind === "tick") input.checked = v ?? field.otherwise;
  else if (field.name === "dtype" && v === null) input.value = "as stored";
  else if (field.name === "max_missing" && v === null) input.value = "any";
  else input.value = shown(v);
}
