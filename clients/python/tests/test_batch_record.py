"""A batch is a record: what takes it for a tuple, and what changes it in place."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import tensorcache

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
