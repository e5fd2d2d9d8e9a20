"""Hugging Face Accelerate: a torch loader that each process reads its own share of.

``accelerator.prepare`` hands it back as it is: Accelerate would cut a ``DataLoader`` into shards,
or have one process read for all; this one is cut already. accelerate is imported by :func:`loader`,
not before.
"""

from __future__ import annotations

from typing import Any

from . import torch
from ._adapters.require import required
from ._windows import Windows

__all__ = ["loader"]


def loader(accelerator: Any, windows: Windows, **options: Any) -> torch.Loader:
    """A loader of this process' share, on the accelerator's device.

    It tells the accelerator when an epoch ends, so that ``accumulate`` steps on what is left, and
    ``gather_for_metrics`` leaves out windows that were repeated to fill the last step.
    ``accelerator.register_for_checkpointing(loader)`` makes its place part of ``save_state``.

    Args:
        accelerator: the ``accelerate.Accelerator``.
        windows: what to load.
        options: as for :func:`tensorcache.torch.loader`. ``batch_size`` is each process';
            ``device``, ``rank`` and ``num_replicas`` are the accelerator's.

    Raises:
        SpecError: an option cannot be.
    """
    with required("accelerate", "pip install accelerate, or use tensorcache.torch.loader"):
        from ._adapters import accelerate_loader
    made: torch.Loader = accelerate_loader.of(accelerator, windows, options)
    return made
