"""The naive oracle: which windows exist, why other positions are rejected, and all values.

It consists of plain loops over a frame, from design.md's definitions. It shares no code with the
client or the daemon, and tries every start of every item. Row i of a window that starts at s is
s + i·D.

A spec has the keywords of ``data.windows``. A cut is ``("where", {...})``, ``("split", {...},
part)`` or ``("latest",)``. Times are the integers of the frame.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from naive_hash import share_of

Keywords = dict[str, Any]


@dataclass
class Range:
    """The rows of an item that remain after cuts.

    Rows [low, high) may be prediction rows. The context begins at ``context`` or later.
    """

    low: int
    high: int
    context: int
    cut_by_rows: bool = False
    absent: bool = False

    def keep(self, low: int, high: int) -> None:
        self.low, self.high = max(self.low, low), min(self.high, high)
        self.high = max(self.low, self.high)
        self.cut_by_rows = True

    def own_context(self, spec: Keywords) -> None:
        if not spec.get("context_before_split", True):
            self.context = max(self.context, self.low)


@dataclass
class Found:
    """The expected index.

    ``places`` has the (item, start) of each window in order. ``rejected`` has the number of
    rejected positions by reason.
    """

    places: list[tuple[int, int]] = field(default_factory=list)
    rejected: dict[str, int] = field(default_factory=dict)

    @property
    def positions(self) -> int:
        return len(self.places) + sum(self.rejected.values())

    def runs(self, stride: int) -> list[tuple[int, int]]:
        """Item and count of each stretch of windows whose starts are one stride apart."""
        runs: list[tuple[int, int]] = []
        before: tuple[int, int] | None = None
        for item, start in self.places:
            if before is not None and (item, start - stride) == before:
                runs[-1] = (item, runs[-1][1] + 1)
            else:
                runs.append((item, 1))
            before = (item, start)
        return runs


class Naive:
    """The windows of a frame under a spec.

    ``features`` are the names of the frame's value columns. ``m[0]`` and ``m[1]`` are the two
    features of a column ``m``.
    """

    def __init__(self, frame: pd.DataFrame, features: list[str], spec: Keywords) -> None:
        given = {
            name: value
            for name, value in spec.items()
            if value is not None or name == "max_missing"
        }
        self.c: int = given["context_length"]
        self.p: int = given.get("prediction_length", 0)
        self.g: int = given.get("gap", 0)
        self.l: int = given.get("overlap", 0)
        self.s: int = given.get("stride", 1)
        self.d: int = given.get("dilation", 1)
        self.from_end: bool = given.get("anchor", "start") == "end"
        self.least: int = given.get("min_context", self.c)
        self.max_step: int | None = given.get("max_step")
        self.max_missing: float | None = given.get("max_missing", 0.0)
        self.spec = given
        self.names = list(dict.fromkeys(frame["id"]))
        self.items = [frame[frame["id"] == name] for name in self.names]
        self.times = [[int(t) for t in item["t"]] for item in self.items]
        self.cells = [
            {name: [float(value) for value in item[name]] for name in features}
            for item in self.items
        ]
        self.features = self.roles(features)

    def roles(self, features: list[str]) -> dict[str, list[str]]:
        """The features of each part."""

        def named(key: str) -> list[str] | None:
            columns = self.spec.get(key)
            if columns is None:
                return None
            return [
                f
                for column in columns
                for f in features
                if f == column or f.startswith(column + "[")
            ]

        known, static = named("known_columns") or [], named("static_columns") or []
        both = named("columns") or [f for f in features if f not in static]
        context = named("context_columns") or both
        target = named("target_columns") or (
            named("columns") or [f for f in both if f not in known]
        )
        return {
            "context": context,
            "target": target if self.p else [],
            "known": known,
            "static": static,
        }

    def rows(self, item: int) -> int:
        return len(self.times[item])

    def before(self, item: int, time: int) -> int:
        """The number of rows of an item that are earlier than a time."""
        return sum(1 for t in self.times[item] if t < time)

    def bounds(self, item: int, rows: Any, time: Any) -> tuple[int, int]:
        """Half-open bounds of rows, as Python slices them, or of times."""
        low, high = 0, self.rows(item)
        if rows is not None:
            low, high, _ = slice(*rows).indices(self.rows(item))
        if time is not None:
            low = 0 if time[0] is None else self.before(item, time[0])
            high = self.rows(item) if time[1] is None else self.before(item, time[1])
        return low, max(low, high)

    def admitted(self, item: int) -> tuple[int, int]:
        return self.bounds(item, self.spec.get("rows"), self.spec.get("time"))

    def range(self, item: int, cuts: list[tuple[Any, ...]]) -> Range:
        """The rows of an item that remain after cuts."""
        low, high = self.admitted(item)
        left = Range(low, high, low)
        for kind, *more in cuts:
            if kind == "where":
                self.where(item, left, more[0])
            elif kind == "split":
                self.split(item, left, more[0], more[1])
        return left

    def where(self, item: int, left: Range, where: Keywords) -> None:
        if where.get("items") is not None and self.names[item] not in where["items"]:
            left.absent = True
        if where.get("rows") is not None and where["rows"] != (None, None):
            left.keep(*self.bounds(item, where["rows"], None))
        if where.get("time") is not None and where["time"] != (None, None):
            left.keep(*self.bounds(item, None, where["time"]))
        left.own_context(where)

    def split(self, item: int, left: Range, split: Keywords, part: int) -> None:
        if "items" in split:
            self.split_items(item, left, split["items"], part)
        else:
            edges = self.edges(item, left, split)
            end = edges[part + 1]
            if part + 2 < len(edges):
                end = max(edges[part], end - split.get("purge", 0))
            left.keep(edges[part], end)
        left.own_context(split)

    def split_items(self, item: int, left: Range, items: list[Any], part: int) -> None:
        if all(isinstance(share, list) for share in items):
            inside = self.names[item] in items[part]
        else:
            rest = items.index(None) if None in items else len(items) - 1
            shares = [0.0 if at == rest else share for at, share in enumerate(items)]
            shares[rest] = max(0.0, 1 - sum(shares))
            edge, inside, u = 0.0, part == len(items) - 1, share_of(self.names[item])
            for at, share in enumerate(shares):
                edge += share
                if u < edge:
                    inside = at == part
                    break
        left.absent = left.absent or not inside

    def edges(self, item: int, left: Range, split: Keywords) -> list[int]:
        """The first row of each part, and the end of the last part."""
        if "at_times" in split:
            return [left.low, *(self.before(item, time) for time in split["at_times"]), left.high]
        n = left.high - left.low
        sizes: list[int | None]
        if "lengths" in split:
            sizes = list(split["lengths"])
        else:
            sizes = [None if f is None else math.floor(n * f + 1e-9) for f in split["fractions"]]
            if None not in sizes:
                sizes[-1] = None
        given = sum(size for size in sizes if size is not None)
        edges = [left.low]
        for size in sizes:
            wanted = max(0, n - given) if size is None else size
            edges.append(min(edges[-1] + wanted, left.high))
        return edges

    def last_row(self, start: int) -> int:
        return start + (self.c + self.g + self.p - 1) * self.d

    def real(self, item: int, start: int) -> int:
        """The number of context rows that are not padding."""
        first, _ = self.admitted(item)
        return sum(1 for i in range(self.c) if start + i * self.d >= first)

    def padded(self, item: int, start: int) -> bool:
        """Return whether ``min_context`` admits a start before the first admitted row.

        Only context rows may be padding.
        """
        first, end = self.admitted(item)
        if start >= first or first >= end or self.least == self.c:
            return False
        behind = start + (self.c if self.p else self.c - 1) * self.d
        return behind >= first and self.real(item, start) >= self.least

    def is_position(self, item: int, start: int) -> bool:
        n = self.rows(item)
        first, end = self.admitted(item)
        if self.from_end:
            last = self.last_row(start)
            return 0 <= last < n and (end - 1 - last) % self.s == 0
        return (
            start < n and (start - first) % self.s == 0 and (start >= 0 or self.padded(item, start))
        )

    def why(self, item: int, start: int, left: Range) -> str | None:
        """The reason why a position is no window; None if it is one."""
        first, end = self.admitted(item)
        early = start < first and not self.padded(item, start)
        late = self.last_row(start) >= end
        if (early and first > 0) or (late and end < self.rows(item)):
            return "bounds"
        if early or late:
            return "item_end"
        if self.jumps(item, max(start, first), self.last_row(start)):
            return "max_step"
        if self.too_many_missing(item, start):
            return "max_missing"
        predicted = range(self.c + self.g, self.c + self.g + self.p) if self.p else [self.c - 1]
        if any(not left.low <= start + i * self.d < left.high for i in predicted):
            return "split"
        if left.context > first and start < left.context:
            return "split"
        return None

    def jumps(self, item: int, first: int, last: int) -> bool:
        times = self.times[item]
        return self.max_step is not None and any(
            times[row + 1] - times[row] > self.max_step for row in range(first, last)
        )

    def group_time(self, item: int, start: int, latest: bool = False) -> int:
        """The time of a window's first prediction row; of its last context row if it has none."""
        row = start + (self.c + self.g if self.p and not latest else self.c - 1) * self.d
        return self.times[item][row]

    def continues(self, before: tuple[int, int], place: tuple[int, int]) -> bool:
        """Return whether a window begins at the next sample after another's context.

        A jump in time between the two is no continuation.
        """
        (item, began), (of, start) = before, place
        end = began + (self.c - 1) * self.d
        first, _ = self.admitted(item)
        return item == of and start == end + self.d and not self.jumps(item, max(end, first), start)

    def too_many_missing(self, item: int, start: int) -> bool:
        if self.max_missing is None:
            return False
        first, _ = self.admitted(item)
        cells = {(start + i * self.d, f) for i in range(self.c) for f in self.features["context"]}
        cells |= {
            (start + i * self.d, f) for i in self.target_samples() for f in self.features["target"]
        }
        real = [(row, f) for row, f in cells if row >= first]
        missing = sum(1 for row, f in real if math.isnan(self.cells[item][f][row]))
        return missing > 0 and missing / len(real) > self.max_missing

    def target_samples(self) -> range:
        return range(self.c + self.g - self.l, self.c + self.g + self.p) if self.p else range(0)

    def index(self, cuts: list[tuple[Any, ...]]) -> Found:
        """The windows that exist, and the rejected positions."""
        if cuts and cuts[-1][0] == "latest":
            return self.latest(cuts[:-1])
        found = Found()
        for item in range(len(self.items)):
            left = self.range(item, cuts)
            if left.absent:
                continue
            reach = (self.c + self.g + self.p) * self.d + self.s + self.rows(item)
            for start in range(-reach, self.rows(item)):
                if not self.is_position(item, start):
                    continue
                predicted = start + (self.c + self.g if self.p else self.c - 1) * self.d
                if left.cut_by_rows and not left.low <= predicted < left.high:
                    continue
                self.count(found, item, start, self.why(item, start, left))
        return found

    def latest(self, cuts: list[tuple[Any, ...]]) -> Found:
        """The window of each item whose context ends at the last row with a target value.

        If the spec has no targets, the context ends at the item's last row.
        """
        only_context = {**self.spec, "gap": 0, "overlap": 0, "prediction_length": 0}
        alone = Naive(pd.concat(self.items), list(self.cells[0]), only_context)
        alone.features = {**self.features, "target": []}
        found = Found()
        for item in range(len(self.items)):
            left = self.range(item, cuts)
            seen = [
                row
                for row in range(left.low, left.high)
                if not self.features["target"]
                or any(not math.isnan(self.cells[item][f][row]) for f in self.features["target"])
            ]
            if not left.absent and seen:
                start = seen[-1] - (self.c - 1) * self.d
                self.count(found, item, start, alone.why(item, start, left))
        return found

    @staticmethod
    def count(found: Found, item: int, start: int, why: str | None) -> None:
        if why is None:
            found.places.append((item, start))
        else:
            found.rejected[why] = found.rejected.get(why, 0) + 1

    def part(
        self, name: str, item: int, start: int, samples: range
    ) -> tuple[list[list[float]], list[list[bool]]]:
        """The values of samples, and which are missing; padding is not."""
        first, _ = self.admitted(item)
        fill, pad = self.spec.get("missing_value"), self.spec.get("pad_value", 0.0)
        values, missing = [], []
        for i in samples:
            row = start + i * self.d
            cells = [self.cells[item][f][row] if row >= first else 0.0 for f in self.features[name]]
            missing.append([math.isnan(v) for v in cells])
            filled = [fill if fill is not None and math.isnan(v) else v for v in cells]
            values.append(filled if row >= first else [pad] * len(cells))
        return values, missing

    def observed(self, name: str, item: int, start: int, samples: range) -> list[list[bool]]:
        """Which cells have a value; padding has none."""
        first, _ = self.admitted(item)
        missing = self.part(name, item, start, samples)[1]
        return [
            [start + i * self.d >= first and not gone for gone in row]
            for i, row in zip(samples, missing, strict=True)
        ]

    def window(self, item: int, start: int, latest: bool = False) -> dict[str, Any]:
        """All parts of a window as nested lists; None for those that the spec does not ask for."""
        first, _ = self.admitted(item)
        context, reach, target = range(self.c), self.c + self.g + self.p, self.target_samples()
        window: dict[str, Any] = {
            **dict.fromkeys(("target", "target_observed", "target_missing", "static")),
            **dict.fromkeys(("known", "known_context", "known_target")),
            "observed": self.observed("context", item, start, context),
            "time": self.times[item][max(start, first)],
            "mask": [start + i * self.d >= first for i in context],
        }
        window["context"], window["context_missing"] = self.part("context", item, start, context)
        if self.p and not latest:
            window["target"], window["target_missing"] = self.part("target", item, start, target)
            window["target_observed"] = self.observed("target", item, start, target)
        if self.features["known"]:
            parts = {"known": range(reach), "known_context": context, "known_target": target}
            for name, samples in parts.items():
                window[name] = self.part("known", item, start, samples)[0] if samples else None
        if self.features["static"]:
            window["static"] = [self.cells[item][f][0] for f in self.features["static"]]
        return window
