"""Append 1 % to 1 GB, compared with a plain copy of the file and a load of all rows.

    TENSORCACHE_BIN=bin/tensorcache PYTHONPATH=clients/python/src python bench/append.py

The figures are medians of five runs. The page cache is warm, and free memory is touched first, as
in loading.py. The ratio is the time of the append to the time of cp, which copies the old
generation's data.arrow inside the kernel.
"""

import os
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from loading import MEMORY, touch

import tensorcache

ROWS, COLUMNS, RUNS = 7_800_000, 16, 5  # 16 float64 and a time: about 1 GB


def rows(first: int, count: int) -> dict[str, np.ndarray]:
    """Return ``count`` rows, beginning with row ``first``."""
    rng = np.random.default_rng(first)
    return {
        "t": np.arange(first, first + count),
        **{f"c{i}": rng.normal(size=count) for i in range(COLUMNS)},
    }


def main() -> None:
    """Put, copy and append, and print the times."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR")) as home:
        cache = tensorcache.connect(Path(home) / "cache")
        try:
            started = time.perf_counter()
            cache.put("big", rows(0, ROWS), time="t", scale="standard", dtype="float64")
            put = time.perf_counter() - started
            more = Path(home) / "more.npz"
            copies, appends, first = [], [], ROWS
            for run in range(RUNS):
                data = next((Path(home) / "cache/datasets/big").glob("*/data.arrow"))
                size = data.stat().st_size
                copied = Path(home) / "copy"
                touch(MEMORY)
                started = time.perf_counter()
                subprocess.run(["cp", "--reflink=never", data, copied], check=True)
                copies.append(time.perf_counter() - started)
                copied.unlink()
                more = Path(home) / f"more{run}.npz"
                np.savez(more, **rows(first, ROWS // 100))
                first += ROWS // 100
                touch(MEMORY)
                started = time.perf_counter()
                cache.append("big", more)
                appends.append(time.perf_counter() - started)
        finally:
            cache.stop()
        copy, append = statistics.median(copies), statistics.median(appends)
        print(
            f"{size / 1e9:.2f} GB: put {put:.2f} s, append of 1 % {append:.2f} s, cp {copy:.2f} s, "
            f"ratio {append / copy:.2f}"
        )
        print(
            f"free disk {shutil.disk_usage(home).free / 1e9:.0f} GB, {os.cpu_count()} cores, "
            f"load {os.getloadavg()[0]:.1f}"
        )


if __name__ == "__main__":
    main()
