"""PyTorch: a loader whose tensors lie in memory that is used again, and a map-style dataset.

``tensorcache.torch.loader(train, batch_size=32, shuffle=True)`` stands where a ``DataLoader``
stands. It is none: no workers, no collate, no pickling; the daemon has the batches ready.
``tensorcache.torch.dataset(train)`` is for a ``DataLoader``. torch is imported by these two, not
before.
"""

from __future__ import annotations

import os
import sys
from typing import Any, Literal

from ._adapters.loader import Loader as AnyLoader
from ._adapters.loader import check_windows, settings
from ._adapters.require import required
from ._checks import flag
from ._data.items import show
from ._errors import SpecError
from ._feed.auto_delivery import Chooser
from ._feed.feed import Feed
from ._feed.mapped_windows import Source
from ._feed.numpy_delivery import Deliveries
from ._feed.options import feed_options, sampler_options
from ._feed.orders import traits
from ._feed.weights import Weights
from ._windows import Windows

__all__ = ["Loader", "dataset", "loader"]


def loader(
    windows: Windows,
    *,
    batch_size: int = 1,
    shuffle: bool | None = None,
    order: str | None = None,
    seed: int = 0,
    generator: Any = None,
    drop_last: bool | None = None,
    tail: str | None = None,
    weights: Weights | None = None,
    rank: int | None = None,
    num_replicas: int | None = None,
    format: Literal["tuple", "dict"] = "tuple",  # noqa: A002
    device: Any = None,
    resident: bool = False,
    pin_memory: bool = False,
    num_workers: int = 0,
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
        generator: a ``torch.Generator`` whose ``initial_seed()`` is the seed.
        drop_last: short for ``tail="drop"``.
        tail: what becomes of the last, incomplete step: ``"short"``, ``"wrap"``, ``"drop"``.
        weights: of items, for ``order="bootstrap"``, as for :meth:`Windows.feed`.
        rank: which of the trainers this is. None asks whenever a pass begins: ``torch.distributed``
            where it is initialised, else ``RANK`` and ``WORLD_SIZE`` of the environment, as
            torchrun sets them, else 0 of 1.
        num_replicas: how many there are; None likewise.
        format: ``"tuple"`` yields ``(context, target)``, or ``(context,)`` where nothing is
            predicted; ``"dict"`` yields all parts by name.
        device: where the tensors shall be. On a CUDA device the ring is pinned if that can be,
            batches are copied on a stream of their own while the device computes, and a slot is
            filled anew only after its copy.
        resident: keep the columns on the device and gather there: only items and start rows travel.
        pin_memory: copy each batch into pinned memory, as a ``DataLoader`` does, where there is a
            CUDA device; for loops that call ``.to(device, non_blocking=True)`` themselves.
            ``device=`` saves the copy.
        num_workers: 0: there are none.
        delivery: as for :meth:`Windows.feed`, but that ``"auto"`` never gives views, and chooses
            between ``"slot"`` and ``"local"`` by trying both on the first 900 to 2,000 steps, where
            torch can gather the windows well: the daemon's gather where a core is free, the
            trainer's own where training keeps all of them busy. ``stats()`` tells the choice. By
            ``"view"``, tensors are strides over a private map of the dataset: changing one in place
            is an error at the next batch, and copying one to a GPU moves more than a dense one
            would. By ``"starts"`` a tuple is ``(item, start)``. For a device it is ``"slot"``, or
            with ``resident`` ``"starts"``.
        slots: batches in flight; 0 lets the daemon choose.
        channels_first: ``[B, F, C]`` instead of ``[B, C, F]``.
        mask: deliver ``mask`` even where nothing is padded.
        reconnect: when the daemon goes away, go on with another, as for :meth:`Windows.feed`.

    Raises:
        SpecError: options contradict each other, or one cannot be.
        ResourceError: the columns do not fit on the device.
    """
    if format not in ("tuple", "dict"):
        raise SpecError(f'format: got "{format}", want "tuple" or "dict"', field="format")
    if num_workers != 0:
        raise SpecError(
            f"num_workers: got {num_workers!r}, want 0: the daemon prepares the batches, in any "
            "number",
            field="num_workers",
            hint="leave it out; torch.dataset(windows) is for a DataLoader with workers",
        )
    torch_delivery()  # first: whoever has no torch is told so
    seed = seed_of(seed, generator)
    on = placed(device, delivery, flag("resident", resident), flag("pin_memory", pin_memory))
    given = settings(
        windows, batch_size, shuffle, order, seed, drop_last, tail, weights, rank, num_replicas,
        on[1], slots,
        channels_first, mask, reconnect, format, on[0], resident, pin_memory,
    )  # fmt: skip
    made = Loader(given)
    _ = made.feed  # what cannot be is refused here, not in the loop
    return made


class Loader(AnyLoader):
    """Batches of torch tensors; each pass is one epoch, ``len`` counts this rank's batches in it.

    Tensors are writable (but by ``delivery="view"``); their memory is reused once nothing refers to
    it, so keep what you like, or ``clone()`` it. Attributes and methods are those that trainers
    look for in a ``DataLoader``: ``dataset``, ``sampler`` (see there), ``batch_sampler`` (None),
    ``batch_size``, ``drop_last``, ``num_workers``, ``pin_memory``, and ``state_dict`` and
    ``load_state_dict`` as torchdata's StatefulDataLoader has them. It can be pickled, and used
    after a fork: see :class:`tensorcache._loader.Loader`.
    """

    batch_sampler: Any = None
    num_workers = 0
    prefetch_factor = None
    persistent_workers = False
    _pinned: Any = None

    @property
    def sampler(self) -> Any:
        """The loader itself, for its ``set_epoch``.

        In ascending order a ``SequentialSampler`` of torch that has it.

        Lightning's ``overfit_batches`` takes no other: it wants the same batches in every epoch.
        """
        if not traits(self._settings.order).ascending:
            return self
        from ._adapters.torch_dataset import Onward

        return Onward(self)

    @property
    def pin_memory(self) -> bool:
        """Whether batches are copied into pinned memory."""
        return bool(self._settings.more[3])

    def find_share(self) -> tuple[int, int]:
        """What torch knows of this process among the trainers."""
        return share()

    def make_feed(self, rank: int, num_replicas: int) -> Feed:
        """A feed that makes tensors."""
        given = self._settings
        form, device, resident, pin_memory = given.more
        delivery = torch_delivery()
        sampler = sampler_options(
            given.batch_size, given.order, given.seed, rank, num_replicas, given.tail, given.weights
        )
        options = feed_options(
            sampler, given.delivery, given.slots, given.channels_first, given.mask
        )
        deliveries: Deliveries = delivery.PAIRS if form == "tuple" else delivery.DICTS
        chooser = None
        if resident:
            from ._adapters.torch_resident import resident_deliveries

            deliveries = resident_deliveries(form, device)
        elif device is not None:
            from ._adapters.torch_device import ToDevice

            self._pinned = to = ToDevice(form, device)
            deliveries = to.deliveries
        elif given.delivery == "auto":
            options["delivery"] = "slot"
            if delivery.can_gather(Source(given.windows, given.channels_first, given.mask)):
                chooser = Chooser()
        if pin_memory:
            deliveries = delivery.pinned(deliveries)
        return Feed(given.windows, options, deliveries, chooser, given.reconnect)

    def stats(self) -> dict[str, Any]:
        """What the feed did so far, see :meth:`Feed.stats`.

        With ``device`` also ``pinned``: "yes", or why not.
        """
        return {
            **super().stats(),
            **({} if self._pinned is None else {"pinned": self._pinned.pinned}),
        }


def dataset(windows: Windows, *, format: Literal["tuple", "dict"] = "tuple") -> Any:  # noqa: A002
    """A map-style ``torch.utils.data.Dataset`` of windows, for a ``DataLoader``.

    ``dataset[i]`` is ``(context, target)`` of window i, or ``(context,)``, or all parts by name:
    tensors of their own, cut out of the mapped columns in the calling process. It can be pickled,
    so workers may be started in any way. A ``DataLoader`` asks for a batch at once; with
    ``collate_fn=dataset.collate`` it is handed on as it was cut, instead of being taken apart and
    stacked again.

    Args:
        windows: what to load.
        format: ``"tuple"`` or ``"dict"``.

    Raises:
        SpecError: they are no windows, or the format is another one.
    """
    if format not in ("tuple", "dict"):
        raise SpecError(f'format: got "{format}", want "tuple" or "dict"', field="format")
    check_windows(windows)
    torch_delivery()
    from ._adapters.torch_dataset import Cut

    return Cut(windows, format)


def torch_delivery() -> Any:
    """What makes tensors of descriptors; importing torch happens here."""
    with required("torch", "pip install torch, or use windows.feed(...) with numpy"):
        from ._adapters import torch_delivery
    return torch_delivery


def seed_of(seed: int, generator: Any) -> int:
    """The seed, or the generator's."""
    if generator is None:
        return seed
    import torch

    if not isinstance(generator, torch.Generator):
        raise SpecError(
            f"generator: got {show(generator)}, want a torch.Generator",
            field="generator",
            hint="seed= takes a number",
        )
    if seed != 0:
        raise SpecError(f"generator: got one with seed={seed}, want one of them", field="generator")
    return int(generator.initial_seed())


def placed(device: Any, delivery: str, resident: bool, pin_memory: bool) -> tuple[str | None, str]:
    """The device's name, None for the CPU's pageable memory, and the delivery that suits it."""
    import torch

    try:
        to = None if device is None else torch.device(device)
    except (RuntimeError, TypeError):
        raise SpecError(
            f"device: got {show(device)}, want a torch.device or the name of one",
            field="device",
            hint='"cuda", "cuda:1" and "cpu" are names; leave it out for the memory of the CPU',
        ) from None
    name = None if to is None or to.type == "cpu" else str(to)
    if name is not None and to is not None and to.type == "cuda" and not torch.cuda.is_available():
        raise SpecError(
            f'device: got "{name}", but torch finds no CUDA device',
            field="device",
            hint="leave it out for the memory of the CPU",
        )
    if name is not None and pin_memory:
        raise SpecError(
            f'pin_memory: got True with device="{name}", which pins by itself', field="pin_memory"
        )
    wanted = "starts" if resident else "slot"
    if (resident or name is not None) and delivery not in ("auto", wanted):
        why = "resident=True" if resident else f'device="{name}"'
        raise SpecError(
            f'delivery: got "{delivery}" with {why}, want "auto" or "{wanted}"', field="delivery"
        )
    if resident or name is not None:
        delivery = wanted
    return name, delivery


def share() -> tuple[int, int]:
    """This process' rank and the number of trainers.

    Of ``torch.distributed``, else of the environment, else 0 of 1.

    Raises:
        SpecError: it is a worker of a ``DataLoader``, each of which would load everything.
    """
    import torch.distributed as dist

    workers = sys.modules.get("torch.utils.data")
    if workers is not None and workers.get_worker_info() is not None:
        raise SpecError(
            "a loader has no place in a DataLoader's worker: each would load everything",
            field="num_workers",
            hint="iterate the loader itself, or give the DataLoader torch.dataset(windows)",
        )
    if dist.is_available() and dist.is_initialized():
        return dist.get_rank(), dist.get_world_size()
    if os.environ.get("RANK", "").isdigit() and os.environ.get("WORLD_SIZE", "").isdigit():
        return int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    return 0, 1
