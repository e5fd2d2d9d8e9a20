"""The base of all cases of the delivery bench: rounds in turns, ratios in a round, hashes."""

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
    """A dataset and its windows; the targets apply to the defaults."""

    rows: int = 4_000_000
    features: int = 8
    context: int = 96
    prediction: int = 24
    batch: int = 256

    @property
    def length(self) -> int:
        """Return the rows of a window."""
        return self.context + self.prediction

    @property
    def windows(self) -> int:
        """Return the number of windows."""
        return self.rows - self.length + 1

    @property
    def values(self) -> int:
        """Return the number of values in a batch."""
        return self.batch * self.length * self.features


@dataclass(frozen=True)
class Options:
    """How much to measure.

    Attributes:
        runs: number of rounds; the result is their median.
        seconds: duration of each case in a round.
        quick: use small data and one short round, which check contents but give no usable figures.
        cgroup: parent of the cgroup in which the cold group runs.
    """

    runs: int = 5
    seconds: float = 0.7
    quick: bool = False
    cgroup: str = ""

    def shape(self, rows: int = 4_000_000, features: int = 8) -> Shape:
        """Return the shape of a dataset of ``rows`` rows, or of 50,000 if ``quick`` is set."""
        return Shape(50_000 if self.quick else rows, features)


@dataclass
class Line:
    """A line of the table: what was measured, its target, and whether the target is met.

    Attributes:
        what: what was measured.
        value: the figure with its unit, as text; "" if it was not measured.
        ratio: ratio to ``to``; None if the target is absolute, or if nothing is compared.
        to: what the ratio is to.
        bar: the target as text; "" if there is none.
        held: whether the target is met; None if there is none.
        note: why the line was not measured, or other remarks.
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
    """A group's result: lines of the table, and numbers for the picture."""

    lines: list[Line] = field(default_factory=list)
    numbers: dict[str, float] = field(default_factory=dict)

    def at_least(
        self, what: str, value: str, ratio: float, to: str, bar: float, note: str = ""
    ) -> None:
        """Add a line whose ratio must be at least ``bar``."""
        self.lines.append(Line(what, value, ratio, to, f"≥ {bar:g} ×", ratio >= bar, note))

    def at_most(
        self, what: str, value: str, ratio: float, to: str, bar: float, note: str = ""
    ) -> None:
        """Add a line whose ratio must be at most ``bar``."""
        self.lines.append(Line(what, value, ratio, to, f"≤ {bar:g} ×", ratio <= bar, note))

    def limit(self, what: str, value: float, unit: str, bar: float, note: str = "") -> None:
        """Add a line whose value must be at most ``bar``."""
        self.lines.append(
            Line(what, f"{value:.3g} {unit}", None, "", f"≤ {bar:g} {unit}", value <= bar, note)
        )

    def told(
        self, what: str, value: str, ratio: float | None = None, to: str = "", note: str = ""
    ) -> None:
        """Add a line without a target."""
        self.lines.append(Line(what, value, ratio, to, note=note))

    def skipped(self, what: str, why: object, bar: str = "") -> None:
        """Add a line that was not measured."""
        self.lines.append(Line(what, bar=bar, note=f"not measured: {why}"))

    def reply(self) -> dict[str, Any]:
        """Return the result in a form that JSON can encode."""
        return {"lines": [asdict(line) for line in self.lines], "numbers": self.numbers}


Measured = dict[str, list[float]]
"""By name of a case, one figure a round."""


def by_turns(cases: Mapping[str, Callable[[], float]], runs: int) -> Measured:
    """Run each case once per round, so that other load on the machine affects all cases alike."""
    measured: Measured = {name: [] for name in cases}
    for _ in range(runs):
        for name, case in cases.items():
            measured[name].append(case())
    return measured


def ratio(measured: Measured, name: str, to: str) -> float:
    """Return the median of the rounds' ratios."""
    return statistics.median(a / b for a, b in zip(measured[name], measured[to], strict=True))


def middle(measured: Measured, name: str) -> float:
    """Return the median of a case's figures."""
    return statistics.median(measured[name])


def rate(batches: Iterator[Any], seconds: float, at_least: int = 1) -> float:
    """Return batches per second, measured for ``seconds``; it reads the clock every few batches."""
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
    """Return a case that continues with the same iterator each round, after a warm-up."""
    made: list[Iterator[Any]] = []

    def case() -> float:
        if not made:
            made.append(batches())
        rate(made[0], options.seconds / 10)
        return rate(made[0], options.seconds)

    return case


def forever(feed: Iterable[Any]) -> Iterator[Any]:
    """Repeat passes without end."""
    while True:
        yield from feed


def digest(pairs: Iterable[tuple[Any, Any]]) -> str:
    """Return a hash of contexts and targets: dtypes, shapes, values."""
    hashed = hashlib.blake2b(digest_size=16)
    for pair in pairs:
        for part in pair:
            array = np.ascontiguousarray(part)
            hashed.update(f"{array.dtype} {array.shape}".encode())
            hashed.update(array)
    return hashed.hexdigest()


def agree(hashes: Mapping[str, str]) -> None:
    """Exit if the cases did not produce the same contents."""
    if len(set(hashes.values())) != 1:
        raise SystemExit(f"not the same contents: {dict(hashes)}")


def table(shape: Shape) -> np.ndarray:
    """Return the rows, ``[rows, features]`` float32, from a fixed seed."""
    return np.random.default_rng(0).standard_normal((shape.rows, shape.features), dtype=np.float32)


def connect() -> tensorcache.Cache:
    """Connect to this group's daemon; the driver creates and removes its directory."""
    return tensorcache.connect(Path(os.environ["TENSORCACHE_DIR"]))


def put(name: str, array: np.ndarray, layout: str) -> tensorcache.Dataset:
    """Put the rows as a dataset with one column for each feature."""
    columns = {f"f{i}": array[:, i] for i in range(array.shape[1])}
    return connect().put(name, columns, layout=layout)


def windows_of(data: tensorcache.Dataset, shape: Shape) -> tensorcache.Windows:
    """Return the windows of a dataset with the lengths of ``shape``."""
    return data.windows(context_length=shape.context, prediction_length=shape.prediction)


def millions(per_second: float) -> str:
    """Format a number of windows per second for readers."""
    return (
        f"{per_second / 1e6:.2f} M windows/s"
        if per_second >= 1e5
        else f"{per_second / 1e3:.1f} k windows/s"
    )
