"""The feed of a loader, with ``arrange=`` applied to its batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._feed.feed import Feed
from .arrange import Arrange
from .options import Settings

if TYPE_CHECKING:
    from .._feed.auto_delivery import Chooser
    from .._feed.numpy_delivery import Deliver, Deliveries, Delivery
    from .._feed.position import Position
    from .._feed.ring import Ring


def feed_of(
    given: Settings,
    options: dict[str, Any],
    deliveries: Deliveries,
    chooser: Chooser | None = None,
    finish: Callable[[Any], Any] | None = None,
) -> Feed:
    """A feed of a loader, with ``arrange`` applied to its batches.

    Args:
        given: the loader's settings.
        options: of the feed, as JSON.
        deliveries: the deliveries of the batches that are passed to ``arrange``.
        chooser: chooses the delivery.
        finish: is applied to the result of ``arrange``.
    """
    place = NextBatch()
    if given.arrange is not None or finish is not None:
        deliveries = {
            name: changed(delivery, given.arrange, finish, place)
            for name, delivery in deliveries.items()
        }
    feed = Feed(
        given.windows,
        options,
        deliveries,
        chooser,
        given.reconnect,
        given.selection,
        given.batches_per_epoch,
    )
    place.position = feed._position
    return feed


def changed(
    delivery: Delivery,
    arrange: Arrange | None,
    finish: Callable[[Any], Any] | None,
    place: NextBatch,
) -> Delivery:
    """A delivery that applies the functions to the batches of another one."""

    def make(ring: Ring, layout: Any) -> Deliver:
        made = delivery(ring, layout)

        def deliver(slot: int, rows: int, flags: int, row: int) -> Any:
            batch = made(slot, rows, flags, row)
            if arrange is not None:
                batch = arrange(batch, place.text)
            return batch if finish is None else finish(batch)

        return deliver

    return make


class NextBatch:
    """Names the batch that a loader delivers next.

    Attributes:
        position: that of the loader's feed.
    """

    position: Position

    def text(self) -> str:
        """The number of the batch in its epoch, and the epoch."""
        epoch, batch = self.position.passes.at(self.position.of_stream())
        return f"batch {batch} of epoch {epoch}"
