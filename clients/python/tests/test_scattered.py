"""The client advises the kernel of random access to the columns' map while feeds gather in it."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

import numpy as np
import pytest

import tensorcache

pytestmark = [
    pytest.mark.portable,
    pytest.mark.skipif(sys.platform != "linux", reason="where the daemon asks for pages ahead"),
]


def advised(path: Path) -> list[bool]:
    """Return, for each map of a file, whether it is marked for random access (no read-ahead)."""
    found, inside = [], False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if "-" in line.split()[0]:
            inside = line.endswith(str(path))
        elif inside and line.startswith("VmFlags:"):
            found.append(" rr" in line)
    return found


def test_the_system_reads_what_is_touched_alone_while_feeds_gather_here(
    cache: tensorcache.Cache, home: Path
) -> None:
    path = home / "datasets" / "ramp" / "1" / "data.arrow"
    with cache.put("ramp", {"x": np.arange(1000, dtype=np.float32)}) as data:
        windows = data.windows(context_length=4)
        assert advised(path) == [False]
        with windows.feed(batch_size=8, delivery="slot") as slots:
            next(iter(slots))
            assert advised(path) == [False]
        one = windows.feed(batch_size=8, delivery="local")
        two = windows.feed(batch_size=8, delivery="view")
        one.close()
        del one
        gc.collect()
        assert advised(path) == [True]
        two.close()
        del two
        gc.collect()
        assert advised(path) == [False]
