"""Data four times a cgroup's memory, compared with `dd` of the same file in the same cgroup.

The whole group runs inside one cgroup: a systemd scope if systemd is available, or a child of the
cgroup that `--cgroup` names. The bench changes no other cgroup, because others may use it.
"""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import numpy as np
from delivery_case import (
    NotMeasuredError,
    Options,
    Result,
    Shape,
    by_turns,
    connect,
    forever,
    middle,
    rate,
    ratio,
)

import tensorcache

MEMORY = 256 << 20
TIMES = 4


def scope(options: Options, command: list[str]) -> list[str]:
    """Return the command that runs ``command`` inside the memory limit.

    Raises:
        NotMeasuredError: no such cgroup is available.
    """
    if options.cgroup:
        return ["sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', options.cgroup, *command]
    if not Path("/run/systemd/system").is_dir():
        raise NotMeasuredError(
            "no systemd to ask for a cgroup; name a writable one with --cgroup DIR"
        )
    user = [] if os.getuid() == 0 else ["--user"]
    limits = ["-p", f"MemoryMax={MEMORY}", "-p", "MemorySwapMax=0"]
    asked = ["systemd-run", *user, "--scope", "--quiet", *limits]
    if subprocess.run([*asked, "true"], capture_output=True, check=False).returncode:
        raise NotMeasuredError(
            "systemd gives no scope with a limit of memory; name a writable cgroup with --cgroup "
            "DIR"
        )
    return [*asked, *command]


def made(parent: str) -> Path:
    """Create a child of a cgroup, version 1 or 2, with the memory limit."""
    child = Path(parent) / f"tensorcache-bench-{os.getpid()}"
    child.mkdir()
    old = child / "memory.limit_in_bytes"
    (old if old.exists() else child / "memory.max").write_text(str(MEMORY))
    return child


def stored(shape: Shape) -> tensorcache.Dataset:
    """Store the rows through a file, because they are larger than the memory limit."""
    # Without this, the daemon refuses a load larger than half of its memory.
    os.environ["TENSORCACHE_MEMORY"] = str(2 * TIMES * MEMORY)
    path, block = Path(os.environ["TENSORCACHE_DIR"], "cold.npy"), 1 << 20
    draw = np.random.default_rng(0)
    rows = np.lib.format.open_memmap(path, "w+", np.float32, (shape.rows, shape.features))
    for at in range(0, shape.rows, block):
        some = rows[at : at + block]
        some[:] = draw.standard_normal(some.shape, dtype=np.float32)
    rows.flush()
    del rows, some
    data = connect().load("cold", path, layout="packed")
    path.unlink()
    return data


def cold(options: Options) -> Result:
    """Measure ``random_start`` in slots; the consumer reads no values.

    The windows do not overlap, so an epoch reads the file once.
    """
    shape, result = options.shape(MEMORY * TIMES // 32), Result()
    data = stored(shape)
    path = next(Path(os.environ["TENSORCACHE_DIR"]).glob("datasets/cold/*/data.arrow"))
    subprocess.run(["sync", "-f", str(path)], check=True)
    size = path.stat().st_size
    windows = data.windows(
        context_length=shape.context, prediction_length=shape.prediction, stride=shape.length
    )

    def dd() -> float:
        began = time.perf_counter()
        subprocess.run(["dd", f"if={path}", "of=/dev/null", "bs=1M", "status=none"], check=True)
        return size / (time.perf_counter() - began)

    def epoch() -> float:
        began = time.perf_counter()
        for _ in feed:
            pass
        return size / (time.perf_counter() - began)

    with windows.feed(batch_size=shape.batch, order="random_start", delivery="slot") as feed:
        rate(forever(feed), 0.05)
        measured = by_turns({"tensorcache": epoch, "dd": dd}, min(3, options.runs))
    value = f"{middle(measured, 'tensorcache') / 1e6:.0f} MB/s of the file"
    what = f"data {TIMES} × the memory, random_start"
    result.at_least(what, value, ratio(measured, "tensorcache", "dd"), "dd of the file", 0.8)
    return result
