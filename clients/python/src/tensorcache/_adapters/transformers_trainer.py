"""The Trainer of Transformers, with feeds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import transformers
from torch.utils.data import IterableDataset

from .._errors import SpecError, show
from .._feed.batch import PARTS
from .._windows import Windows
from .accelerate_loader import AccelerateLoader, of
from .arrange import arrange_of

NAMES: Mapping[str, str] = MappingProxyType({"context": "past_values", "target": "future_values"})
"""The names of a window's parts in the forecasting models of Transformers."""

TRAINING = ("order", "tail", "weights", "min_items", "batches_per_epoch")
"""Options for training alone."""


class Epoch(IterableDataset[Any]):
    """A loader's batches as a dataset; Accelerate skips batches of it when training is resumed."""

    def __init__(self, loader: Renamed) -> None:
        self._loader = loader

    def __iter__(self) -> Iterator[Any]:
        return iter(self._loader)

    def __len__(self) -> int:
        given = self._loader._settings
        if given.batches_per_epoch is None:
            return len(given.windows)
        return given.batches_per_epoch * self._loader.total_batch_size


class Renamed(AccelerateLoader):
    """A loader whose batches have a model's names of parts.

    Attributes:
        names: the model's names by ours; None leaves batches as they are.
    """

    names: Mapping[str, str] | None = None

    def extra(self) -> dict[str, Any]:
        """The attributes that Accelerate makes a DataLoader of: a dataset of whole batches."""
        return {"dataset": Epoch(self), "batch_size": None, "drop_last": False}

    def __iter__(self) -> Iterator[Any]:
        if self.names is None:
            yield from super().__iter__()
            return
        names = self.names.items()
        for batch in super().__iter__():
            named = {theirs: batch[ours] for ours, theirs in names if ours in batch}
            del batch
            yield named
            del named


class EpochOfState(transformers.TrainerCallback):
    """Sets the epoch of a loader, also if the Trainer has wrapped it to skip batches."""

    def on_epoch_begin(
        self, args: Any, state: Any, control: Any, train_dataloader: Any = None, **_: Any
    ) -> None:
        """Set the epoch before each epoch, whether it begins or is resumed."""
        if isinstance(train_dataloader, Renamed):
            train_dataloader.set_epoch(int(state.epoch or 0))


def check_names(names: Any) -> None:
    """Refuse names of parts that windows do not have.

    Raises:
        SpecError: ``names`` is no mapping of parts.
    """
    strange = (
        [name for name in names if name not in PARTS] if isinstance(names, Mapping) else [names]
    )
    if strange:
        raise SpecError(
            f"names: got {show(strange[0])}, want names for parts of a window: {', '.join(PARTS)}",
            field="names",
            hint='names={"context": "x", "target": "y"} gives a model its arguments x and y',
        )


def extended(base: Any, names: Mapping[str, str] | None, options: dict[str, Any]) -> Any:
    """See :func:`tensorcache.transformers.trainer_class`."""
    options = {**options, "arrange": arrange_of(options.get("arrange"))}
    parts, arrange = options.get("parts"), options["arrange"]
    if names is not None and (parts is not None or arrange is not None):
        given = "arrange" if parts is None else "parts"
        raise SpecError(
            f"names: got {show(names)} with {given}=, want one of them",
            field="names",
            hint="parts= has the names of the model as keys, and the function of arrange= returns "
            "a dict with these keys",
        )
    if parts is not None and arrange is None and not isinstance(parts, Mapping):
        raise SpecError(
            f"parts: got {show(parts)}, want a mapping: models take named parts", field="parts"
        )
    if parts is None and arrange is None and names is None:
        names = NAMES
    base = transformers.Trainer if base is None else base
    if not (isinstance(base, type) and issubclass(base, transformers.Trainer)):
        raise SpecError(
            f"base: got {base!r}, want transformers.Trainer or a subclass of it", field="base"
        )
    if names is not None:
        check_names(names)
    renamed = None if names is None else dict(names)

    class Trainer(base):
        """A Trainer whose datasets may be windows."""

        def __init__(self, *args: Any, **given: Any) -> None:
            super().__init__(*args, **given)
            self.add_callback(EpochOfState())

        def get_train_dataloader(self) -> Any:
            """A feed of the windows to train on."""
            if not isinstance(self.train_dataset, Windows):
                return super().get_train_dataloader()
            seed = self.args.seed if self.args.data_seed is None else self.args.data_seed
            more = {
                "order": "shuffle",
                "seed": seed,
                "drop_last": self.args.dataloader_drop_last or None,
                **options,
            }
            return self._windows_loader(self.train_dataset, self._train_batch_size, more)

        def get_eval_dataloader(self, eval_dataset: Any = None) -> Any:
            """A feed of the windows to evaluate on, in their order."""
            found = self.eval_dataset if eval_dataset is None else eval_dataset
            if isinstance(found, str):
                found = self.eval_dataset[found]
            return self._evaluating(found) or super().get_eval_dataloader(eval_dataset)

        def get_test_dataloader(self, test_dataset: Any) -> Any:
            """A feed of the windows to predict from, in their order."""
            return self._evaluating(test_dataset) or super().get_test_dataloader(test_dataset)

        def _evaluating(self, windows: Any) -> Any:
            if not isinstance(windows, Windows):
                return None
            more = {name: value for name, value in options.items() if name not in TRAINING}
            return self._windows_loader(windows, self.args.eval_batch_size, more)

        def _windows_loader(self, windows: Windows, batch_size: int, more: dict[str, Any]) -> Any:
            given = {"batch_size": batch_size, **more}
            if parts is None:
                given["format"] = given.get("format") or "dict"
                if given["format"] != "dict" and arrange is None:
                    raise SpecError(
                        f'format: got "{given["format"]}", want "dict": models take named parts',
                        field="format",
                    )
            loader = of(self.accelerator, windows, given, Renamed)
            loader.names = renamed
            return loader

    return Trainer
