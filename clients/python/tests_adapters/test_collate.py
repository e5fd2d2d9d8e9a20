"""A DataLoader over windows names what takes them; one with a collation of its own works."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import tensorcache


@pytest.mark.parametrize("workers", [0, 1])
def test_default_collation_of_windows_names_the_dataset(
    etth1: tensorcache.Dataset, workers: int
) -> None:
    windows: Any = etth1.windows(context_length=4)
    loader: Any = torch.utils.data.DataLoader(windows, batch_size=2, num_workers=workers)
    with pytest.raises(TypeError, match=r"tensorcache\.torch\.dataset\(windows\)"):
        next(iter(loader))


def test_a_collation_of_ones_own_gets_the_windows(etth1: tensorcache.Dataset) -> None:
    windows: Any = etth1.windows(context_length=4)
    loader: Any = torch.utils.data.DataLoader(windows, batch_size=2, collate_fn=list)
    first = next(iter(loader))
    assert [sample.context.shape for sample in first] == [(4, 7), (4, 7)]
