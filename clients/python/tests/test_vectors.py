"""The daemon and the oracle's loops agree with the vectors of testdata/vectors."""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
import pytest

import tensorcache
from daemon import REPOSITORY
from naive_hash import share_of
from naive_orders import Order, key_of, permute

pytestmark = pytest.mark.portable

VECTORS = REPOSITORY / "testdata" / "vectors"
SERVED = 20_000
"""Vectors of more windows are asked of the formula alone."""


def kept(name: str) -> list[dict[str, Any]]:
    vectors: list[dict[str, Any]] = json.loads((VECTORS / f"{name}.json").read_text())
    return vectors


def item_names(hashes: list[int] | None, count: int) -> list[str]:
    """Return item names; if a vector has hashes, the names' hashes lie in the same eighths."""
    if hashes is None:
        return [f"item {code}" for code in range(count)]
    names = []
    for code, wanted in enumerate(hashes):
        tries = (f"item {code}.{attempt}" for attempt in itertools.count())
        names.append(next(name for name in tries if int(share_of(name) * 8) == wanted >> 61))
    return names


def put(
    cache: tensorcache.Cache, table: dict[str, Any]
) -> tuple[tensorcache.Dataset, list[str], dict[str, list[str]]]:
    """Put a vector's table; return the dataset, its item names, and its column selections."""
    offsets = np.asarray(table["offsets"])
    rows = int(offsets[-1])
    names = item_names(table["item_hashes"], len(offsets) - 1)
    columns: dict[str, Any] = {"id": np.repeat(names, np.diff(offsets))}
    if table["times"] is not None:
        columns["t"] = np.asarray(table["times"], "int64").view(f"M8[{table['unit']}]")
    roles: dict[str, list[str]] = {}
    for number, column in enumerate(
        table["columns"] or [{"context": True, "target": True, "cells": 1, "missing": []}]
    ):
        values = np.arange(rows * column["cells"], dtype=np.float64).reshape(rows, column["cells"])
        for row, cells in column["missing"]:
            values[row, :cells] = np.nan
        columns[f"c{number}"] = values
        for role in ("context", "target"):
            if column[role]:
                roles.setdefault(f"{role}_columns", []).append(f"c{number}")
    return (
        cache.put("vector", columns, item_id="id", time="t" if "t" in columns else None),
        names,
        roles,
    )


def cut(
    windows: tensorcache.Windows, cuts: list[dict[str, Any]], names: list[str]
) -> tensorcache.Windows:
    """Return the windows after the cuts of a vector, which identifies items by number."""
    for made in cuts:
        if "where" in made:
            where = dict(made["where"])
            if "items" in where:
                where["items"] = [names[code] for code in where["items"]]
            windows = windows.where(
                **where, context_before_split=made.get("context_before_split", True)
            )
        elif "split" in made:
            windows = windows.split(**made["split"])[made["part"]]
        else:
            windows = windows.latest()
    return windows


@pytest.mark.parametrize("vector", kept("windows"), ids=lambda v: v["name"])
def test_windows(cache: tensorcache.Cache, vector: dict[str, Any]) -> None:
    data, names, roles = put(cache, vector["table"])
    if not vector["spec"].get("prediction_length"):
        roles.pop("target_columns", None)
    windows = cut(data.windows(**vector["spec"], **roles), vector["cuts"], names)
    assert (len(windows), windows.positions) == (vector["count"], vector["positions"])
    assert windows.rejected == vector["rejected"]
    first = windows[: len(vector["windows"])]
    mask = first.mask if first.mask is not None else np.ones((len(first.item_code), 1), bool)
    padded = (~mask).sum(axis=1)
    assert np.stack([first.item_code, first.start, padded], axis=1).tolist() == vector["windows"]


@pytest.mark.parametrize(
    "vector", kept("shuffle"), ids=lambda v: f"{v['n']}-{v['seed']}-{v['epoch']}"
)
def test_shuffle(cache: tensorcache.Cache, vector: dict[str, Any]) -> None:
    n, seed, epoch, positions = (vector[name] for name in ("n", "seed", "epoch", "positions"))
    assert [permute(key_of(seed, epoch, 1), n, p) for p in positions] == vector["windows"]
    if n > SERVED:
        return
    data = cache.put(f"n{n}", {"v": np.arange(n, dtype=np.float32)})
    with data.windows(context_length=1).feed(
        batch_size=n, order="shuffle", seed=seed, slots=3
    ) as feed:
        feed.set_epoch(epoch)
        (start,) = (batch.start.copy() for batch in feed)
    assert start[positions].tolist() == vector["windows"]


@pytest.fixture(scope="module")
def four_runs(cache: tensorcache.Cache) -> tensorcache.Windows:
    """Return windows in runs of 11 and 3 in item 0, none in item 1, 1 in item 2, 20 in item 3."""
    rows = [30, 1, 2, 40]
    times = np.concatenate([np.arange(n) for n in rows])
    times[23:30] += 100  # no window starts at row 22
    columns = {"id": np.repeat(range(4), rows), "t": times, "v": np.arange(73.0)}
    data = cache.put("runs", columns, item_id="id", time="t")
    windows = data.windows(context_length=2, stride=2, max_step=1)
    assert windows.per_item().tolist() == [14, 0, 1, 20]
    return windows


@pytest.mark.parametrize(
    "vector",
    kept("orders"),
    ids=lambda v: "-".join(str(value) for value in v["options"].values() if value != 1 << 63),
)
def test_orders(four_runs: tensorcache.Windows, vector: dict[str, Any]) -> None:
    check_order(four_runs, vector)


@pytest.fixture(scope="module")
def four_items(cache: tensorcache.Cache) -> tensorcache.Windows:
    """Return windows of one row at the times of the vectors of groups."""
    runs, times = (kept("cross_section")[0][key] for key in ("runs", "times"))
    columns = {
        "id": np.repeat([item for item, _ in runs], [count for _, count in runs]),
        "t": [
            first + step * i
            for (_, count), (first, step) in zip(runs, times, strict=True)
            for i in range(count)
        ],
        "v": np.arange(37.0),
    }
    return cache.put("groups", columns, item_id="id", time="t").windows(context_length=1)


@pytest.mark.parametrize(
    "vector",
    kept("cross_section"),
    ids=lambda v: "-".join(str(value) for value in v["options"].values() if value != 1 << 63),
)
def test_orders_of_groups(four_items: tensorcache.Windows, vector: dict[str, Any]) -> None:
    check_order(four_items, vector)


def check_order(windows: tensorcache.Windows, vector: dict[str, Any]) -> None:
    """Compare the loops' batches and those of feeds with a vector."""
    options, epoch, consumed = vector["options"], vector["epoch"], vector["consumed"]
    everything = windows[:]
    numbers = {
        place: n
        for n, place in enumerate(
            zip(everything.item_code.tolist(), everything.start.tolist(), strict=True)
        )
    }
    times = [
        first + step * i
        for (_, count), (first, step) in zip(vector["runs"], vector.get("times", []), strict=False)
        for i in range(count)
    ]
    order = Order([(item, count) for item, count in vector["runs"]], times=times, **options)
    for rank in range(options["num_replicas"]):
        steps = [step for step in vector["steps"] if step["windows"][rank]]
        want = [(step["windows"][rank], step["next"]) for step in steps]
        assert order.deal(epoch, consumed)[rank] == want
        got, resets = [], []
        with windows.feed(**options, rank=rank) as feed:
            feed.load_state_dict({**feed.state_dict(), "epoch": epoch, "consumed": consumed})
            for batch in feed:
                served = [
                    numbers[place]
                    for place in zip(batch.item_code.tolist(), batch.start.tolist(), strict=True)
                ]
                got.append((served, feed.state_dict()["consumed"]))
                resets.append(batch.reset.tolist() if batch.reset is not None else None)
            assert feed.state_dict()["epoch"] == epoch + 1
        # After the last batch of an epoch the state is the next epoch's start.
        assert [served for served, _ in got] == [served for served, _ in want]
        assert [after for _, after in got[:-1]] == [after for _, after in want[:-1]]
        if options["order"] == "lanes":
            assert resets == [step["reset"][rank] for step in steps]
