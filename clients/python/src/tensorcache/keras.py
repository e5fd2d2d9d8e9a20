"""Keras 3: windows as a ``PyDataset`` for ``fit``, ``evaluate`` and ``predict``, on any backend.

keras is imported by :func:`dataset`, not before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._adapters.options import KERAS_DEFAULTS, KerasOptions, LoaderOptions, Settings
from ._extras import required
from ._feed.options import BatchOptions
from ._keywords import takes
from ._windows import Windows

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["dataset"]


@takes(KERAS_DEFAULTS, BatchOptions, LoaderOptions, KerasOptions)
def dataset(windows: Windows, **options: Unpack[KerasOptions]) -> Any:
    """A ``keras.utils.PyDataset`` of ``(context, target)``, or ``(context,)`` without targets.

    Each pass of Keras is one epoch, in the order of the feed. ``dataset[i]`` is the next batch of
    the pass for any i, so the shuffling of batch numbers, Keras's default in ``fit``, changes
    nothing. The batch that Keras reads to build a model is not lost. ``len`` counts batches;
    ``set_epoch``, ``state_dict``, ``load_state_dict``, ``stats`` and ``close`` are as in a loader.

    Args:
        windows: the windows to load.
        **options: of the loader.

    Raises:
        SpecError: options contradict each other, or one is out of range.
    """
    with required("keras"):
        from ._adapters import keras_dataset
    if options["arrange"] is None and options["parts"] is None:
        options = {**options, "arrange": keras_dataset.pair}
    return keras_dataset.WindowsDataset(keras_dataset.ArrayLoader(Settings.of(windows, options)))
