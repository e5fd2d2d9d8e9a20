"""Orders of groups: batches of the windows of one time."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import tensorcache
from cases import cases, note_seed
from draws import Table, specs, tables, wheres
from naive import Naive
from naive_orders import Order
from test_bad_feeds import refused

pytestmark = pytest.mark.portable

BOTH = ["cross_section", "cross_section_sequential"]


@given(table=tables(), spec=specs(), data=st.data())
@cases(0.02)
def test_every_group_is_served_once_from_any_cursor(
    cache: tensorcache.Cache, table: Table, spec: dict[str, Any], data: st.DataObject
) -> None:
    """Any spec, cuts, ranks and tails; resumed at each step of an epoch."""
    note_seed()
    naive = table.naive(spec)
    if not naive.index([]).places:
        return
    cuts, latest = [], data.draw(st.booleans())
    with table.put(cache, "grouped") as loaded:
        windows = loaded.windows(**table.keywords(spec))
        if data.draw(st.booleans()):
            where = data.draw(wheres(naive.names))
            note(f"where({where})")
            cuts.append(("where", where))
            if where.get("time") is not None:
                where = {**where, "time": tuple(table.time(bound) for bound in where["time"])}
            windows = windows.where(**where)
        if latest and not spec.get("known_columns"):
            cuts.append(("latest",))
            windows = windows.latest()
        check(naive, windows, cuts, data)
    cache.remove("grouped")


def check(
    naive: Naive, windows: tensorcache.Windows, cuts: list[tuple[Any, ...]], data: st.DataObject
) -> None:
    places = naive.index(cuts).places
    if not places:
        return
    latest = bool(cuts) and cuts[-1] == ("latest",)
    times = [naive.group_time(*place, latest=latest) for place in places]
    sizes = {time: times.count(time) for time in times}
    options: dict[str, Any] = {
        "order": data.draw(st.sampled_from(BOTH)),
        "seed": data.draw(st.integers(0, 2**64 - 1)),
        "batch_size": data.draw(st.none() | st.integers(1, 4)),
        "num_replicas": data.draw(st.integers(1, 3)),
        "tail": data.draw(st.sampled_from(["short", "wrap", "drop"])),
        "min_items": data.draw(st.integers(1, max(sizes.values()))),
    }
    note(f"feed({options})")
    order = Order([(item, 1) for item, _ in places], times=times, **options)
    epoch = data.draw(st.sampled_from([0, 1, 2**64 - 2]))
    pieces = order.epoch(epoch)
    if options["tail"] == "drop" and len(pieces) < options["num_replicas"]:
        refused(lambda: windows.feed(**options), field="num_replicas")
        return
    visited = [time for time, size in sizes.items() if size >= options["min_items"]]
    assert sorted(window for piece in pieces for window in piece) == [
        window for window, time in enumerate(times) if time in visited
    ]
    served: dict[int, list[int]] = {}
    for piece in pieces:
        served.setdefault(times[piece[0]], []).extend(piece)
    assert all(group == sorted(group) for group in served.values())
    for rank in range(options["num_replicas"]):
        delivery = data.draw(st.sampled_from(["slot", "local", "starts"]))
        with windows.feed(**options, rank=rank, delivery=delivery) as feed:
            assert len(feed) == len(order.deal(epoch)[rank])
            for consumed in range(0, len(pieces), options["num_replicas"]):
                feed.load_state_dict({**feed.state_dict(), "epoch": epoch, "consumed": consumed})
                got = [list(zip(b.item_code.tolist(), b.start.tolist(), strict=True)) for b in feed]
                assert got == [
                    [places[window] for window in batch]
                    for batch, _ in order.deal(epoch, consumed)[rank]
                ]


@pytest.fixture(scope="module")
def panel(cache: tensorcache.Cache) -> tensorcache.Dataset:
    """Four items of 40, 30, 20 and 10 days; each ends on the same day."""
    lengths = [40, 30, 20, 10]
    days = [np.arange(40 - n, 40) for n in lengths]
    columns = {
        "id": np.repeat(list("abcd"), lengths),
        "t": np.datetime64("2024-01-01", "D") + np.concatenate(days),
        "v": np.concatenate(days).astype(np.float32),
    }
    return cache.put("panel", columns, item_id="id", time="t")


@pytest.fixture(scope="module")
def windows(panel: tensorcache.Dataset) -> tensorcache.Windows:
    return panel.windows(context_length=4, prediction_length=1)


@pytest.mark.parametrize("delivery", ["slot", "local", "starts", "auto"])
@pytest.mark.parametrize("order", BOTH)
def test_a_batch_is_the_items_at_one_time(
    windows: tensorcache.Windows, order: str, delivery: str
) -> None:
    starts_of_items = np.array([0, 10, 20, 30])
    days = []
    with windows.feed(batch_size=None, order=order, seed=5, delivery=delivery) as feed:
        assert len(feed) == 36
        for batch in feed:
            (day,) = {*(starts_of_items[batch.item_code] + batch.start + 4).tolist()}
            assert batch.item_code.tolist() == [0, 1, 2, 3][: (day - 4) // 10 + 1]
            if delivery != "starts":
                assert batch.target is not None
                assert (batch.target == day).all()
                assert batch.time is not None
                assert len(batch.time) == batch.rows == len(batch.context)
            days.append(day)
    assert sorted(days) == list(range(4, 40))
    assert (days == sorted(days)) == (order == "cross_section_sequential")


def test_epochs_differ_in_order_and_not_in_length(windows: tensorcache.Windows) -> None:
    with windows.feed(batch_size=3, order="cross_section") as feed:
        epochs = [[batch.start.tolist() for batch in feed] for _ in range(3)]
        assert [len(epoch) for epoch in epochs] == [len(feed)] * 3 == [42] * 3
        assert "batches" in repr(feed)
    assert epochs[0] != epochs[1]
    assert sorted(epochs[0]) == sorted(epochs[1]) == sorted(epochs[2])


def test_a_state_names_the_pieces(windows: tensorcache.Windows) -> None:
    def feed(**options: Any) -> tensorcache.Feed:
        return windows.feed(order="cross_section", seed=2, **{"batch_size": None, **options})

    with feed() as whole:
        batches = [batch.item_code.tolist() for batch in whole]
    with feed(min_items=2) as some:
        assert sorted(b.item_code.tolist() for b in some) == sorted(
            b for b in batches if len(b) > 1
        )
    with feed() as first:
        for n, _ in enumerate(first):
            if n == 9:
                break
        state = json.loads(json.dumps(first.state_dict()))
    assert (state["consumed"], "batch_size" in state) == (10, False)
    with feed() as second:
        second.load_state_dict(state)
        assert [batch.item_code.tolist() for batch in second] == batches[10:]
    for options, words in (
        ({"batch_size": 3}, "its batch_size is None, here 3"),
        ({"min_items": 2}, "its min_items is 1, here 2"),
    ):
        with feed(**options) as other, pytest.raises(tensorcache.CursorError, match=words):
            other.load_state_dict(state)


def test_plan_counts_groups_and_warns_of_strides(panel: tensorcache.Dataset) -> None:
    windows = panel.windows(context_length=4, prediction_length=1)
    plan = windows.plan(order="cross_section")
    assert plan["groups"] == {
        "groups": 36, "dropped": 0, "dropped_windows": 0, "least": 1, "median": 2, "greatest": 4,
        "items": 4, "warning": "",
    }  # fmt: skip
    assert (plan["batches"], plan["ranks"]) == (36, [{"rank": 0, "windows": 84, "batches": 36}])
    large = windows.plan(batch_size=2, order="cross_section", min_items=3)
    assert {**plan["groups"], "groups": 16, "dropped": 20, "dropped_windows": 30, "least": 3,
            "median": 3} == large["groups"]  # fmt: skip
    assert large["batches"] == 32
    assert "groups" not in windows.plan(batch_size=4)
    with pytest.warns(UserWarning, match="strides have a phase per item") as caught:
        strided = panel.windows(context_length=4, stride=7).plan(order="cross_section")
    assert str(caught[0].message) == strided["groups"]["warning"]
    assert strided["groups"]["median"] < 2


def test_groups_need_times(cache: tensorcache.Cache) -> None:
    data = cache.put("timeless", {"v": np.arange(9.0)})
    windows = data.windows(context_length=2)
    for order in BOTH:
        for made in (windows.feed, windows.plan):
            refused(
                lambda: made(batch_size=None, order=order),  # noqa: B023
                f'got "{order}"',
                "the dataset has no time column",
                field="order",
            )


def test_integers_are_times(cache: tensorcache.Cache) -> None:
    columns = {"id": [0, 0, 0, 1, 1], "t": [5, 7, 9, 7, 9], "v": [0.0] * 5}
    data = cache.put("counted", columns, item_id="id", time="t")
    with data.windows(context_length=1).feed(
        batch_size=None, order="cross_section_sequential"
    ) as feed:
        assert [batch.item_code.tolist() for batch in feed] == [[0], [0, 1], [0, 1]]


@pytest.mark.parametrize(
    ("options", "field", "words"),
    [
        ({"batch_size": 0}, "batch_size", "got 0, want a whole number from 1"),
        ({"min_items": 0}, "min_items", "got 0, want 1 or more"),
        ({"min_items": 5}, "min_items", "got 5, want at most 4: no group has more windows"),
        ({"weights": [1, 1, 1, 1]}, "weights", "order bootstrap with them, or none"),
        ({"delivery": "view"}, "delivery", 'order "cross_section" scatters windows'),
        ({"num_replicas": 99, "tail": "drop"}, "num_replicas", "got 99, want at most 36"),
        ({"order": "shuffle"}, "batch_size", "whole groups are for order cross_section or"),
        (
            {"order": "shuffle", "batch_size": 2, "min_items": 2},
            "min_items",
            'order "shuffle" has no groups; order cross_section or cross_section_sequential has',
        ),
    ],
    ids=str,
)
def test_refused_options(
    windows: tensorcache.Windows, options: dict[str, Any], field: str, words: str
) -> None:
    given = {"batch_size": None, "order": "cross_section", **options}
    refused(lambda: windows.feed(**given), words, field=field)


def test_slots_have_the_size_of_the_largest_group(panel: tensorcache.Dataset) -> None:
    with panel.windows(context_length=4).feed(
        batch_size=2**47, order="cross_section", slots=3
    ) as feed:  # the largest group has 4 windows
        assert sorted({batch.rows for batch in feed}) == [1, 2, 3, 4]
