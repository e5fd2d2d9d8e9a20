"""One load in a fresh process.

`python loading_once.py JOB.json` prints seconds, bytes of memory and a hash as JSON.

The clock runs from the call that loads until every column is a contiguous typed array. Before that,
the imports are done and the daemon runs.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

Arrays = Mapping[str, np.ndarray]


def reader(who: str, job: dict) -> Callable[[], Arrays]:
    """Import a package; return its fastest documented way to load contiguous typed columns."""
    path, columns, suffix = job["path"], job["columns"], Path(job["path"]).suffix
    if who == "pyarrow":
        import pyarrow.csv as pc
        import pyarrow.json as pj
        import pyarrow.parquet as pq

        def load() -> Arrays:
            if suffix == ".csv":
                table = pc.read_csv(path)
            elif suffix == ".jsonl":
                table = pj.read_json(path)
            else:
                table = pq.read_table(path, columns=columns)
            return {name: table[name].combine_chunks().to_numpy() for name in table.column_names}

    elif who == "polars":
        import polars as pl

        def load() -> Arrays:
            if suffix == ".csv":
                frame = pl.read_csv(path)
            elif suffix == ".jsonl":
                frame = pl.read_ndjson(path)
            else:
                frame = pl.read_parquet(path, columns=columns)
            return {name: frame[name].rechunk().to_numpy() for name in frame.columns}

    elif who == "duckdb":
        import duckdb

        what = ", ".join(columns) if columns else "*"
        source = f"'{path}'"
        if suffix == ".jsonl":
            source = f"read_json({source}, format='newline_delimited')"

        def load() -> Arrays:
            return {
                k: np.asarray(v)
                for k, v in duckdb.sql(f"select {what} from {source}").fetchnumpy().items()
            }

    elif who == "pandas":
        import pandas as pd

        def load() -> Arrays:
            if suffix == ".csv":
                frame = pd.read_csv(path)
            else:
                frame = pd.read_parquet(path, columns=columns)
            return {name: np.ascontiguousarray(frame[name].to_numpy()) for name in frame.columns}

    else:
        import tensorcache

        cache = tensorcache.connect(job["dir"])
        data = None

        def load() -> Arrays:
            nonlocal data
            data = cache.load(job["dataset"], path, columns=columns, **job["options"])
            return {name: data[name] for name in data.columns}

    return load


def own_memory(pid: int) -> int:
    """Return the bytes of anonymous memory of a process; 0 if it has ended."""
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("RssAnon"):
                return int(line.split()[1]) * 1024
    except (FileNotFoundError, ProcessLookupError):
        pass
    return 0


def family(pid: int) -> list[int]:
    """Return the ids of a process and its children."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        tasks = Path(f"/proc/{pid}/task").iterdir()
        for task in tasks:
            children += (task / "children").read_text().split()
    except (FileNotFoundError, ProcessLookupError):
        return [pid]
    return [pid, *{int(c) for c in children}]


class Peak(threading.Thread):
    """Samples anonymous memory of this process, the daemon and its children every 2 ms."""

    def __init__(self, daemon: int | None) -> None:
        super().__init__(daemon=True)
        self.of_daemon, self.most, self.ended = daemon, 0, threading.Event()

    def now(self) -> int:
        """Return the current bytes."""
        pids = [os.getpid(), *(family(self.of_daemon) if self.of_daemon else [])]
        return sum(map(own_memory, pids))

    def run(self) -> None:
        """Sample until ``ended`` is set."""
        while not self.ended.wait(0.002):
            self.most = max(self.most, self.now())


def main() -> None:
    """Load once and print what it took."""
    job = json.loads(Path(sys.argv[1]).read_text())
    load = reader(job["who"], job)
    peak = Peak(job.get("daemon"))
    before = peak.now()
    if job["memory"]:
        peak.start()
    began = time.perf_counter()
    arrays = load()
    seconds = time.perf_counter() - began
    peak.ended.set()
    out = {
        "seconds": seconds,
        "bytes": sum(a.nbytes for a in arrays.values()),
        "peak": peak.most - before,
    }
    if job["hash"]:
        digest = hashlib.blake2b()
        for name in sorted(arrays):
            assert arrays[name].flags.c_contiguous, name
            digest.update(f"{name} {arrays[name].dtype} {arrays[name].shape}".encode())
            digest.update(arrays[name].data)
        out["hash"] = digest.hexdigest()
    print(json.dumps(out))


if __name__ == "__main__":
    main()
