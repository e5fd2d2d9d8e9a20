"""Helpers that import a peer library and put its series."""

from __future__ import annotations

import importlib
import os
import warnings
from typing import Any

import numpy as np

import tensorcache

os.environ.setdefault("KERAS_BACKEND", "torch")


def peer(name: str) -> Any:
    """Import a module of another library without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module(name)


def put(cache: tensorcache.Cache, *series: Any) -> tensorcache.Dataset:
    """Put series as items 0, 1, …; each has shape ``[rows]``."""
    ids = np.repeat(np.arange(len(series)), [len(one) for one in series])
    return cache.put("peer", {"id": ids, "v": np.concatenate(series)}, item_id="id")


def windows_of(data: tensorcache.Dataset, **spec: Any) -> tensorcache.Windows | None:
    """Return the windows in float64, or None if there are none."""
    try:
        return data.windows(dtype="float64", **spec)
    except tensorcache.SpecError as error:
        if error.type != "no_windows":
            raise
        return None
