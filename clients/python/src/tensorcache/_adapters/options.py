"""The keyword options of the loaders, and the settings that they give."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from .._checks import between, flag, whole
from .._errors import SpecError
from .._feed.options import BATCH_DEFAULTS, BatchOptions, feed_options, sampler_options
from .._feed.parts import Part, Parts, Selection, has_part, selection_of
from .._feed.weights import weights as item_weights
from .._warnings import callers_level
from .._windows import Windows
from .arrange import Arrange, arrange_of


class LoaderOptions(BatchOptions, total=False):
    """What the loaders of all frameworks take.

    Attributes:
        batch_size: the number of windows in a batch; of each process if there are several. None
            makes each batch a whole group, in an order of groups.
        shuffle: True is short for ``order="shuffle"``, False for ``order="sequential"``.
        order: the order of an epoch, as for :meth:`Windows.feed`.
        drop_last: True is short for ``tail="drop"``: all batches have one shape.
        parts: the parts of a batch, as for :meth:`Windows.feed`: a tuple of names gives a tuple, a
            mapping gives a dict with its keys. :class:`Part` chooses columns and a dtype. Nothing
            else is gathered.
        arrange: a function that turns each batch, as ``parts`` or the format gives it, into what
            the loop receives. To pickle the loader, define it at the top of a module.
    """

    batch_size: int | None
    shuffle: bool | None
    order: str | None
    drop_last: bool | None
    parts: Parts | None
    arrange: Callable[[Any], Any] | None


class TorchOptions(LoaderOptions, total=False):
    """What :func:`tensorcache.torch.loader` takes.

    Attributes:
        rank: the number of this trainer. None reads it when a pass begins: from
            ``torch.distributed`` if that is initialised, else from ``RANK`` and ``WORLD_SIZE`` of
            the environment, as torchrun sets them, else it is 0 of 1.
        num_replicas: the number of trainers; None likewise.
        format: ``"tuple"`` or None yields ``(context, target)``, or ``(context,)`` if nothing is
            predicted; ``"dict"`` yields the parts by name, without those that a batch makes on
            first access.
        generator: a ``torch.Generator`` whose ``initial_seed()`` is the seed.
        device: the device of the tensors. For a CUDA device the ring is pinned if possible, batches
            are copied on a stream of their own while the device computes, and a slot is filled
            again only after its copy.
        resident: keep the columns on the device and gather there: only items and start rows are
            copied.
        pin_memory: copy each batch into pinned memory, as a ``DataLoader`` does, if there is a CUDA
            device; for loops that call ``.to(device, non_blocking=True)`` themselves. ``device=``
            saves the copy.
        num_workers: ignored with a warning if it is not 0: the daemon prepares the batches.
        delivery: as for :meth:`Windows.feed`. With ``"auto"``, if torch can gather the windows
            well, it tries ``"slot"`` and ``"local"`` on the first 900 to 2,000 steps: the daemon's
            gather is better if a core is idle, the trainer's own if training keeps all cores busy.
            ``stats()`` names the choice. With ``"view"``, tensors are strides over a copy of the
            batch's rows: changing the latest batch in place is an error at the next one. With
            ``"starts"`` and without ``parts``, a tuple is ``(item_code, start)``. For a device it
            is ``"slot"``, with ``resident`` ``"starts"``.
    """

    rank: int | None
    num_replicas: int | None
    format: Literal["tuple", "dict"] | None
    generator: Any
    device: Any
    resident: bool
    pin_memory: bool
    num_workers: int
    delivery: str


class JaxOptions(LoaderOptions, total=False):
    """What :func:`tensorcache.jax.loader` takes.

    Attributes:
        rank: the number of this trainer; None is ``jax.process_index()``.
        num_replicas: the number of trainers; None is ``jax.process_count()``.
        format: ``"tuple"`` or None yields ``(context, target)``, or ``(context,)`` if nothing is
            predicted; ``"dict"`` yields the parts by name, without those that a batch makes on
            first access.
            ``item``, ``item_code``, ``start``, ``row`` and ``time`` are numpy arrays, because JAX
            has no 64-bit integers by default.
        device: a ``jax.Device``, or a ``jax.sharding.Sharding`` of the batch: then each process
            gives its part of the global array. None is JAX's default device.
    """

    rank: int | None
    num_replicas: int | None
    format: Literal["tuple", "dict"] | None
    device: Any


class KerasOptions(LoaderOptions, total=False):
    """What :func:`tensorcache.keras.dataset` takes.

    Attributes:
        rank: the number of this trainer among ``num_replicas``, from 0.
        num_replicas: how many trainers share an epoch.
        arrange: turns a :class:`Batch`, or the ``parts``, into what Keras receives: ``(inputs,
            targets)`` or ``(inputs, targets, sample_weights)``, of arrays or of dicts of arrays.
            None is ``(context, target)``, or the ``parts`` as they are.
    """

    rank: int
    num_replicas: int


LOADER_DEFAULTS: LoaderOptions = {
    "batch_size": 1,
    "shuffle": None,
    "order": None,
    "drop_last": None,
    "parts": None,
    "arrange": None,
    **BATCH_DEFAULTS,
}
TORCH_DEFAULTS: TorchOptions = {
    **LOADER_DEFAULTS,
    "rank": None,
    "num_replicas": None,
    "format": None,
    "generator": None,
    "device": None,
    "resident": False,
    "pin_memory": False,
    "num_workers": 0,
    "delivery": "auto",
}
JAX_DEFAULTS: JaxOptions = {
    **LOADER_DEFAULTS,
    "rank": None,
    "num_replicas": None,
    "format": None,
    "device": None,
}
KERAS_DEFAULTS: KerasOptions = {
    **LOADER_DEFAULTS,
    "rank": 0,
    "num_replicas": 1,
}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The options of a loader, with ``shuffle`` and ``drop_last`` resolved; picklable.

    Attributes:
        windows: the windows to load.
        batch_size: the number of windows in a batch; None makes whole groups.
        order: the order of an epoch.
        seed: the seed of the order.
        tail: what happens to the last, incomplete step.
        weights: weights of items, in their order, or ``"even"``.
        min_items: the least windows of a group; None leaves out no group.
        batches_per_epoch: batches of a pass; None makes a pass an epoch of the order.
        rank: the number of this trainer; None asks the framework at every pass.
        num_replicas: how many trainers there are; None likewise.
        delivery: as for a feed; ``"auto"`` is the loader's own choice.
        slots: batches in flight.
        channels_first: whether arrays are ``[B, F, C]``.
        mask: whether to deliver ``mask`` always.
        reconnect: whether to continue with another daemon.
        selection: the parts of a batch; None is all of them.
        arrange: turns each batch into what the loop receives; None leaves it as it is.
        own: the options of one framework's loader alone.
    """

    windows: Windows
    batch_size: int | None
    order: str
    seed: int
    tail: str | None
    weights: list[float] | Literal["even"] | None
    min_items: int | None
    batches_per_epoch: int | None
    rank: int | None
    num_replicas: int | None
    delivery: str
    slots: int
    channels_first: bool
    mask: bool
    reconnect: bool
    selection: Selection | None
    arrange: Arrange | None
    own: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, windows: Any, options: Mapping[str, Any], **own: Any) -> Settings:
        """The settings of a loader over ``windows`` with these options.

        Raises:
            SpecError: two options contradict each other, or ``windows`` are no windows.
        """
        check_windows(windows)
        given = options["weights"]
        rank, num_replicas = options["rank"], options["num_replicas"]
        order, tail, size = order_of(options), tail_of(options), options["batch_size"]
        if (rank is None) != (num_replicas is None):
            raise SpecError("rank: give rank and num_replicas together, or neither", field="rank")
        return cls(
            windows=windows,
            batch_size=None if size is None else whole("batch_size", size),
            order=order,
            seed=options["seed"],
            tail=tail,
            weights=None if given is None else item_weights(given, windows.dataset.items),
            min_items=options["min_items"],
            batches_per_epoch=options["batches_per_epoch"],
            rank=rank,
            num_replicas=num_replicas,
            delivery=options.get("delivery", "slot"),
            slots=options["slots"],
            channels_first=options["channels_first"],
            mask=options["mask"],
            reconnect=windows.dataset._reconnect(options["reconnect"]),
            selection=selected(windows, options, order, own),
            arrange=arrange_of(options["arrange"]),
            own=own,
        )

    def feed_options(self, rank: int, num_replicas: int) -> dict[str, Any]:
        """The options of a feed for one trainer, as JSON."""
        sampler = sampler_options(
            self.batch_size, self.order, self.seed, rank, num_replicas, self.tail, self.weights,
            self.min_items,
        )  # fmt: skip
        return feed_options(
            sampler, self.delivery, self.slots, self.channels_first, self.mask, self.selection
        )


def selected(
    windows: Windows, options: Mapping[str, Any], order: str, own: Mapping[str, Any]
) -> Selection | None:
    """The parts that ``parts`` or the format names; None for all of them.

    Args:
        windows: the windows of the batches.
        options: those of the loader.
        order: the order of an epoch.
        own: the options of one framework's loader alone.
    """
    parts = options["parts"]
    # Resident columns are gathered where the daemon sends only places.
    delivery = "" if own.get("resident") else options.get("delivery", "slot")
    if parts is not None:
        return selection_of(parts, windows, order, delivery, options["mask"])
    if own.get("format") != "tuple":
        return None
    pair = ("item_code", "start") if delivery == "starts" else ("context", "target")
    return Selection([Part(name) for name in pair if has_part(windows, name, order)], None)


def check_items(windows: Windows, selection: Selection | None) -> None:
    """Refuse to make tensors of items that are no integers.

    Raises:
        SpecError: the parts have ``item``, and the items are not integers.
    """
    if selection is None or "item" not in selection.names:
        return
    if windows.dataset.items[np.zeros(1, np.int64)].dtype.kind == "O":
        raise SpecError(
            "parts: item: torch makes tensors only of items that are integers",
            field="parts",
            hint='"item_code" has the codes: data.items[codes] are the items',
        )


def order_of(options: Mapping[str, Any]) -> str:
    """The order that ``shuffle`` or ``order`` names; sequential if neither is given."""
    shuffle, order = options["shuffle"], options["order"]
    if shuffle is None:
        return order or "sequential"
    wanted = "shuffle" if flag("shuffle", shuffle) else "sequential"
    if order is not None and order != wanted:
        raise SpecError(
            f'shuffle: got {shuffle} with order="{order}", want one of them', field="shuffle"
        )
    return wanted


def tail_of(options: Mapping[str, Any]) -> str | None:
    """The tail that ``drop_last`` or ``tail`` names."""
    drop_last = options["drop_last"]
    tail: str | None = options["tail"]
    if drop_last is None:
        return tail
    if flag("drop_last", drop_last):
        if tail not in (None, "drop"):
            raise SpecError(
                f'drop_last: got True with tail="{tail}", want one of them', field="drop_last"
            )
        return "drop"
    if tail == "drop":
        raise SpecError(
            'drop_last: got False with tail="drop", want one of them', field="drop_last"
        )
    return tail


def format_of(form: Any, parts: Any) -> str:
    """The form of batches: a tuple if None is given.

    Raises:
        SpecError: it is neither ``"tuple"`` nor ``"dict"``, or parts have a form of their own.
    """
    if form is None:
        return "tuple"
    if form not in ("tuple", "dict"):
        raise SpecError(f'format: got "{form}", want "tuple" or "dict"', field="format")
    if parts is not None:
        raise SpecError(
            f'format: got "{form}" with parts=, want one of them',
            field="format",
            hint="a tuple of parts gives a tuple, and a mapping a dict with its keys",
        )
    return str(form)


def warn_of_workers(num_workers: Any) -> None:
    """Warn that a loader ignores ``num_workers``, at the line that called this package.

    Raises:
        SpecError: it is not a whole number of at least 0.
    """
    if between("num_workers", num_workers, 0):
        warnings.warn(
            f"num_workers={num_workers} is ignored: the daemon prepares the batches\n"
            "hint: leave it out; tensorcache.torch.dataset is for a DataLoader with workers",
            UserWarning,
            stacklevel=callers_level(),
        )


def check_windows(windows: Any) -> None:
    """Refuse an object that is not windows.

    Raises:
        SpecError: it is something else.
    """
    if not isinstance(windows, Windows):
        raise SpecError(
            f"windows: got a {type(windows).__name__}, want the windows of a dataset",
            field="windows",
            hint="data.windows(context_length=…) makes them",
        )
