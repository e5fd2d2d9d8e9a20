"""Hugging Face Accelerate: a torch loader of which each process reads its own share.

``accelerator.prepare`` returns it unchanged: Accelerate would cut a ``DataLoader`` into shards, or
let one process read for all, but this loader is already cut. accelerate is imported by
:func:`loader`, not before.
"""

from __future__ import annotations

from typing import Any

from . import torch
from ._extras import required
from ._windows import Windows

__all__ = ["loader"]


def loader(accelerator: Any, windows: Windows, **options: Any) -> torch.Loader:
    """A loader of this process's share, on the accelerator's device.

    It tells the accelerator when an epoch ends, so that ``accumulate`` steps on the rest, and
    ``gather_for_metrics`` leaves out windows that were repeated to fill the last step.
    ``accelerator.register_for_checkpointing(loader)`` makes its place part of ``save_state``.

    Args:
        accelerator: the ``accelerate.Accelerator``.
        windows: the windows to load.
        options: as for :func:`tensorcache.torch.loader`. ``batch_size`` is per process; ``device``,
            ``rank`` and ``num_replicas`` are the accelerator's.

    Raises:
        SpecError: an option is out of range.
    """
    with required("accelerate"):
        from ._adapters import accelerate_loader
    made: torch.Loader = accelerate_loader.of(accelerator, windows, options)
    return made
