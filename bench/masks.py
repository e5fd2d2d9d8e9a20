"""Measure what masks of values add to the time of a batch.

    TENSORCACHE_BIN=... python bench/masks.py [--batches 1000]

Each row is a dataset of float32 with 5 % missing values. A feed of context and target, and one of
these and their masks ``observed`` and ``target_observed``, which have twice the bytes, take turns.
The figures are microseconds a batch while the loop does nothing else, the least of four turns, by
the daemon (``slot``) and by the trainer (``local``).
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from typing import Any

import numpy as np

import tensorcache

VALUES = ("context", "target")
MASKS = (*VALUES, "observed", "target_observed")
CASES = ((1_000_000, 8, 96, 24, 64), (1_000_000, 7, 336, 96, 32), (1_000_000, 21, 96, 96, 32))
"""Rows, columns, rows of context and of target, and windows a batch."""
TURNS, WARM = 4, 50


def microseconds(windows: Any, options: dict[str, Any], batches: int) -> float:
    """The time of a batch of a feed."""
    with windows.feed(**options) as feed:
        iterator = iter(feed)
        for _ in range(WARM):
            next(iterator)
        began = time.perf_counter()
        for _ in range(batches):
            next(iterator)
        return (time.perf_counter() - began) / batches * 1e6


def compare(cache: tensorcache.Cache, case: tuple[int, ...], layout: str, batches: int) -> None:
    """Print the rows of a dataset."""
    rows, columns, context, target, size = case
    rng = np.random.default_rng(0)
    values = rng.random((rows, columns), dtype=np.float32)
    values[rng.random(values.shape, dtype=np.float32) < 0.05] = np.nan
    named = {f"c{i}": values[:, i] for i in range(columns)}
    windows = cache.put("masks", named, layout=layout).windows(
        context_length=context, prediction_length=target, max_missing=None
    )
    for order in ("shuffle", "sequential"):
        best: dict[tuple[str, bool], float] = {}
        for _ in range(TURNS):
            for delivery in ("slot", "local"):
                for parts in (VALUES, MASKS):
                    options = {"batch_size": size, "order": order, "delivery": delivery}
                    took = microseconds(windows, {**options, "parts": parts}, batches)
                    key = delivery, parts is MASKS
                    best[key] = min(best.get(key, took), took)
        name = f"{size} × ({context} + {target}) × {columns}, {layout}, {order}"
        figures = [
            f"{delivery} {best[delivery, False]:.0f} → {best[delivery, True]:.0f} µs "
            f"({best[delivery, True] / best[delivery, False]:.2f} ×)"
            for delivery in ("slot", "local")
        ]
        print(f"{name}: {', '.join(figures)}", flush=True)


def main() -> None:
    """Run the bench in a directory of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batches", type=int, default=1000)
    batches = parser.parse_args().batches
    directory = tempfile.mkdtemp(prefix="masks-")
    cache = tensorcache.connect(directory)
    try:
        for case in CASES:
            for layout in ("columns", "packed"):
                compare(cache, case, layout, batches)
    finally:
        cache.stop()
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
