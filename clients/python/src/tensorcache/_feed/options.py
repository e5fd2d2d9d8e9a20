"""The options of a feed: as keywords, and as JSON."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

from .. import _checks
from .._errors import SpecError
from .parts import Parts, Selection
from .weights import Weights


class BatchOptions(TypedDict, total=False):
    """What feeds and the loaders of all frameworks have in common.

    Attributes:
        seed: the seed of the order; with the epoch it fixes the order exactly.
        tail: what happens to the last, incomplete step: ``"short"``, ``"wrap"`` or ``"drop"``; None
            is short for one trainer, wrap for several.
        weights: weights of items for ``order="bootstrap"``: ``"even"`` gives all items that have
            windows the same weight; else a mapping of all item values to weights, or one weight an
            item in the order of ``data.items``. None draws all windows evenly.
        min_items: leave out groups with fewer windows, in an order of groups; None leaves out none.
        batches_per_epoch: this rank's number of batches in a pass, for the orders
            ``"sequential"``, ``"shuffle"`` and ``"bootstrap"``. Pass e has the batches from
            e * batches_per_epoch on of the endless sequence of the order's own epochs, so that
            ``"shuffle"`` repeats no window within those, and ``tail`` applies at their end. With
            several ranks, ``tail`` is ``"wrap"`` or ``"drop"``. None makes each pass an epoch of
            the order.
        slots: batches in flight, 3 to 16,384. 0 lets the daemon choose, and tunes the number by the
            time that each side waits.
        channels_first: arrays are ``[B, F, C]`` instead of ``[B, C, F]``.
        mask: deliver ``mask`` even if no window is padded.
        reconnect: when the daemon goes away, find or start another and continue with exactly the
            next batch. If none may be started (``TENSORCACHE_AUTOSTART=0``), wait for the next one
            for up to a minute. None is True for windows of a :class:`Portable`, else False.
    """

    seed: int
    tail: str | None
    weights: Weights | None
    min_items: int | None
    batches_per_epoch: int | None
    slots: int
    channels_first: bool
    mask: bool
    reconnect: bool | None


class FeedOptions(BatchOptions, total=False):
    """What :meth:`Windows.feed` takes.

    Attributes:
        order: ``"sequential"``, ``"shuffle"``, ``"bootstrap"`` (with replacement, see ``weights``),
            ``"random_start"`` (blocks of neighbouring windows), ``"lanes"`` (for stateful
            recurrent models, with ``batch.reset``; needs ``stride=context_length``),
            ``"cross_section"`` or ``"cross_section_sequential"`` (a batch has the windows of all
            items at one time, for models that rank items; times in random order, or ascending).
            docs/WINDOWS.md has their formulas.
        rank: the number of this trainer among ``num_replicas``, from 0.
        num_replicas: how many trainers share an epoch.
        delivery: how batches arrive. ``"slot"``: the daemon gathers them into a slot of the feed's
            ring, dense and writable. ``"view"``: read-only strides over a copy of the batch's rows,
            which neighbouring windows share, for the orders ``"sequential"`` and
            ``"random_start"``, if windows need neither padding nor a conversion (in
            ``"sequential"``, a batch that crosses an item's end is gathered). ``"local"``: this
            process gathers them, and the daemon only sends the order. ``"starts"``: only ``item``,
            ``item_code``, ``start`` and ``row``. ``"auto"``: slots or local, whichever makes the
            first steps shorter.
        writable: whether every batch may be changed: views are copied. Without it, batches are
            writable by ``"slot"`` and ``"local"``, and read-only by ``"view"``.
        parts: the parts of a batch, in place of a :class:`Batch`. ``("context", "known_target",
            "observed")`` makes each batch a tuple of arrays; ``{"x": "context", "y": "target"}``
            makes it a dict with these keys. The names are the attributes of :class:`Batch`, and
            :class:`Part` chooses columns and a dtype. Nothing else is gathered. A dict leaves out
            parts that the windows do not have; a tuple refuses them. ``mask`` and the masks of
            missing values are made whenever they are named.
    """

    order: str
    rank: int
    num_replicas: int
    delivery: str
    writable: bool
    parts: Parts | None


BATCH_DEFAULTS: BatchOptions = {
    "seed": 0,
    "tail": None,
    "weights": None,
    "min_items": None,
    "batches_per_epoch": None,
    "slots": 0,
    "channels_first": False,
    "mask": False,
    "reconnect": None,
}
FEED_DEFAULTS: FeedOptions = {
    "order": "sequential",
    "rank": 0,
    "num_replicas": 1,
    "delivery": "auto",
    "writable": False,
    "parts": None,
    **BATCH_DEFAULTS,
}


def sampler_options(
    batch_size: int | None, order: str, seed: int, rank: int, num_replicas: int, tail: str | None,
    weights: list[float] | Literal["even"] | None = None, min_items: int | None = None,
) -> dict[str, Any]:  # fmt: skip
    """The order of an epoch and this trainer's share of it, as JSON.

    A ``batch_size`` of None makes whole groups.
    """
    return {
        "order": _checks.text("order", order),
        "seed": _checks.between("seed", seed, 0, 2**64 - 1),
        "batch_size": None if batch_size is None else _checks.whole("batch_size", batch_size),
        "rank": _checks.whole("rank", rank),
        "num_replicas": _checks.between("num_replicas", num_replicas, 1),
        "tail": "" if tail is None else _checks.text("tail", tail),
        **({} if weights is None else {"weights": weights}),
        **({} if min_items is None else {"min_items": _checks.between("min_items", min_items, 1)}),
    }


def feed_options(
    sampler: dict[str, Any],
    delivery: str,
    slots: int,
    channels_first: bool,
    mask: bool,
    selection: Selection | None = None,
) -> dict[str, Any]:
    """The fields of a feed's request that do not name the windows."""
    delivery = _checks.text("delivery", delivery)
    if not delivery:  # the daemon reads it as auto
        raise SpecError(
            'delivery: got "", want auto, slot, view, local or starts', field="delivery"
        )
    return {
        "options": sampler,
        "delivery": delivery,
        "slots": _checks.whole("slots", slots),
        "channels_first": _checks.flag("channels_first", channels_first),
        "mask": _checks.flag("mask", mask) and selection is None,
        **({} if selection is None else {"parts": selection.request()}),
    }
