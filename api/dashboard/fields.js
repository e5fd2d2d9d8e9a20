// The fields of window spec, split and order: their labels, and their conversion between text and
// JSON.

const parseInteger = (text) => (/^[+-]?\d+$/.test(text.trim()) ? Number(text) : text.trim());
const parseNumber = (text) =>
  text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text.trim();
const listOf = (read) => (text) =>
  text.trim().startsWith("[")
    ? parseJSON(text)
    : text
        .split(",")
        .map((t) =>
          t.trim() === "" || t.trim() === "null" || t.trim() === "None" ? null : read(t),
        );
const parseNames = (text) =>
  text.trim().startsWith("[") ? parseJSON(text) : text.split(",").map((t) => t.trim());
const parseTime = (text) =>
  /^[+-]?\d+$/.test(text.trim()) && text.trim().length > 4 ? Number(text) : text.trim();

function parseJSON(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const formatValue = (v) =>
  v == null
    ? ""
    : Array.isArray(v)
      ? v.some((x) => typeof x === "object" && x !== null) ||
        v.some((x) => typeof x === "string" && /[,[]/.test(x))
        ? JSON.stringify(v)
        : v.map((x) => x ?? "").join(", ")
      : String(v);

// part is the object of the request that has the field. If a text cannot be parsed, read returns it
// as it is; the daemon then says what is wrong with it.
const integerField = (part, name, label, hint) => ({
  part,
  name,
  label,
  hint,
  read: parseInteger,
  kind: "number",
});
const textField = (part, name, label, hint, read) => ({
  part,
  name,
  label,
  hint,
  read,
  kind: "text",
});
const choiceField = (part, name, label, options) => ({
  part,
  name,
  label,
  options,
  read: (v) => v,
  kind: "choice",
});
const checkboxField = (part, name, label, defaultValue) => ({
  part,
  name,
  label,
  defaultValue,
  kind: "tick",
});

export const groups = [
  {
    title: "Window",
    open: true,
    fields: [
      integerField("spec", "context_length", "context_length", "rows a window looks back over"),
      integerField("spec", "prediction_length", "prediction_length", "rows to predict"),
      integerField("spec", "stride", "stride", "rows between starts"),
      integerField("spec", "gap", "gap", "rows between the two"),
    ],
  },
  {
    title: "Split",
    open: true,
    fields: [
      textField(
        "split",
        "lengths",
        "lengths",
        "rows of each part, as 8640, 2880, 2880; one may be left empty: the rest",
        listOf(parseInteger),
      ),
      textField(
        "split",
        "fractions",
        "fractions",
        "shares of the rows, as 0.7, 0.1, 0.2",
        listOf(parseNumber),
      ),
      textField(
        "split",
        "at_times",
        "at_times",
        "bounds in time, as 2017-07-01; in the zone of the time column if they have none",
        listOf(parseTime),
      ),
      textField(
        "split",
        "items",
        "items",
        "shares of the items, or lists of them in JSON",
        listOf(parseNumber),
      ),
      integerField("split", "purge", "purge", "rows left out before each later part"),
      textField("split", "names", "names", "one for each part", parseNames),
      checkboxField("split", "context_before_split", "context_before_split", true),
    ],
  },
  {
    title: "More of the spec",
    fields: [
      integerField("spec", "overlap", "overlap", "context rows that the target repeats"),
      integerField("spec", "dilation", "dilation", "rows between samples inside a window"),
      choiceField("spec", "anchor", "anchor", ["", "start", "end"]),
      integerField(
        "spec",
        "min_context",
        "min_context",
        "least real context rows; fewer are padded",
      ),
      textField(
        "spec",
        "rows",
        "rows",
        "use only rows from, to; either may be empty",
        listOf(parseInteger),
      ),
      textField(
        "spec",
        "time",
        "time",
        "use only times from, to; either may be empty, and is in the zone of the time column if it has none",
        listOf(parseTime),
      ),
      textField("spec", "max_step", "max_step", "largest step in time, as 1h", (t) =>
        parseInteger(t),
      ),
      textField(
        "spec",
        "max_missing",
        "max_missing",
        "largest share of missing cells; any admits all",
        (t) => (t.trim() === "any" || t.trim() === "null" ? null : parseNumber(t)),
      ),
      checkboxField("spec", "count_filled", "count_filled", false),
      textField("spec", "columns", "columns", "of context and target, as a, b", parseNames),
      textField("spec", "context_columns", "context_columns", "", parseNames),
      textField("spec", "target_columns", "target_columns", "", parseNames),
      textField("spec", "known_columns", "known_columns", "known in advance", parseNames),
      textField("spec", "static_columns", "static_columns", "constant in an item", parseNames),
      choiceField("spec", "dtype", "dtype", [
        "",
        "float32",
        "float64",
        "int32",
        "int64",
        "as stored",
      ]),
      textField(
        "spec",
        "missing_value",
        "missing_value",
        "stands for a missing value",
        parseNumber,
      ),
      textField("spec", "pad_value", "pad_value", "of padded rows (default 0); nan for floats", (t) =>
        ["nan", "null"].includes(t.trim().toLowerCase()) ? null : parseNumber(t),
      ),
    ],
  },
  {
    title: "Batches",
    fields: [
      textField(
        "options",
        "batch_size",
        "batch_size",
        "windows of a batch; all is a whole group",
        (t) => (t.trim() === "all" || t.trim() === "null" ? null : parseInteger(t)),
      ),
      choiceField("options", "order", "order", [
        "",
        "sequential",
        "shuffle",
        "bootstrap",
        "random_start",
        "lanes",
        "cross_section",
        "cross_section_sequential",
      ]),
      integerField("options", "min_items", "min_items", "least windows of a group"),
      integerField("options", "seed", "seed", ""),
      integerField("options", "num_replicas", "num_replicas", "ranks that share an epoch"),
      choiceField("options", "tail", "tail", ["", "short", "wrap", "drop"]),
    ],
  },
];

export const fields = groups.flatMap((g) => g.fields);

/** defaultSpec returns a first spec for an item of this many rows. */
export function defaultSpec(rows) {
  const context = Math.max(1, Math.min(336, Math.floor(rows / 8)));
  return {
    context_length: context,
    prediction_length: Math.max(rows > 1 ? 1 : 0, Math.min(96, Math.floor(rows / 24))),
  };
}

/** readInput returns the value of an input, undefined if it is empty. */
export function readInput(field, input) {
  if (field.kind === "tick")
    return input.checked === field.defaultValue ? undefined : input.checked;
  if (input.value.trim() === "") return undefined;
  if (field.name === "dtype" && input.value === "as stored") return null;
  return field.read(input.value);
}

/** writeInput shows a JSON value in an input. */
export function writeInput(field, input, v) {
  if (field.kind === "tick") input.checked = v ?? field.defaultValue;
  else if (field.name === "dtype" && v === null) input.value = "as stored";
  else if (field.name === "max_missing" && v === null) input.value = "any";
  else if (field.name === "pad_value" && v === null) input.value = "nan";
  else if (field.name === "batch_size" && v === null) input.value = "all";
  else input.value = formatValue(v);
}
