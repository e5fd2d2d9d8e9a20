"""Data larger than memory.

The bench compares the read rate of a cold epoch with dd of the same file under the same limit.

    python bench/cold.py --dir /var/tmp/cold --mb 1200

The file is four times the memory that a cgroup allows for daemon and trainer. Without root there is
no limit: then only the start of the epoch is cold, and the table says so. A row counts once,
however many windows contain it. dd runs before and after each case, because the storage below the
disk may change speed within minutes; the ratio is to the mean of both runs.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

import tensorcache

COLUMNS, CONTEXT, PREDICTION = 8, 96, 24
BESIDE = {"batch_size": 256, "stride": CONTEXT + PREDICTION}
CASES: dict[str, dict[str, object]] = {
    "random_start, views of 4,096": {
        "order": "random_start",
        "batch_size": 4096,
        "delivery": "view",
    },
    "random_start, views of 256": {"order": "random_start", "batch_size": 256, "delivery": "view"},
    "random_start, slots, windows side by side": {"order": "random_start", **BESIDE},
    "random_start, local, windows side by side": {
        "order": "random_start",
        "delivery": "local",
        **BESIDE,
    },
    "sequential, slots, windows side by side": BESIDE,
    "shuffle, slots, windows side by side": {"order": "shuffle", **BESIDE},
}

TRAINER = """if True:
    import json, sys, time, tensorcache
    name, case, seconds = json.loads(sys.argv[1])
    data = tensorcache.connect().dataset(name)
    windows = data.windows(context_length=96, prediction_length=24, stride=case.pop("stride", 1))
    with windows.feed(delivery=case.pop("delivery", "slot"), **case) as feed:
        began, rows, total = time.perf_counter(), 0, 0.0
        for batch in feed:
            total += float(batch.context[:, 0, 0].sum()) + float(batch.target[-1, -1, -1])
            rows += batch.rows * int(windows.spec.get("stride") or 1)
            if (now := time.perf_counter()) - began > seconds:
                break
        print(json.dumps([rows, now - began]))
    tensorcache.connect().stop()
"""


def limit(name: str, size: int) -> Path | None:
    """Create a cgroup with a memory limit of ``size`` bytes; return None if that fails."""
    for root, file in (
        (Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes"),
        (Path("/sys/fs/cgroup"), "memory.max"),
    ):
        group = root / name
        try:
            group.mkdir(exist_ok=True)
            (group / file).write_text(str(size))
        except OSError:
            if group.is_dir():
                group.rmdir()
            continue
        return group
    return None


def run(group: Path | None, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command in the cgroup."""
    script = ["sh", "-c", f'echo $$ > "{group}/cgroup.procs"; exec "$@"', "sh"] if group else []
    done = subprocess.run([*script, *command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return done


def drop(path: Path) -> None:
    """Remove a file that no process maps from the page cache."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def dd(group: Path | None, path: Path) -> float:
    """Return the megabytes per second that dd reads."""
    drop(path)
    reply = run(group, "dd", f"if={path}", "of=/dev/null", "bs=1M").stderr.split(",")
    return path.stat().st_size / 1e6 / float(reply[-2].split()[0])


def main() -> None:
    """Print the table."""
    parse = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parse.add_argument(
        "--dir", type=Path, required=True, help="where to put the data, and remove it"
    )
    parse.add_argument("--mb", type=int, default=1200, help="size of the data")
    parse.add_argument("--share", type=int, default=4, help="how many times the memory the data is")
    parse.add_argument("--seconds", type=float, default=10, help="at most so long a case")
    parse.add_argument("--layout", choices=["packed", "columns"], default="packed")
    parse.add_argument("--cases", nargs="*", default=[""], help="those whose names begin so")
    parse.add_argument("--keep", action="store_true", help="keep the directory, and use it again")
    args = parse.parse_args()
    os.environ["TENSORCACHE_DIR"] = str(args.dir)
    cache = tensorcache.connect()
    name = f"cold_{args.layout}"
    if name not in [d["dataset"] for d in cache.datasets()]:
        noise = np.random.default_rng(0).random(args.mb * 1_000_000 // (4 * COLUMNS), np.float32)
        cache.put(
            name, {f"c{i}": noise * (i + 1) for i in range(COLUMNS)}, layout=args.layout
        ).close()
    cache.stop()
    os.sync()
    path = args.dir / "datasets" / name / "1" / "data.arrow"
    group = limit("tensorcache-cold", path.stat().st_size // args.share)
    allowed = (
        f"1/{args.share} of it in memory" if group else "no limit of memory: it only begins cold"
    )
    print(f"{path.stat().st_size / 1e6:,.0f} MB, {args.layout}; {allowed}")
    print("\n| case | MB/s | dd | ratio |\n| --- | --- | --- | --- |")
    try:
        dd(group, path)
        before = dd(group, path)
        for title, case in CASES.items():
            if not title.startswith(tuple(args.cases)):
                continue
            drop(path)
            told = json.dumps([name, case, args.seconds])
            rows, seconds = json.loads(run(group, sys.executable, "-c", TRAINER, told).stdout)
            speed, after = rows * 4 * COLUMNS / 1e6 / seconds, dd(group, path)
            print(
                f"| {title} | {speed:,.0f} | {before:,.0f}, {after:,.0f} | "
                f"{2 * speed / (before + after):.2f} |",
                flush=True,
            )
            before = after
    finally:
        if group:
            group.rmdir()
        if not args.keep:
            shutil.rmtree(args.dir)


if __name__ == "__main__":
    main()
