"""Write testdata/conformance.

The files are scripted cases that every client passes, with the answers of the naive oracle.

    python clients/python/tests/make_conformance.py

Counts, batches and their hashes come from the plain loops of :mod:`naive` and the formulas of
:mod:`naive_orders`. They share no code with the daemon or a client, so no client is its own judge.
testdata/conformance/README.md describes the format.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from conformance_case import Case, View
from conformance_cases import CASES
from naive import Found, Naive
from naive_orders import Order
from naive_passes import epoch_of, pass_of

TARGET = Path(__file__).resolve().parents[3] / "testdata" / "conformance"
BLOCKS = ("context", "target", "known")
MASKS = ("observed", "target_observed", "context_missing", "target_missing")
PART_OF = {
    **{name: "target" if "target" in name else "context" for name in MASKS},
    **dict.fromkeys(("known_context", "known_target"), "known"),
}
"""The part of the spec that has the columns of another part."""


def hashed(array: np.ndarray[Any, Any]) -> str:
    """The first 16 hex digits of the SHA-256 of the values.

    The values are dense, in C order and little-endian, and every NaN has the same bits.
    """
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), np.array(np.nan, array.dtype), array)
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]


def described(array: np.ndarray[Any, Any]) -> dict[str, Any]:
    return {"dtype": str(array.dtype), "shape": list(array.shape), "sha256": hashed(array)}


class Answer:
    """The oracle's answers for a spec with cuts."""

    def __init__(self, case: Case, view: View) -> None:
        spec = {**view.spec, **view.naive}
        self.naive = Naive(case.frame, case.features, spec)
        self.spec, self.view = spec, view
        self.found: Found = self.naive.index([cut_of(cut) for cut in view.cuts])
        self.latest = bool(view.cuts) and "latest" in view.cuts[-1]
        self.dtype = np.dtype(view.spec.get("dtype", "float32") or view.stored)
        self.windows = [
            self.naive.window(*place, latest=self.latest) for place in self.found.places
        ]

    def plan(self) -> dict[str, Any]:
        return {
            "windows": len(self.found.places),
            "positions": self.found.positions,
            "rejected": dict(sorted(self.found.rejected.items())),
        }

    def parts(
        self,
        numbers: Sequence[int],
        channels_first: bool = False,
        mask: bool = False,
        reset: list[bool] | None = None,
    ) -> dict[str, Any]:
        """All parts of a batch of these windows."""
        parts: dict[str, np.ndarray[Any, Any]] = {}
        windows = [self.windows[n] for n in numbers]

        def put(name: str, key: str, dtype: Any, turned: bool) -> None:
            if windows[0][key] is not None:
                array = np.array([window[key] for window in windows], dtype)
                parts[name] = array.swapaxes(1, 2) if turned else array

        for name in BLOCKS:
            put(name, name, self.dtype, channels_first)
        put("static", "static", self.dtype, False)
        places = [self.found.places[n] for n in numbers]
        parts["item"] = np.array([item for item, _ in places], np.int64)
        parts["start"] = np.array([start for _, start in places], np.int64)
        put("times", "time", np.int64, False)
        if mask or self.naive.least < self.naive.c:
            put("mask", "mask", np.bool_, False)
        if mask or self.naive.max_missing != 0:
            put("context_missing", "context_missing", np.bool_, channels_first)
            put("target_missing", "target_missing", np.bool_, channels_first)
        if reset is not None:
            parts["reset"] = np.array(reset, np.bool_)
        return {name: described(array) for name, array in parts.items()}

    def named(
        self, numbers: Sequence[int], asked: list[dict[str, Any]], channels_first: bool
    ) -> dict[str, Any]:
        """The parts of a batch that a feed asks for by name."""
        windows = [self.windows[n] for n in numbers]
        parts = {}
        for part in asked:
            of = part["part"]
            dtype = np.dtype(part.get("dtype", self.dtype))
            if of == "mask" or of in MASKS:
                dtype = np.dtype(np.float32 if of.endswith("observed") else np.bool_)
            array = np.array([window[of] for window in windows])
            if "columns" in part:
                features = self.naive.features[PART_OF.get(of, of)]
                array = array[
                    ...,
                    [
                        number
                        for column in part["columns"]
                        for number, feature in enumerate(features)
                        if feature == column or feature.startswith(column + "[")
                    ],
                ]
            if channels_first and array.ndim == 3:
                array = array.swapaxes(1, 2)
            parts[part["name"]] = described(array.astype(dtype))
        return parts

    def feed(self, feed: dict[str, Any]) -> dict[str, Any]:
        """A feed with the batches of each rank, and the state while the loop has each batch."""
        options = {"num_replicas": 1, "tail": "short", **feed["options"]}
        n = options.pop("batches_per_epoch", None)
        times = [self.naive.group_time(*place, latest=self.latest) for place in self.found.places]
        order = Order(self.found.runs(self.naive.s), times=times, **options)
        epoch, consumed = feed.get("epoch", 0), feed.get("consumed", 0)
        turned, mask = feed.get("channels_first", False), feed.get("mask", False)
        ranks = []
        for rank, batches in enumerate(
            epoch_of(order, epoch, consumed) if n is None else pass_of(order, n, epoch, consumed)
        ):
            resets: list[list[bool] | None] = [None] * len(batches)
            if order.order == "lanes":
                whole = order.deal(epoch)[rank]
                of_all = order.resets([numbers for numbers, _ in whole], self.continues)
                resets = [*of_all[len(whole) - len(batches) :]]
            ranks.append(
                [
                    {
                        "state": [*place],
                        "parts": (
                            self.named(numbers, feed["parts"], turned)
                            if "parts" in feed
                            else self.parts(numbers, turned, mask, resets[number])
                        ),
                    }
                    for number, (numbers, place) in enumerate(batches)
                ]
            )
        return {**feed, "ranks": ranks}

    def continues(self, a: int, b: int) -> bool:
        return self.naive.continues(self.found.places[a], self.found.places[b])


def cut_of(cut: dict[str, Any]) -> tuple[Any, ...]:
    """A cut in the form that the oracle takes."""
    if "where" in cut:
        where = {
            key: tuple(value) if key != "items" else value for key, value in cut["where"].items()
        }
        return "where", {**where, "context_before_split": cut.get("context_before_split", True)}
    if "split" in cut:
        return "split", cut["split"], cut["part"]
    return ("latest",)


def dataset(case: Case) -> dict[str, Any]:
    """The frame as columns, ready to be put."""
    columns = []
    for name, dtype, width in case.columns:
        names = [f"{name}[{i}]" for i in range(width)] if width > 1 else [name]
        values = case.frame[names].to_numpy(object).reshape(-1).tolist()
        listed = [None if isinstance(v, float) and v != v else v for v in values]
        columns.append(
            {
                "name": name,
                "dtype": dtype,
                **({"width": width} if width > 1 else {}),
                "values": listed,
            }
        )
    return {"columns": columns, "options": case.options}


def answered(case: Case) -> dict[str, Any]:
    windows = []
    for view in case.views:
        answer = Answer(case, view)
        windows.append(
            {
                "spec": view.spec,
                "cuts": view.cuts,
                "plan": answer.plan(),
                "at": [{"numbers": numbers, "parts": answer.parts(numbers)} for numbers in view.at],
                "feeds": [answer.feed(feed) for feed in view.feeds],
            }
        )
    made: dict[str, Any] = {"what": case.what, "dataset": dataset(case), "windows": windows}
    if case.errors:
        made["errors"] = case.errors
    if case.inverse:
        made["inverse"] = [
            {**one, "values": original(case.frame, one["column"])} for one in case.inverse
        ]
    return made


def original(frame: pd.DataFrame, column: str) -> list[Any]:
    names = [name for name in frame.columns if name == column or name.startswith(column + "[")]
    return [None if v != v else v for v in frame[names].to_numpy(np.float64).reshape(-1).tolist()]


def write(target: Path = TARGET) -> None:
    for name, case in CASES.items():
        made = answered(case)
        compact = json.dumps(made, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        for begin in ('{"options"', '{"state"'):
            compact = compact.replace(begin, "\n" + begin)
        (target / f"{name}.json").write_text(compact + "\n")


if __name__ == "__main__":
    write()
