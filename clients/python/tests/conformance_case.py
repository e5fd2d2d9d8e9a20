"""The parts of a scripted case: a dataset to put, windows and feeds to request, bad requests."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

Json = dict[str, Any]


@dataclass(frozen=True)
class View:
    """Windows of a case's dataset, and the requests for them."""

    spec: Json
    cuts: list[Json] = field(default_factory=list)
    at: list[list[int]] = field(default_factory=list)
    feeds: list[Json] = field(default_factory=list)
    naive: Json = field(default_factory=dict)
    """Fields of the spec in the oracle's form, if it differs from the client's."""
    stored: str = ""
    """The stored dtype of the columns, if the spec has no dtype."""


@dataclass(frozen=True)
class Case:
    """One file of the suite."""

    what: str
    frame: pd.DataFrame
    columns: list[tuple[str, str, int]]
    options: Json
    views: list[View] = field(default_factory=list)
    errors: list[Json] = field(default_factory=list)
    inverse: list[Json] = field(default_factory=list)

    @property
    def features(self) -> list[str]:
        return [name for name in self.frame.columns if name not in ("id", "t")]


COLUMNS = [
    ("id", "text", 1),
    ("t", "int64", 1),
    ("a", "float32", 1),
    ("b", "int32", 1),
    ("c", "float32", 1),
]
WIDE = [*COLUMNS, ("m", "float32", 2), ("s", "float32", 1)]
OPTIONS: Json = {"item_id": ["id"], "time": "t"}
STEPS: Json = {
    "scale": "standard",
    "scale_per": "item",
    "fit_rows": [0, 9],
    "log1p": ["c"],
    "diff": ["a"],
}


def frame(
    rows: list[int], missing: bool = False, jumps: bool = False, wide: bool = False, start: int = 0
) -> pd.DataFrame:
    """Items with these numbers of rows; all values are exact in float32."""
    parts, at = [], 0
    for item, n in enumerate(rows):
        i = np.arange(at, at + n)
        at += n
        steps = np.where((np.arange(n) % 7 == 6) & jumps, 3, 1)
        part = {
            "id": [f'{"bcad"[item % 4]}"ü{item}'] * n,
            "t": start + np.cumsum(steps) + 5 * item,
            "a": ((i * 37) % 1009) / 8 - 40,
            "b": (i * 7919) % 100003 - 5000,
            "c": ((i * 53) % 499) / 4,
        }
        if wide:
            part |= {"m[0]": i / 2 + 1000, "m[1]": -i / 2, "s": np.full(n, item * 1.5)}
        if missing:
            part["a"] = np.where(i % 11 == 3, np.nan, part["a"])
            part["c"] = np.where(i % 13 == 5, np.nan, part["c"])
        parts.append(pd.DataFrame(part))
    return pd.concat(parts, ignore_index=True)


def feed(batch_size: int | None, order: str = "sequential", **more: Any) -> Json:
    """A feed of a case.

    ``more`` has options of the order, and channels_first, mask, epoch, consumed, view and parts.
    """
    beside = {
        key: more.pop(key)
        for key in ("channels_first", "mask", "epoch", "consumed", "view", "parts")
        if key in more
    }
    return {"options": {"batch_size": batch_size, "order": order, **more}, **beside}


SHORT: Json = {"context_length": 4, "prediction_length": 2}
AB: Json = {**SHORT, "columns": ["a", "b"]}


def bad(ask: str, type_: str, field_: str = "", **more: Any) -> Json:
    """A bad request, the type of its error, and the invalid field if there is one."""
    return {"ask": ask, **more, "type": type_, **({"field": field_} if field_ else {})}
