"""Loading compared with pyarrow, Polars, DuckDB and pandas: `make bench-loading`.

All load the same files, with a warm page cache, in turns, and each load in a fresh process. The
figure is the median of five. First, the bench checks by hash that all load the same values. It
prints a table as Markdown.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import loading_files as files
import numpy as np

import tensorcache

PEERS = ("pyarrow", "polars", "duckdb", "pandas")
JSON_PEERS = PEERS[:3]  # pandas takes minutes
HERE = Path(__file__).parent
MEMORY = 3 << 30  # of the reader that uses the most


class Bench:
    """A private daemon, and the rows of the table."""

    def __init__(self, scratch: Path, runs: int) -> None:
        self.scratch, self.runs = scratch, runs
        self.cache = tensorcache.connect(scratch / "cache")
        self.daemon = self.cache.health()["pid"]

    def once(self, who: str, path: Path, columns: list[str] | None, **more: object) -> dict:
        """Run one load in a fresh process, into a dataset that does not exist yet."""
        job = {
            "who": who,
            "path": str(path),
            "columns": columns,
            "dir": str(self.scratch / "cache"),
            "dataset": "b",
            "daemon": self.daemon if who == "tensorcache" else None,
            "options": {},
            "memory": False,
            "hash": False,
        }
        spec = self.scratch / "job.json"
        spec.write_text(json.dumps(job | more))
        touch(MEMORY)
        out = subprocess.run(
            [sys.executable, str(HERE / "loading_once.py"), str(spec)],
            check=True,
            capture_output=True,
            text=True,
        )
        if who == "tensorcache":
            self.cache.remove("b")
        return json.loads(out.stdout)

    def compare(
        self,
        title: str,
        path: Path,
        columns: list[str] | None,
        bar: float,
        peers: tuple[str, ...] = PEERS,
    ) -> None:
        """Measure and print one row of the table."""
        everybody = ("tensorcache", *peers)
        hashes = {who: self.once(who, path, columns, hash=True)["hash"] for who in everybody}
        if len(set(hashes.values())) != 1:
            raise SystemExit(f"{title}: not the same values: {hashes}")
        seconds: dict[str, list[float]] = {who: [] for who in everybody}
        for _ in range(self.runs):
            for who in everybody:
                seconds[who].append(self.once(who, path, columns)["seconds"])
        middle = {who: statistics.median(s) for who, s in seconds.items()}
        best = min(peers, key=lambda who: middle[who])
        ratio = middle[best] / middle["tensorcache"]
        row = " | ".join(
            f"{middle[who]:.3f}" if who in middle else "" for who in ("tensorcache", *PEERS)
        )
        print(
            f"| {title} | {row} | {ratio:.2f}x {best} | {bar}x | {'yes' if ratio >= bar else 'no'} "
            "|",
            flush=True,
        )

    def memory(self, title: str, path: Path) -> None:
        """Print the peak anonymous memory beyond the result, in MiB.

        Our result is a mapped file and uses no anonymous memory.
        """
        cells = []
        for who in ("tensorcache", *PEERS):
            got = self.once(who, path, None, memory=True)
            beyond = got["peak"] - (0 if who == "tensorcache" else got["bytes"])
            cells.append(f"{max(0, beyond) / 2**20:.0f}")
        print(f"| {title} | {' | '.join(cells)} |", flush=True)

    def seconds(self, path: Path, columns: list[str] | None = None, **options: object) -> float:
        """Return the median of our own loads, in seconds."""
        return statistics.median(
            self.once("tensorcache", path, columns, options=options)["seconds"]
            for _ in range(self.runs)
        )

    def by_turns(self, path: Path, *options: dict) -> list[float]:
        """Return the medians of our own loads with several options, in turns, in seconds.

        The loads take turns, because the speed of memory changes over hours. There are three times
        as many rounds as elsewhere. The first round does not count, because the process before it
        has just freed its memory.
        """
        seconds = [
            [self.once("tensorcache", path, None, options=o)["seconds"] for o in options]
            for _ in range(1 + 3 * self.runs)
        ]
        return [statistics.median(of) for of in zip(*seconds[1:], strict=True)]

    def reload(self, path: Path) -> float:
        """Return the milliseconds of a load that is a cache hit, including the first batch."""
        self.cache.load("hit", path)
        took = []
        for _ in range(max(9, self.runs)):
            began = time.perf_counter()
            data = self.cache.load("hit", path)
            with data.windows(context_length=96, prediction_length=24).feed(batch_size=32) as feed:
                next(iter(feed))
            took.append(time.perf_counter() - began)
        self.cache.remove("hit")
        return statistics.median(took) * 1e3


def touch(n: int) -> None:
    """Touch ``n`` bytes of memory, so that the next process finds them free.

    The host of a virtual machine may have reclaimed its free memory.
    """
    np.empty(n, np.uint8)[:: os.sysconf("SC_PAGESIZE")] = 1


def warm(path: Path) -> Path:
    """Read a file from disk into the page cache, in larger pages than a write leaves there."""
    with path.open("rb") as f:
        os.fsync(f.fileno())
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        while f.read(1 << 24):
            pass
    return path


def main() -> None:
    """Make the files, load them in turns, and print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--rows", type=int, default=10_000_000, help="of the Parquet files")
    folder = Path(tempfile.gettempdir()) / "tensorcache-bench"
    parser.add_argument("--files", type=Path, default=folder, help="where the files are kept")
    parser.add_argument("--long", action="store_true", help="also 100 M rows")
    arguments = parser.parse_args()
    folder = arguments.files
    plain = warm(files.plain(folder / f"plain-{arguments.rows}.parquet", arguments.rows))
    snappy, zstd = (
        warm(
            files.dictionaries(folder / f"{codec}-{arguments.rows}.parquet", arguments.rows, codec)
        )
        for codec in ("snappy", "zstd")
    )
    csv = warm(files.text(folder / f"text-{arguments.rows}.csv", arguments.rows * 3 // 8))
    lines = warm(files.lines(folder / f"lines-{arguments.rows}.jsonl", arguments.rows // 5))
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        bench = Bench(Path(scratch), arguments.runs)
        try:
            size = (
                f"{arguments.rows:,} rows, {csv.stat().st_size / 1e6:.0f} MB of CSV, "
                f"{lines.stat().st_size / 1e6:.0f} MB of JSON Lines"
            )
            print(f"{os.cpu_count()} cores, {size}; seconds, median of {arguments.runs}\n")
            print(
                "| what | tensorcache | "
                + " | ".join(PEERS)
                + " | ratio to the best | bar | kept |"
            )
            print("| --- " * 9 + "|")
            bench.compare("Parquet plain snappy, 2 of 16 columns", plain, ["c3", "c7"], 1.6)
            bench.compare("the same, 16 of 16", plain, None, 2.2)
            for codec, path in ("snappy", snappy), ("zstd", zstd):
                bench.compare(
                    f"Parquet with dictionaries, {codec}, 2 of 16", path, ["c3", "c7"], 1.2
                )
                bench.compare("the same, 16 of 16", path, None, 1.2)
            bench.compare("CSV, 8 numeric columns", csv, None, 2.0)
            bench.compare("JSON Lines, 8 numeric columns", lines, None, 1.5, JSON_PEERS)
            print("\nAnonymous memory beyond the result, MiB, at most 96:\n")
            print("| what | tensorcache | " + " | ".join(PEERS) + " |")
            print("| --- " * 6 + "|")
            bench.memory("Parquet plain snappy", plain)
            bench.memory("Parquet with dictionaries, zstd", zstd)
            bench.memory("CSV", csv)
            alone, made = bench.by_turns(
                plain, {}, {"scale": "standard", "dtype": "float64", "fill": "forward"}
            )
            took = f"{alone:.3f} and {made:.3f} s"
            print(
                f"\nfill and standard scale, bar +20 %: {made / alone - 1:+.1%} on top of a load "
                f"({took})"
            )
            print(f"reload, a hit, and its first batch: {bench.reload(plain):.1f} ms (bar: 10 ms)")
            sizes = [
                arguments.rows // 10,
                arguments.rows,
                *([arguments.rows * 10] if arguments.long else []),
            ]
            for rows in sizes:
                seconds = bench.seconds(warm(files.plain(folder / f"two-{rows}.parquet", rows, 2)))
                print(
                    f"{rows:,} rows of 2 columns: {seconds:.3f} s, {seconds / rows * 1e9:.1f} ns a "
                    "row"
                )
        finally:
            bench.cache.stop()


if __name__ == "__main__":
    main()
