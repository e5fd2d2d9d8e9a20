"""Ranks, batch sizes, layouts, deliveries, resumes and restarts do not change windows."""

from __future__ import annotations

import itertools
import json
import os
import signal
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, note
from hypothesis import strategies as st

import tensorcache
from cases import cases, note_seed
from draws import Table, specs, tables
from tensorcache._data.sample import KNOWN_PARTS, OBSERVED
from tensorcache._feed.batch import PARTS
from test_naive_feeds import ORDERS

WINDOW_ORDERS = ["sequential", "shuffle", "bootstrap"]
EACH = 4
"""Comparisons an example makes."""

Place = tuple[int, int]


def places(batch: Any) -> list[Place]:
    return list(zip(batch.item_code.tolist(), batch.start.tolist(), strict=True))


def epoch_of(
    windows: tensorcache.Windows, ranks: int = 1, epoch: int = 0, **options: Any
) -> list[Place]:
    """Return an epoch's windows in the order in which steps consume them, over all ranks."""
    dealt = []
    for rank in range(ranks):
        with windows.feed(**options, rank=rank, num_replicas=ranks, tail="short") as feed:
            feed.set_epoch(epoch)
            dealt.append([places(batch) for batch in feed])
    steps = itertools.zip_longest(*dealt, fillvalue=[])
    return [place for step in steps for batch in step for place in batch]


@given(table=tables(), spec=specs(lanes=True), data=st.data())
@cases(0.12, of_each=EACH)
def test_ranks_batch_sizes_layouts_and_resumes_change_nothing(
    cache: tensorcache.Cache, table: Table, spec: dict[str, Any], data: st.DataObject
) -> None:
    note_seed()
    assume(table.naive(spec).index([]).places)
    with table.put(cache, "plain") as plain, other_layout(table).put(cache, "other") as other:
        windows, again = (one.windows(**table.keywords(spec)) for one in (plain, other))
        order = data.draw(st.sampled_from(ORDERS))
        size, ranks = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 4))
        options = {"order": order, "seed": data.draw(st.integers(0, 99))}
        epoch = data.draw(st.integers(0, 2))
        note(f"windows({spec}).feed({options}), {size} a batch, {ranks} ranks, epoch {epoch}")

        lanes = size * ranks  # the order of lanes depends on the batch size
        first = epoch_of(
            windows, epoch=epoch, batch_size=lanes if order == "lanes" else size, **options
        )
        assert epoch_of(windows, ranks, epoch, batch_size=size, **options) == first
        if order in WINDOW_ORDERS:
            assert epoch_of(windows, epoch=epoch, batch_size=size % 6 + 1, **options) == first
        if order != "bootstrap":
            assert sorted(first) == places(windows[:])

        np.testing.assert_equal(asdict(again[:]), asdict(windows[:]))
        for one in (windows, again):
            hold_against_slots(one, again, {"batch_size": size, **options}, data)

        check_resume(windows, first, order, size, ranks, epoch, options, data)
    cache.remove("plain")
    cache.remove("other")


def hold_against_slots(
    windows: tensorcache.Windows,
    other: tensorcache.Windows,
    options: dict[str, Any],
    data: st.DataObject,
) -> None:
    """Compare a drawn delivery with slot delivery from another layout of the same data."""
    options |= {"channels_first": data.draw(st.booleans()), "mask": data.draw(st.booleans())}
    delivery = data.draw(st.sampled_from(["auto", "view", "local", "slot"]))
    note(f"feed({options}) by {delivery}")
    try:
        feed = windows.feed(**options, delivery=delivery)
    except tensorcache.SpecError as error:
        if delivery == "view" and error.field == "delivery":
            return
        raise
    with feed, other.feed(**options, delivery="slot") as slots:
        for here, there in zip(feed, slots, strict=True):
            for name in (*PARTS, *KNOWN_PARTS, *OBSERVED, "row"):
                np.testing.assert_equal(getattr(here, name), getattr(there, name), err_msg=name)


def other_layout(table: Table) -> Table:
    return Table(table.frame, table.stamps, "packed" if table.layout == "columns" else "columns")


def check_resume(
    windows: tensorcache.Windows,
    first: list[Place],
    order: str,
    size: int,
    ranks: int,
    epoch: int,
    options: dict[str, Any],
    data: st.DataObject,
) -> None:
    """Stop one trainer after some batches; resume with other rank counts and batch sizes."""
    alone = size * ranks if order == "lanes" else size
    with windows.feed(batch_size=alone, tail="short", **options) as feed:
        feed.set_epoch(epoch)
        stop = data.draw(st.integers(1, len(feed)))
        begun = [places(batch) for batch in itertools.islice(feed, stop)]
        state = json.loads(json.dumps(feed.state_dict()))
    seen = [place for batch in begun for place in batch]
    assert seen == first[: len(seen)]
    if state["epoch"] != epoch:
        assert (state["epoch"], state["consumed"], seen) == (epoch + 1, 0, first)
        return
    batch_size = size % 5 + 1 if order in WINDOW_ORDERS else size
    dealt = []
    for rank in range(ranks):
        with windows.feed(
            batch_size=batch_size, rank=rank, num_replicas=ranks, tail="short", **options
        ) as feed:
            feed.load_state_dict(state)
            dealt.append([places(batch) for batch in feed])
    rest = [
        place
        for step in itertools.zip_longest(*dealt, fillvalue=[])
        for batch in step
        for place in batch
    ]
    assert seen + rest == first


@pytest.mark.parametrize("how", ["stopped", "killed"])
def test_a_restarted_daemon_serves_the_same(
    cache: tensorcache.Cache, etth1: tensorcache.Dataset, how: str
) -> None:
    spec: dict[str, Any] = {
        "context_length": 96,
        "prediction_length": 24,
        "stride": 96,
        "max_step": "1h",
    }

    def everything() -> list[Any]:
        windows = tensorcache.connect().dataset("etth1").windows(**spec)
        served: list[Any] = [windows.plan(batch_size=7), windows[:].context.tobytes()]
        for order in ORDERS:
            with windows.feed(batch_size=7, order=order, seed=5) as feed:
                for _ in range(2):
                    served += [(places(batch), batch.context.tobytes()) for batch in feed]
                served.append(feed.state_dict())
        return served

    before = everything()
    now = tensorcache.connect()
    if how == "stopped":
        now.stop()
    else:
        os.kill(now.health()["pid"], signal.SIGKILL)
    assert everything() == before
