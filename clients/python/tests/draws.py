"""Random frames, specs and cuts, in the forms that ``data.windows`` and the oracle take."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st

import tensorcache
from naive import Naive

FEATURES = ["a", "b", "c", "m[0]", "m[1]", "s"]
"""``a``, ``c`` and ``m[0]`` may have missing values. ``b`` is int32, ``c`` is known in advance,
and ``s`` is constant in an item."""


NAMES = [
    "item",
    "ü",
    '"',
    "\\",
    "<&>",
    "\t\n\b\f\r",
    "\x01\x1f\x7f",
    "\u2028\u2029",
    "😀",
    "日本語 " * 6,
]
"""Names of items that are hard to encode as JSON: the hash of the JSON decides an item's part."""


@dataclass(frozen=True)
class Table:
    """A random frame; with ``stamps``, its integer times are seconds of a timestamp."""

    frame: pd.DataFrame
    stamps: bool
    layout: str

    def put(self, cache: tensorcache.Cache, name: str) -> tensorcache.Dataset:
        columns: dict[str, Any] = {
            name: self.frame[name].to_numpy() for name in ("id", "t", "a", "b", "c")
        }
        columns["id"] = self.frame["id"].tolist()
        columns["m"] = self.frame[["m[0]", "m[1]"]].to_numpy(np.float32)
        columns["s"] = self.frame["s"].to_numpy()
        if self.stamps:
            columns["t"] = columns["t"].astype("M8[s]")
        return cache.put(name, columns, item_id="id", time="t", layout=self.layout)

    def time(self, value: int | None) -> Any:
        return value if value is None or not self.stamps else np.datetime64(value, "s")

    def keywords(self, spec: dict[str, Any]) -> dict[str, Any]:
        """A spec of the oracle in the form that ``data.windows`` takes."""
        given = dict(spec)
        if given.get("time") is not None:
            given["time"] = tuple(self.time(bound) for bound in given["time"])
        if self.stamps and given.get("max_step") is not None:
            given["max_step"] = f"{given['max_step']}s"
        return given

    def naive(self, spec: dict[str, Any]) -> Naive:
        return Naive(self.frame, FEATURES, spec)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """A few items of a few rows each, with jumps in time and missing values."""
    lengths = draw(st.lists(st.sampled_from([25, 31, 18, 40, 12, 7, 1, 3]), min_size=1, max_size=4))
    text, jumps, gone = draw(st.booleans()), draw(st.booleans()), draw(st.booleans())
    names = draw(st.lists(st.sampled_from(NAMES), min_size=len(lengths), max_size=len(lengths)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    parts = []
    for item, n in enumerate(lengths):
        steps = rng.choice([1] * 9 + [3] if jumps else [1], n)
        parts.append(
            pd.DataFrame(
                {
                    "id": f"{names[item]} {item}" if text else item * 10 - 7,
                    "t": np.cumsum(steps) + int(rng.integers(-20, 20)),
                    "a": rng.normal(size=n).astype(np.float32)
                    * np.float32(10.0 ** rng.integers(-3, 6)),
                    "b": rng.integers(-1000, 1000, n).astype(np.int32),
                    "c": rng.normal(size=n).astype(np.float32),
                    "m[0]": rng.normal(size=n).astype(np.float32),
                    "m[1]": rng.normal(size=n).astype(np.float32),
                    "s": np.full(n, rng.integers(0, 9), np.float32),
                }
            )
        )
    frame = pd.concat(parts, ignore_index=True)
    if gone:
        for name, share in (("a", 0.06), ("m[0]", 0.03), ("c", 0.05)):
            frame.loc[rng.random(len(frame)) < share, name] = np.nan
    return Table(frame, draw(st.booleans()), draw(st.sampled_from(["columns", "packed"])))


def bounds(low: int, high: int) -> st.SearchStrategy[tuple[int | None, int | None]]:
    """Two bounds, at most one of them open; two bounds of the same sign ascend."""
    one = st.integers(low, high)
    pairs = st.tuples(one, one).filter(lambda p: (p[0] < 0) != (p[1] < 0) or p[0] < p[1])
    return st.tuples(one, st.none()) | st.tuples(st.none(), one.filter(lambda v: v != 0)) | pairs


def times(low: int, high: int) -> st.SearchStrategy[tuple[int | None, int | None]]:
    """Two bounds in time, at most one of them open; the first is before the second."""
    one = st.integers(low, high)
    return (
        st.tuples(one, st.none())
        | st.tuples(st.none(), one)
        | st.tuples(one, st.integers(1, 60)).map(lambda p: (p[0], p[0] + p[1]))
    )


@st.composite
def specs(draw: st.DrawFn, lanes: bool = False) -> dict[str, Any]:
    """Random valid window specs.

    Many specs for lanes have no target, because a jump may then be between two windows.
    """
    context = draw(st.sampled_from([3, 1, 2, 4, 6]))
    prediction = draw(st.sampled_from([0, 0, 0, 1, 2, 4]) if lanes else st.integers(0, 4))
    dilation = draw(st.sampled_from([1, 1, 2, 3]))
    gap = draw(st.integers(0, 3)) if prediction else 0
    spec: dict[str, Any] = {
        "context_length": context,
        "prediction_length": prediction,
        "gap": gap,
        "overlap": draw(st.integers(0, context + gap)) if prediction else 0,
        "stride": context * dilation if lanes else draw(st.integers(1, 4)),
        "dilation": dilation,
        "anchor": draw(st.sampled_from(["start", "start", "end"])),
        "min_context": draw(st.none() | st.integers(0, context)),
        "max_step": draw(st.none() | st.integers(1, 3)),
        "max_missing": draw(st.sampled_from([0.0, 0.1, 0.34, None])),
        "missing_value": draw(st.sampled_from([None, -7.5])),
        "pad_value": draw(st.sampled_from([0.0, 0.0, -0.5, math.nan])),
    }
    bounded = draw(st.sampled_from(["", "", "", "rows", "time"]))
    if bounded:
        spec[bounded] = draw(bounds(-15, 20) if bounded == "rows" else times(-30, 50))
    spec |= draw(columns(bool(prediction)))
    if "known_columns" in spec and spec["max_missing"] == 0.0 and spec["missing_value"] is None:
        # else plan() warns of missing values in known
        spec |= draw(st.sampled_from([{"max_missing": 0.1}, {"missing_value": -7.5}]))
    return spec


@st.composite
def columns(draw: st.DrawFn, predicts: bool) -> dict[str, Any]:
    """The columns of each role."""
    some = st.lists(st.sampled_from(["a", "b", "m"]), min_size=1, unique=True)
    roles: dict[str, Any] = {}
    kind = draw(st.sampled_from(["all", "both", "each", "context"]))
    if kind == "both":
        roles["columns"] = draw(some)
    if kind in ("each", "context"):
        roles["context_columns"] = draw(some)
    if kind == "each" and predicts:
        roles["target_columns"] = draw(some)
    if draw(st.booleans()):
        roles["known_columns"] = ["c"]
    if draw(st.booleans()):
        roles["static_columns"] = ["s"]
    return roles


def wheres(names: list[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Cuts by ``where`` with at least one condition."""
    items = st.lists(st.sampled_from(names), min_size=1, unique=True)
    return st.fixed_dictionaries(
        {"context_before_split": st.booleans()},
        optional={"rows": bounds(-15, 20), "time": times(-30, 50), "items": items},
    ).filter(lambda where: len(where) > 1)


SPLITS_MAY_LOSE_ROWS = pytest.mark.filterwarnings(
    "ignore:lengths. the parts need .* rows, the longest item has:UserWarning"
)
"""Marks tests that draw `splits`: the lengths of some are more than the rows of every item."""


@st.composite
def splits(draw: st.DrawFn, names: list[Any]) -> dict[str, Any]:
    """A split by lengths, fractions, times, lists of items or shares of items."""
    kind = draw(st.sampled_from(["lengths", "fractions", "at_times", "items", "shares"]))
    parts = draw(st.integers(2, 4))
    split: dict[str, Any] = {"context_before_split": draw(st.booleans())}
    if kind == "lengths":
        sizes: list[int | None] = draw(st.lists(st.integers(1, 12), min_size=parts, max_size=parts))
        if draw(st.booleans()):
            sizes[draw(st.integers(0, parts - 1))] = None
        split["lengths"] = sizes
    elif kind in ("fractions", "shares"):
        weights = draw(st.lists(st.integers(1, 9), min_size=parts, max_size=parts))
        shares: list[float | None] = [weight / sum(weights) for weight in weights]
        if draw(st.booleans()):
            shares[draw(st.integers(0, parts - 1))] = None
        split["fractions" if kind == "fractions" else "items"] = shares
    elif kind == "at_times":
        bounds = st.lists(st.integers(-30, 50), min_size=parts - 1, max_size=parts - 1, unique=True)
        split["at_times"] = sorted(draw(bounds))
    else:
        dealt = [draw(st.integers(0, parts - 1)) for _ in names]
        split["items"] = [
            [name for name, part in zip(names, dealt, strict=True) if part == p]
            for p in range(parts)
        ]
    if kind in ("lengths", "fractions", "at_times"):
        split["purge"] = draw(st.integers(0, 3))
    return split
