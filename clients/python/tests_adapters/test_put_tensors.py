"""Tensors of torch and datasets of Hugging Face are put as columns."""

from __future__ import annotations

from typing import Any

import datasets
import numpy as np
import pytest
import torch

import tensorcache

DTYPES = [
    torch.float16, torch.float32, torch.float64, torch.bool, torch.uint8,
    torch.int8, torch.int16, torch.int32, torch.int64,
]  # fmt: skip
ROWS = {"id": ["x", "x", "y"], "t": [1, 2, 1], "a": [0.5, 1.5, 2.5]}


@pytest.mark.parametrize("dtype", DTYPES)
def test_tensors_of_every_dtype(cache: tensorcache.Cache, dtype: torch.dtype) -> None:
    tensor = torch.tensor([0, 1, 1]).to(dtype)
    data = cache.put("tensor", {"a": tensor, "wide": torch.stack([tensor, tensor], 1)})
    assert data["a"].dtype == tensor.numpy().dtype
    np.testing.assert_array_equal(data["a"], tensor.numpy())
    assert data["wide"].shape == (3, 2)


def test_tensors_with_gradients_and_bfloat16(cache: tensorcache.Cache) -> None:
    values = torch.tensor([0.5, 1.5], requires_grad=True)
    small = torch.tensor([0.5, 3.0], dtype=torch.bfloat16)
    data = cache.put("tensor", {"a": values, "b": small, "c": small.requires_grad_()})
    assert data["a"].tolist() == [0.5, 1.5]
    assert (data["b"].dtype, data["b"].tolist()) == (np.float32, [0.5, 3.0])
    assert data["c"].tolist() == [0.5, 3.0]
    with pytest.raises(tensorcache.SourceError, match='column "a" is complex64'):
        cache.put("tensor", {"a": torch.zeros(2, dtype=torch.complex64)})


@pytest.mark.parametrize("form", ["whole", "chosen", "stream", "torch"])
def test_datasets_of_hugging_face(cache: tensorcache.Cache, form: str) -> None:
    dataset: Any = datasets.Dataset.from_dict(ROWS)
    if form == "chosen":
        dataset = datasets.Dataset.from_dict({k: v[::-1] for k, v in ROWS.items()})
        dataset = dataset.select([2, 1, 0])
    if form == "stream":
        dataset = dataset.to_iterable_dataset()
    if form == "torch":
        dataset = dataset.with_format("torch")
    want = cache.put("want", ROWS, item_id="id", time="t")
    for method in (cache.put, cache.load):
        assert method("hub", dataset, item_id="id", time="t").digest == want.digest
    with pytest.raises(
        tensorcache.SourceError, match=r'(?s)"train".*put\(name, dataset\["train"\]'
    ):
        cache.put("hub", datasets.DatasetDict({"train": dataset}))
