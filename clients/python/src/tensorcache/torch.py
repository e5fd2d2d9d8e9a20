"""PyTorch: a loader whose tensors lie in memory that is used again.

``tensorcache.torch.loader(train, batch_size=32, shuffle=True)`` stands where a ``DataLoader`` stands. It is none: no
workers, no collate, no pickling; the daemon has the batches ready. torch is imported by :func:`loader`, not before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

from ._choose import Chooser
from ._deliver import Makers
from ._errors import DaemonError, SpecError
from ._feed import Feed
from ._feed_options import feed_options, sampler_options
from ._source import Source
from ._weights import Weights
from ._weights import weights as item_weights
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
    delivery: str = "auto",
    slots: int = 0,
    channels_first: bool = False,
    mask: bool = False,
    reconnect: bool = False,
) -> Loader:
    """A loader of torch tensors.

    Args:
        windows: what to load.
        batch_size: windows a batch.
        shuffle: short for ``order="shuffle"``; False for ``"sequential"``.
        order: the order of an epoch, as for :meth:`Windows.feed`.
        seed: of the order.
        drop_last: short for ``tail="drop"``.
        tail: what becomes of the last, incomplete step: ``"short"``, ``"wrap"``, ``"drop"``.
        weights: of items, for ``order="bootstrap"``, as for :meth:`Windows.feed`.
        rank: which of the trainers this is; None asks ``torch.distributed`` where it is initialised, else 0.
        num_replicas: how many there are; None likewise, else 1.
        format: ``"tuple"`` yields ``(context, target)``, or ``(context,)`` where nothing is predicted; ``"dict"``
            yields all parts by name.
        delivery: as for :meth:`Windows.feed`, but that ``"auto"`` never gives views, and chooses between ``"slot"`` and
            ``"local"`` by trying both on the first 256 steps, where torch can gather the windows well: the daemon's
            gather where a core is free, the trainer's own where training keeps all of them busy. ``stats()`` tells
            the choice. By ``"view"``, tensors are strides over a private map of the dataset: changing one in place
            is an error at the next batch, and copying one to a GPU moves more than a dense one would. By ``"starts"``
            a tuple is ``(item, start)``.
        slots: batches in flight; 0 lets the daemon choose.
        channels_first: ``[B, F, C]`` instead of ``[B, C, F]``.
        mask: deliver ``mask`` even where nothing is padded.
        reconnect: when the daemon goes away, go on with another, as for :meth:`Windows.feed`.

    Raises:
        SpecError: options contradict each other, or one cannot be.
    """
    if format not in ("tuple", "dict"):
        raise SpecError(f'format: got "{format}", want "tuple" or "dict"', field="format")
    if shuffle is not None:
        wanted = "shuffle" if shuffle else "sequential"
        if order is not None and order != wanted:
            raise SpecError(f'shuffle: got {shuffle} with order="{order}", want one of them', field="shuffle")
        order = wanted
    if drop_last:
        if tail not in (None, "drop"):
            raise SpecError(f'drop_last: got True with tail="{tail}", want one of them', field="drop_last")
        tail = "drop"
    elif drop_last is not None and tail == "drop":
        raise SpecError('drop_last: got False with tail="drop", want one of them', field="drop_last")
    makers, can_gather = torch_makers(format)  # first: whoever has no torch is told so
    rank, num_replicas = share(rank, num_replicas)
    given = None if weights is None else item_weights(weights, windows.dataset.items)
    sampler = sampler_options(batch_size, order or "sequential", seed, rank, num_replicas, tail, given)
    options = feed_options(sampler, delivery, slots, channels_first, mask)
    chooser = None
    if delivery == "auto":
        options["delivery"] = "slot"
        if can_gather(Source(windows, channels_first, mask)):
            chooser = Chooser()
    return Loader(Feed(windows, options, makers, chooser, reconnect), batch_size, tail == "drop")


class Loader:
    """Batches of torch tensors; each pass is one epoch, ``len`` counts this rank's batches in it.

    Tensors are writable (but by ``delivery="view"``); their memory is reused once nothing refers to it, so keep what
    you like, or ``clone()`` it. Attributes and methods are those that trainers look for in a ``DataLoader``:
    ``dataset``, ``sampler`` (the loader itself, for its ``set_epoch``), ``batch_sampler`` (None), ``batch_size``,
    ``drop_last``, ``num_workers``, and ``state_dict`` and ``load_state_dict`` as torchdata's StatefulDataLoader has
    them.
    """

    batch_sampler = None
    num_workers = 0

    def __init__(self, feed: Feed, batch_size: int, drop_last: bool) -> None:
        self.feed = feed
        self.dataset = feed.windows
        self.batch_size = batch_size
        self.drop_last = drop_last

    @property
    def sampler(self) -> Loader:
        """The loader itself: Lightning calls ``loader.sampler.set_epoch``."""
        return self

    def __len__(self) -> int:
        return len(self.feed)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.feed)

    def set_epoch(self, epoch: int) -> None:
        """Have the next pass be the given epoch, from its start."""
        self.feed.set_epoch(epoch)

    def state_dict(self) -> dict[str, Any]:
        """Where the loop is; see :meth:`Feed.state_dict`."""
        return self.feed.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where a state was saved; see :meth:`Feed.load_state_dict`."""
        self.feed.load_state_dict(state)

    def stats(self) -> dict[str, Any]:
        """What the feed did so far; see :meth:`Feed.stats`."""
        return self.feed.stats()

    def close(self) -> None:
        """End the feed; tensors that were kept stay valid."""
        self.feed.close()

    def __enter__(self) -> Loader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Loader over {self.feed!r}>"


def torch_makers(format: str) -> tuple[Makers, Callable[[Source], bool]]:  # noqa: A002
    """What makes tensors of descriptors, and whether there is a choice; importing torch happens here."""
    try:
        from . import _torch_delivery
    except ImportError as error:
        raise DaemonError(
            "torch is not installed",
            type="torch_missing",
            hint="pip install torch, or use windows.feed(...) with numpy",
        ) from error
    return (_torch_delivery.PAIRS if format == "tuple" else _torch_delivery.DICTS), _torch_delivery.can_gather


def share(rank: int | None, num_replicas: int | None) -> tuple[int, int]:
    """This trainer's rank and their number: as given, else of ``torch.distributed``, else 0 of 1."""
    if (rank is None) != (num_replicas is None):
        raise SpecError("rank: give rank and num_replicas together, or neither", field="rank")
    if rank is not None and num_replicas is not None:
        return rank, num_replicas
    import torch.distributed as dist

    if dist.is_available() and dist.is_initialized():
        return dist.get_rank(), dist.get_world_size()
    return 0, 1
