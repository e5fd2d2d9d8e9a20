"""The client's own CPU time per batch, ring full, against its bar and an in-process recipe.

    TENSORCACHE_BIN=... python bench/client_cpu.py [--rounds 1000] [--slots 16] [--json]

Batches of 16 windows of 8 + 2 rows of 8 float32 columns, packed: what the client does does not depend on their bytes,
and the daemon is ahead of it. Batches are timed 64 at a time by the thread's own clock; times in which it waited for
the daemon do not count, since then the ring was not full. The recipe is what an expert writes in process: a random
start, and ``torch.as_strided`` of a resident tensor for context and target.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import json
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import tensorcache

ROWS, FEATURES, CONTEXT, PREDICTION, BATCH, BURST = 200_000, 8, 8, 2, 16, 64
BARS = {"numpy slot": 2.5, "numpy view": 1.5, "torch slot": 4.0, "torch view": 4.0}
"""Microseconds of CPU a batch."""


def forever(feed: Any) -> Iterator[Any]:
    """Pass after pass."""
    while True:
        yield from feed


def cost(batches: Iterator[Any], rounds: int, waited: Callable[[], float] = float) -> float:
    """Microseconds of CPU a batch: the median of the bursts without a wait; nan where there was none."""
    took = []
    for _ in range(rounds):
        before, began = waited(), time.thread_time()
        for _ in zip(range(BURST), batches, strict=False):
            pass
        seconds = time.thread_time() - began
        if waited() == before:
            took.append(seconds)
    return statistics.median(took) / BURST * 1e6 if took else float("nan")


def recipe(array: np.ndarray[Any, Any]) -> Iterator[Any]:
    """Views of a resident tensor at random starts."""
    import torch

    tensor, starts = torch.from_numpy(array), np.random.default_rng(1)
    last = ROWS - BATCH - CONTEXT - PREDICTION
    while True:
        for start in starts.integers(0, last, 1024).tolist():
            yield (
                tensor.as_strided((BATCH, CONTEXT, FEATURES), (FEATURES, FEATURES, 1), start * FEATURES),
                tensor.as_strided((BATCH, PREDICTION, FEATURES), (FEATURES, FEATURES, 1), (start + CONTEXT) * FEATURES),
            )


def measure(rounds: int, slots: int) -> dict[str, float]:
    """Microseconds a batch, by what is measured."""
    array = np.random.default_rng(0).standard_normal((ROWS, FEATURES), dtype=np.float32)
    directory = tempfile.mkdtemp(prefix="tensorcache-client-cpu-")
    cache = tensorcache.connect(directory)
    try:
        data = cache.put("bench", {"a": array}, layout="packed")
        windows = data.windows(context_length=CONTEXT, prediction_length=PREDICTION)
        has_torch = importlib.util.find_spec("torch") is not None
        feeds: dict[str, Callable[[], Any]] = {
            f"numpy {delivery}": lambda delivery=delivery, order=order: windows.feed(
                batch_size=BATCH, order=order, delivery=delivery, slots=slots
            )
            for delivery, order in (("slot", "shuffle"), ("view", "random_start"))
        }
        if has_torch:
            from tensorcache import torch as adapter

            feeds |= {
                f"torch {delivery}": lambda delivery=delivery, order=order: adapter.loader(
                    windows, batch_size=BATCH, order=order, delivery=delivery, slots=slots
                )
                for delivery, order in (("slot", "shuffle"), ("view", "random_start"))
            }
        took = {}
        for name, make in feeds.items():
            with make() as feed:
                meter = getattr(feed, "feed", feed)._meter
                took[name] = cost(forever(feed), rounds, lambda meter=meter: meter.waited)
        if has_torch:
            took["recipe"] = cost(recipe(array), rounds)
        return took
    finally:
        cache.stop()
        shutil.rmtree(directory)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=1000, help=f"bursts of {BURST} batches")
    parser.add_argument("--slots", type=int, default=16, help="batches in flight; the bars are for 16")
    parser.add_argument("--json", action="store_true", help="print JSON")
    args = parser.parse_args()
    gc.disable()
    took = measure(args.rounds, args.slots)
    if args.json:
        print(json.dumps({"us_per_batch": took, "bars_us": BARS}))
        return 0
    print(f"{'':12} {'us/batch':>9} {'x bar':>7} {'x recipe':>9}")
    for name, us in took.items():
        bar = f"{us / BARS[name]:.2f}" if name in BARS else "-"
        of_recipe = f"{us / took['recipe']:.2f}" if "recipe" in took else "-"
        print(f"{name:12} {us:9.2f} {bar:>7} {of_recipe:>9}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
