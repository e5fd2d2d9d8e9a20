"""The error of a torch ``DataLoader`` that collates windows itself."""

from __future__ import annotations

import sys
from typing import Any, NoReturn

from .._data.sample import Sample


def refuse_samples() -> None:
    """Make torch's ``default_collate`` name what takes windows, in place of its own error."""
    collate: Any = sys.modules.get("torch.utils.data._utils.collate")
    if collate is not None:
        getattr(collate, "default_collate_fn_map", {}).setdefault(Sample, refuse)


def refuse(batch: Any, **_: Any) -> NoReturn:
    """Refuse a list of samples.

    Raises:
        TypeError: always.
    """
    raise TypeError(
        "a DataLoader cannot collate windows\n"
        "hint: give it tensorcache.torch.dataset(windows) with batch_size=None, or iterate "
        "tensorcache.torch.loader(windows, batch_size=...)"
    )
