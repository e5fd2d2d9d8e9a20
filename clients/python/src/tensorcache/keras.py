"""Keras 3: windows as a ``PyDataset`` for ``fit``, ``evaluate`` and ``predict``, on any backend.

keras is imported by :func:`dataset`, not before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._adapters.loader import settings
from ._adapters.require import required
from ._errors import SpecError
from ._feed.batch import Batch
from ._feed.weights import Weights
from ._windows import Windows

__all__ = ["dataset"]


def dataset(
    windows: Windows,
    *,
    batch_size: int = 1,
    shuffle: bool | None = None,
    order: str | None = None,
    seed: int = 0,
    drop_last: bool | None = None,
    tail: str | None = None,
    weights: Weights | None = None,
    rank: int = 0,
    num_replicas: int = 1,
    arrange: Callable[[Batch], Any] | None = None,
    slots: int = 0,
    channels_first: bool = False,
    mask: bool = False,
    reconnect: bool = False,
) -> Any:
    """A ``keras.utils.PyDataset`` of ``(context, target)``, or ``(context,)`` without targets.

    Each pass of Keras is one epoch, in the order of the feed: that Keras' ``fit`` shuffles the
    numbers of batches, as it does by default, changes nothing, since ``dataset[i]`` is the next
    batch of the pass, whatever i is. The batch that Keras looks at to build a model is not lost.
    ``len`` counts batches; ``set_epoch``, ``state_dict``, ``load_state_dict``, ``stats`` and
    ``close`` are as a loader has them.

    Args:
        windows: what to load.
        batch_size: windows a batch.
        shuffle: short for ``order="shuffle"``; False for ``"sequential"``.
        order: the order of an epoch, as for :meth:`Windows.feed`.
        seed: of the order.
        drop_last: short for ``tail="drop"``.
        tail: what becomes of the last, incomplete step: ``"short"``, ``"wrap"``, ``"drop"``.
        weights: of items, for ``order="bootstrap"``, as for :meth:`Windows.feed`.
        rank: which of the trainers this is.
        num_replicas: how many there are.
        arrange: makes of a :class:`Batch` what Keras gets: ``(inputs, targets)`` or ``(inputs,
            targets, sample_weights)``, of arrays or of dicts of arrays.
        slots: batches in flight; 0 lets the daemon choose.
        channels_first: ``[B, F, C]`` instead of ``[B, C, F]``.
        mask: deliver ``mask`` even where nothing is padded.
        reconnect: when the daemon goes away, go on with another, as for :meth:`Windows.feed`.

    Raises:
        SpecError: options contradict each other, or one cannot be.
    """
    with required("keras", "pip install keras, or use windows.feed(...)"):
        from ._adapters import keras_dataset
    if arrange is not None and not callable(arrange):
        raise SpecError(
            f"arrange: got {arrange!r}, want a function",
            field="arrange",
            hint="arrange=lambda batch: (batch.context, batch.target) is what it does without",
        )
    given = settings(
        windows, batch_size, shuffle, order, seed, drop_last, tail, weights, rank, num_replicas,
        "slot", slots,
        channels_first, mask, reconnect,
    )  # fmt: skip
    return keras_dataset.WindowsDataset(
        keras_dataset.ArrayLoader(given), arrange or keras_dataset.pair
    )
