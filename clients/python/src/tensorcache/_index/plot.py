"""Plots of windows and parts; matplotlib is imported when something is drawn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._data.columns import Columns
from .._data.cutter import columns_of
from .._errors import show
from .._extras import required
from .index import WindowIndex
from .positions import REASONS, Positions

Int64s = npt.NDArray[np.int64]

PART_COLORS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#9467bd", "#8c564b", "#17becf")
REASON_COLORS = dict(
    zip(REASONS, ("#7f7f7f", "#c7c7c7", "#bcbd22", "#d62728", "#e377c2"), strict=True)
)
MOST_ITEMS = 8
MOST_FEATURES = 6


def plot_parts(parts: Mapping[str, WindowIndex], items: Sequence[Any] | None, ax: Any) -> Any:
    """Draw for each item one bar a part, and below them the rejected positions.

    Prediction rows are dark, context rows are light.
    """
    first = next(iter(parts.values()))
    data = first.dataset
    codes = (
        np.atleast_1d(data.items._one_or_several(items)).tolist()
        if items is not None
        else list(range(len(data.items)))[:MOST_ITEMS]
    )
    ax = ax or axes(1.0 + 0.22 * len(codes) * (len(parts) + 1.5))
    positions = Positions(first)
    labels: dict[str, tuple[str, int]] = {
        name: (color(at), len(part)) for at, (name, part) in enumerate(parts.items())
    }
    counts = dict.fromkeys(REASONS, 0)
    ticks, y = [], 0.0
    for code in codes:
        top = y
        starts, why = positions.of(code)
        inside = np.zeros(len(starts), np.bool_)
        for at, part in enumerate(parts.values()):
            own = part._index().starts(code)
            inside |= np.isin(starts, own)
            (begin, end), (low, high) = spans(part)
            bars(ax, own + begin, end - begin, y, color(at), 0.25)
            if high > low:
                bars(ax, own + low, high - low, y, color(at), 0.9)
            y += 1
        if any(part._cuts for part in parts.values()):
            why = np.where((why < 0) & ~inside, REASONS.index("split"), why)
        for number, reason in enumerate(REASONS):
            lost = starts[why == number]
            counts[reason] += len(lost)
            bars(ax, lost, int(first.spec.get("stride", 1)), y, REASON_COLORS[reason], 1.0, 0.5)
        ticks.append((top + y) / 2)
        y += 1.5
    for reason, count in counts.items():
        if count:
            labels[f"no window: {reason}"] = (REASON_COLORS[reason], count)
    ax.set_yticks(
        ticks, [data.items[code] if data.items[code] is not None else data.name for code in codes]
    )
    ax.invert_yaxis()
    ax.set_xlim(right=max(int(data.items._rows[code]) for code in codes))
    ax.set_xlabel("row in the item (below each item: positions that are no window of these)")
    ax.set_title(title(data, codes, items), loc="left")
    legend(ax, [(f"{name}: {count:,}", tint) for name, (tint, count) in labels.items()])
    return ax


def plot_window(windows: WindowIndex, index: int, ax: Any) -> Any:
    """Draw a window over the values of its item.

    The plot marks context, gap, overlap, prediction rows, padding and missing values.
    """
    sample = windows[index]
    data, spec = windows.dataset, windows.spec
    ax = ax or axes(4.0)
    n = int(data.items._rows[sample.item_code])
    first, _ = Positions(windows).admitted(sample.item_code)
    context, dilation = int(spec["context_length"]), int(spec.get("dilation", 1))
    (begin, end), (low, high) = spans(windows)
    stop = max(end, high)
    margin = max(2, stop // 4)
    rows = np.arange(max(0, sample.start - margin), min(n, sample.start + stop + margin))
    names = windows.features["target"] or windows.features["context"]
    for at, name in enumerate(names[:MOST_FEATURES]):
        whole = series(data, name, sample.item_code)
        values = whole[rows]
        ax.plot(rows, values, color=color(at), linewidth=1, alpha=0.35)
        for part, samples in enumerate(sampled(windows)):
            seen = sample.start + samples
            seen = seen[(seen >= max(first, 0)) & (seen < n)]
            label = f"_{name}" if part else name
            ax.plot(seen, whole[seen], color=color(at), marker=".", label=label, linewidth=1.2)
        gone = rows[np.isnan(values.astype(float))]
        ax.plot(
            gone,
            np.zeros(len(gone)),
            "x",
            color=color(at),
            transform=ax.get_xaxis_transform(),
            clip_on=False,
        )
    shade(ax, sample.start + begin, sample.start + end, "#1f77b4", "context")
    if sample.start < first:
        ax.axvspan(
            sample.start - 0.5,
            first - 0.5,
            facecolor="none",
            edgecolor="#7f7f7f",
            hatch="//",
            label="padding",
        )
    if high > low:
        shade(ax, sample.start + low, sample.start + high, "#ff7f0e", "prediction rows")
        overlap = int(spec.get("overlap", 0))
        if overlap:
            shade(
                ax,
                sample.start + low - overlap * dilation,
                sample.start + low,
                "#2ca02c",
                "overlap",
            )
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set_xlabel(
        "row in the item"
        + (f" (dilation {dilation}: every dot is a sample)" if dilation > 1 else "")
    )
    item = sample.item
    where = "" if item is None else f" of item {show(item)}"
    when = "" if sample.time is None else f", from {sample.time}"
    ax.set_title(
        f"window {index:,} of {len(windows):,}: context from row {sample.start:,}{where}{when}",
        loc="left",
    )
    lost = "".join(f" + {count:,} {reason}" for reason, count in windows.rejected.items())
    note = (
        f"{windows.positions:,} positions = {len(windows):,} windows{lost}; {context} context rows"
    )
    ax.text(0, -0.22, note, transform=ax.transAxes, fontsize="small")
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0, frameon=False)
    return ax


def axes(height: float) -> Any:
    """The axes of a new figure.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    with required("matplotlib", "plot"):
        from matplotlib import pyplot
    return pyplot.subplots(figsize=(11, max(2.5, height)), layout="constrained")[1]


def spans(windows: WindowIndex) -> tuple[tuple[int, int], tuple[int, int]]:
    """The rows of context and of prediction rows, from a window's start, half-open."""
    spec = windows.spec
    dilation: int = spec.get("dilation", 1)
    context: int = spec["context_length"]
    low = context + spec.get("gap", 0)
    length: int = 0 if windows._is_latest() else spec.get("prediction_length", 0)
    end = (context - 1) * dilation + 1
    if not length:
        return (0, end), (end, end)
    return (0, end), (low * dilation, (low + length - 1) * dilation + 1)


def sampled(windows: WindowIndex) -> Iterable[Int64s]:
    """The sampled rows of context and of prediction rows, from a window's start."""
    dilation: int = windows.spec.get("dilation", 1)
    for low, high in spans(windows):
        yield np.arange(low, high, dilation)


def series(data: Columns, feature: str, code: int) -> npt.NDArray[Any]:
    """The values of a feature in an item."""
    base, n = int(data.items._row_offset[code]), int(data.items._rows[code])
    column = columns_of(data, [feature])[0]
    values = data._mapped(column.name)[base : base + n]
    return values if values.ndim == 1 else values[:, int(feature[len(column.name) + 1 : -1])]


def bars(
    ax: Any, starts: Int64s, length: int, y: float, tint: str, alpha: float, height: float = 0.8
) -> None:
    """Draw a bar from each start, merged where they touch."""
    if len(starts):
        breaks = np.flatnonzero(np.diff(starts) > length)
        begin = starts[np.concatenate([[0], breaks + 1])]
        end = starts[np.concatenate([breaks, [len(starts) - 1]])] + length
        spans = list(zip(begin.tolist(), (end - begin).tolist(), strict=True))
        ax.broken_barh(spans, (y - height / 2, height), facecolors=tint, alpha=alpha, linewidth=0)


def shade(ax: Any, begin: int, end: int, tint: str, label: str) -> None:
    """Shade a half-open range of rows."""
    ax.axvspan(begin - 0.5, end - 0.5, color=tint, alpha=0.12, label=label, linewidth=0)


def legend(ax: Any, entries: Sequence[tuple[str, str]]) -> None:
    """A legend right of the axes."""
    from matplotlib.patches import Patch

    patches = [Patch(color=tint, label=label) for label, tint in entries]
    ax.legend(
        handles=patches, loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0, frameon=False
    )


def color(at: int) -> str:
    """The colour of the part or feature with a number."""
    return PART_COLORS[at % len(PART_COLORS)]


def title(data: Columns, codes: Sequence[int], items: Sequence[Any] | None) -> str:
    """The title of a plot of parts."""
    hidden = len(data.items) - len(codes)
    which = f", {len(codes)} of {len(data.items):,} items" if hidden and items is None else ""
    return f'windows of "{data.name}"{which}; light: context, dark: prediction rows'
