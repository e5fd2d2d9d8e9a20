"""The orders of an epoch, as far as they matter to this client; the daemon has their formulas."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from .._index.index import WindowIndex
from . import random_start


class Traits(NamedTuple):
    """How an order behaves.

    Attributes:
        ascending: whether every epoch visits all windows from the first to the last.
        blocks: whether a position is a whole batch, so that a cursor counts batches, not windows.
        groups: whether a batch has windows of one group only, and may be a whole group.
        whole_epochs: whether a pass is a whole epoch, so that ``batches_per_epoch`` is not allowed.
        batches: returns the number of this rank's batches in an epoch, for a feed's options; None
            if all epochs have the same number.
    """

    ascending: bool = False
    blocks: bool = False
    groups: bool = False
    whole_epochs: bool = False
    batches: Callable[[int, WindowIndex, Mapping[str, Any]], int] | None = None


ORDERS: Mapping[str, Traits] = MappingProxyType({
    "sequential": Traits(ascending=True),
    "shuffle": Traits(),
    "bootstrap": Traits(),
    "random_start": Traits(blocks=True, whole_epochs=True, batches=random_start.of_epoch),
    "lanes": Traits(whole_epochs=True),
    "cross_section": Traits(blocks=True, groups=True, whole_epochs=True),
    "cross_section_sequential": Traits(blocks=True, groups=True, whole_epochs=True),
})  # fmt: skip


def traits(order: str) -> Traits:
    """The traits of an order; those of shuffle if this client does not know the order."""
    return ORDERS.get(order, Traits())
