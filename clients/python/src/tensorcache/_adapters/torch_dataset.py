"""Windows as a map-style dataset of torch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from torch.utils.data import Dataset, SequentialSampler, default_collate

from .._feed.batch import PARTS
from .._feed.window_parts import WindowParts
from .torch_delivery import tensor

if TYPE_CHECKING:
    from .._feed.parts import Selection
    from .._windows import Windows
    from .arrange import Arrange
    from .loader import Loader


class WindowDataset(Dataset[Any]):
    """See :func:`tensorcache.torch.dataset`."""

    def __init__(
        self, windows: Windows, form: str, selection: Selection | None, arrange: Arrange | None
    ) -> None:
        self.windows = windows
        self._form = form
        self._selection = selection
        self._parts = None if selection is None else WindowParts(windows, selection)
        self._arrange = arrange

    def __len__(self) -> int:
        return len(self.windows)

    def __getitem__(self, index: int | slice | Sequence[int]) -> Any:
        """One window, or several along a leading axis: of a slice, or a batch sampler's list."""
        if isinstance(index, slice):
            index = range(*index.indices(len(self)))
        return self._arranged(self._tensors(index), index)

    def __getitems__(self, indices: Sequence[int]) -> Many:
        """Several windows, cut together: a list of the objects that ``dataset[i]`` returns."""
        return Many(self._tensors(indices), list(indices), self._arranged)

    @staticmethod
    def collate(samples: Sequence[Any]) -> Any:
        """A batch of samples: as they were cut together, or torch's ``default_collate`` of them."""
        return samples.batch() if isinstance(samples, Many) else default_collate(list(samples))

    def _arranged(self, tensors: Any, index: Any) -> Any:
        if self._arrange is None:
            return tensors
        return self._arrange(tensors, lambda: numbers_of(index))

    def _tensors(self, index: Any) -> Any:
        if self._parts is not None and self._selection is not None:
            arrays = self._parts.several(index) if np.ndim(index) else self._parts.one(index)
            return self._selection.pack([tensor(array) for array in arrays])
        sample = self.windows[np.asarray(index, np.int64) if np.ndim(index) else index]
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


def numbers_of(index: Any) -> str:
    """The number of a window, or those of several."""
    if not np.ndim(index):
        return f"window {index}"
    numbers = ", ".join(str(number) for number in index[:3])
    return f"windows {numbers}{', …' * (len(index) > 3)}"


class Many(list[Any]):
    """Samples that were cut together, made when the first of them is read.

    torch's ``default_collate`` reads the first one, and then all of them several times, tensors out
    of the list itself.

    Args:
        together: the tensors of all samples, in a tuple or a dict.
        indices: the numbers of their windows.
        arrange: turns the tensors of a sample, or of all, into what ``dataset[i]`` returns.
    """

    def __init__(
        self, together: Any, indices: list[int], arrange: Callable[[Any, Any], Any]
    ) -> None:
        super().__init__([None] * len(indices))
        self._together = together
        self._indices = indices
        self._arrange = arrange
        self._made = False

    def __getitem__(self, index: Any) -> Any:
        self._make()
        return super().__getitem__(index)

    def __iter__(self) -> Iterator[Any]:
        self._make()
        return super().__iter__()

    def batch(self) -> Any:
        """The samples as they were cut."""
        return self._arrange(self._together, self._indices)

    def _make(self) -> None:
        if not self._made:
            self._made = True
            self[:] = [self._sample(i) for i in range(len(self))]

    def _sample(self, i: int) -> Any:
        if isinstance(self._together, dict):
            sample: Any = {name: part[i] for name, part in self._together.items()}
        else:
            sample = tuple(part[i] for part in self._together)
        return self._arrange(sample, self._indices[i])
