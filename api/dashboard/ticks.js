// Ticks of an axis at round numbers, and of an axis of rows at round times in UTC: years, months,
// days, hours … Each function returns few ticks, whatever the numbers are.

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
const months = [1, 2, 3, 6];
const leastStep = 1e-6; // seconds; a float64 of seconds has no more digits in our century
const lastSecond = 8.64e12; // the last and, negative, the first second of JavaScript's calendar
const maxTicks = 100;

/**
 * RowTimes converts between rows and times, by the rows and times of the intervals of a series.
 * Times of a column without a unit are integers, which are no dates.
 */
export class RowTimes {
  constructor(series) {
    this.rows = series.row;
    this.isDate = series.unit in perSecond;
    this.times = series.time?.map((t) => t / (this.isDate ? perSecond[series.unit] : 1));
  }

  /** at returns the time of a row in seconds since 1970 or as an integer, or null without times. */
  at(row) {
    return this.times && interpolate(this.rows, this.times, row);
  }

  /** text formats the time of a row. It returns null without a time column. */
  text(row) {
    if (!this.times) return null;
    return this.isDate ? formatTime(this.at(row)) : String(Math.round(this.at(row)));
  }

  /** labelWidth returns the width of the widest label in pixels. */
  labelWidth() {
    if (!this.times) return 40;
    const ends = [this.times[0], this.times.at(-1)];
    const longest = this.isCalendar(...ends)
      ? 10
      : Math.max(...ends.map((t) => this.numberLabel(t).length));
    return 8 * longest; // digits of wide fonts are 7.7 pixels wide
  }

  isCalendar(a, b) {
    return this.isDate && Math.abs(a) <= lastSecond && Math.abs(b) <= lastSecond;
  }

  numberLabel(t) {
    return this.isDate ? `${t} s` : String(Math.round(t));
  }

  /** ticks returns rows at round times and their labels, or null without a time column. */
  ticks(from, to, width) {
    if (!this.times) return null;
    const single = (row) => ({ rows: [row], texts: [this.text(row).replace(" ", "\n")] });
    if (this.rows.length < 2) return single(this.rows[0]);
    const [a, b] = [this.at(from), this.at(to)];
    const n = width / (this.labelWidth() + 36);
    const { times, texts } = this.isCalendar(a, b)
      ? calendarTicks(a, b, n)
      : this.numberTicks(a, b, n);
    if (times.length === 0) return single((from + to) / 2);
    return { rows: times.map((t) => interpolate(this.times, this.rows, t)), texts };
  }

  numberTicks(a, b, n) {
    const times = roundNumbers(a, b, n, 1).values;
    return { times, texts: times.map((t) => this.numberLabel(t)) };
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

/**
 * roundNumbers returns about n round numbers from min to max, and their distance, which is at
 * least minStep. It returns min alone if there is no step, as for min = max or infinite ends.
 */
export function roundNumbers(min, max, n, minStep = 0) {
  const wanted = (max - min) / Math.max(1, Math.min(n, maxTicks / 2));
  const power = 10 ** Math.floor(Math.log10(wanted));
  const round = [1, 2, 5].map((f) => f * power).find((s) => s >= wanted) ?? 10 * power;
  const step = Math.max(round, minStep);
  if (!(step > 0 && step < Infinity)) return { values: [min], step: 1 };
  const first = Math.ceil(min / step);
  const values = [];
  for (let i = 0; i < maxTicks; i++) {
    const multiple = (first + i) * step;
    const v = step < 1 ? Number(multiple.toPrecision(15)) : multiple; // 3 * 0.1 is to be 0.3
    if (!(v <= max)) break;
    if (v >= min && v !== values.at(-1)) values.push(v);
  }
  return { values, step };
}

/** calendarTicks returns about n round times from a to b in seconds since 1970, and labels. */
function calendarTicks(a, b, n) {
  const { times, step } = roundTimes(a, b, n);
  return { times, texts: times.map((t, i) => tickLabel(t, step, i === 0)) };
}

/** roundTimes returns at most about n round times from a to b, which are in the calendar. */
export function roundTimes(a, b, n) {
  const minStep = Math.max((b - a) / Math.max(1, n), leastStep);
  if (minStep <= 0.5) {
    const { values, step } = roundNumbers(a, b, n, leastStep);
    return { times: values, step };
  }
  const step = steps.find((s) => s >= minStep);
  const times = [];
  if (step) {
    // weeks begin on a Monday; 1970 began on a Thursday
    const shift = step % (7 * day) === 0 ? 4 * day : 0;
    const first = Math.ceil((a - shift) / step) * step + shift;
    for (let t = first; t <= b && times.length < maxTicks; t += step) times.push(t);
    return { times, step };
  }
  const every = months.find((m) => m * 30.44 * day >= minStep);
  const from = new Date(a * 1000);
  if (!every) {
    const year = (t) => new Date(t * 1000).getUTCFullYear();
    const [first, end] = [year(a), year(b) + 1];
    const years = roundNumbers(first, end, ((end - first) * 365.25 * day) / minStep, 1);
    return {
      times: years.values.map((y) => monthStart(y, 0)).filter((t) => t >= a && t <= b),
      step: years.step * 366 * day,
    };
  }
  let month = from.getUTCFullYear() * 12 + from.getUTCMonth();
  month = Math.ceil(month / every) * every;
  for (let i = 0; i < maxTicks; i++, month += every) {
    const t = monthStart(Math.floor(month / 12), ((month % 12) + 12) % 12);
    if (!(t <= b)) break;
    if (t >= a) times.push(t);
  }
  return { times, step: every * 30 * day };
}

/** monthStart returns the first second of a month. Date.UTC takes years below 100 for others. */
const monthStart = (year, month) => new Date(0).setUTCFullYear(year, month, 1) / 1000;

function tickLabel(t, step, first) {
  const text = isoTime(t);
  const [date, clock] = text.replace("Z", "").split("T");
  const [, year, month] = /^([+-]?\d+)-(\d\d)/.exec(date);
  if (step >= 360 * day) return year;
  if (step >= 28 * day) return `${year}-${month}`;
  if (step >= day) return date;
  const clockText = step >= 60 ? clock.slice(0, 5) : clock;
  return first || t % day === 0 ? `${date}\n${clockText}` : clockText;
}

/**
 * isoTime formats a time in UTC, with the digits after the point that a float64 of seconds has. A
 * time outside the calendar is formatted in seconds.
 */
export function isoTime(t) {
  const digits = Math.min(6, Math.max(0, Math.floor(-Math.log10(Math.abs(t) * 2 ** -52 || 1e-9))));
  const fraction = (t - Math.floor(t)).toFixed(digits); // "1.00…" if it is rounded up
  const date = new Date((Math.floor(t) + Number(fraction[0])) * 1000);
  if (Number.isNaN(date.getTime())) return `${t} s`;
  const decimals = fraction.slice(2).replace(/0+$/, "");
  return `${date.toISOString().slice(0, -5)}${decimals && `.${decimals}`}Z`;
}

/** formatTime formats a time without trailing zeros. */
export function formatTime(t) {
  return isoTime(t)
    .replace("T", " ")
    .replace(/Z$/, "")
    .replace(/( \d\d:\d\d):00$/, "$1")
    .replace(/ 00:00$/, "");
}
