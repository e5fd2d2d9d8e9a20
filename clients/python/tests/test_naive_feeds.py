"""Feeds of every order, rank and cursor serve what the formulas in Python give."""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import tensorcache
from cases import cases, note_seed
from draws import Table, specs, tables
from naive import Naive
from naive_orders import Order, Run

pytestmark = pytest.mark.portable

ORDERS = [
    "sequential",
    "shuffle",
    "bootstrap",
    "random_start",
    "lanes",
    "cross_section",
    "cross_section_sequential",
]
FEEDS = 7
"""Feeds tried on each frame, one an order."""


@given(table=tables(), spec=specs(lanes=True), data=st.data())
@cases(0.3, of_each=FEEDS)
def test_feeds_serve_the_formulas_orders(
    cache: tensorcache.Cache, table: Table, spec: dict[str, Any], data: st.DataObject
) -> None:
    note_seed()
    naive = table.naive(spec)
    found = naive.index([])
    if not found.places:
        return
    with table.put(cache, "orders") as loaded:
        windows = loaded.windows(**table.keywords(spec))
        everything = windows[:]
        numbers = {place: number for number, place in enumerate(found.places)}
        times = [naive.group_time(*place) for place in found.places]
        for order in ORDERS:
            weights = (
                weights_of(found.runs(naive.s), len(naive.items), data)
                if order == "bootstrap"
                else None
            )
            options = data.draw(options_of(order, weights, max(Counter(times).values())))
            note(f"windows({spec}).feed({options})")
            check(
                naive,
                windows,
                everything,
                numbers,
                Order(found.runs(naive.s), times=times, **options),
                options,
                data,
            )
    cache.remove("orders")


@pytest.mark.parametrize("delivery", ["slot", "local", "starts"])
def test_lanes_reset_at_a_jump_between_two_windows(cache: tensorcache.Cache, delivery: str) -> None:
    times = [0, 1, 2, 3, 100, 101, 102, 103]
    data = cache.put("border", {"t": times, "v": np.arange(8.0)}, time="t")
    windows = data.windows(context_length=2, stride=2, max_step=1)
    with windows.feed(batch_size=1, order="lanes", delivery=delivery) as feed:
        starts, resets = zip(
            *((int(b.start[0]), bool(b.reset[0])) for b in feed if b.reset is not None), strict=True
        )
    assert sorted(starts) == [0, 2, 4, 6]
    assert resets == tuple(i == 0 or start in (0, 4) for i, start in enumerate(starts)), starts


Weights = list[float] | Literal["even"] | None


def weights_of(runs: list[Run], items: int, data: st.DataObject) -> Weights:
    """Draw weights; at least one item with windows has a weight above 0."""
    if data.draw(st.booleans()):
        return data.draw(st.sampled_from((None, "even")))
    weights = data.draw(
        st.lists(st.sampled_from([1.0, 0.0, 0.25, 100.0]), min_size=items, max_size=items)
    )
    if not any(weights[item] for item, _ in runs):
        weights[runs[0][0]] = 1.5
    return weights


def options_of(order: str, weights: Weights, largest: int) -> st.SearchStrategy[dict[str, Any]]:
    """Options of a feed; the largest group has ``largest`` windows."""
    few = order == "lanes"  # with more lanes, each would be one or two windows long
    sizes: st.SearchStrategy[int | None] = st.integers(1, 3 if few else 7)
    more = {}
    if order.startswith("cross_section"):
        sizes |= st.none()
        more["min_items"] = st.integers(1, largest)
    return st.fixed_dictionaries(
        {
            **more,
            "order": st.just(order),
            "seed": st.integers(0, 2**64 - 1),
            "batch_size": sizes,
            "num_replicas": st.integers(1, 2 if few else 4),
            "tail": st.sampled_from(["short", "wrap", "drop"]),
            "weights": st.just(weights),
        }
    )


def check(
    naive: Naive,
    windows: tensorcache.Windows,
    everything: tensorcache.Sample,
    numbers: dict[tuple[int, int], int],
    order: Order,
    options: dict[str, Any],
    data: st.DataObject,
) -> None:
    """Check every rank, from the start of an epoch and from a cursor inside it."""
    epoch = data.draw(st.sampled_from([0, 1, 2, 2**64 - 2]))
    dealt = order.deal(epoch)
    fewest = len(order.epoch(epoch))
    if order.order == "random_start":
        fewest = sum(-(-count // order.size) for _, count in order.runs)
    if order.tail == "drop" and fewest < order.unit * order.num_replicas:
        with pytest.raises(tensorcache.SpecError, match="drop"):
            windows.feed(**options)
        return
    places = list(numbers)
    steps = data.draw(st.integers(0, len(dealt[0])))
    consumed = min(steps * order.unit * order.num_replicas, len(order.epoch(epoch)))
    rest = order.deal(epoch, consumed)
    for rank in range(order.num_replicas):
        with windows.feed(**options, rank=rank, mask=data.draw(st.booleans())) as feed:
            feed.set_epoch(epoch)
            assert len(feed) == len(dealt[rank])
            serve(feed, dealt[rank], everything, numbers)
            assert feed.state_dict()["epoch"] == epoch + 1
            feed.load_state_dict({**feed.state_dict(), "epoch": epoch, "consumed": consumed})
            resets = serve(feed, rest[rank], everything, numbers)
            if order.order == "lanes":
                of_all = order.resets(
                    [batch for batch, _ in dealt[rank]],
                    lambda a, b: naive.continues(places[a], places[b]),
                )
                assert resets == of_all[len(of_all) - len(resets) :]


def serve(
    feed: tensorcache.Feed,
    dealt: list[tuple[list[int], int]],
    everything: tensorcache.Sample,
    numbers: dict[tuple[int, int], int],
) -> list[list[bool]]:
    """Consume the rest of an epoch, check its windows and values, and return the resets."""
    resets = []
    after: list[int] = []
    for batch, (wanted, _) in zip(feed, dealt, strict=True):
        places = zip(batch.item_code.tolist(), batch.start.tolist(), strict=True)
        assert [numbers[place] for place in places] == wanted
        for name in (
            "context",
            "target",
            "known",
            "known_context",
            "known_target",
            "observed",
            "target_observed",
            "static",
            "time",
            "mask",
            "context_missing",
            "target_missing",
        ):
            served, cut = getattr(batch, name), getattr(everything, name)
            # With mask=True, the feed delivers masks even if nothing is padded or missing.
            if cut is None and served is not None:
                assert (
                    served.all()
                    if name == "mask"
                    else name.endswith("_missing") and not served.any()
                )
                continue
            assert (served is None) == (cut is None), name
            if served is not None:
                np.testing.assert_array_equal(served, cut[wanted], err_msg=name)
        if batch.reset is not None:
            resets.append(batch.reset.tolist())
        after.append(feed.state_dict()["consumed"])
    # After the last batch of an epoch the state is the start of the next.
    assert after[:-1] == [consumed for _, consumed in dealt[:-1]]
    return resets
