// What all charts share: colours of the theme, resizing, axes.

import { roundNumbers } from "./ticks.js";

const dark = matchMedia("(prefers-color-scheme: dark)");

/** themeColors returns the colours of the style sheet. */
export function themeColors() {
  const style = getComputedStyle(document.documentElement);
  const v = (name) => style.getPropertyValue(name).trim();
  return {
    text: v("--text"),
    quiet: v("--quiet"),
    grid: v("--grid"),
    page: v("--page"),
    context: v("--context"),
    target: v("--target"),
    split: v("--split"),
    series: [0, 1, 2, 3, 4, 5, 6, 7].map((i) => v(`--series-${i}`)),
    reasons: Object.fromEntries(
      ["bounds", "item_end", "max_step", "max_missing", "split"].map((r) => [
        r,
        v(`--reason-${r.replace("_", "-")}`),
      ]),
    ),
  };
}

/** stroke returns the style of feature i: eight colours, then the same with other dashes. */
export const stroke = (c, i) => ({
  stroke: c.series[i % 8],
  dash: [[], [7, 4], [2, 3]][Math.floor(i / 8) % 3],
});

/**
 * watchSize calls back when the width of an element or the theme changes. It returns a function
 * that stops this.
 */
export function watchSize(element, callback) {
  let width = element.clientWidth;
  const size = new ResizeObserver(() => {
    if (element.clientWidth !== width) {
      width = element.clientWidth;
      callback();
    }
  });
  size.observe(element);
  dark.addEventListener("change", callback);
  return () => {
    size.disconnect();
    dark.removeEventListener("change", callback);
  };
}

const font = "12px system-ui, sans-serif";

/** axis returns an axis in the colours of the theme. */
export const axis = (c, more) => ({
  stroke: c.quiet,
  font,
  grid: { stroke: c.grid, width: 1 },
  ticks: { stroke: c.grid, width: 1, size: 4 },
  ...more,
});

/** shortNumber formats a number with about this many digits. */
function shortNumber(v, digits) {
  const a = Math.abs(v);
  if (a >= 1e12 || (a > 0 && a < 1e-6))
    return v.toExponential(digits - 1).replace(/\.?0*e\+?/, "e");
  if (a >= 1e9) return `${+(v / 1e9).toPrecision(digits)}G`;
  if (a >= 1e6) return `${+(v / 1e6).toPrecision(digits)}M`;
  if (a >= 1e4) return `${+(v / 1e3).toPrecision(digits)}k`;
  return String(+v.toPrecision(digits + 2));
}

/** shortNumbers formats the numbers of an axis, with as many digits as tell them apart. */
function shortNumbers(values) {
  let texts;
  for (let digits = 4; digits <= 17; digits++) {
    texts = values.map((v) => shortNumber(v, digits));
    if (new Set(texts).size === values.length) break;
  }
  return texts;
}

/**
 * valueAxis returns an axis of values. uPlot's own ticks need more digits than large numbers have.
 */
export const valueAxis = (c) =>
  axis(c, {
    // as wide as the longest label, with the ticks
    size: (_u, texts) => Math.max(58, ...(texts ?? []).map((t) => 8 * t.length + 12)),
    splits: (u, _i, min, max) =>
      roundNumbers(min, max, u.bbox.height / devicePixelRatio / 45).values,
    values: (_u, v) => shortNumbers(v),
  });

/**
 * lineChart returns a small chart of lines over seconds. Each line has its own scale unless range
 * is given. Of two equal lines, the later one is drawn lower.
 */
export function lineChart(root, names, palette, range) {
  let chart, data;
  const createChart = () => {
    chart?.destroy();
    chart = undefined;
    if (!data || data[0].length < 2 || root.clientWidth === 0) return;
    const c = themeColors();
    const scales = { x: { time: false } };
    names.forEach(
      (_, i) =>
        (scales[`y${i}`] = {
          range: range ? () => range : (_u, _min, max) => [0, Math.max(1, max * (1.1 + 0.4 * i))],
        }),
    );
    const opts = {
      width: root.clientWidth,
      height: 130,
      scales,
      legend: { show: true, live: false, markers: { width: 2 } },
      cursor: { show: false },
      axes: [
        axis(c, { values: (_u, v) => v.map((s) => `${s} s`), size: 28 }),
        axis(c, {
          scale: "y0",
          size: 48,
          values: (_u, v) =>
            range ? v.map((x) => `${Math.round(100 * x)} %`) : shortNumbers(v),
        }),
        ...(range
          ? []
          : [
              axis(c, {
                scale: "y1",
                side: 1,
                size: 48,
                grid: { show: false },
                values: (_u, v) => shortNumbers(v),
              }),
            ]),
      ],
      series: [
        {},
        ...names.map((label, i) => ({
          label,
          scale: range ? "y0" : `y${i}`,
          stroke: c.series[palette[i]],
          dash: i ? [6, 3] : [],
          width: 1.5,
          points: { show: false },
        })),
      ],
    };
    chart = new uPlot(opts, data, root);
  };
  const stopWatching = watchSize(root, createChart);
  return {
    show(next) {
      data = next;
      if (chart) chart.setData(data);
      else createChart();
    },
    end() {
      stopWatching();
      chart?.destroy();
    },
  };
}
