"""The loader of Accelerate."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from accelerate.data_loader import DataLoaderStateMixin
from accelerate.state import GradientState

from . import torch
from ._windows import Windows


class Accelerated(torch.Loader, DataLoaderStateMixin):
    """A torch loader that keeps Accelerate's gradient state told of where it is, as Accelerate's own loaders do."""

    @property
    def gradient_state(self) -> Any:
        """Accelerate's; there is one in a process."""
        return GradientState()

    @property
    def total_batch_size(self) -> int:
        """Windows a step of all processes."""
        return self._settings.batch_size * self.share()[1]

    @property
    def _drop_last(self) -> bool:
        """Whether no step is filled with windows of the epoch's start."""
        return self._settings.tail == "drop"

    def __iter__(self) -> Iterator[Any]:
        feed = self.feed
        self.begin()
        try:
            for batch in feed:
                self.end_of_dataloader = feed._place(of_stream=True)[1] == 0  # the start of the next epoch
                yield batch
                del batch
        finally:
            self.end()


def of(accelerator: Any, windows: Windows, options: dict[str, Any], kind: type[Accelerated] = Accelerated) -> Any:
    """A loader of a kind for an accelerator's process and device."""
    device = accelerator.device
    made = torch.loader(
        windows,
        **{"device": device if device.type == "cuda" else None, **options},
        rank=accelerator.process_index,
        num_replicas=accelerator.num_processes,
    )
    return made.as_kind(kind)
