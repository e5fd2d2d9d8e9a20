"""Where the passes over a feed begin and end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import _checks
from .._errors import SpecError
from .._index.index import WindowIndex
from .cursor import Place
from .orders import ORDERS, traits

LAST_EPOCH = 2**64 - 1
"""The greatest number that an epoch of an order has in the protocol."""


class Passes:
    """Passes that are the epochs of the order.

    Attributes:
        inside_epochs: whether a pass may end inside an epoch of the order.
        epoch_name: what messages call an epoch of the order.

    Args:
        windows: the windows of the feed.
        options: the order of an epoch and this rank's share of it, as JSON.
        batches: this rank's number of batches in an epoch; not used if epochs differ.
    """

    inside_epochs = False
    epoch_name = "epoch"

    def __init__(self, windows: WindowIndex, options: Mapping[str, Any], batches: int) -> None:
        self._windows = windows
        self._options = options
        self._batches = batches
        order = traits(options["order"])
        size = 1 if order.blocks else options["batch_size"] or 1  # what a cursor counts
        self._step: int = size * options["num_replicas"]
        self._differing = order.batches

    def length(self, place: Place) -> int:
        """This rank's number of batches in the pass that a place is in, from the pass's start."""
        if self._differing is None:
            return self._batches
        return self._differing(place[0], self._windows, self._options)

    def at(self, place: Place) -> tuple[int, int]:
        """The number of the pass that a place is in, and of the batch in that pass."""
        return place[0], place[1] // self._step

    def start(self, number: Any) -> Place:
        """The place where a pass begins.

        Raises:
            SpecError: it is no whole number, or too large.
        """
        return _checks.between("epoch", number, 0, LAST_EPOCH), 0

    def end(self, place: Place) -> Place:
        """The place where the pass ends that a place is in."""
        return place[0] + 1, 0


class PassesOfBatches(Passes):
    """Passes of n batches over the endless sequence of the order's epochs.

    All epochs of the order have the same number of batches. A place that a feed with another number
    of ranks saved may lie inside a batch of this feed. The pass that continues there ends at the
    same place in the sequence, and may have one batch fewer.
    """

    inside_epochs = True
    epoch_name = "the order's epoch"

    def __init__(
        self, windows: WindowIndex, options: Mapping[str, Any], batches: int, n: int
    ) -> None:
        super().__init__(windows, options, batches)
        self._n = n
        self._least = self._step if options["tail"] == "drop" else 1  # windows in a last step

    def length(self, place: Place) -> int:
        """The number of batches in a pass."""
        return self._n

    def at(self, place: Place) -> tuple[int, int]:
        """The number of the pass that a place is in, and of the batch in that pass."""
        epoch, consumed = place
        over = len(self._windows) - consumed < self._least
        step = self._batches if over else consumed // self._step
        return divmod(epoch * self._batches + step, self._n)

    def start(self, number: Any) -> Place:
        """The place where a pass begins.

        Raises:
            SpecError: it is no whole number, or too large.
        """
        passes = (LAST_EPOCH + 1) * self._batches // self._n
        number = _checks.between("epoch", number, 0, min(passes - 1, LAST_EPOCH))
        return self._place(number * self._n)

    def end(self, place: Place) -> Place:
        """The place where the pass ends that a place is in."""
        return self._place((self.at(place)[0] + 1) * self._n)

    def _place(self, batch: int) -> Place:
        """The place of a batch in the sequence."""
        epoch, step = divmod(batch, self._batches)
        return epoch, step * self._step


def checked(batches_per_epoch: Any, options: Mapping[str, Any]) -> int | None:
    """The number of batches in a pass; None if passes are the epochs of the order.

    Raises:
        SpecError: it is no whole number from 1, or not allowed with the options of the order.
    """
    if batches_per_epoch is None:
        return None
    field, order, ranks = "batches_per_epoch", options["order"], options["num_replicas"]
    n = _checks.between(field, batches_per_epoch, 1, 2**48)
    if traits(order).whole_epochs:
        *allowed, last = (name for name in ORDERS if not traits(name).whole_epochs)
        raise SpecError(
            f'{field}: got {n} with order="{order}", want {", ".join(allowed)} or {last}',
            field=field,
        )
    if options["tail"] == "short" and ranks > 1:
        raise SpecError(
            f'{field}: got {n} with tail="short" and num_replicas={ranks}, want "wrap" or "drop"',
            field=field,
            hint='with "short", ranks may have different numbers of batches in an epoch',
        )
    return n


def passes_of(
    windows: WindowIndex, options: Mapping[str, Any], batches: int, n: int | None
) -> Passes:
    """The passes of a feed.

    Args:
        windows: the windows of the feed.
        options: the order of an epoch and this rank's share of it, as JSON.
        batches: this rank's number of batches in an epoch of the order.
        n: this rank's number of batches in a pass; None if passes are the epochs of the order.
    """
    if n is None:
        return Passes(windows, options, batches)
    return PassesOfBatches(windows, options, batches, n)
