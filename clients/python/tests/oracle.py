"""A slow oracle of the windows that tensorcache must serve.

It consists of plain loops over pandas frames, from design.md's definitions. It shares no code with
the client or the daemon. Row i of a window that starts at s is row s + i·D of the item.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd


@dataclass(frozen=True)
class Place:
    """A window: its item, and the row in the item of its first context row."""

    item: int
    start: int


@dataclass(frozen=True)
class Spec:
    """The part of a window spec that the oracle supports."""

    context: int
    prediction: int = 0
    gap: int = 0
    overlap: int = 0
    stride: int = 1
    dilation: int = 1
    anchor: str = "start"
    min_context: int | None = None
    rows: tuple[int | None, int | None] | None = None
    max_step: int | None = None
    max_missing: float | None = 0.0
    missing_value: float | None = None

    @property
    def total(self) -> int:
        return self.context + self.gap + self.prediction

    @property
    def least(self) -> int:
        return self.context if self.min_context is None else self.min_context

    def keywords(self) -> dict[str, Any]:
        """The keywords of ``data.windows`` for the spec."""
        return {
            "context_length": self.context,
            "prediction_length": self.prediction,
            "gap": self.gap,
            "overlap": self.overlap,
            "stride": self.stride,
            "dilation": self.dilation,
            "anchor": self.anchor,
            "min_context": self.min_context,
            "rows": self.rows,
            "max_step": self.max_step,
            "max_missing": self.max_missing,
            "missing_value": self.missing_value,
        }


class Oracle:
    """The windows of a frame; ``items`` has one frame per item, in the order of first rows."""

    def __init__(
        self, frame: pd.DataFrame, item_id: str, time: str, spec: Spec, columns: list[str]
    ) -> None:
        self.spec = spec
        self.columns = columns
        self.names: list[Any] = []
        for value in frame[item_id]:
            if value not in self.names:
                self.names.append(value)
        self.items = [frame[frame[item_id] == name].reset_index(drop=True) for name in self.names]
        self.values = [
            [[float(v) for v in row] for row in item[columns].to_numpy(np.float64)]
            for item in self.items
        ]
        self.times = [[int(t) for t in item[time]] for item in self.items]
        self.places = [place for code in range(len(self.items)) for place in self.places_of(code)]

    def bounds(self, code: int) -> tuple[int, int]:
        """The rows of an item that the spec admits, half-open."""
        n = len(self.items[code])
        first, last, _ = slice(*(self.spec.rows or (None, None))).indices(n)
        return first, max(first, last)

    def places_of(self, code: int) -> list[Place]:
        """The windows of an item by ascending start; every start is tried."""
        first, last = self.bounds(code)
        if first == last:
            return []
        spec = self.spec
        low = first - spec.context * spec.dilation
        return [
            Place(code, start)
            for start in range(low, last)
            if self.admitted(code, start, first, last)
        ]

    def admitted(self, code: int, start: int, first: int, last: int) -> bool:
        """Return whether a window starts at ``start``."""
        spec = self.spec
        end = start + (spec.total - 1) * spec.dilation
        if end >= last:
            return False
        phase = start - first if spec.anchor == "start" else last - 1 - end
        if phase % spec.stride:
            return False
        real = [i for i in range(spec.context) if start + i * spec.dilation >= first]
        if len(real) < spec.least or (spec.prediction == 0 and not real):
            return False
        if spec.max_step is not None:
            times = self.times[code]
            for row in range(max(start, first), end):
                if times[row + 1] - times[row] > spec.max_step:
                    return False
        return self.present_enough(code, start, first)

    def present_enough(self, code: int, start: int, first: int) -> bool:
        """Return whether at most a share ``max_missing`` of the cells is missing."""
        spec = self.spec
        if spec.max_missing is None:
            return True
        samples = set(range(spec.context)) | set(
            range(spec.context + spec.gap - spec.overlap, spec.total)
        )
        if spec.prediction == 0:
            samples = set(range(spec.context))
        cells = missing = 0
        for sample in samples:
            row = start + sample * spec.dilation
            if row >= first:
                for value in self.values[code][row]:
                    cells += 1
                    missing += math.isnan(value)
        return cells == 0 or missing / cells <= spec.max_missing

    def part(self, place: Place, samples: range) -> tuple[list[list[float]], list[list[bool]]]:
        """The values of a window's samples, and which are missing; padding is 0 and not missing."""
        first, _ = self.bounds(place.item)
        values: list[list[float]] = []
        gone: list[list[bool]] = []
        for sample in samples:
            row = place.start + sample * self.spec.dilation
            cells = self.values[place.item][row] if row >= first else [0.0] * len(self.columns)
            gone.append([math.isnan(v) for v in cells])
            fill = self.spec.missing_value
            values.append([fill if fill is not None and math.isnan(v) else v for v in cells])
        return values, gone

    def window(self, place: Place) -> dict[str, Any]:
        """All parts of a window in a batch, as nested lists."""
        spec = self.spec
        first, _ = self.bounds(place.item)
        context, context_missing = self.part(place, range(spec.context))
        target, target_missing = self.part(
            place, range(spec.context + spec.gap - spec.overlap, spec.total)
        )
        return {
            "context": context,
            "target": target,
            "item_code": place.item,
            "start": place.start,
            "time": self.times[place.item][max(place.start, first)],
            "mask": [place.start + i * spec.dilation >= first for i in range(spec.context)],
            "context_missing": context_missing,
            "target_missing": target_missing,
        }


def deal(
    order: list[int], batch: int, ranks: int, tail: str, consumed: int = 0
) -> list[list[list[int]]]:
    """The batches of each rank, of an epoch's order from ``consumed`` on."""
    dealt: list[list[list[int]]] = [[] for _ in range(ranks)]
    step = batch * ranks
    while consumed < len(order):
        left = order[consumed:]
        if len(left) >= step:
            shares = [left[r * batch : (r + 1) * batch] for r in range(ranks)]
        elif tail == "drop":
            break
        elif tail == "wrap":
            while len(left) < step:
                left = left + order
            shares = [left[r * batch : (r + 1) * batch] for r in range(ranks)]
        else:
            shares, at = [], 0
            for r in range(ranks):
                size = len(left) // ranks + (1 if r < len(left) % ranks else 0)
                shares.append(left[at : at + size])
                at += size
        for r, share in enumerate(shares):
            if share:
                dealt[r].append(share)
        consumed += step
    return dealt
