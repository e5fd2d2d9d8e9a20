"""The client's own time per batch, as client_cpu.py measures it."""

from __future__ import annotations

import gc

import client_cpu
from delivery_case import Options, Result


def client(options: Options) -> Result:
    """Measure each delivery with 16 batches in flight."""
    result = Result()
    gc.disable()
    took = client_cpu.measure(20 if options.quick else 100 * options.runs, 16)["us_per_batch"]
    for name, bar in client_cpu.BARS.items():
        result.limit(f"client's own time a batch, {name}", took[name], "µs", bar)
    if "recipe" in took:
        result.told("strided recipe in process, time a batch", f"{took['recipe']:.2f} µs")
    return result
