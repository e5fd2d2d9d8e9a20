"""Common ways to make windows in process: the recipes that `make bench` compares with.

Each takes the rows, the windows' starts in the wanted order, and the shape. It yields batches of
``(context [B, C, F], target [B, P, F])`` without end. The bench draws the order before it starts
the clock, except for tensorcache, whose daemon computes the order while it serves.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator

import numpy as np
import torch
from delivery_case import NotMeasuredError, Shape

Pairs = Iterator[tuple[torch.Tensor, torch.Tensor]]
Recipe = Callable[[np.ndarray, np.ndarray, Shape], Pairs]


def expert(array: np.ndarray, starts: np.ndarray, shape: Shape) -> Pairs:
    """One ``index_select`` per batch from a strided view of windows; parts are slices."""
    order = torch.from_numpy(starts)
    rows = torch.from_numpy(array).as_strided(
        (shape.windows, shape.length * shape.features), (shape.features, 1)
    )
    while True:
        for at in range(0, len(order) - shape.batch + 1, shape.batch):
            batch = rows.index_select(0, order[at : at + shape.batch]).view(
                shape.batch, shape.length, shape.features
            )
            yield batch[:, : shape.context], batch[:, shape.context :]


def views(array: np.ndarray, starts: np.ndarray, shape: Shape) -> Pairs:
    """``as_strided`` twice per batch.

    A batch has the windows that begin at a row and at the next rows; it copies nothing.
    """
    tensor, features = torch.from_numpy(array), shape.features
    strides = (features, features, 1)
    context, target = (
        (shape.batch, shape.context, features),
        (shape.batch, shape.prediction, features),
    )
    while True:
        for start in starts.tolist():
            yield (
                tensor.as_strided(context, strides, start * features),
                tensor.as_strided(target, strides, (start + shape.context) * features),
            )


class OneByOne(torch.utils.data.Dataset):
    """The textbook dataset: one window per index, two slices each."""

    def __init__(self, array: np.ndarray, shape: Shape) -> None:
        self.rows, self.shape = torch.from_numpy(array), shape

    def __len__(self) -> int:
        return self.shape.windows

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        between = index + self.shape.context
        return self.rows[index:between], self.rows[between : between + self.shape.prediction]


class AllAtOnce(OneByOne):
    """A dataset with ``__getitems__``: one gather for all indices of a batch."""

    def __getitems__(self, indices: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
        shape, features = self.shape, self.shape.features
        rows = self.rows.as_strided((shape.windows, shape.length * features), (features, 1))
        batch = rows.index_select(0, torch.tensor(indices)).view(
            len(indices), shape.length, features
        )
        return batch[:, : shape.context], batch[:, shape.context :]


def same(batch: tuple[torch.Tensor, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return a batch that is already collated."""
    return batch


def loaded(
    dataset: torch.utils.data.Dataset, starts: np.ndarray, shape: Shape, **more: object
) -> Pairs:
    """Yield a dataset's batches through a ``DataLoader``."""
    loader = torch.utils.data.DataLoader(
        dataset, shape.batch, sampler=starts.tolist(), drop_last=True, **more
    )
    while True:
        yield from loader


def textbook(array: np.ndarray, starts: np.ndarray, shape: Shape) -> Pairs:
    """``DataLoader`` without workers."""
    yield from loaded(OneByOne(array, shape), starts, shape)


def two_workers(array: np.ndarray, starts: np.ndarray, shape: Shape) -> Pairs:
    """``DataLoader`` with two workers."""
    yield from loaded(OneByOne(array, shape), starts, shape, num_workers=2)


def getitems(array: np.ndarray, starts: np.ndarray, shape: Shape) -> Pairs:
    """``DataLoader`` with ``__getitems__``."""
    yield from loaded(AllAtOnce(array, shape), starts, shape, collate_fn=same)


class HuggingFace(torch.utils.data.Dataset):
    """Rows in a Hugging Face dataset; a window is a slice of it."""

    def __init__(self, array: np.ndarray, shape: Shape) -> None:
        import datasets
        import pyarrow as pa

        values = pa.FixedSizeListArray.from_arrays(pa.array(array.reshape(-1)), array.shape[1])
        table = datasets.table.InMemoryTable(pa.table({"x": values}))
        self.rows, self.shape = datasets.Dataset(table).with_format("torch"), shape

    def __len__(self) -> int:
        return self.shape.windows

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        window = self.rows[index : index + self.shape.length]["x"]
        return window[: self.shape.context], window[self.shape.context :]


def hugging_face(array: np.ndarray, starts: np.ndarray, shape: Shape) -> Pairs:
    """Hugging Face datasets in the torch format, through a ``DataLoader``."""
    need("datasets")
    yield from loaded(HuggingFace(array, shape), starts, shape)


def need(package: str) -> None:
    """Raise NotMeasuredError if an optional package is not installed."""
    if importlib.util.find_spec(package) is None:
        raise NotMeasuredError(f"{package} is not installed")


PEERS: dict[str, Recipe] = {
    "DataLoader, __getitems__": getitems,
    "DataLoader, textbook": textbook,
    "DataLoader, 2 workers": two_workers,
    "Hugging Face datasets": hugging_face,
}
