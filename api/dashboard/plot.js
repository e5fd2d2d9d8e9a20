// What all charts share: colours of the theme, resizing, axes.

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

/** shortNumber formats a number for an axis. */
export function shortNumber(v) {
  const a = Math.abs(v);
  if (a >= 1e9) return `${+(v / 1e9).toPrecision(4)}G`;
  if (a >= 1e6) return `${+(v / 1e6).toPrecision(4)}M`;
  if (a >= 1e4) return `${+(v / 1e3).toPrecision(4)}k`;
  return String(+v.toPrecision(6));
}

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
          values: (_u, v) => v.map(range ? (x) => `${Math.round(100 * x)} %` : shortNumber),
        }),
        ...(range
          ? []
          : [
              axis(c, {
                scale: "y1",
                side: 1,
                size: 48,
                grid: { show: false },
                values: (_u, v) => v.map(shortNumber),
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
