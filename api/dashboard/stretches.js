// Where the windows of an item start, and the rows of a window.

import * as http from "./http.js";

/**
 * fetchStretches requests the positions of an item. With a split, it also requests those of its
 * parts, because positions in no part are missing there.
 */
export async function fetchStretches(dataset, { spec, cuts, split }, code, signal) {
  const path = http.datasetPath(dataset, "/stretches");
  const post = (body) => http.post(path, { spec, cuts, ...body, item_code: code }, signal);
  const [all, parts] = await Promise.all([post({}), split ? post({ split }) : null]);
  if (!parts) return all;
  const inNoPart = parts.stretches.filter((s) => s.reason === "split");
  const rejected = inNoPart.length
    ? { ...all.rejected, split: inNoPart.reduce((n, s) => n + s.positions - s.windows, 0) }
    : all.rejected;
  return { ...all, rejected, splits: parts.splits, stretches: [...all.stretches, ...inNoPart] };
}

/** windowRows returns the rows of a window's context and target. */
export function windowRows(w, spec) {
  const { context_length: C, gap = 0, overlap = 0, dilation: D = 1 } = spec;
  const first = w.start + (C + gap - overlap) * D;
  return {
    context: [w.start, w.start + (C - 1) * D + 1],
    target: w.target?.length ? [first, first + (w.target.length - 1) * D + 1] : null,
  };
}
