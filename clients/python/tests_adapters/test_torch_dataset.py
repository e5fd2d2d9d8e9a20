"""The map-style dataset in a DataLoader, for each way to start its workers."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import BatchSampler, DataLoader, RandomSampler

import tensorcache

C, P, B = 24, 6, 32

# If JAX is loaded too, it warns of forks in a hook that cannot raise.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*fork:DeprecationWarning", "ignore:.*os.fork:RuntimeWarning"
)


@pytest.fixture(scope="module")
def windows(etth1: tensorcache.Dataset) -> tensorcache.Windows:
    """171 windows: 5 batches of 32, the last of 11."""
    return etth1.windows(context_length=C, prediction_length=P, rows=(0, 200), max_missing=None)


@pytest.fixture(scope="module")
def batches(windows: tensorcache.Windows) -> list[dict[str, torch.Tensor]]:
    with tensorcache.torch.loader(windows, batch_size=B, format="dict") as loader:
        return list(loader)


def same(batch: Any, want: dict[str, torch.Tensor]) -> None:
    assert batch.keys() == want.keys()
    for name, tensor in want.items():
        assert batch[name].dtype == tensor.dtype, name
        assert torch.equal(batch[name], tensor), name


@pytest.mark.parametrize(
    ("how", "together"),
    [(None, False), (None, True), ("fork", False), ("fork", True), ("spawn", True)],
)
def test_a_data_loader_gives_the_batches_of_the_feed(
    windows: tensorcache.Windows,
    batches: list[dict[str, torch.Tensor]],
    how: str | None,
    together: bool,
) -> None:
    dataset = tensorcache.torch.dataset(windows, format="dict")
    options: dict[str, Any] = (
        {}
        if how is None
        else {"num_workers": 1 if how == "spawn" else 2, "multiprocessing_context": how}
    )
    if together:
        options["collate_fn"] = dataset.collate
    loader = DataLoader(dataset, batch_size=B, **options)
    assert len(loader) == 6
    for batch, want in zip(loader, batches, strict=True):
        same(batch, want)


def test_samples_are_tensors_of_their_own(windows: tensorcache.Windows) -> None:
    dataset = pickle.loads(pickle.dumps(tensorcache.torch.dataset(windows)))
    assert len(dataset) == 171
    context, target = dataset[-1]
    np.testing.assert_array_equal(context, windows[-1].context)
    np.testing.assert_array_equal(target, windows[-1].target)
    context.zero_()
    assert torch.equal(dataset[170][1], target)
    assert dataset[170][0].any()
    with pytest.raises(IndexError):
        dataset[171]
    some = dataset.__getitems__([5, 3, 5])
    assert len(some) == 3
    for (context, target), number in zip(some, (5, 3, 5), strict=True):
        assert torch.equal(context, dataset[number][0])
        assert torch.equal(target, dataset[number][1])
    assert torch.equal(some[1:][0][0], dataset[3][0])


def test_what_are_no_windows_is_refused(etth1: tensorcache.Dataset) -> None:
    wrong: Any
    for wrong, kind in ((etth1, "Dataset"), ([1, 2], "list")):
        with pytest.raises(
            tensorcache.SpecError, match=f"windows: got a {kind}, want the windows of a dataset"
        ):
            tensorcache.torch.dataset(wrong)


def test_samplers_of_torch_work(windows: tensorcache.Windows) -> None:
    dataset = tensorcache.torch.dataset(windows, format="dict")
    for options in (
        {"shuffle": True, "batch_size": 10},
        {"batch_sampler": BatchSampler(RandomSampler(dataset), 7, drop_last=False)},
        {"sampler": BatchSampler(RandomSampler(dataset), 7, drop_last=False), "batch_size": None},
        {"shuffle": True, "batch_size": None},
    ):
        starts = [batch["start"].reshape(-1).tolist() for batch in DataLoader(dataset, **options)]
        assert sorted(start for some in starts for start in some) == list(range(171))


def test_a_loader_in_a_worker_says_what_to_do(windows: tensorcache.Windows) -> None:
    class Around(torch.utils.data.IterableDataset[Any]):
        def __init__(self) -> None:
            self.loader = tensorcache.torch.loader(windows, batch_size=B)

        def __iter__(self) -> Any:
            try:
                yield from self.loader
            except tensorcache.SpecError as error:
                yield str(error)

    around = Around()
    with around.loader:
        (told,) = DataLoader(around, batch_size=None, num_workers=1, multiprocessing_context="fork")
    assert "each would load everything" in told
    assert "torch.dataset(windows)" in told
