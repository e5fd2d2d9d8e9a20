"""The PyDataset of Keras."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import keras

from .._feed.batch import Batch
from .._feed.feed import Feed
from .._feed.part_delivery import deliveries
from .arranged_feed import feed_of
from .loader import Loader

END = object()
"""Stands for the end of a pass."""


class ArrayLoader(Loader):
    """A loader of numpy arrays."""

    def make_feed(self, rank: int, num_replicas: int) -> Feed:
        """A feed of dense batches, or of their parts."""
        given = self._settings
        options = given.feed_options(rank, num_replicas)
        return feed_of(given, options, deliveries(given.selection, writable=False))


class WindowsDataset(keras.utils.PyDataset):
    """See :func:`tensorcache.keras.dataset`."""

    def __init__(self, loader: Loader) -> None:
        super().__init__(workers=1, use_multiprocessing=False)
        _ = loader.feed  # refuses wrong options here, not in the loop
        self._loader = loader
        self._passing: Iterator[Any] | None = None
        self._began: dict[str, Any] = loader.state_dict()
        self._served = self._count = 0

    def __len__(self) -> int:
        return len(self._loader)

    @property
    def num_batches(self) -> int:
        """The number of batches in a pass; reading it begins a pass.

        Keras reads it whenever a pass begins, so the next batch begins one. A pass that was not
        finished begins again, because Keras reads a first batch to build a model.
        """
        self._passing = None
        return len(self._loader)

    def __getitem__(self, index: int) -> Any:
        if self._passing is None:
            if self._served < self._count:
                self._loader.load_state_dict(self._began)
            self._began = self._loader.state_dict()
            # A pass that ended in the middle of an epoch continues there.
            self._loader.load_state_dict(self._began)
            self._served, self._count = 0, len(self._loader)
            self._passing = iter(self._loader)
        batch = next(self._passing, END)
        if batch is END:  # the epoch was resumed in its middle: continue in the next
            self._passing = iter(self._loader)
            batch = next(self._passing)
        self._served += 1
        return batch

    def __getstate__(self) -> dict[str, Any]:
        # A pass belongs to its process.
        return {
            **self.__dict__,
            "_passing": None,
            "_served": 0,
            "_count": 0,
        }

    def set_epoch(self, epoch: int) -> None:
        """Make the next pass the given epoch, such as ``fit``'s ``initial_epoch``."""
        self._loader.set_epoch(epoch)
        self._begin_again()

    def state_dict(self) -> dict[str, Any]:
        """Where the training is; see :meth:`Feed.state_dict`."""
        return self._loader.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue where the state was saved; see :meth:`Feed.load_state_dict`."""
        self._loader.load_state_dict(state)
        self._begin_again()

    def stats(self) -> dict[str, Any]:
        """What the feed did so far; see :meth:`Feed.stats`."""
        return self._loader.stats()

    def close(self) -> None:
        """End the feed."""
        self._loader.close()

    def _begin_again(self) -> None:
        self._passing, self._served, self._count = None, 0, 0


def pair(batch: Batch) -> tuple[Any, ...]:
    """``(context, target)``, or ``(context,)``."""
    return (batch.context,) if batch.target is None else (batch.context, batch.target)
