"""Hugging Face Transformers: a ``Trainer`` that takes windows as its datasets.

transformers is imported by :func:`trainer_class`, not before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._extras import required

__all__ = ["trainer_class"]


def trainer_class(
    base: Any = None, *, names: Mapping[str, str] | None = None, **options: Any
) -> Any:
    """A subclass of ``transformers.Trainer`` that takes windows as train, eval and test datasets.

    Their batches come from a feed, shuffled with the arguments' ``data_seed``, else ``seed``, in
    batches of ``per_device_train_batch_size`` windows, shared by the processes as Accelerate
    numbers them. Training that is resumed from a checkpoint continues at the next batch. Other
    datasets are used as before. Arguments about workers, samplers and collation do not apply to
    windows.

    Args:
        base: the class to extend; None is ``transformers.Trainer``.
        names: the parts to give the model, and the names of the model's arguments for them. None
            is ``{"context": "past_values", "target": "future_values"}``, unless ``parts`` or
            ``arrange`` is given.
        options: for :func:`tensorcache.torch.loader`: ``parts`` (a mapping of the model's arguments
            to parts), ``arrange``, ``channels_first``, ``resident``, ``slots`` and others for all
            datasets, ``order``, ``tail``, ``weights``, ``min_items`` and ``batches_per_epoch`` for
            training.

    Raises:
        SpecError: the base is no Trainer, or a name is of no part.

    Returns:
        The class; used as ``trainer_class()(model=…, args=…, train_dataset=windows)``.
    """
    with required("transformers"):
        from ._adapters import transformers_trainer
    return transformers_trainer.extended(base, names, options)
