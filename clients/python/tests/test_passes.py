"""``batches_per_epoch``: passes of n batches over the endless sequence of the order's epochs."""

from __future__ import annotations

import json
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import tensorcache
from cases import examples, note_seed
from naive_orders import Order
from naive_passes import Place, pass_of

pytestmark = pytest.mark.portable

RUNS = [(0, 17), (2, 6)]
"""Items and their windows."""
WINDOWS = 23


@pytest.fixture(scope="module")
def windows(cache: tensorcache.Cache) -> tensorcache.Windows:
    """Windows of three items; the second has none."""
    items = np.repeat(["a", "b", "c"], [19, 2, 8])
    data = cache.put("passes", {"id": items, "y": np.arange(29.0)}, item_id="id")
    return data.windows(context_length=2, prediction_length=1)


def numbers(batch: Any) -> list[int]:
    """The numbers of a batch's windows."""
    return [int(row) if row < 19 else int(row) - 21 + 17 for row in batch.row]


def served(feed: tensorcache.Feed[Any]) -> list[tuple[list[int], Place]]:
    """The batches of a pass, with the place after each."""
    return [(numbers(batch), place_of(feed)) for batch in feed]


def place_of(feed: tensorcache.Feed[Any]) -> Place:
    state = json.loads(json.dumps(feed.state_dict()))
    return state["epoch"], state["consumed"]


OPTIONS = st.fixed_dictionaries(
    {
        "order": st.sampled_from(["sequential", "shuffle", "bootstrap"]),
        "seed": st.integers(0, 2**64 - 1),
        "batch_size": st.integers(1, 7),
        "num_replicas": st.integers(1, 3),
        "tail": st.sampled_from(["short", "wrap", "drop"]),
        "weights": st.sampled_from([None, "even"]),
    }
)


@given(options=OPTIONS, n=st.integers(1, 30), data=st.data())
@examples(60)
def test_passes_are_those_of_the_naive_sequence(
    windows: tensorcache.Windows, options: dict[str, Any], n: int, data: st.DataObject
) -> None:
    note_seed()
    if options["order"] != "bootstrap":
        options["weights"] = None
    if options["num_replicas"] > 1 and options["tail"] == "short":
        options["tail"] = "wrap"
    order = Order(RUNS, **options)
    steps = len(order.deal(0)[0])
    number = data.draw(st.integers(0, 9))
    epoch, step = divmod(number * n, steps)
    begin = epoch, step * order.size * order.num_replicas
    other = data.draw(st.integers(0, 3)), data.draw(st.integers(0, WINDOWS))
    note(f"feed({options}, batches_per_epoch={n}), pass {number}, then from {other}")
    for rank in range(order.num_replicas):
        with windows.feed(**options, rank=rank, batches_per_epoch=n) as feed:
            assert len(feed) == n
            feed.set_epoch(number)
            assert place_of(feed) == begin
            want = pass_of(order, n, *begin)[rank]
            assert served(feed) == want
            assert len(want) == n
            # The next pass goes on where this one ended, without a seek.
            assert served(feed) == pass_of(order, n, *want[-1][1])[rank]
            # Any place will do, also one that other ranks have saved.
            feed.load_state_dict({**feed.state_dict(), "epoch": other[0], "consumed": other[1]})
            want = pass_of(order, n, *other)[rank]
            assert served(feed) == want
            assert served(feed) == pass_of(order, n, *want[-1][1])[rank]


def test_shuffle_repeats_no_window_early(windows: tensorcache.Windows) -> None:
    with windows.feed(batch_size=1, order="shuffle", batches_per_epoch=5) as feed:
        rows = [number for _ in range(2 * WINDOWS) for batch in feed for number in numbers(batch)]
    for epoch in range(10):
        assert sorted(rows[epoch * WINDOWS : (epoch + 1) * WINDOWS]) == list(range(WINDOWS))


def test_a_pass_that_is_left_counts(windows: tensorcache.Windows) -> None:
    with windows.feed(batch_size=4, order="shuffle", seed=1, batches_per_epoch=4) as feed:
        whole = [served(feed) for _ in range(5)]
    with windows.feed(batch_size=4, order="shuffle", seed=1, batches_per_epoch=4) as feed:
        for number in (0, 1):  # left after two batches, and after its last
            assert [numbers(b) for b in islice(feed, 2 + 2 * number)] == [
                batch for batch, _ in whole[number][: 2 + 2 * number]
            ]
        assert served(feed) == whole[2]
        feed.set_epoch(4)
        assert served(feed) == whole[4]
        feed.set_epoch(3)
        assert "at the order's epoch 2 after 0 windows" in repr(feed)
        assert served(feed) == whole[3]


@pytest.mark.parametrize("after", [1, 4, 7])
def test_a_state_continues_in_the_middle_of_a_pass(
    windows: tensorcache.Windows, after: int
) -> None:
    options = {"order": "shuffle", "seed": 1, "batches_per_epoch": 4}
    with windows.feed(batch_size=4, **options) as feed:
        batches = [batch for _ in range(3) for batch, _ in served(feed)]
    with windows.feed(batch_size=4, **options) as feed:
        for number, _ in enumerate(batch for _ in range(2) for batch in feed):
            if number + 1 == after:
                break
        state = feed.state_dict()
    assert {"epoch", "consumed"} <= set(state)
    assert not any("batches" in field for field in state)  # any n goes on there
    with windows.feed(batch_size=4, **options) as feed:
        feed.load_state_dict(state)
        rest = [batch for batch, _ in served(feed)]
        assert rest == batches[after : (after // 4 + 1) * 4]
    with windows.feed(batch_size=4, **{**options, "batches_per_epoch": None}) as feed:
        feed.load_state_dict(state)
        rest = [batch for batch, _ in served(feed)]
        assert rest == batches[after : (after // 6 + 1) * 6]


def test_an_interrupt_before_the_first_batch_skips_no_pass(windows: tensorcache.Windows) -> None:
    options: dict[str, Any] = {"batch_size": 4, "order": "shuffle", "tail": "drop"}
    with windows.feed(**options, batches_per_epoch=3) as feed:
        want = [served(feed) for _ in range(4)]
        feed.load_state_dict({**feed.state_dict(), "epoch": 0, "consumed": 22})  # nothing is left
        end, feed._position.end_without_batch = feed._position.end_without_batch, interrupt(feed)
        with pytest.raises(KeyboardInterrupt):
            next(iter(feed))
        feed._position.end_without_batch = end
        assert place_of(feed) == (1, 0)
        assert served(feed) == want[1][2:]  # pass 1 begins with the last batches of epoch 0
        assert served(feed) == want[2]


def interrupt(feed: tensorcache.Feed[Any]) -> Any:
    """Its position's method, which an interrupt follows."""
    end = feed._position.end_without_batch

    def interrupted(descriptor: Any) -> None:
        end(descriptor)
        raise KeyboardInterrupt

    return interrupted


def test_passes_of_the_last_epochs(windows: tensorcache.Windows) -> None:
    options = {"batch_size": 4, "order": "shuffle", "seed": 1}
    last = 2**64 * 6 // 100 - 1
    with windows.feed(**options, batches_per_epoch=100) as feed:
        feed.set_epoch(last)
        assert place_of(feed) == (last * 100 // 6, last * 100 % 6 * 4)
        with pytest.raises(tensorcache.SpecError, match=f"epoch: got {last + 1}, want 0 to {last}"):
            feed.set_epoch(last + 1)
    with windows.feed(**options, batches_per_epoch=2) as feed:
        feed.set_epoch(2**64 - 1)
        assert place_of(feed) == ((2**64 - 1) // 3, 0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"batches_per_epoch": 0}, "got 0, want 1 to 281474976710656"),
        ({"batches_per_epoch": 2**48 + 1}, "got 281474976710657, want 1 to"),
        ({"batches_per_epoch": 2.5}, "got 2.5, want a whole number"),
        ({"batches_per_epoch": True}, "got True, want a whole number"),
        ({"order": "random_start"}, "want sequential, shuffle or bootstrap"),
        ({"order": "lanes"}, 'got 4 with order="lanes"'),
        ({"order": "cross_section"}, 'got 4 with order="cross_section"'),
        ({"order": "cross_section_sequential", "batch_size": None}, "got 4 with order="),
        ({"tail": "short", "num_replicas": 2}, 'want "wrap" or "drop"'),
    ],
)
def test_refused(windows: tensorcache.Windows, options: dict[str, Any], words: str) -> None:
    with pytest.raises(tensorcache.SpecError, match=words) as refused:
        windows.feed(**{"batch_size": 2, "batches_per_epoch": 4, **options})
    assert refused.value.field == "batches_per_epoch"
