"""The PyDataset of Keras."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import keras

from .._feed.batch import Batch
from .._feed.feed import Feed
from .loader import Loader


class ArrayLoader(Loader):
    """A loader of the feed's own batches."""

    def make_feed(self, rank: int, num_replicas: int) -> Feed:
        """A feed of dense batches."""
        given = self._settings
        options = given.feed_options(rank, num_replicas)
        return Feed(given.windows, options, reconnect=given.reconnect)


class WindowsDataset(keras.utils.PyDataset):
    """See :func:`tensorcache.keras.dataset`."""

    def __init__(self, loader: Loader, arrange: Callable[[Batch], Any]) -> None:
        super().__init__(workers=1, use_multiprocessing=False)
        _ = loader.feed  # what cannot be is refused here, not in the loop
        self._loader = loader
        self._arrange = arrange
        self._passing: Iterator[Batch] | None = None
        self._began: dict[str, Any] = loader.state_dict()
        self._served = self._count = 0

    def __len__(self) -> int:
        return len(self._loader)

    @property
    def num_batches(self) -> int:
        """The batches of a pass.

        Keras asks for it whenever a pass begins, and so the next batch begins one.

        A pass that was not finished is begun anew: that is how Keras looks at a first batch to
        build a model.
        """
        self._passing = None
        return len(self._loader)

    def __getitem__(self, index: int) -> Any:
        if self._passing is None:
            if self._served < self._count:
                self._loader.load_state_dict(self._began)
            self._began = self._loader.state_dict()
            # A pass that ended in the middle of an epoch goes on there.
            self._loader.load_state_dict(self._began)
            self._served, self._count = 0, len(self._loader)
            self._passing = iter(self._loader)
        batch = next(self._passing, None)
        if batch is None:  # resumed in the middle of an epoch: the pass runs into the next one
            self._passing = iter(self._loader)
            batch = next(self._passing)
        self._served += 1
        return self._arrange(batch)

    def __getstate__(self) -> dict[str, Any]:
        # A pass belongs to its process.
        return {
            **self.__dict__,
            "_passing": None,
            "_served": 0,
            "_count": 0,
        }

    def set_epoch(self, epoch: int) -> None:
        """Have the next pass be the given epoch: ``fit``'s ``initial_epoch``."""
        self._loader.set_epoch(epoch)
        self._anew()

    def state_dict(self) -> dict[str, Any]:
        """Where the training is; see :meth:`Feed.state_dict`."""
        return self._loader.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Have the next pass go on where the state was saved; see :meth:`Feed.load_state_dict`."""
        self._loader.load_state_dict(state)
        self._anew()

    def stats(self) -> dict[str, Any]:
        """What the feed did so far; see :meth:`Feed.stats`."""
        return self._loader.stats()

    def close(self) -> None:
        """End the feed."""
        self._loader.close()

    def _anew(self) -> None:
        self._passing, self._served, self._count = None, 0, 0


def pair(batch: Batch) -> tuple[Any, ...]:
    """``(context, target)``, or ``(context,)``."""
    return (batch.context,) if batch.target is None else (batch.context, batch.target)
