"""Measure the client's CPU time per batch, views per second and time to the first batch.

    TENSORCACHE_BIN=... python bench/client_cpu.py [--rounds 300] [--slots 16] [--json]

A batch has 16 windows of 8 + 2 rows of 8 float32 columns, packed. The client's work does not depend
on their size, except for views, whose rows it copies. A step follows each batch: a loop of 20 to
60 µs, in which the daemon refills the released slots. The bench times the call that gets the next
batch and releases the last one, and subtracts the time of the same call of an empty iterator. The
figure is the median over bursts of 64 batches, without bursts in which the client waited. The cases
take turns, because a shared machine may be slow for seconds. The recipe is what an expert writes in
process: a random start, and ``torch.as_strided`` of a resident tensor for context and target.

Views per second (in turns with the recipe) and the time from attach to first batch are wall-clock
figures. Their batches have 256 windows of 96 + 24 rows, and the daemon chooses the number of slots.
Each figure has a limit.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib.util
import json
import shutil
import statistics
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice, repeat
from typing import Any

import numpy as np

import tensorcache

ROWS, FEATURES = 1_000_000, 8
SMALL, LARGE = (8, 2, 16), (96, 24, 256)
"""Rows of context and of target, and windows a batch."""
BURST, STEP, TURNS = 64, 4000, 10
BARS = {"numpy slot": 2.5, "numpy view": 1.5, "torch slot": 4.0, "torch view": 4.0}
"""Microseconds of CPU a batch."""
VIEWS_BAR, ATTACH_BAR_MS = 1.5, 10.0


def forever(feed: Any) -> Iterator[Any]:
    """Repeat passes without end."""
    while True:
        yield from feed


def burst(batches: Iterator[Any]) -> float:
    """Return the seconds that getting a burst of batches takes; a step follows each batch."""
    took, clock, batch = 0.0, time.perf_counter, None
    for _ in repeat(None, BURST):
        began = clock()
        batch = next(batches)
        took += clock() - began
        for _ in repeat(None, STEP):
            pass
    del batch
    return took


def bursts(batches: Iterator[Any], count: int, waited: Callable[[], float] = float) -> list[float]:
    """Return microseconds per batch for each of ``count`` bursts, without those with a wait."""
    nothing, took = repeat(None), []
    for _ in range(count):
        before = waited()
        seconds = burst(batches) - burst(nothing)
        if waited() == before:
            took.append(seconds / BURST * 1e6)
    return took


def costs(feeds: dict[str, Any], others: dict[str, Iterator[Any]], rounds: int) -> dict[str, float]:
    """Return microseconds per batch by case: the median of bursts without a wait, or nan."""
    cases: dict[str, tuple[Iterator[Any], Callable[[], float]]] = {
        name: (it, float) for name, it in others.items()
    }
    for name, feed in feeds.items():
        meter = getattr(feed, "feed", feed)._meter
        cases[name] = (forever(feed), lambda meter=meter: meter.waited)
    took: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(TURNS):
        for name, (batches, waited) in cases.items():
            bursts(batches, 2, waited)  # warm the CPU caches after the previous case
            took[name] += bursts(batches, -(-rounds // TURNS), waited)
    return {name: statistics.median(each) if each else float("nan") for name, each in took.items()}


def recipe(array: np.ndarray[Any, Any], context: int, prediction: int, batch: int) -> Iterator[Any]:
    """Yield views of a resident tensor at random starts."""
    import torch

    tensor, starts = torch.from_numpy(array), np.random.default_rng(1)
    last = ROWS - batch - context - prediction
    while True:
        for start in starts.integers(0, last, 1024).tolist():
            yield (
                tensor.as_strided(
                    (batch, context, FEATURES), (FEATURES, FEATURES, 1), start * FEATURES
                ),
                tensor.as_strided(
                    (batch, prediction, FEATURES),
                    (FEATURES, FEATURES, 1),
                    (start + context) * FEATURES,
                ),
            )


def rate(batches: Iterator[Any], count: int) -> float:
    """Return batches per second."""
    began = time.perf_counter()
    deque(islice(batches, count), 0)
    return count / (time.perf_counter() - began)


def views(windows: Any, array: np.ndarray[Any, Any], count: int) -> dict[str, float]:
    """Return view batches per second, the recipe's, and the median of their ratios."""
    with windows.feed(batch_size=LARGE[2], order="random_start", delivery="view") as feed:
        ours, theirs = forever(feed), recipe(array, *LARGE)
        rates = [(rate(ours, count), rate(theirs, count)) for _ in range(7)][1:]
    return {
        "views_per_s": statistics.median(a for a, _ in rates),
        "recipe_per_s": statistics.median(b for _, b in rates),
        "ratio": statistics.median(a / b for a, b in rates),
    }


def attach_ms(windows: Any, **options: Any) -> float:
    """Return the median of 20 times from opening a feed to its first batch, in milliseconds."""
    took = []
    for _ in range(20):
        began = time.perf_counter()
        with windows.feed(batch_size=LARGE[2], **options) as feed:
            next(iter(feed))
            took.append(time.perf_counter() - began)
    return statistics.median(took) * 1e3


def measure(rounds: int, slots: int) -> dict[str, dict[str, float]]:
    """Measure microseconds per batch, views per second, and milliseconds to the first batch."""
    array = np.random.default_rng(0).standard_normal((ROWS, FEATURES), dtype=np.float32)
    directory = tempfile.mkdtemp(prefix="tensorcache-client-cpu-")
    cache = tensorcache.connect(directory)
    try:
        data = cache.put("bench", {"a": array}, layout="packed")
        windows = data.windows(context_length=SMALL[0], prediction_length=SMALL[1])
        large = data.windows(context_length=LARGE[0], prediction_length=LARGE[1])
        has_torch = importlib.util.find_spec("torch") is not None
        feeds: dict[str, Callable[[], Any]] = {
            f"numpy {delivery}": lambda delivery=delivery, order=order: windows.feed(
                batch_size=SMALL[2], order=order, delivery=delivery, slots=slots
            )
            for delivery, order in (("slot", "shuffle"), ("view", "random_start"))
        }
        if has_torch:
            from tensorcache import torch as adapter

            feeds |= {
                f"torch {delivery}": lambda delivery=delivery, order=order: adapter.loader(
                    windows, batch_size=SMALL[2], order=order, delivery=delivery, slots=slots
                )
                for delivery, order in (("slot", "shuffle"), ("view", "random_start"))
            }
        with contextlib.ExitStack() as opened:
            made = {name: opened.enter_context(make()) for name, make in feeds.items()}
            took = costs(made, {"recipe": recipe(array, *SMALL)} if has_torch else {}, rounds)
        found: dict[str, dict[str, float]] = {"us_per_batch": took}
        if has_torch:
            found["views"] = views(large, array, 50 * rounds)
        found["attach_ms"] = {
            "slot": attach_ms(large, order="shuffle"),
            "view": attach_ms(large, order="random_start", delivery="view"),
        }
        return found
    finally:
        cache.stop()
        shutil.rmtree(directory)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=300, help=f"bursts of {BURST} batches")
    parser.add_argument(
        "--slots", type=int, default=16, help="batches in flight; the bars are for 16"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    args = parser.parse_args()
    gc.disable()
    found = measure(args.rounds, args.slots)
    if args.json:
        bars = {"us_per_batch": BARS, "views": VIEWS_BAR, "attach_ms": ATTACH_BAR_MS}
        print(json.dumps({**found, "bars": bars}))
        return 0
    took = found["us_per_batch"]
    print(f"{'':12} {'us/batch':>9} {'x bar':>7} {'x recipe':>9}")
    for name, us in took.items():
        bar = f"{us / BARS[name]:.2f}" if name in BARS else "-"
        of_recipe = f"{us / took['recipe']:.2f}" if "recipe" in took else "-"
        print(f"{name:12} {us:9.2f} {bar:>7} {of_recipe:>9}")
    if "views" in found:
        per_s = found["views"]
        print(
            f"views/s {per_s['views_per_s']:,.0f}, recipe {per_s['recipe_per_s']:,.0f}, "
            f"ratio {per_s['ratio']:.2f}, bar {VIEWS_BAR}"
        )
    for name, ms in found["attach_ms"].items():
        print(f"attach to first {name} {ms:.1f} ms, bar {ATTACH_BAR_MS:g}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
