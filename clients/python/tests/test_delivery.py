"""The deliveries of batches (slot, view, local, starts), and the guarantees about their arrays."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import tensorcache
from choosing import hold_choice
from tensorcache._feed import auto_delivery
from tensorcache._feed.numpy_delivery import gather

pytestmark = pytest.mark.portable

C, P, B = 24, 6, 32
PARTS = (
    "context", "target", "known", "known_context", "known_target", "static", "observed",
    "target_observed", "item", "item_code", "start", "row", "time", "mask", "context_missing",
    "target_missing", "reset",
)  # fmt: skip


@pytest.fixture(scope="module", params=["columns", "packed"])
def data(request: pytest.FixtureRequest, cache: tensorcache.Cache) -> tensorcache.Dataset:
    """Three items of 400, 90 and 35 rows.

    ``a`` to ``d`` are float32, ``m`` has missing values, ``k`` is float64.
    """
    rows = [400, 90, 35]
    rng = np.random.default_rng(5)
    columns: dict[str, Any] = {
        "id": np.repeat([7, 8, 9], rows),
        "t": np.concatenate([np.arange(n) for n in rows]),
        **{name: rng.normal(size=sum(rows)).astype(np.float32) for name in "abcd"},
        "m": np.where(rng.random(sum(rows)) < 0.05, np.nan, rng.normal(size=sum(rows))).astype(
            np.float32
        ),
        "k": rng.normal(size=sum(rows)),
    }
    return cache.put(request.param, columns, item_id="id", time="t", layout=request.param)


def everything(batch: tensorcache.Batch) -> dict[str, Any]:
    return {name: getattr(batch, name) for name in PARTS}


def hold_equal(one: tensorcache.Feed, other: tensorcache.Feed) -> None:
    for here, there in zip(one, other, strict=True):
        np.testing.assert_equal(everything(here), everything(there))
        assert {k: v.dtype for k, v in everything(here).items() if v is not None} == {
            k: v.dtype for k, v in everything(there).items() if v is not None
        }


SPECS: dict[str, dict[str, Any]] = {
    "plain": {"columns": ["a", "b", "c", "d"]},
    "one": {"columns": ["c"], "stride": 3, "gap": 2, "overlap": 5},
    "roles": {
        "context_columns": ["a", "b"],
        "target_columns": ["c"],
        "known_columns": ["d"],
        "dilation": 2,
    },
    "missing": {"columns": ["m"], "max_missing": None},
    "stored": {"columns": ["k"], "dtype": None},
    "context": {"columns": ["b", "c"], "prediction_length": 0},
}


@pytest.mark.parametrize("channels_first", [False, True])
@pytest.mark.parametrize("order", ["sequential", "random_start"])
@pytest.mark.parametrize("spec", SPECS)
def test_views_are_what_slots_are(
    data: tensorcache.Dataset, spec: str, order: str, channels_first: bool
) -> None:
    windows = data.windows(**{"context_length": C, "prediction_length": P, **SPECS[spec]})
    options: dict[str, Any] = {
        "batch_size": B,
        "order": order,
        "channels_first": channels_first,
        "mask": spec == "missing",
    }
    with (
        windows.feed(**options, delivery="view") as views,
        windows.feed(**options, delivery="slot") as slots,
    ):
        assert (views.delivery, views.path) == ("view", "view")
        for _ in range(2):
            hold_equal(views, slots)
        batch = next(iter(views))
        with pytest.raises(ValueError, match="cannot set WRITEABLE flag"):
            batch.context.flags.writeable = True


PADDED: dict[str, Any] = {
    "columns": ["a", "m"],
    "min_context": 3,
    "max_missing": 0.2,
    "missing_value": -1.0,
    "pad_value": float("nan"),
}


@pytest.mark.parametrize("channels_first", [False, True])
@pytest.mark.parametrize("spec", [*SPECS, "padded", "converted"])
def test_local_is_what_slots_are(
    data: tensorcache.Dataset, spec: str, channels_first: bool
) -> None:
    specs = {**SPECS, "padded": PADDED, "converted": {"columns": ["a", "k"], "static_columns": []}}
    windows = data.windows(**{"context_length": C, "prediction_length": P, **specs[spec]})
    options: dict[str, Any] = {
        "batch_size": B,
        "order": "shuffle",
        "seed": 3,
        "channels_first": channels_first,
    }
    with (
        windows.feed(**options, delivery="local") as local,
        windows.feed(**options, delivery="slot") as slots,
    ):
        assert local.delivery == "local"
        hold_equal(local, slots)
        kept = list(local)  # in memory of this process: kept batches block no slots
        assert all(
            batch.context.flags.c_contiguous and batch.context.flags.writeable for batch in kept
        )
        for batch, again in zip(kept, slots, strict=True):
            np.testing.assert_equal(everything(batch), everything(again))


def test_lanes_reset_by_any_delivery(data: tensorcache.Dataset) -> None:
    windows = data.windows(context_length=5, stride=5, columns=["a", "b"])
    options: dict[str, Any] = {"batch_size": 3, "order": "lanes"}
    with (
        windows.feed(**options, delivery="local") as local,
        windows.feed(**options, delivery="slot") as slots,
    ):
        hold_equal(local, slots)


def test_starts_say_where_the_windows_are(data: tensorcache.Dataset) -> None:
    windows = data.windows(
        context_length=C, prediction_length=P, columns=["m"], max_missing=0.5, min_context=3
    )
    options: dict[str, Any] = {"batch_size": B, "order": "shuffle", "mask": True}
    with (
        windows.feed(**options, delivery="starts") as starts,
        windows.feed(**options, delivery="slot") as slots,
    ):
        assert starts.stats()["slot_bytes"] < B * (3 * 8 + C) + 4 * 64
        for here, there in zip(starts, slots, strict=True):
            assert here.context is here.target is None
            np.testing.assert_array_equal(
                here.row, data.items.row_offset[here.item_code] + here.start
            )
            for name in (
                "item_code",
                "start",
                "row",
                "time",
                "mask",
                "context_missing",
                "target_missing",
            ):
                np.testing.assert_array_equal(
                    getattr(here, name), getattr(there, name), err_msg=name
                )


@pytest.mark.parametrize("delivery", ["slot", "view", "local", "starts"])
def test_copies_and_pickles_are_ones_own(data: tensorcache.Dataset, delivery: str) -> None:
    windows = data.windows(context_length=C, prediction_length=P, columns=["a", "b"])
    with windows.feed(batch_size=B, delivery=delivery) as feed:
        for batch in feed:
            wanted = everything(batch)
            copy, thawed = batch.copy(), pickle.loads(pickle.dumps(batch))
            np.testing.assert_equal(everything(copy), wanted)
            np.testing.assert_equal(everything(thawed), wanted)
            if delivery != "starts":
                assert copy.context.flags.c_contiguous
                assert copy.context.__array_interface__["data"][0] % 64 == 0
                copy.context[:] = 0
                np.testing.assert_equal(everything(copy.copy()), everything(copy))


@pytest.mark.parametrize(
    ("spec", "options", "says"),
    [
        ({"columns": ["a"]}, {"order": "shuffle"}, 'order "shuffle" scatters windows'),
        ({"columns": ["a"], "min_context": 1}, {}, "min_context 1 pads windows"),
        ({"columns": ["k"]}, {}, 'column "k" is stored as float64 and asked for as float32'),
        ({"columns": ["m"], "missing_value": 0.0}, {}, "missing_value 0 would replace"),
        ({"columns": ["d", "a"]}, {}, "the 2 columns of the context do not lie evenly apart"),
    ],
)
def test_a_view_that_cannot_be_is_refused(
    data: tensorcache.Dataset, spec: dict[str, Any], options: dict[str, Any], says: str
) -> None:
    windows = data.windows(context_length=C, **spec)
    with pytest.raises(tensorcache.SpecError, match=says) as raised:
        windows.feed(batch_size=B, delivery="view", **options)
    assert raised.value.field == "delivery"
    with windows.feed(batch_size=B, **options) as feed:
        assert feed.delivery == "slot", "auto"


@pytest.mark.parametrize("chosen", ["slot", "local"])
def test_auto_keeps_what_makes_steps_short(
    data: tensorcache.Dataset, monkeypatch: pytest.MonkeyPatch, chosen: str
) -> None:
    windows = data.windows(context_length=C, prediction_length=P, columns=["a", "b"])
    options: dict[str, Any] = {"batch_size": 8, "order": "shuffle", "seed": 2}

    def equal(here: tensorcache.Batch, there: tensorcache.Batch) -> None:
        np.testing.assert_equal(everything(here), everything(there))

    with windows.feed(**options) as feed, windows.feed(**options, delivery="slot") as slots:
        hold_choice(monkeypatch, feed, slots, chosen, equal)


def test_auto_has_no_choice_where_one_delivery_is_best(
    data: tensorcache.Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auto_delivery, "WARM", 1)
    monkeypatch.setattr(auto_delivery, "STEPS", 1)
    windows = data.windows(context_length=C, columns=["a", "k"])
    with windows.feed(batch_size=8, order="shuffle") as feed:
        assert {feed.delivery for _ in feed} == {"slot"}
        assert feed.stats()["step_s"] == {}


@pytest.mark.parametrize("order", ["sequential", "random_start"])
def test_views_are_delivered_only_by_name(data: tensorcache.Dataset, order: str) -> None:
    windows = data.windows(context_length=C, columns=["b"])
    with windows.feed(batch_size=8, order=order) as feed:
        assert feed.delivery == "slot"
        assert next(iter(feed)).context.flags.writeable
    assert windows.plan(batch_size=8, order=order)["path"] in ("memcpy", "transpose")
    with windows.feed(batch_size=8, order=order, delivery="view") as feed:
        assert feed.delivery == "view"


@pytest.mark.parametrize("columns", [1, 2, 7, 8, 9])
@pytest.mark.parametrize("axes", [(1, 2, 0), (1, 0, 2)], ids=["windows by rows", "channels first"])
def test_gathering_by_columns_is_indexing(columns: int, axes: tuple[int, ...]) -> None:
    matrix = np.arange(50.0 * columns).reshape(columns, 50)
    every = sliding_window_view(matrix, 6, axis=1).transpose(axes)
    rows = np.array([40, 3, 3, 0])
    got = gather(every, rows)
    assert got.flags.c_contiguous
    np.testing.assert_array_equal(got, every[rows])
