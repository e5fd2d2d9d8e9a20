"""The loader of Accelerate."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from accelerate import Accelerator
from accelerate.data_loader import DataLoaderStateMixin
from accelerate.state import GradientState

from .. import torch
from .._errors import FeedError, SpecError
from .._feed.orders import traits
from .._windows import Windows
from .same_content import compare_ranks


class NoBatchSampler:
    """Takes the place of the batch sampler that Accelerate reads; only the daemon has one."""

    def __iter__(self) -> Iterator[Any]:
        raise FeedError(
            "skip_first_batches is for a DataLoader, and cannot skip batches of this loader",
            type="cannot_skip",
            hint="loader.load_state_dict(state) goes on in the middle of an epoch, as load_state() "
            "does after "
            "accelerator.register_for_checkpointing(loader)",
        )


class AccelerateLoader(torch.Loader, DataLoaderStateMixin):
    """A torch loader that updates Accelerate's gradient state, as Accelerate's own loaders do."""

    batch_sampler = NoBatchSampler()

    @property
    def gradient_state(self) -> Any:
        """Accelerate's gradient state; a process has one."""
        return GradientState()

    @property
    def total_batch_size(self) -> int:
        """The windows in a step of all processes.

        Raises:
            SpecError: the order has batches of any sizes. Accelerate then leaves the last batch as
                it is. It would cut it to the remainder of all windows by this number.
        """
        size, order = self._settings.batch_size, self._settings.order
        if size is None or traits(order).blocks:
            raise SpecError(f"order: got {order}, whose batches have no one size", field="order")
        return size * self.share()[1]

    @property
    def _drop_last(self) -> bool:
        """Whether the last step of a pass is not filled with windows from the epoch's start."""
        return self._settings.tail == "drop" or self._settings.batches_per_epoch is not None

    def __iter__(self) -> Iterator[Any]:
        compare_ranks(self._settings.windows.dataset, self.share())
        feed = self.feed
        self.begin()
        try:
            for batch in feed:
                self.end_of_dataloader = feed._position.is_over()
                yield batch
                del batch
        finally:
            self.end()


def of(
    accelerator: Any,
    windows: Windows,
    options: dict[str, Any],
    kind: type[AccelerateLoader] = AccelerateLoader,
) -> Any:
    """A loader of a class for an accelerator's process and device."""
    if not isinstance(accelerator, Accelerator):
        raise SpecError(
            f"accelerator: got a {type(accelerator).__name__}, want an accelerate.Accelerator",
            field="accelerator",
        )
    for name in ("rank", "num_replicas"):
        if name in options:
            raise SpecError(
                f"{name}: got {options[name]!r}, want none: it is the accelerator's",
                field=name,
                hint=f"leave it out, or use tensorcache.torch.loader, whose {name} you give",
            )
    device = accelerator.device
    made = torch.loader(
        windows,
        **{"device": device if device.type == "cuda" else None, **options},
        rank=accelerator.process_index,
        num_replicas=accelerator.num_processes,
    )
    return made.as_kind(kind)
