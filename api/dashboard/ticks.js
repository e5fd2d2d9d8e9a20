// Ticks of an axis of rows at round times in UTC: years, months, days, hours …

const perSecond = { s: 1, ms: 1e3, us: 1e6, ns: 1e9 };
const day = 86400;
const steps = [
  1,
  5,
  10,
  30,
  60,
  300,
  600,
  1800,
  3600,
  3 * 3600,
  6 * 3600,
  12 * 3600,
  day,
  2 * day,
  7 * day,
  14 * day,
];
const months = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200];

/** RowTimes converts between rows and times, by the rows and times of the intervals of a series. */
export class RowTimes {
  constructor(series) {
    this.rows = series.row;
    this.times = series.time?.map((t) => t / perSecond[series.unit]);
  }

  /** at returns the time of a row in seconds since 1970, or null without a time column. */
  at(row) {
    return this.times && interpolate(this.rows, this.times, row);
  }

  /** ticks returns rows at round times and their labels, or null without a time column. */
  ticks(from, to, n) {
    if (!this.times || this.rows.length < 2) return null;
    const [a, b] = [this.at(from), this.at(to)];
    const round = roundTimes(a, b, n);
    return {
      rows: round.times.map((t) => interpolate(this.times, this.rows, t)),
      texts: round.times.map((t, i) => tickLabel(t, round.step, i === 0)),
    };
  }
}

/**
 * interpolate returns y at x by linear interpolation between points with ascending xs. It
 * extrapolates beyond the first and the last.
 */
export function interpolate(xs, ys, x) {
  if (xs.length === 1) return ys[0];
  let lo = 0;
  let hi = xs.length - 1;
  while (hi - lo > 1) {
    const mid = (lo + hi) >> 1;
    if (xs[mid] <= x) lo = mid;
    else hi = mid;
  }
  const distance = xs[hi] - xs[lo];
  return distance === 0 ? ys[lo] : ys[lo] + ((x - xs[lo]) / distance) * (ys[hi] - ys[lo]);
}

/** roundTimes returns at most about n round times from a to b. */
export function roundTimes(a, b, n) {
  const minStep = (b - a) / Math.max(1, n);
  const step = steps.find((s) => s >= minStep);
  const times = [];
  if (step) {
    // weeks begin on a Monday; 1970 began on a Thursday
    const shift = step % (7 * day) === 0 ? 4 * day : 0;
    for (
      let t = Math.ceil((a - shift) / step) * step + shift;
      t <= b && times.length < 100;
      t += step
    )
      times.push(t);
    return { times, step };
  }
  const every = months.find((m) => m * 30.44 * day >= minStep) ?? months.at(-1);
  const first = new Date(a * 1000);
  let month = first.getUTCFullYear() * 12 + first.getUTCMonth();
  month = Math.ceil(month / every) * every;
  for (let t; times.length < 100; month += every) {
    t = Date.UTC(Math.floor(month / 12), month % 12) / 1000;
    if (t > b) break;
    if (t >= a) times.push(t);
  }
  return { times, step: every * 30 * day };
}

function tickLabel(t, step, first) {
  const text = isoTime(t);
  if (step >= 360 * day) return text.slice(0, 4);
  if (step >= 28 * day) return text.slice(0, 7);
  if (step >= day) return text.slice(0, 10);
  const clockText = step >= 60 ? text.slice(11, 16) : text.slice(11, 19);
  return first || t % day === 0 ? `${text.slice(0, 10)}\n${clockText}` : clockText;
}

/** isoTime formats a time in UTC. A time outside the calendar is formatted in seconds. */
export function isoTime(t) {
  const d = new Date(Math.round(t * 1000));
  return Number.isNaN(d.getTime()) ? `${t} s` : d.toISOString();
}

/** formatTime formats a time without trailing zeros. */
export function formatTime(t) {
  return isoTime(t)
    .replace("T", " ")
    .replace(/(:00)?\.000Z$/, "")
    .replace(/ 00:00$/, "");
}
