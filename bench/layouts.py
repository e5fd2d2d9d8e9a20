"""Measure the layouts ``columns`` and ``packed`` by number of columns.

    TENSORCACHE_BIN=... python bench/layouts.py [--seconds 1]

Each row is a dataset of about 200 MB of float32, stored in both layouts, whose turns alternate. The
figures are how many times as fast ``packed`` is, in the median of the turns: feeds that the daemon
writes (``slot``), in order ``shuffle`` and ``sequential``, and views, while the loop does nothing
else; the sum of one column of ``data[...]``, and of all columns. A row "7 of 32" has windows of 7
columns that are neighbours.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from itertools import chain, repeat
from typing import Any

import numpy as np

import tensorcache

CASES = (*((n, n) for n in (2, 3, 4, 7, 8, 16, 32, 64, 321)), (2, 32), (7, 32), (16, 32), (28, 32))
"""Columns of the windows, and of the dataset."""
LAYOUTS = ("columns", "packed")
FEEDS = (("slot", "shuffle"), ("slot", "sequential"), ("view", "sequential"))
VALUES, CONTEXT, TARGET, TURNS = 50_000_000, 96, 24, 5


def rate(step: Callable[[], Any], seconds: float) -> float:
    """Calls a second."""
    step()
    began = now = time.perf_counter()
    calls = 0
    while now - began < seconds:
        step()
        calls, now = calls + 1, time.perf_counter()
    return calls / (now - began)


def feed_rate(data: Any, columns: list[str], feed: tuple[str, str], seconds: float) -> float:
    """Millions of windows a second of a feed."""
    windows = data.windows(context_length=CONTEXT, prediction_length=TARGET, columns=columns)
    size = max(8, 2048 // len(columns))
    delivery, order = feed
    with windows.feed(batch_size=size, order=order, delivery=delivery) as batches:
        iterator = chain.from_iterable(repeat(batches))  # pass after pass
        return rate(lambda: next(iterator), seconds) * size / 1e6


def sum_rate(data: Any, names: list[str], seconds: float) -> float:
    """Sums of these columns a second."""
    return rate(lambda: [data[name].sum() for name in names], seconds)


def measure(cache: tensorcache.Cache, case: tuple[int, int], seconds: float) -> str:
    """One row of the table."""
    used, columns = case
    rng = np.random.default_rng(0)
    array = rng.random((VALUES // columns, columns), dtype=np.float32)
    named = {f"c{i}": array[:, i] for i in range(columns)}
    datasets = {layout: cache.put(layout, named, layout=layout) for layout in LAYOUTS}
    names = [f"c{i}" for i in range(used)]
    ratios: list[list[float]] = []
    first: list[list[float]] = []
    for _ in range(TURNS):
        found = {
            layout: [feed_rate(data, names, feed, seconds) for feed in FEEDS]
            + [sum_rate(data, names[:1], seconds), sum_rate(data, names, seconds)]
            for layout, data in datasets.items()
        }
        ratios.append([b / a for a, b in zip(found["columns"], found["packed"], strict=True)])
        first.append(found["columns"])
    cells = [f"{statistics.median(r):.2f}" for r in zip(*ratios, strict=True)]
    speeds = [f"{statistics.median(r):.2f}" for r in zip(*first, strict=True)]
    cells = [f"{cell} ({speed})" for cell, speed in zip(cells, speeds, strict=True)]
    name = str(used) if used == columns else f"{used} of {columns}"
    return f"| {name} | {' | '.join(cells)} |"


def main() -> None:
    """Run the bench in a directory of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=1)
    seconds = parser.parse_args().seconds
    directory = tempfile.mkdtemp(prefix="layouts-")
    cache = tensorcache.connect(directory)
    try:
        print("| columns | slot, shuffle | slot, sequential | view | one column | all columns |")
        print("| --- | --- | --- | --- | --- | --- |")
        for case in CASES:
            print(measure(cache, case, seconds), flush=True)
    finally:
        cache.stop()
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
