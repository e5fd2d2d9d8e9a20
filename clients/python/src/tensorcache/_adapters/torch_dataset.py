"""Windows as a map-style dataset of torch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.utils.data import Dataset, SequentialSampler, default_collate

from .._feed.batch import PARTS, Array

if TYPE_CHECKING:
    from .._data.sample import Sample
    from .._windows import Windows
    from .loader import Loader


class WindowDataset(Dataset[Any]):
    """See :func:`tensorcache.torch.dataset`."""

    def __init__(self, windows: Windows, form: str) -> None:
        self.windows = windows
        self._form = form

    def __len__(self) -> int:
        return len(self.windows)

    def __getitem__(self, index: int | Sequence[int]) -> Any:
        """One window, or several along a leading axis for the list of a batch sampler."""
        return self._tensors(self.windows[index])

    def __getitems__(self, indices: Sequence[int]) -> Many:
        """Several windows, cut together: a sequence of the objects that ``dataset[i]`` returns."""
        return Many(self._tensors(self.windows[np.asarray(indices, np.int64)]), len(indices))

    @staticmethod
    def collate(samples: Sequence[Any]) -> Any:
        """A batch of samples: as they were cut together, or torch's ``default_collate`` of them."""
        return samples.together if isinstance(samples, Many) else default_collate(list(samples))

    def _tensors(self, sample: Sample) -> Any:
        if self._form == "tuple":
            return tuple(
                tensor(part) for part in (sample.context, sample.target) if part is not None
            )
        parts = ((name, getattr(sample, name, None)) for name in PARTS)
        return {name: tensor(part) for name, part in parts if part is not None}

    def __repr__(self) -> str:
        return f"<torch dataset of {self.windows!r}>"


class InOrderSampler(SequentialSampler):
    """A ``SequentialSampler`` that tells a trainer that a loader's order is sequential."""

    def __init__(self, loader: Loader) -> None:
        super().__init__(loader.dataset)
        self._loader = loader

    def set_epoch(self, epoch: int) -> None:
        """See :meth:`Loader.set_epoch`."""
        self._loader.set_epoch(epoch)


class Many(Sequence[Any]):
    """Samples that were cut together, made one by one on access."""

    def __init__(self, together: Any, count: int) -> None:
        self.together = together
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(self._count))]
        if isinstance(self.together, dict):
            return {name: part[index] for name, part in self.together.items()}
        return tuple(part[index] for part in self.together)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(self._count))


def tensor(part: Any) -> torch.Tensor:
    """A tensor over an array of a sample, or of a number; times and durations are int64."""
    array: Array = np.asarray(part)
    return torch.from_numpy(array.view("<i8") if array.dtype.kind in "mM" else array)
