"""JAX: a loader of jax arrays.

On the CPU an array is the slot of shared memory itself, without a copy; JAX holds it until the
array is gone, and only then is it filled anew. For another device a slot is held until it was
copied there. jax is imported by :func:`loader`, not before.
"""

from __future__ import annotations

from typing import Any, Literal

from ._adapters.loader import Loader as AnyLoader
from ._adapters.loader import settings
from ._adapters.require import required
from ._errors import SpecError
from ._feed.feed import Feed
from ._feed.options import feed_options, sampler_options
from ._feed.weights import Weights
from ._windows import Windows

__all__ = ["Loader", "loader"]


def loader(
    windows: Windows,
    *,
    batch_size: int = 1,
    shuffle: bool | None = None,
    order: str | None = None,
    seed: int = 0,
    drop_last: bool | None = None,
    tail: str | None = None,
    weights: Weights | None = None,
    rank: int | None = None,
    num_replicas: int | None = None,
    format: Literal["tuple", "dict"] = "tuple",  # noqa: A002
    device: Any = None,
    slots: int = 0,
    channels_first: bool = False,
    mask: bool = False,
    reconnect: bool = False,
) -> Loader:
    """A loader of jax arrays.

    Args:
        windows: what to load.
        batch_size: windows a batch; of each process, where there are several.
        shuffle: short for ``order="shuffle"``; False for ``"sequential"``.
        order: the order of an epoch, as for :meth:`Windows.feed`.
        seed: of the order.
        drop_last: short for ``tail="drop"``: all batches have one shape, and nothing is compiled
            twice.
        tail: what becomes of the last, incomplete step: ``"short"``, ``"wrap"``, ``"drop"``.
        weights: of items, for ``order="bootstrap"``, as for :meth:`Windows.feed`.
        rank: which of the trainers this is; None is ``jax.process_index()``.
        num_replicas: how many there are; None is ``jax.process_count()``.
        format: ``"tuple"`` yields ``(context, target)``, or ``(context,)`` where nothing is
            predicted; ``"dict"`` yields all parts by name. ``item``, ``start`` and ``time`` are
            numpy arrays: by default JAX has no 64-bit integers.
        device: a ``jax.Device``, or a ``jax.sharding.Sharding`` of the batch: then each process
            gives its part of the global array. None is JAX's default device.
        slots: batches in flight; 0 lets the daemon choose.
        channels_first: ``[B, F, C]`` instead of ``[B, C, F]``.
        mask: deliver ``mask`` even where nothing is padded.
        reconnect: when the daemon goes away, go on with another, as for :meth:`Windows.feed`.

    Raises:
        SpecError: options contradict each other, or one cannot be; or windows have 64 bits without
            ``jax_enable_x64``.
    """
    if format not in ("tuple", "dict"):
        raise SpecError(f'format: got "{format}", want "tuple" or "dict"', field="format")
    jax_delivery().check_device(device)  # first: whoever has no jax is told so
    given = settings(
        windows, batch_size, shuffle, order, seed, drop_last, tail, weights, rank, num_replicas,
        "slot", slots,
        channels_first, mask, reconnect, format, device,
    )  # fmt: skip
    made = Loader(given)
    _ = made.feed  # what cannot be is refused here, not in the loop
    return made


class Loader(AnyLoader):
    """Batches of jax arrays; each pass is one epoch, ``len`` counts this process' batches in it.

    Keep arrays as you like: an array's memory is reused only when JAX has let it go.
    """

    def find_share(self) -> tuple[int, int]:
        """What JAX knows of this process among the others."""
        import jax

        return jax.process_index(), jax.process_count()

    def make_feed(self, rank: int, num_replicas: int) -> Feed:
        """A feed that makes jax arrays."""
        given = self._settings
        form, device = given.more
        sampler = sampler_options(
            given.batch_size, given.order, given.seed, rank, num_replicas, given.tail, given.weights
        )
        options = feed_options(
            sampler, given.delivery, given.slots, given.channels_first, given.mask
        )
        return Feed(
            given.windows, options, jax_delivery().deliveries(form, device), None, given.reconnect
        )


def jax_delivery() -> Any:
    """What makes jax arrays of descriptors; importing jax happens here."""
    with required("jax", "pip install jax, or use windows.feed(...) with numpy"):
        from ._adapters import jax_delivery
    return jax_delivery
