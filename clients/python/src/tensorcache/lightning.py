"""Lightning: a data module over parts of windows; torch loaders work with ``Trainer.fit`` as well.

Under a distributed strategy each process loads its share, as ``torch.distributed`` says. Lightning
adds no sampler, since the loader is no ``DataLoader``. A checkpoint has the loader's place, also in
the middle of an epoch. ``overfit_batches`` needs loaders in sequential order. lightning is imported
by :func:`datamodule`, not before.
"""

from __future__ import annotations

from typing import Any

from ._adapters.arrange import arrange_of
from ._adapters.options import warn_of_workers
from ._extras import required
from ._windows import Windows

__all__ = ["datamodule"]


def datamodule(
    train: Windows | None = None,
    *,
    val: Windows | None = None,
    test: Windows | None = None,
    predict: Windows | None = None,
    batch_size: int | None,
    shuffle: bool = True,
    eval_batch_size: int | None = None,
    **options: Any,
) -> Any:
    """A ``LightningDataModule`` whose loaders are :func:`tensorcache.torch.loader`.

    Args:
        train: the windows to train on.
        val: windows to validate on, in sequential order, as the next two.
        test: windows to test on.
        predict: windows to predict from.
        batch_size: the number of windows in a batch of each process; None makes each batch a whole
            group, in an order of groups. Then give ``eval_batch_size`` too.
        shuffle: whether training visits its windows in a random order.
        eval_batch_size: the number of windows in a batch of the other parts; None is
            ``batch_size``.
        options: of the loaders: ``format``, ``parts`` (a mapping, if the windows to predict from
            have no target), ``arrange``, ``channels_first`` and others for all of them; ``order``,
            ``seed``, ``drop_last``, ``tail``, ``weights``, ``min_items`` and ``batches_per_epoch``
            for training.

    Raises:
        SpecError: when a loader is made: an option is out of range.

    Warns:
        UserWarning: ``num_workers`` is not 0, and is ignored.
    """
    warn_of_workers(options.pop("num_workers", 0))
    options["arrange"] = arrange_of(options.get("arrange"))
    with required("lightning"):
        from ._adapters import lightning_module
    parts = {"train": train, "val": val, "test": test, "predict": predict}
    if "order" not in options:
        options["shuffle"] = shuffle
    evaluating = batch_size if eval_batch_size is None else eval_batch_size
    return lightning_module.WindowsModule(parts, batch_size, evaluating, options)
