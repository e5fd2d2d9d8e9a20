// What the viewer says of a dataset below its name.

import { plural, count, bytes } from "./dom.js";

/** datasetFacts describes a dataset, given the response of GET …/datasets/NAME. */
export function datasetFacts(d, columns) {
  const step = d.manifest.time_step;
  const { sources } = d.manifest;
  const others = sources.length > 1 ? ` and ${count(sources.length - 1)} more` : "";
  const from = sources.length ? `from ${sources[0].path}${others}` : "from a client";
  return [
    plural(d.rows, "row"),
    plural(d.items, "item"),
    plural(columns, "value column"),
    bytes(d.bytes),
    `generation ${d.generation}, loaded ${minuteOf(d.created)} UTC ${from}`,
    step?.jumps > 0 ? `${count(step.jumps)} jumps in time` : null,
  ]
    .filter(Boolean)
    .join(" · ");
}

/** minuteOf formats a time of the daemon in UTC. */
export const minuteOf = (time) => new Date(time).toISOString().slice(0, 16).replace("T", " ");

/** generationId tells generations apart, also those of a dataset that was removed meanwhile. */
export const generationId = (d) => `${d.generation} ${d.created} ${d.digest}`;
