"""The torch loader by each delivery: the same tensors, and the guarantees of each delivery."""

from __future__ import annotations

import gc
import warnings
from typing import Any

import numpy as np
import pytest
import torch

import tensorcache
from choosing import hold_choice

C, P, B = 24, 6, 32


@pytest.fixture(scope="module", params=["columns", "packed"])
def data(request: pytest.FixtureRequest, cache: tensorcache.Cache) -> tensorcache.Dataset:
    """Items of 400, 90 and 35 rows.

    ``a`` to ``c`` are float32, ``m`` has missing values, ``k`` is float64.
    """
    rows = [400, 90, 35]
    rng = np.random.default_rng(5)
    columns: dict[str, Any] = {
        "id": np.repeat([7, 8, 9], rows),
        "t": np.concatenate([np.arange(n) for n in rows]),
        **{name: rng.normal(size=sum(rows)).astype(np.float32) for name in "abc"},
        "m": np.where(rng.random(sum(rows)) < 0.05, np.nan, rng.normal(size=sum(rows))).astype(
            np.float32
        ),
        "k": rng.normal(size=sum(rows)),
    }
    return cache.put(request.param, columns, item_id="id", time="t", layout=request.param)


SPECS: dict[str, dict[str, Any]] = {
    "plain": {"columns": ["a", "b", "c"]},
    "roles": {
        "context_columns": ["a"],
        "target_columns": ["b"],
        "known_columns": ["c"],
        "stride": 3,
        "overlap": 2,
    },
    "context": {"columns": ["b", "c"], "prediction_length": 0, "dilation": 2},
    "padded": {
        "columns": ["a", "m"],
        "min_context": 3,
        "max_missing": 0.2,
        "missing_value": -1.0,
        "pad_value": -2,
    },
    "converted": {"columns": ["a", "k"]},
}


@pytest.mark.parametrize("channels_first", [False, True])
@pytest.mark.parametrize("form", ["tuple", "dict"])
@pytest.mark.parametrize("spec", SPECS)
def test_any_delivery_gives_the_same_tensors(
    data: tensorcache.Dataset, spec: str, form: Any, channels_first: bool
) -> None:
    windows = data.windows(**{"context_length": C, "prediction_length": P, **SPECS[spec]})
    ways = [("sequential", "local"), ("shuffle", "local")]
    if spec not in ("padded", "converted"):
        ways += [("sequential", "view"), ("random_start", "view")]
    for order, delivery in ways:
        options: dict[str, Any] = {
            "batch_size": B, "order": order, "seed": 4, "channels_first": channels_first,
            "format": form, "mask": True,
        }  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            one = tensorcache.torch.loader(windows, **options, delivery=delivery)
            other = tensorcache.torch.loader(windows, **options, delivery="slot")
        with one, other:
            assert one.feed.delivery == delivery
            for here, there in zip(one, other, strict=True):
                assert type(here) is type(there)
                if form == "tuple":
                    here, there = (dict(enumerate(pair)) for pair in (here, there))
                assert here.keys() == there.keys()
                for name, tensor in there.items():
                    assert here[name].dtype == tensor.dtype
                    assert torch.equal(here[name].nan_to_num(9e9), tensor.nan_to_num(9e9)), name


def test_blocks_are_used_again_once_nothing_refers_to_them(data: tensorcache.Dataset) -> None:
    windows = data.windows(context_length=C, prediction_length=P, columns=["a", "b"])
    with tensorcache.torch.loader(windows, batch_size=8, delivery="local") as loader:
        seen = set()
        for context, target in loader:
            assert context.data_ptr() % 64 == target.data_ptr() % 64 == 0
            seen.add(context.data_ptr())
            context.add_(1)  # the block is writable and not shared
        assert len(seen) == 2, "one with the loop, one being filled"
        kept = [(context, target.sum()) for context, target in loader]
        assert len({context.data_ptr() for context, _ in kept}) == len(kept), (
            "none is used while it is kept"
        )
        again = [context.clone() for context, _ in loader]
        assert all(torch.equal(one, other) for (one, _), other in zip(kept, again, strict=True))
        places = {context.data_ptr() for context, _ in kept}
        del kept
        gc.collect()
        assert {context.data_ptr() for context, _ in loader} <= places | seen


def test_a_view_that_is_changed_in_place_is_found_out(data: tensorcache.Dataset) -> None:
    windows = data.windows(context_length=C, prediction_length=P, columns=["a", "b"])
    was = data["a"].copy()
    changes: list[Any] = [
        lambda x, y: x.add_(1), lambda x, y: y[0, 0].zero_(), lambda x, y: torch.relu_(x),
        lambda x, y: torch.neg(y, out=y), lambda x, y: x.transpose(1, 2).mul_(2),
    ]  # fmt: skip

    def change_all(change: Any) -> None:
        for context, target in loader:
            change(context, target)

    with tensorcache.torch.loader(windows, batch_size=8, delivery="view") as loader:
        clean = [context.clone() for context, _ in loader]
        for change in changes:
            for inference in (False, True):
                with torch.inference_mode(inference):
                    with pytest.raises(tensorcache.FeedError, match="changed in place") as raised:
                        change_all(change)
                    assert raised.value.type == "view_changed"
                    loader.set_epoch(0)
                    again = [context.clone() for context, _ in loader]
                assert all(map(torch.equal, clean, again))
                assert len(again) == len(clean)
    np.testing.assert_array_equal(data["a"], was)


@pytest.mark.parametrize("order", ["sequential", "random_start"])
@pytest.mark.parametrize("form", ["tuple", "dict"])
def test_a_write_that_torch_does_not_count_shows_in_no_other_batch(
    data: tensorcache.Dataset, form: Any, order: str
) -> None:
    windows = data.windows(context_length=C, prediction_length=P, columns=["a", "b"])
    options: dict[str, Any] = {"batch_size": 7, "format": form, "order": order}
    held, strided = [], 0
    with (
        tensorcache.torch.loader(windows, **options, delivery="view") as views,
        tensorcache.torch.loader(windows, **options, delivery="slot") as slots,
    ):
        for _ in range(2):
            for batch, want in zip(views, slots, strict=True):
                for part in ("context", "target") if form == "dict" else (0, 1):
                    assert torch.equal(batch[part], want[part])
                    strided += not batch[part].is_contiguous()
                    batch[part].numpy()[...] = len(held)
                    held.append(batch[part])
    assert all((tensor == number).all() for number, tensor in enumerate(held))
    assert strided > len(held) // 2


def test_starts_are_items_and_rows(data: tensorcache.Dataset) -> None:
    windows = data.windows(context_length=C, columns=["a"])
    with tensorcache.torch.loader(windows, batch_size=B, shuffle=True, delivery="starts") as loader:
        places = [
            (i, s)
            for item, start in loader
            for i, s in zip(item.tolist(), start.tolist(), strict=True)
        ]
    sample = windows[:]
    assert sorted(places) == list(
        zip(sample.item_code.tolist(), sample.start.tolist(), strict=True)
    )


@pytest.mark.parametrize("chosen", ["slot", "local"])
def test_auto_keeps_what_makes_steps_short(
    data: tensorcache.Dataset, monkeypatch: pytest.MonkeyPatch, chosen: str
) -> None:
    windows = data.windows(context_length=C, prediction_length=P, columns=["a", "b"])
    options: dict[str, Any] = {"batch_size": 8, "shuffle": True, "seed": 2, "format": "dict"}

    def equal(here: dict[str, torch.Tensor], there: dict[str, torch.Tensor]) -> None:
        assert here.keys() == there.keys()
        assert all(torch.equal(here[name], there[name]) for name in there)

    with (
        tensorcache.torch.loader(windows, **options) as loader,
        tensorcache.torch.loader(windows, **options, delivery="slot") as slots,
    ):
        hold_choice(monkeypatch, loader, slots, chosen, equal)
        assert (loader.feed.path == "") == (chosen == "local")


def test_auto_has_no_choice_where_torch_cannot_gather(data: tensorcache.Dataset) -> None:
    windows = data.windows(context_length=C, columns=["a", "k"])
    with tensorcache.torch.loader(windows, batch_size=B) as loader:
        list(loader)
        assert loader.stats()["step_s"] == {}
        assert loader.feed.delivery == "slot"
