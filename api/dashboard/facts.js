// What the viewer says of a dataset below its name.

import { plural, count, bytes } from "./dom.js";

/** datasetFacts describes a dataset, given the response of GET …/datasets/NAME. */
export function datasetFacts(d, columns) {
  const step = d.manifest.time_step;
  return [
    plural(d.rows, "row"),
    plural(d.items, "item"),
    plural(columns, "value column"),
    bytes(d.bytes),
    `generation ${d.generation}`,
    step?.jumps > 0 ? `${count(step.jumps)} jumps in time` : null,
  ]
    .filter(Boolean)
    .join(" · ");
}

/** generationId tells generations apart, also those of a dataset that was removed meanwhile. */
export const generationId = (d) => `${d.generation} ${d.created} ${d.digest}`;
