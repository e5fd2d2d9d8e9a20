"""Ranks on four machines, each with a daemon of its own, share an epoch in one order."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tensorcache
from daemon import leave

ITEMS, FILES, WINDOWS, B = 300, 6, 174_034, 64
C, P = 24, 6


def write_items(folder: Path) -> None:
    """Write 182,734 rows of items of unlike lengths to files, each of a range of times."""
    draws = np.random.default_rng(4)
    rows = WINDOWS + ITEMS * (C + P - 1)
    lengths = np.clip(draws.lognormal(6.15, 0.6, ITEMS), 120, 2522).astype(int)
    lengths += (rows - lengths.sum()) // ITEMS
    lengths[0] += rows - lengths.sum()
    item = np.repeat(np.arange(ITEMS), lengths)
    time = np.concatenate([np.arange(n) for n in lengths])
    table = pa.table(
        {
            "item": pa.array(item).cast(pa.string()),
            "t": time,
            "close": draws.normal(size=len(item)).astype(np.float32),
            "volume": draws.normal(size=len(item)).astype(np.float32),
        }
    )
    for i, places in enumerate(np.array_split(np.argsort(time, kind="stable"), FILES)):
        pq.write_table(table.take(pa.array(places)), folder / f"{i}.parquet")


@pytest.fixture(scope="module")
def machines(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Any]]:
    """The windows on each of four machines, of which only the first one loaded by a call."""
    write_items(folder := tmp_path_factory.mktemp("items"))
    directories = [tmp_path_factory.mktemp(f"machine{i}") for i in range(4)]
    found: list[tensorcache.Windows] = []
    with pytest.MonkeyPatch.context() as patch:
        for directory in directories:
            patch.setenv("TENSORCACHE_DIR", str(directory))
            if not found:
                data = tensorcache.portable(
                    "prices", str(folder / "*.parquet"), item_id="item", time="t", sort=True
                )
                pickled = pickle.dumps(data.windows(context_length=C, prediction_length=P))
            found.append(pickle.loads(pickled))
            assert len(found[-1]) == WINDOWS
    assert len({windows.dataset._server.dir for windows in found}) == 4
    yield found
    for directory in directories:
        leave(directory)


def places(batch: tensorcache.Batch) -> Any:
    """A number of the item and the first row of each window."""
    return batch.item.astype(np.int64) << 32 | batch.start


def epoch(machines: list[Any], world: int, tail: str) -> Any:
    """The windows of an epoch: those of rank 0 in step 0, of rank 1 in step 0, and so on."""
    ranks = []
    for rank in range(world):
        with machines[rank].feed(
            batch_size=B, order="shuffle", seed=5, rank=rank, num_replicas=world, tail=tail
        ) as feed:
            ranks.append([places(batch) for batch in feed])
    if tail != "short":
        assert len({len(steps) for steps in ranks}) == 1
    else:
        assert max(map(len, ranks)) - min(map(len, ranks)) <= 1
    steps = max(map(len, ranks))
    return np.concatenate([of[i] for i in range(steps) for of in ranks if i < len(of)])


@pytest.mark.parametrize("world", [1, 2, 3, 4])
def test_the_order_is_the_same_for_any_number_of_ranks(machines: list[Any], world: int) -> None:
    whole = epoch(machines, 1, "short")
    assert len(whole) == len(set(whole.tolist())) == WINDOWS
    step = B * world
    full = WINDOWS // step * step
    assert np.array_equal(epoch(machines, world, "drop"), whole[:full])
    wrapped = epoch(machines, world, "wrap")
    repeats = -WINDOWS % step
    assert np.array_equal(wrapped, np.concatenate([whole, whole[:repeats]]))
    assert np.array_equal(epoch(machines, world, "short"), whole)


def test_other_ranks_continue_where_a_job_stopped(machines: list[Any]) -> None:
    whole = epoch(machines, 1, "short")
    state: dict[str, Any] | None = None
    served = []
    for world, steps in ((3, 200), (2, 300), (4, 10_000)):
        feeds = [
            machines[rank].feed(
                batch_size=B, order="shuffle", seed=5, rank=rank, num_replicas=world, tail="wrap"
            )
            for rank in range(world)
        ]
        for feed in feeds:
            if state is not None:
                feed.load_state_dict(state)
        passes = [iter(feed) for feed in feeds]
        for _ in range(steps):
            batches = [next(each, None) for each in passes]
            if batches[0] is None:
                break
            served += [places(batch) for batch in batches if batch is not None]
        state = feeds[-1].state_dict()
        for feed in feeds:
            feed.close()
    order = np.concatenate(served)
    assert np.array_equal(order[:WINDOWS], whole)
    assert len(order) - WINDOWS < B * 4
