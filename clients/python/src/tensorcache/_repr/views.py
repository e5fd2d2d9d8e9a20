"""The HTML of datasets, windows, splits and feeds.

A drawing asks the daemon for at most 10,000 stretches of each of a few items. It stops asking after
a second, and does not ask if the daemon had to pass millions of missing values. Nothing else asks.
"""

from __future__ import annotations

import time as clock
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from .._errors import TensorcacheError, show
from .._index.plot import MOST_ITEMS, REASON_COLORS, color, spans
from .drawing import Lane, Strip, svg
from .html import facts, frame, note, swatch, table, text

MOST_COLUMNS = 20
MOST_PARTS = 6
MOST_LANES = 24
MOST_ITEMS_WITH_TIMES = 10_000
MOST_GAPS = 2_000_000
"""How many missing values and jumps in time the daemon may pass for a drawing: about a second."""

SECONDS = 1.0
"""How long a drawing asks the daemon for stretches. A request that it waits for then is the last.
"""


def dataset_html(data: Any) -> str:
    """A dataset: its counts, and its columns with their statistics."""
    manifest = data.manifest
    size = sum(int(file["bytes"]) for file in (manifest.get("files") or {}).values())
    rows = [("rows", f"{len(data):,}"), ("items", items_text(data.items))]
    if data.time is not None:
        first, last = time_range(data)
        rows.append(("time", text(data.time) + (f": {first} to {last}" if first else "")))
    rows += [("layout", text(data.layout)), ("size", bytes_text(size))]
    statistics = data.describe()
    entries = manifest["columns"]
    columns = [
        [
            text(column["name"]),
            text(f"{column['dtype']}{shape_text(column['shape'])}"),
            text(role_text(column)),
            f"{int(column.get('missing') or 0):,}",
            *(
                number_text(statistics.get(column["name"], {}).get(name))
                for name in ("min", "mean", "max")
            ),
        ]
        for column in entries[:MOST_COLUMNS]
    ]
    pieces = [facts(rows), table(("column", "dtype", "role", "missing", *STATISTICS), columns)]
    if len(entries) > MOST_COLUMNS:
        pieces.append(note(f"{len(entries) - MOST_COLUMNS:,} more columns"))
    return frame(heading("Dataset", data), *pieces)


STATISTICS = ("min", "mean", "max")


def windows_html(windows: Any) -> str:
    """Windows: their counts, spec and features, and where they lie."""
    return frame(
        heading("Windows", windows.dataset),
        facts([*counts_of(windows), *spec_of(windows)]),
        drawing({"windows": windows}),
    )


def split_html(parts: Mapping[str, Any]) -> str:
    """A split: what is in each part, and where the parts lie."""
    first = next(iter(parts.values()), None)
    if first is None:
        return frame("<b>Split</b> without parts")
    rows = [
        [
            swatch(color(at)) + text(name),
            f"{len(part):,}",
            rejected_text(part.rejected) or "0",
        ]
        for at, (name, part) in enumerate(list(parts.items())[:MOST_LANES])
    ]
    pieces = [table(("part", "windows", "rejected positions"), rows)]
    if len(parts) > MOST_LANES:
        pieces.append(note(f"{len(parts) - MOST_LANES:,} more parts"))
    return frame(heading("Split", first.dataset), *pieces, drawing(parts))


def feed_html(feed: Any, place: str, options: Mapping[str, Any]) -> str:
    """A feed: its place in the epochs, and where its windows lie."""
    size = options.get("batch_size")
    rows = [
        ("batches an epoch", f"{len(feed):,}"),
        ("batch size", "a whole group" if size is None else f"{size:,}"),
        ("order", text(options.get("order", ""))),
        ("place", text(place)),
        ("delivery", text(feed.delivery)),
        ("windows", f"{len(feed.windows):,}"),
    ]
    return frame(
        heading("Feed", feed.windows.dataset), facts(rows), drawing({"windows": feed.windows})
    )


def heading(kind: str, data: Any) -> str:
    """The title of an object of a dataset."""
    return f"<b>{kind}</b> &quot;{text(data.name, 100)}&quot; generation {data.generation:,}"


def counts_of(windows: Any) -> Iterable[tuple[str, str]]:
    """The counts of windows, as rows of a table."""
    yield "windows", swatch(color(0)) + f"{len(windows):,}"
    yield "positions", f"{windows.positions:,}"
    if any(windows.rejected.values()):
        yield "rejected", rejected_text(windows.rejected)


def rejected_text(rejected: Mapping[str, int]) -> str:
    """Counts of rejected positions by reason, with the colours of the drawing."""
    return ", ".join(
        f"{swatch(REASON_COLORS.get(reason, '#7f7f7f'))}{text(reason)} {count:,}"
        for reason, count in rejected.items()
        if count
    )


def spec_of(windows: Any) -> Iterable[tuple[str, str]]:
    """The spec and features of windows, as rows of a table."""
    fields = ", ".join(f"{name} {value}" for name, value in windows.spec.items())
    yield "spec", text(fields, 500)
    for part, names in windows.features.items():
        if names:
            yield text(part), text(f"{len(names):,}: {', '.join(names[:50])}", 200)


def drawing(parts: Mapping[str, Any]) -> str:
    """Where the windows of some parts lie, with a line on what is not drawn."""
    windows = next(iter(parts.values()))
    data = windows.dataset
    shown = dict(list(parts.items())[:MOST_PARTS])
    most = min(len(data.items), MOST_ITEMS, MOST_LANES // len(shown))
    scale = max((int(n) for n in data.items._rows[:most]), default=1)
    lanes: list[Lane] = []
    deadline = clock.monotonic() + SECONDS
    drawn = cost = 0
    try:
        for code in range(most):
            cost += cost_of(shown, code)
            if cost > MOST_GAPS or clock.monotonic() > deadline:
                break
            lanes += lanes_of(shown, code, scale)
            drawn += 1
    except TensorcacheError as error:
        return note(f"not drawn: {text(error.detail, 300)}")
    if not drawn:
        return note("not drawn: too many missing values and jumps in time")
    hidden = [
        f"{len(all_of) - n:,} of {len(all_of):,} {what} not drawn"
        for what, all_of, n in (("items", data.items, drawn), ("parts", parts, len(shown)))
        if len(all_of) > n
    ]
    kind = "light: context, dark: prediction rows, thin line: starts of rejected positions"
    picture = svg(lanes, REASON_COLORS, ("row 0", f"row {scale:,} of the item"))
    return picture + note(text("; ".join([kind, *hidden]), 300))


def cost_of(parts: Mapping[str, Any], code: int) -> int:
    """About how many missing values and jumps in time the daemon passes for an item's lanes.

    With cuts that are no split, it passes those of all items.
    """
    windows = next(iter(parts.values()))
    data, spec = windows.dataset, windows.spec
    names = {name for part in windows.features.values() for name in part}
    names |= {name.rpartition("[")[0] for name in names}
    gaps = 0
    if spec.get("max_missing", 0.0) is not None:
        for column in data.manifest["columns"]:
            if column["name"] in names:
                gaps += int(column.get("missing") or 0)
    if "max_step" in spec:
        gaps += int((data.manifest.get("time_step") or {}).get("jumps", 0))
    if (split_of(parts) or not windows._cuts) and len(data):
        gaps = gaps * int(data.items._rows[code]) // len(data)
    return gaps * len(parts)


def split_of(parts: Mapping[str, Any]) -> tuple[list[Any], Any] | None:
    """The cuts before a split and the split, if the parts are its first ones; else None."""
    cuts = [list(part._cuts) for part in parts.values()]
    if not all(part and "split" in part[-1] for part in cuts) or len(parts) < 2:
        return None
    before, split = cuts[0][:-1], cuts[0][-1]["split"]
    for number, part in enumerate(cuts):
        if part[:-1] != before or part[-1] != {"split": split, "part": number}:
            return None
    return before, split


def lanes_of(parts: Mapping[str, Any], code: int, scale: int) -> list[Lane]:
    """The lanes of an item: one for each part."""
    windows = next(iter(parts.values()))
    data = windows.dataset

    def stretches(cuts: Any, **more: Any) -> dict[str, Any]:
        reply: dict[str, Any] = data._post("stretches", windows._spec, cuts, item_code=code, **more)
        return reply

    if split := split_of(parts):  # one request: the daemon splits this item alone
        reply = stretches(split[0], split=split[1])
        of_part: list[list[Any]] = [[] for _ in reply["splits"]]
        for stretch in reply["stretches"]:
            of_part[stretch["part"]].append(stretch)
        replies = [
            {**reply, "windows": counts["windows"], "stretches": own}
            for counts, own in zip(reply["splits"], of_part, strict=True)
        ]
    else:
        replies = [stretches(part._cuts) for part in parts.values()]
    return [
        lane_of(part, name, at, code, scale, len(parts) > 1, replies[at])
        for at, (name, part) in enumerate(parts.items())
    ]


def lane_of(
    windows: Any, name: str, at: int, code: int, scale: int, named: bool, reply: Mapping[str, Any]
) -> Lane:
    """One item's windows in one part, from the daemon's stretches."""
    data = windows.dataset
    rows, stride = int(reply["rows"]), int(reply["stride"])
    value = data.items[code]
    item = data.name if value is None else value
    lane = Lane(
        item=code,
        part=name,
        label=name if named and value is None else f"{item} {name}" if named else str(item),
        title=f"item {show(item)}, {name}: {reply['windows']:,} windows",
        color=color(at),
        rows=rows,
        context=Strip(rows, scale),
        prediction=Strip(rows, scale),
    )
    context, prediction = spans(windows)
    for stretch in reply["stretches"]:
        first = int(stretch["from"])
        count = (int(stretch["to"]) - 1 - first) // stride + 1
        if stretch["windows"]:
            lane.context.add(first, count, stride, *context)
            lane.prediction.add(first, count, stride, *prediction)
        if reason := stretch["reason"]:
            strip = lane.rejected.setdefault(reason, Strip(rows, scale))
            strip.add(first, count, stride, 0, stride)
    return lane


def items_text(items: Any) -> str:
    """The number of items and the first few."""
    first = [value for value in items[:3] if value is not None]
    more = ", …" if len(items) > len(first) else ""
    names = f": {', '.join(show(value) for value in first)}{more}" if first else ""
    return text(f"{len(items):,}{names}", 200)


def time_range(data: Any) -> tuple[str, str]:
    """The first and last time of a dataset; empty if finding them reads too many pages."""
    items = data.items
    if not len(data) or len(items) > MOST_ITEMS_WITH_TIMES:
        return "", ""
    there = items._rows > 0
    first = items._row_offset[there]
    times = data._mapped(data.time)
    return (
        text(np.min(times[first])),
        text(np.max(times[first + items._rows[there] - 1])),
    )


def shape_text(shape: Any) -> str:
    """The features of a column of several."""
    return f"[{int(shape[1]):,}]" if len(shape) > 1 else ""


def number_text(value: float | None) -> str:
    """A statistic, or nothing if there is none."""
    return "" if value is None else f"{value:.6g}"


def bytes_text(count: int) -> str:
    """A number of bytes with its unit."""
    size = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.3g} {unit}" if unit != "B" else f"{count} B"
        size /= 1024
    return f"{size:,.3g} TiB"


def role_text(column: Mapping[str, Any]) -> str:
    """A column's role, and whether windows include it only if a spec names it."""
    if column.get("calendar"):
        return f"{column['role']}, calendar"
    return str(column["role"]) + (", named only" if column.get("named_only") else "")
