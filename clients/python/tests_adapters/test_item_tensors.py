"""Items in tensors: what a loader delivers is given back, and values of items may be tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorcache
import tensorcache.torch

torch = pytest.importorskip("torch")

IDS = [2, 0, 1, 3]
ROWS = 9


@pytest.fixture(scope="module")
def data(cache: tensorcache.Cache) -> tensorcache.Dataset:
    """Items whose values could be codes of other items."""
    y = np.add.outer(1000.0 * np.arange(len(IDS)), np.arange(ROWS))
    columns = {"id": np.repeat(IDS, ROWS), "y": y.ravel()}
    return cache.put(
        "ids", columns, item_id="id", dtype="float64", scale="standard", scale_per="item"
    )


def test_codes_of_a_loader_are_given_back(data: tensorcache.Dataset) -> None:
    windows = data.windows(context_length=3, prediction_length=2, columns="y", dtype=None)
    seen = 0
    with tensorcache.torch.loader(windows, batch_size=5, shuffle=True, format="dict") as loader:
        for batch in loader:
            codes, start = batch["item_code"].numpy(), batch["start"].numpy()
            want = 1000.0 * codes[:, None] + start[:, None] + np.arange(3, 5)
            for given in (batch["item_code"], codes.tolist()):
                got = data.inverse("y", batch["target"][..., 0], item_code=given)
                np.testing.assert_allclose(got, want)
            for row, code, one in zip(batch["target"], batch["item_code"], want, strict=True):
                np.testing.assert_allclose(data.inverse("y", row[:, 0], item_code=code), one)
            seen += len(codes)
    assert seen == len(windows)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32])
def test_values_of_items_may_be_tensors(data: tensorcache.Dataset, dtype: Any) -> None:
    windows = data.windows(context_length=3, columns="y", dtype=None)
    wanted = [3, 0, 3]
    stored = np.stack([data.item(value)["y"] for value in wanted])
    rows = 1000.0 * np.asarray([IDS.index(value) for value in wanted])[:, None] + np.arange(ROWS)
    values = torch.tensor(wanted, dtype=dtype)
    np.testing.assert_allclose(data.inverse("y", stored, item=values), rows)
    np.testing.assert_allclose(data.inverse("y", stored[1], item=values[1]), rows[1])
    assert set(windows.where(items=values)[:].item.tolist()) == {3, 0}
    assert len(windows.starts(values[0])) == ROWS - 2
    np.testing.assert_array_equal(data.item(values[0])["y"], stored[0])


def test_items_named_by_texts_come_from_a_loader_as_codes(cache: tensorcache.Cache) -> None:
    names = ["b", "a", "0"]
    y = np.add.outer(1000.0 * np.arange(len(names)), np.arange(ROWS))
    texts = cache.put(
        "texts", {"id": np.repeat(names, ROWS), "y": y.ravel()}, item_id="id", dtype="float64",
        scale="standard", scale_per="item",
    )  # fmt: skip
    windows = texts.windows(context_length=3, columns="y", dtype=None)
    with tensorcache.torch.loader(windows, batch_size=5, shuffle=True, format="dict") as loader:
        for batch in loader:
            codes, start = batch["item_code"].numpy(), batch["start"].numpy()
            want = 1000.0 * codes[:, None] + start[:, None] + np.arange(3)
            values = texts.items[codes]
            assert values.tolist() == [names[code] for code in codes]
            for how in ({"item_code": batch["item_code"]}, {"item": values}):
                got = texts.inverse("y", batch["context"][..., 0], **how)
                np.testing.assert_allclose(got, want)
