"""A batch is a record: what takes it for a tuple, and what changes it in place."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorcache
from tensorcache._feed.batch import is_set

pytestmark = pytest.mark.portable


@pytest.mark.parametrize("delivery", ["slot", "view", "local", "starts"])
def test_unpacking_and_indexing_a_batch_name_its_parts(
    etth1: tensorcache.Dataset, delivery: str
) -> None:
    windows = etth1.windows(context_length=4, prediction_length=2, dtype=None, columns=["OT"])
    with windows.feed(batch_size=3, delivery=delivery) as feed:
        batch: Any = next(iter(feed))
    for use in (lambda: tuple(batch), lambda: batch[0], lambda: batch["context"]):
        with pytest.raises(TypeError, match=r"batch\.context, batch\.target"):
            use()
    with pytest.raises(TypeError, match=r"batch\.context"):
        _, _ = batch


@pytest.mark.parametrize("delivery", ["auto", "slot", "view", "local"])
@pytest.mark.parametrize("order", ["sequential", "random_start"])
def test_writable_batches_can_be_changed_and_change_nothing_else(
    cache: tensorcache.Cache, delivery: str, order: str
) -> None:
    values = np.arange(80, dtype=np.float32)
    data = cache.put("changed", {"id": [1] * 50 + [2] * 30, "a": values, "k": values}, item_id="id")
    windows = data.windows(context_length=4, prediction_length=2, known_columns=["k"])
    parts = ("context", "target", "known", "item", "item_code", "start", "row")
    with windows.feed(batch_size=7, delivery=delivery, order=order, writable=True) as feed:
        for _ in range(2):
            for batch in feed:
                first = batch.row + np.arange(4)[:, None]
                np.testing.assert_array_equal(batch.context[..., 0], first.T)
                for part in parts:
                    getattr(batch, part)[:] = -1
    np.testing.assert_array_equal(data["a"], values)


def test_views_stay_read_only_without_writable(etth1: tensorcache.Dataset) -> None:
    windows = etth1.windows(context_length=4, dtype=None, columns=["OT"])
    with windows.feed(batch_size=3, delivery="view") as feed:
        assert not next(iter(feed)).context.flags.writeable
    with pytest.raises(tensorcache.SpecError, match="writable"):
        windows.feed(batch_size=3, writable=1)  # type: ignore[arg-type]


COPIES: dict[str, Callable[[Any], Any]] = {
    "copy": lambda batch: batch.copy(),
    "copy of a copy": lambda batch: batch.copy().copy(),
    "copy module": copy.deepcopy,
    "pickle": lambda batch: pickle.loads(pickle.dumps(batch)),
}


def known_windows(cache: tensorcache.Cache) -> tensorcache.Windows:
    """Windows of 4 context and 3 target rows, the first of which is the last of the context."""
    values = np.arange(50, dtype=np.float32)
    data = cache.put("known-parts", {"a": values, "k": -values, "k2": values * 2})
    return data.windows(
        context_length=4, prediction_length=2, overlap=1, columns=["a"], known_columns=["k", "k2"]
    )


@pytest.mark.parametrize("read_before", [False, True])
@pytest.mark.parametrize("kind", COPIES)
@pytest.mark.parametrize("delivery", ["slot", "view", "local"])
def test_copies_have_the_parts_of_known(
    cache: tensorcache.Cache, delivery: str, kind: str, read_before: bool
) -> None:
    windows = known_windows(cache)
    with windows.feed(batch_size=7, delivery=delivery) as feed:
        for number, batch in enumerate(feed):
            want = windows[7 * number : 7 * number + batch.rows]
            if read_before:
                batch.known_target[:, 0] = 5  # a copy has what was changed
                want.known_target[:, 0] = 5
            copied = COPIES[kind](batch)
            np.testing.assert_array_equal(copied.known_context, want.known_context)
            np.testing.assert_array_equal(copied.known_target, want.known_target)
            np.testing.assert_array_equal(copied.known, want.known)


def test_copies_of_samples_have_the_parts_of_known(cache: tensorcache.Cache) -> None:
    windows = known_windows(cache)
    for sample in (windows[3], windows[2:5]):
        for copied in (pickle.loads(pickle.dumps(sample)), copy.deepcopy(sample)):
            np.testing.assert_array_equal(copied.known_target, sample.known[..., 3:, :])
            np.testing.assert_array_equal(copied.known_context, sample.known[..., :4, :])
        sample.known_target[:] = 5
        assert (pickle.loads(pickle.dumps(sample)).known_target == 5).all()
        assert not (sample.known == 5).any()


@pytest.mark.parametrize("delivery", ["view", "local"])
def test_the_parts_of_known_are_gathered_without_known(
    cache: tensorcache.Cache, delivery: str
) -> None:
    with known_windows(cache).feed(batch_size=7, delivery=delivery, channels_first=True) as feed:
        batch = next(iter(feed))
        assert batch.known_context.shape == (7, 2, 4)
        assert batch.known_target.shape == (7, 2, 3)
        assert not is_set(batch, "known")
        assert batch.known_target.flags.c_contiguous
        np.testing.assert_array_equal(batch.known_target, batch.known[:, :, 3:])


@pytest.mark.parametrize("kind", [None, *COPIES])
@pytest.mark.parametrize("delivery", ["slot", "view", "local"])
def test_the_parts_of_known_are_copies_of_a_changed_known(
    cache: tensorcache.Cache, delivery: str, kind: str | None
) -> None:
    with known_windows(cache).feed(batch_size=7, delivery=delivery) as feed:
        for batch in feed:
            batch.known[:] = -1
            changed = batch if kind is None else COPIES[kind](batch)
            assert (changed.known_context == -1).all()
            changed.known_context[:] = 2
            assert (changed.known_target == -1).all()
            assert (changed.known == -1).all()


def test_a_sample_that_a_user_made_has_no_parts_of_known(cache: tensorcache.Cache) -> None:
    sample = known_windows(cache)[3]
    assert sample.known_target is not None
    assert "known_target" not in repr(sample)
    other = dataclasses.replace(sample, known=sample.known + 1)
    with pytest.raises(AttributeError, match="a sample has no 'known_target'"):
        _ = other.known_target


@pytest.mark.parametrize("delivery", ["slot", "local", "auto"])
def test_latest_windows_have_the_known_target(cache: tensorcache.Cache, delivery: str) -> None:
    values = np.arange(50, dtype=np.float32)
    ended = np.where(values < 47, values, np.nan)
    data = cache.put("known-latest", {"a": ended, "k": -values})
    windows = data.windows(
        context_length=4, prediction_length=2, gap=1, columns=["a"], known_columns=["k"]
    ).latest()
    with windows.feed(batch_size=1, delivery=delivery) as feed:
        for batch in (windows[:], *feed):
            assert batch.target is None
            assert batch.known_context[0, :, 0].tolist() == [-43, -44, -45, -46]
            assert batch.known_target[0, :, 0].tolist() == [-48, -49]


def test_a_batch_of_places_has_no_parts_of_known(cache: tensorcache.Cache) -> None:
    with known_windows(cache).feed(batch_size=7, delivery="starts") as feed:
        batch = next(iter(feed))
        assert batch.known is batch.known_context is batch.known_target is None
        assert batch.copy().known_context is None


def test_the_error_for_an_unknown_part_names_those_of_known(cache: tensorcache.Cache) -> None:
    with known_windows(cache).feed(batch_size=7) as feed:
        batch = next(iter(feed))
        for of in (batch, batch.copy()):
            with pytest.raises(AttributeError, match=r"'known_contxt'.*known_context"):
                _ = of.known_contxt


REFUSED_VIEWS: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({}, {"order": "shuffle"}, "slot"),
    ({"min_context": 1}, {}, "slot"),
    ({"dtype": "float64"}, {}, r'dtype="float64" at the load.*dtype=None'),
    ({"columns": ["HUFL", "OT", "HULL"]}, {}, r'layout="packed"'),
]


@pytest.mark.parametrize(("spec", "options", "hint"), REFUSED_VIEWS)
def test_a_refused_view_has_a_remedy(
    cache: tensorcache.Cache,
    etth1: tensorcache.Dataset,
    spec: dict[str, Any],
    options: dict[str, Any],
    hint: str,
) -> None:
    names = ["HUFL", "HULL", "OT"]
    data = cache.put("narrow", {name: etth1[name].astype(np.float32) for name in names})
    windows = data.windows(**{"context_length": 4, **spec})
    with pytest.raises(tensorcache.SpecError, match="no view is possible") as caught:
        next(iter(windows.feed(batch_size=2, delivery="view", **options)))
    assert re.search(hint, caught.value.hint), caught.value.hint
