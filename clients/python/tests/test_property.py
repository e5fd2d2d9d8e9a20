"""Batches of random windows, orders, ranks and resumes, against slices of the CSV by pandas."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import tensorcache
from cases import cases, note_seed
from frames import read_csv
from oracle import Oracle, Spec, deal

pytestmark = pytest.mark.portable

COLUMNS = ["a", "b"]
NUMBERS = itertools.count()


@st.composite
def frames(draw: st.DrawFn) -> pd.DataFrame:
    """Draw a few items of a few rows each, with jumps in time and missing values."""
    lengths = draw(st.lists(st.integers(1, 25), min_size=1, max_size=4))
    text = draw(st.booleans())
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    parts = []
    for item, n in enumerate(lengths):
        steps = rng.choice([1, 1, 1, 1, 3], n)
        parts.append(
            pd.DataFrame(
                {
                    "id": f"item {item}" if text else item * 10,
                    "t": np.cumsum(steps) + int(rng.integers(-50, 50)),
                    "a": rng.normal(size=n) * 10.0 ** rng.integers(-3, 6),
                    "b": rng.integers(-1000, 1000, n),
                }
            )
        )
    frame = pd.concat(parts, ignore_index=True)
    if draw(st.booleans()):
        frame.loc[rng.random(len(frame)) < 0.15, "a"] = math.nan
    return frame


@st.composite
def specs(draw: st.DrawFn) -> Spec:
    """Draw a plausible window spec."""
    context = draw(st.integers(1, 6))
    prediction = draw(st.integers(0, 4))
    gap = draw(st.integers(0, 3)) if prediction else 0
    bound = st.none() | st.integers(-15, 20)
    rows = draw(st.none() | st.tuples(bound, bound))
    if rows and None not in rows and (rows[0] < 0) == (rows[1] < 0) and rows[0] >= rows[1]:
        rows = None
    return Spec(
        context=context,
        prediction=prediction,
        gap=gap,
        overlap=draw(st.integers(0, context + gap)) if prediction else 0,
        stride=draw(st.integers(1, 4)),
        dilation=draw(st.integers(1, 3)),
        anchor=draw(st.sampled_from(["start", "end"])),
        min_context=draw(st.none() | st.integers(0, context)),
        rows=rows,
        max_step=draw(st.none() | st.integers(1, 3)),
        max_missing=draw(st.sampled_from([0.0, 0.2, None])),
        missing_value=draw(st.sampled_from([None, -7.5])),
    )


@given(
    frame=frames(),
    chosen=st.lists(specs(), min_size=3, max_size=3),
    layout=st.sampled_from(["columns", "packed"]),
    data=st.data(),
)
@cases(0.12, of_each=3)
def test_every_batch_is_a_naive_slice_of_the_csv(
    cache: tensorcache.Cache,
    tmp_path: Path,
    frame: pd.DataFrame,
    chosen: list[Spec],
    layout: str,
    data: st.DataObject,
) -> None:
    note_seed()
    path = tmp_path / f"{next(NUMBERS)}.csv"
    frame.to_csv(path, index=False)
    loaded = cache.load("random", path, item_id="id", time="t", layout=layout)
    read = read_csv(path, COLUMNS)
    for spec in chosen:
        oracle = Oracle(read, "id", "t", spec, COLUMNS)
        keywords = {**spec.keywords(), "dtype": data.draw(st.sampled_from(["float32", "float64"]))}
        note(f"windows {keywords}")
        if not oracle.places:
            with pytest.raises(tensorcache.SpecError) as caught:
                loaded.windows(**keywords)
            assert caught.value.type == "no_windows"
            continue
        windows = loaded.windows(**keywords)
        check_index(windows, oracle)
        check_feed(windows, oracle, data)
    cache.remove("random")


def check_index(windows: tensorcache.Windows, oracle: Oracle) -> None:
    """Check that windows and random access agree with the oracle."""
    places = [(place.item, place.start) for place in oracle.places]
    assert len(windows) == len(places)
    assert windows.positions == len(places) + sum(windows.rejected.values())
    everything = windows[:]
    assert (
        list(zip(everything.item_code.tolist(), everything.start.tolist(), strict=True)) == places
    )
    assert list(windows.dataset.items) == oracle.names
    for name in oracle.names:
        assert windows.starts(name).tolist() == [
            s for item, s in places if oracle.names[item] == name
        ]
    compare(everything, list(range(len(places))), oracle, windows)
    for number in {0, len(places) // 2, len(places) - 1}:
        one = windows[number]
        np.testing.assert_array_equal(one.context, everything.context[number])
        if everything.target is not None:
            np.testing.assert_array_equal(one.target, everything.target[number])
        if everything.mask is not None:
            np.testing.assert_array_equal(one.mask, everything.mask[number])
        assert (one.item_code, one.start, one.time) == tuple(
            getattr(everything, n)[number] for n in ("item_code", "start", "time")
        )


def check_feed(windows: tensorcache.Windows, oracle: Oracle, data: st.DataObject) -> None:
    """Check that any rank of any rank count serves its part of the order, also after a resume."""
    numbers = {(place.item, place.start): number for number, place in enumerate(oracle.places)}
    order = data.draw(st.sampled_from(["sequential", "shuffle"]))
    seed = data.draw(st.integers(0, 2**64 - 1))
    epoch = data.draw(st.integers(0, 3))
    with windows.feed(batch_size=len(numbers), order=order, seed=seed) as feed:
        feed.set_epoch(epoch)
        sequence = [numbers[place] for batch in feed for place in places_of(batch)]
    assert sorted(sequence) == list(range(len(numbers)))
    if order == "sequential":
        assert sequence == sorted(sequence)
    state = None
    consumed = 0
    for _ in range(2):  # from the start, then resumed with another rank count
        size, ranks = data.draw(st.integers(1, 7)), data.draw(st.integers(1, 4))
        rank, tail = (
            data.draw(st.integers(0, ranks - 1)),
            data.draw(st.sampled_from(["short", "wrap", "drop"])),
        )
        slots = data.draw(st.sampled_from([0, 3]))
        note(
            f"{order} seed {seed} epoch {epoch} from {consumed}: rank {rank} of {ranks}, {size} a "
            f"batch, tail {tail}"
        )
        if tail == "drop" and size * ranks > len(sequence):
            with pytest.raises(tensorcache.SpecError):
                windows.feed(
                    batch_size=size,
                    order=order,
                    seed=seed,
                    rank=rank,
                    num_replicas=ranks,
                    tail=tail,
                )
            continue
        want = deal(sequence, size, ranks, tail, consumed)[rank]
        with windows.feed(
            batch_size=size,
            order=order,
            seed=seed,
            rank=rank,
            num_replicas=ranks,
            tail=tail,
            slots=slots,
            mask=True,
        ) as feed:
            assert consumed or len(feed) == len(want)
            if state is None:
                feed.set_epoch(epoch)
            else:
                feed.load_state_dict(state)
            stop = data.draw(st.integers(0, len(want)))
            for got, (batch, wanted) in enumerate(zip(feed, want, strict=True), 1):
                assert [numbers[place] for place in places_of(batch)] == wanted
                compare(batch, wanted, oracle, windows)
                if got == stop:
                    state = feed.state_dict()
                    break
            else:
                state = None
        if state is None or state["epoch"] != epoch:
            return
        consumed = state["consumed"]


def places_of(batch: tensorcache.Batch) -> list[tuple[int, int]]:
    return list(zip(batch.item_code.tolist(), batch.start.tolist(), strict=True))


def compare(got: Any, numbers: list[int], oracle: Oracle, windows: tensorcache.Windows) -> None:
    """Compare every value of every window."""
    for name in ("context", "target", "time", "mask", "context_missing", "target_missing"):
        array = getattr(got, name)
        if array is None:
            assert name in ("target", "mask", "context_missing", "target_missing")
            assert name != "target" or oracle.spec.prediction == 0
            continue
        want = [oracle.window(oracle.places[number])[name] for number in numbers]
        dtype = windows.dtype if name in ("context", "target") else array.dtype
        assert array.dtype == dtype
        np.testing.assert_array_equal(
            array, np.array(want, np.float64).reshape(array.shape).astype(dtype), err_msg=name
        )
