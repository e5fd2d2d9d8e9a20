// The colours and patterns of reasons. The patterns distinguish them without colours, too.

import { count, plural } from "./dom.js";

export const reasons = {
  bounds: "reaches over the rows or times that the spec admits",
  item_end: "needs a row past the item's end",
  max_step: "a jump in time lies inside",
  max_missing: "too many of its cells are missing",
  split: "begins in one part and ends beyond it",
};

/**
 * explainNoWindow says why no window contains a row, by the last stretch of positions that begins
 * at or before it.
 */
export function explainNoWindow(stretches, row, stride) {
  const s = stretches
    .filter((s) => s.from <= row)
    .reduce((a, b) => (a && a.from >= b.from ? a : b), undefined);
  if (!s) return "";
  if (s.reason === null)
    return `: it lies between two windows, which start ${plural(stride, "row")} apart`;
  const single = s.from === s.to - 1;
  const rows = single ? `row ${count(s.from)}` : `rows ${count(s.from)} to ${count(s.to - 1)}`;
  return `: none starts in ${rows} (${s.reason.replace("_", " ")}: ${reasons[s.reason]})`;
}

const tileSize = 8;

/** pattern returns the canvas pattern of a reason. */
export function pattern(ctx, reason, color) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = tileSize;
  const t = tile.getContext("2d");
  t.strokeStyle = t.fillStyle = color;
  t.lineWidth = 1.5;
  const line = (...p) => {
    t.beginPath();
    for (let i = 0; i < p.length; i += 4) {
      t.moveTo(p[i], p[i + 1]);
      t.lineTo(p[i + 2], p[i + 3]);
    }
    t.stroke();
  };
  const up = [
    -2,
    2,
    2,
    -2,
    0,
    tileSize,
    tileSize,
    0,
    tileSize - 2,
    tileSize + 2,
    tileSize + 2,
    tileSize - 2,
  ];
  const down = [
    -2,
    tileSize - 2,
    2,
    tileSize + 2,
    0,
    0,
    tileSize,
    tileSize,
    tileSize - 2,
    -2,
    tileSize + 2,
    2,
  ];
  if (reason === "bounds") {
    t.fillRect(1, 1, 2, 2);
    t.fillRect(5, 5, 2, 2);
  } else if (reason === "item_end") line(0, 2, tileSize, 2, 0, 6, tileSize, 6);
  else if (reason === "max_step") line(...up);
  else if (reason === "max_missing") line(...up, ...down);
  else line(...down);
  return ctx.createPattern(tile, "repeat");
}

/** swatch returns a legend's canvas with the pattern of a reason. */
export function swatch(reason, color) {
  const c = document.createElement("canvas");
  c.width = 36;
  c.height = 24;
  c.className = "swatch";
  c.setAttribute("aria-hidden", "true");
  const ctx = c.getContext("2d");
  ctx.fillStyle = pattern(ctx, reason, color);
  ctx.fillRect(0, 0, c.width, c.height);
  return c;
}
