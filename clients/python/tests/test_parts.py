"""``parts=`` of a feed: tuples and dicts of the parts of windows, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorcache
from choosing import exchange
from tensorcache import Part


@pytest.fixture
def windows(cache: tensorcache.Cache) -> tensorcache.Windows:
    """Windows with all parts."""
    columns = {
        "id": np.repeat(["a", "b"], 20), "t": np.tile(np.arange(20), 2),
        "sales": np.arange(40.0), "shop": np.arange(40) % 3, "big": 2**24 + 1 + np.arange(40),
        "price": np.arange(40.0), "kind": np.repeat([4, 7], 20), "word": ["x", "y"] * 20,
    }  # fmt: skip
    data = cache.put("shops", columns, item_id="id", time="t")
    return data.windows(
        context_length=4, prediction_length=2, columns=["sales", "shop", "word"],
        known_columns=["price"], static_columns=["kind"], dtype="float64",
    )  # fmt: skip


@pytest.mark.parametrize("delivery", ["slot", "local", "auto"])
def test_a_tuple_gives_a_tuple(windows: tensorcache.Windows, delivery: str) -> None:
    asked = (Part("context", ["shop", "word"], "int64"), "known_target", "observed", "item")
    with windows.feed(batch_size=5, delivery=delivery, parts=asked) as feed:
        epochs = [list(feed), list(feed)]
    for batches in epochs:
        assert sum(len(batch[3]) for batch in batches) == len(windows)
        category, known, observed, item = batches[0]
        of = windows[:5]
        assert category.dtype == np.int64
        np.testing.assert_array_equal(category, of.context[..., 1:])
        np.testing.assert_array_equal(known, of.known_target)
        np.testing.assert_array_equal(observed, of.observed)
        assert item.tolist() == ["a"] * 5


def test_slots_have_nothing_else(windows: tensorcache.Windows) -> None:
    with windows.feed(batch_size=8, delivery="slot", parts={"x": "known_context"}) as feed:
        parts = feed._stream.reply["parts"]
        assert [part["name"] for part in parts] == ["known_context", "item", "start"]
        assert feed.stats()["slot_bytes"] == 8 * 4 * 8 + 2 * 64
    with windows.feed(batch_size=8, delivery="slot", parts=("time", "item")) as feed:
        assert [part["name"] for part in feed._stream.reply["parts"]] == ["item", "start"]
        assert feed.path == ""


def test_arrays_are_writable_and_kept(windows: tensorcache.Windows) -> None:
    with windows.feed(batch_size=3, parts=("context",), slots=3, delivery="slot") as feed:
        kept = [context for (context,) in feed]
    want = [windows[3 * number : 3 * number + 3].context for number in range(len(kept))]
    for got, values in zip(kept, want, strict=True):
        np.testing.assert_array_equal(got, values)
        got[...] = 0


@pytest.mark.parametrize("writable", [False, True])
def test_views_share_rows(cache: tensorcache.Cache, writable: bool) -> None:
    data = cache.put("plain", {"a": np.arange(30.0), "b": np.arange(30.0)}, dtype="float32")
    windows = data.windows(context_length=4, prediction_length=2, columns="a", known_columns="b")
    asked = {"y": "target", "k": "known_context", "item": "item", "row": "row"}
    with windows.feed(batch_size=6, delivery="view", writable=writable, parts=asked) as feed:
        batch = next(iter(feed))
    of = windows[:6]
    np.testing.assert_array_equal(batch["y"], of.target)
    np.testing.assert_array_equal(batch["k"], of.known_context)
    assert batch["row"].tolist() == [0, 1, 2, 3, 4, 5]
    assert {array.flags.writeable for array in batch.values()} == {writable}
    assert (batch["y"].strides[0] == batch["y"].strides[1]) != writable


def test_masks_are_made_if_they_are_named(windows: tensorcache.Windows) -> None:
    for delivery in ("slot", "local", "view"):
        asked = ("mask", "context_missing", Part("target_missing", ["word"]))
        order = windows.dataset.windows(context_length=4, prediction_length=2, columns=["word"])
        with order.feed(batch_size=2, parts=asked, delivery=delivery) as feed:
            mask, missing, word = next(iter(feed))
        assert mask.all()
        assert missing.shape == (2, 4, 1)
        assert word.shape == (2, 2, 1)
        assert not missing.any() | word.any()


def test_lanes_have_resets(windows: tensorcache.Windows) -> None:
    lanes = windows.dataset.windows(context_length=5, stride=5, columns="sales")
    with lanes.feed(batch_size=2, order="lanes", parts=("reset", "start")) as feed:
        got = [reset.tolist() for reset, _ in feed]
    with lanes.feed(batch_size=2, order="lanes") as feed:
        assert got == [batch.reset.tolist() for batch in feed]
    assert got[0] == [True, True]


def test_windows_of_latest_have_known_and_no_target(cache: tensorcache.Cache) -> None:
    columns = {"sales": [*np.arange(5.0), np.nan, np.nan], "price": np.arange(7.0)}
    windows = cache.put("latest", columns).windows(
        context_length=3, prediction_length=2, columns="sales", known_columns="price"
    )
    asked = {"x": "context", "y": "target", "k": "known_target", "m": "target_observed"}
    for delivery in ("slot", "local"):
        with windows.latest().feed(batch_size=2, parts=asked, delivery=delivery) as feed:
            batch = next(iter(feed))
        assert set(batch) == {"x", "k"}
        assert batch["k"].tolist() == [[[5.0], [6.0]]]
    with pytest.raises(tensorcache.SpecError, match=r"target: windows of latest\(\) have none"):
        windows.latest().feed(batch_size=2, parts=("target",))


@pytest.mark.parametrize(
    ("parts", "error", "says"),
    [
        ("context", tensorcache.SpecError, 'parts: got "context", want a tuple'),
        ((), tensorcache.SpecError, r"parts: got \(\)"),
        ({}, tensorcache.SpecError, "parts: got {}"),
        (7, tensorcache.SpecError, "parts: got 7"),
        ({1: "context"}, tensorcache.SpecError, "parts: got the key 1, want text"),
        (("contxt",), tensorcache.SpecError, '"contxt"; near: context'),
        ((3,), tensorcache.SpecError, "parts: got 3"),
        (("context", "start", "context"), tensorcache.SpecError, "parts: got context twice"),
        (("reset",), tensorcache.SpecError, 'reset: only order="lanes"'),
        ({"r": "reset"}, tensorcache.SpecError, "have none of them"),
        ((Part("context", ["sale"]),), tensorcache.NotFoundError, 'no column "sale"; near: sales'),
        ((Part("context", ["price"]),), tensorcache.NotFoundError, 'no column "price"'),
        ((Part("context", ["sales"], "int64"),), tensorcache.SpecError, '"sales" is float64'),
        ((Part("context", dtype="float9"),), tensorcache.SpecError, 'dtype: got "float9"'),
        ((Part("context", dtype="as stored"),), tensorcache.SpecError, '"as stored"'),
        ((Part("context", dtype="int8"),), tensorcache.SpecError, "or the dtype in which all"),
        ({"x": "start", "y": "start"}, tensorcache.SpecError, 'start twice, as "x" and "y"'),
        ({"x": None}, tensorcache.SpecError, "parts: got None; want one of context"),
    ],
)
def test_wrong_parts_are_refused(
    windows: tensorcache.Windows, parts: Any, error: Any, says: str
) -> None:
    with pytest.raises(error, match=says) as caught:
        windows.feed(batch_size=2, parts=parts)
    assert caught.value.field == "parts"


@pytest.mark.parametrize(
    ("make", "field", "says"),
    [
        (lambda: Part("context", []), "columns", "got no column for context"),
        (lambda: Part("context", ["a", "a"]), "columns", 'got column "a" twice'),
        (lambda: Part("time", ["a"]), "columns", "for time, which has none to choose"),
        (lambda: Part("observed", None, "int8"), "dtype", "for observed, which has none"),
        (lambda: Part("context", 3), "columns", "columns: got 3"),
        (lambda: Part("context", {"a"}), "columns", "got a set, want a list"),
        (lambda: Part("context", dtype=3), "dtype", "dtype: got 3"),
    ],
)
def test_parts_that_cannot_be_are_refused(make: Any, field: str, says: str) -> None:
    with pytest.raises(tensorcache.SpecError, match=says) as caught:
        make()
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("options", "field", "says"),
    [
        ({"mask": True}, "mask", "mask: got True with parts"),
        ({"delivery": "starts"}, "parts", 'context with delivery="starts"'),
        ({"delivery": "view", "order": "shuffle"}, "delivery", "no view is possible"),
    ],
)
def test_options_that_contradict_parts_are_refused(
    windows: tensorcache.Windows, options: Any, field: str, says: str
) -> None:
    with pytest.raises(tensorcache.SpecError, match=says) as caught:
        windows.feed(batch_size=2, parts=("context",), **options)
    assert caught.value.field == field


def test_a_tuple_refuses_what_windows_lack(windows: tensorcache.Windows) -> None:
    alone = windows.dataset.windows(context_length=4, columns="sales")
    for name, says in {
        "target": "predict nothing", "target_observed": "predict nothing",
        "known": "known_columns=", "known_target": "known_columns=", "static": "static_columns=",
    }.items():  # fmt: skip
        with pytest.raises(tensorcache.SpecError, match=f"parts: {name}: .*{says}"):
            alone.feed(batch_size=2, parts=("context", name))
    known = windows.dataset.windows(context_length=4, columns="sales", known_columns="price")
    with pytest.raises(tensorcache.SpecError, match="known_target: these windows predict nothing"):
        known.feed(batch_size=2, parts=("known_target",))


def test_a_dtype_that_loses_values_is_refused(windows: tensorcache.Windows) -> None:
    big = windows.dataset.windows(context_length=4, columns="big", dtype="int64")
    with pytest.raises(tensorcache.SpecError, match='column "big" holds 16777256') as caught:
        big.feed(batch_size=2, parts=(Part("context", dtype="float32"),))
    assert caught.value.field == "parts"
    padded = windows.dataset.windows(
        context_length=4, columns="shop", min_context=1, pad_value=np.nan
    )
    with pytest.raises(tensorcache.SpecError, match="context: pad_value: got NaN, want") as caught:
        padded.feed(batch_size=2, parts=(Part("context", dtype="int64"),))
    assert caught.value.field == "parts"
    with padded.feed(batch_size=2, parts=(Part("context", dtype="float64"),)) as feed:
        assert np.isnan(next(iter(feed))[0][0, 0])


def test_auto_changes_the_delivery_within_a_pass(
    cache: tensorcache.Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = cache.put("auto", {"a": np.arange(40.0), "b": np.arange(40.0)}, dtype="float32")
    windows = data.windows(context_length=4, columns="a", known_columns="b")
    asked = {"k": "known_context", "row": "row", "o": "observed"}
    with windows.feed(batch_size=3, parts=asked) as feed:
        exchange(monkeypatch, feed, after=3)
        batches = [(feed.delivery, batch) for batch in feed]
    assert [delivery for delivery, _ in batches[:5]] == ["slot"] * 3 + ["local"] * 2
    for number, (_, batch) in enumerate(batches):
        of = windows[3 * number : 3 * number + 3]
        np.testing.assert_array_equal(batch["k"], of.known_context)
        np.testing.assert_array_equal(batch["o"], of.observed)
        assert batch["row"].tolist() == of.start.tolist()


@pytest.mark.parametrize("parts", [("start", "item"), ("observed",), ("static",)])
def test_auto_has_no_choice_without_values_in_rows(
    windows: tensorcache.Windows, parts: tuple[str, ...]
) -> None:
    with windows.feed(batch_size=3, parts=parts) as feed:
        assert feed._chooser is None


def test_one_array_of_a_batch_keeps_its_slot(windows: tensorcache.Windows) -> None:
    asked = {"x": "context", "k": "known"}
    with windows.feed(batch_size=3, parts=asked, slots=3, delivery="slot") as feed:
        kept = [batch["k"] for batch in feed]
        assert feed.stats()["copied"] > 0
        for number, known in enumerate(kept):
            np.testing.assert_array_equal(known, windows[3 * number : 3 * number + 3].known)
        del known
        kept.clear()
        assert feed.stats()["held"] == 0


@pytest.mark.parametrize("delivery", ["slot", "local"])
def test_integers_may_be_narrower_if_all_fit(cache: tensorcache.Cache, delivery: str) -> None:
    columns = {"shop": [0, -(2**31), 2**31 - 1, 7], "id": [1, 2, 3, 2**31]}
    data = cache.put("narrow", columns)
    windows = data.windows(context_length=2, columns="shop", dtype="int32")
    assert windows[0].context.dtype == np.int32
    part = Part("context", ["shop"], "int32")
    with data.windows(context_length=2).feed(
        batch_size=3, parts=(part,), delivery=delivery
    ) as feed:
        assert next(iter(feed))[0][:, 1, 0].tolist() == [-(2**31), 2**31 - 1, 7]
    with pytest.raises(tensorcache.SpecError, match="from 1 to 2147483648, which does not"):
        data.windows(context_length=2, dtype="int32")


def test_a_feed_of_parts_resumes(windows: tensorcache.Windows) -> None:
    options: dict[str, Any] = {"batch_size": 3, "order": "shuffle", "seed": 5, "parts": ("row",)}
    with windows.feed(**options) as feed:
        batches = iter(feed)
        for _ in range(2):
            next(batches)
        state = feed.state_dict()
        rest = [row.tolist() for (row,) in batches]
    with windows.feed(**options) as again:
        again.load_state_dict(state)
        assert [row.tolist() for (row,) in again] == rest
