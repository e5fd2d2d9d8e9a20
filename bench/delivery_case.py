"""The base of all cases of the delivery bench: rounds in turn, ratios within a round, hashes."""

from __future__ import annotations

import hashlib
import os
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import tensorcache


class NotMeasuredError(Exception):
    """A case cannot be measured on this machine; the message says why."""


@dataclass(frozen=True)
class Shape:
    """A dataset and its windows; the defaults are those of the bars."""

    rows: int = 4_000_000
    features: int = 8
    context: int = 96
    prediction: int = 24
    batch: int = 256

    @property
    def length(self) -> int:
        """Rows of a window."""
        return self.context + self.prediction

    @property
    def windows(self) -> int:
        """How many there are."""
        return self.rows - self.length + 1

    @property
    def values(self) -> int:
        """Of a batch."""
        return self.batch * self.length * self.features


@dataclass(frozen=True)
class Options:
    """How much is measured.

    Attributes:
        runs: rounds of which the median counts.
        seconds: of each case in a round.
        quick: small data and one short round: figures say nothing, contents are checked as ever.
    """

    runs: int = 5
    seconds: float = 0.7
    quick: bool = False
    cgroup: str = ""

    def shape(self, rows: int = 4_000_000, features: int = 8) -> Shape:
        """A dataset of so many rows, or of few."""
        return Shape(50_000 if self.quick else rows, features)


@dataclass
class Line:
    """A line of the table: what was measured, what its bar names, and whether it holds.

    Attributes:
        what: was measured.
        value: with its unit, as text; "" when it was not measured.
        ratio: to what the bar names; None where the bar is absolute, or there is none.
        to: what the ratio is to.
        bar: as text; "" where a figure is only told.
        held: None where there is no bar.
        note: why it was not measured, or what else to know.
    """

    what: str
    value: str = ""
    ratio: float | None = None
    to: str = ""
    bar: str = ""
    held: bool | None = None
    note: str = ""


@dataclass
class Result:
    """What a group hands back: lines, and numbers for the picture."""

    lines: list[Line] = field(default_factory=list)
    numbers: dict[str, float] = field(default_factory=dict)

    def at_least(
        self, what: str, value: str, ratio: float, to: str, bar: float, note: str = ""
    ) -> None:
        """A line whose ratio shall be so large."""
        self.lines.append(Line(what, value, ratio, to, f"≥ {bar:g} ×", ratio >= bar, note))

    def at_most(
        self, what: str, value: str, ratio: float, to: str, bar: float, note: str = ""
    ) -> None:
        """A line whose ratio shall be no larger."""
        self.lines.append(Line(what, value, ratio, to, f"≤ {bar:g} ×", ratio <= bar, note))

    def limit(self, what: str, value: float, unit: str, bar: float, note: str = "") -> None:
        """A line whose value shall be no larger."""
        self.lines.append(
            Line(what, f"{value:.3g} {unit}", None, "", f"≤ {bar:g} {unit}", value <= bar, note)
        )

    def told(
        self, what: str, value: str, ratio: float | None = None, to: str = "", note: str = ""
    ) -> None:
        """A line without a bar."""
        self.lines.append(Line(what, value, ratio, to, note=note))

    def skipped(self, what: str, why: object, bar: str = "") -> None:
        """A line that was not measured."""
        self.lines.append(Line(what, bar=bar, note=f"not measured: {why}"))

    def reply(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {"lines": [asdict(line) for line in self.lines], "numbers": self.numbers}


Measured = dict[str, list[float]]
"""By name of a case, one figure a round."""


def by_turns(cases: Mapping[str, Callable[[], float]], runs: int) -> Measured:
    """Each case once a round, so that what disturbs the machine disturbs all of them alike."""
    measured: Measured = {name: [] for name in cases}
    for _ in range(runs):
        for name, case in cases.items():
            measured[name].append(case())
    return measured


def ratio(measured: Measured, name: str, to: str) -> float:
    """The median of the rounds' ratios."""
    return statistics.median(a / b for a, b in zip(measured[name], measured[to], strict=True))


def middle(measured: Measured, name: str) -> float:
    """The median of a case's figures."""
    return statistics.median(measured[name])


def rate(batches: Iterator[Any], seconds: float, at_least: int = 1) -> float:
    """Batches a second, for so long; the clock is looked at every few batches."""
    count, began, step = 0, time.perf_counter(), 1
    while True:
        for _ in range(step):
            next(batches)
        count += step
        took = time.perf_counter() - began
        if took >= seconds and count >= at_least:
            return count / took
        step = max(1, min(64, int(count / took * seconds / 20)))


def timed(batches: Callable[[], Iterator[Any]], options: Options) -> Callable[[], float]:
    """A case that runs on where it was left, warm."""
    made: list[Iterator[Any]] = []

    def case() -> float:
        if not made:
            made.append(batches())
        rate(made[0], options.seconds / 10)
        return rate(made[0], options.seconds)

    return case


def forever(feed: Iterable[Any]) -> Iterator[Any]:
    """Pass after pass."""
    while True:
        yield from feed


def digest(pairs: Iterable[tuple[Any, Any]]) -> str:
    """A hash of contexts and targets: dtypes, shapes, values."""
    hashed = hashlib.blake2b(digest_size=16)
    for pair in pairs:
        for part in pair:
            array = np.ascontiguousarray(part)
            hashed.update(f"{array.dtype} {array.shape}".encode())
            hashed.update(array)
    return hashed.hexdigest()


def agree(hashes: Mapping[str, str]) -> None:
    """Refuse to time what does not do the same work."""
    if len(set(hashes.values())) != 1:
        raise SystemExit(f"not the same contents: {dict(hashes)}")


def table(shape: Shape) -> np.ndarray:
    """The rows, ``[rows, features]`` float32, by a fixed seed."""
    return np.random.default_rng(0).standard_normal((shape.rows, shape.features), dtype=np.float32)


def connect() -> tensorcache.Cache:
    """The daemon of this group, whose directory the driver made and removes."""
    return tensorcache.connect(Path(os.environ["TENSORCACHE_DIR"]))


def put(name: str, array: np.ndarray, layout: str) -> tensorcache.Dataset:
    """The rows as a dataset of one column a feature."""
    columns = {f"f{i}": array[:, i] for i in range(array.shape[1])}
    return connect().put(name, columns, layout=layout)


def windows_of(data: tensorcache.Dataset, shape: Shape) -> tensorcache.Windows:
    """Its windows."""
    return data.windows(context_length=shape.context, prediction_length=shape.prediction)


def millions(per_second: float) -> str:
    """Windows a second, to read."""
    return (
        f"{per_second / 1e6:.2f} M windows/s"
        if per_second >= 1e5
        else f"{per_second / 1e3:.1f} k windows/s"
    )
