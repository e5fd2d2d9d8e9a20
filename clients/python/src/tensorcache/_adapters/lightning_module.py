"""The data module of Lightning, for either of its two packages."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from .._errors import SpecError
from .._windows import Windows
from ..torch import Loader, loader

if "pytorch_lightning" in sys.modules and "lightning.pytorch" not in sys.modules:
    from pytorch_lightning import LightningDataModule
else:
    from lightning.pytorch import LightningDataModule

TRAINING = (
    "shuffle",
    "order",
    "seed",
    "generator",
    "drop_last",
    "tail",
    "weights",
    "min_items",
    "batches_per_epoch",
)
"""Options for the training part alone."""
ORDERING = ("shuffle", "order", "generator", "weights", "min_items", "batches_per_epoch")
"""Options left out under Lightning's ``overfit_batches``, which needs the same batches in every
epoch."""


class WindowsModule(LightningDataModule):
    """See :func:`tensorcache.lightning.datamodule`.

    Attributes:
        parts: the windows of train, val, test and predict.
    """

    def __init__(
        self,
        parts: Mapping[str, Windows | None],
        batch_size: int | None,
        eval_batch_size: int | None,
        options: dict[str, Any],
    ) -> None:
        super().__init__()
        self.parts = dict(parts)
        self._batch_size = batch_size
        self._eval_batch_size = eval_batch_size
        self._options = options
        self._loaders: dict[str, Loader] = {}

    def train_dataloader(self) -> Any:
        """The loader of the part to train on."""
        options = self._options
        if self.trainer is not None and self.trainer.overfit_batches:
            options = {option: value for option, value in options.items() if option not in ORDERING}
        return self._loader("train", self._batch_size, options)

    def val_dataloader(self) -> Any:
        """The loader of the part to validate on; an empty list without one."""
        return self._evaluating("val") if self.parts["val"] is not None else []

    def test_dataloader(self) -> Any:
        """The loader of the part to test on."""
        return self._evaluating("test")

    def predict_dataloader(self) -> Any:
        """The loader of the part to predict from."""
        return self._evaluating("predict")

    def teardown(self, stage: str) -> None:
        """Close the loaders: the daemon frees their rings."""
        for made in self._loaders.values():
            made.close()
        self._loaders = {}

    def _evaluating(self, name: str) -> Loader:
        options = {
            option: value for option, value in self._options.items() if option not in TRAINING
        }
        return self._loader(name, self._eval_batch_size, options)

    def _loader(self, name: str, batch_size: int | None, options: dict[str, Any]) -> Loader:
        windows = self.parts[name]
        if windows is None:
            raise SpecError(f"{name}: the data module has no such windows", field=name)
        if name in self._loaders:
            self._loaders.pop(name).close()
        made = self._loaders[name] = loader(windows, batch_size=batch_size, **options)
        return made
