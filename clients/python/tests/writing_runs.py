"""Runs of the program ``writing.py``, and what they must leave unchanged."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np

import tensorcache
import writing


def write(datasets: list[tensorcache.Dataset], home: Path, kind: str, place: str) -> Counter[str]:
    """Run the program; return how many writes had each outcome, by the write's name.

    Neither the files may change, nor what this process reads.
    """
    files = digests(home)
    was = [{name: np.array(read()) for name, read in writing.ways_of(d).items()} for d in datasets]
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", writing.__file__, kind, place],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    lines = done.stdout.splitlines()
    assert done.returncode == 0, f"after {lines[-1:]}: {done.stderr}"
    for data, values in zip(datasets, was, strict=True):
        writing.hold(values, writing.ways_of(data), "another process wrote")
    assert digests(home) == files
    outcomes = (re.search(r": ([^:]+): (kept|written|refused)", line) for line in lines)
    return Counter(f"{found[1]}: {found[2]}" for found in outcomes if found)


def digests(home: Path) -> dict[str, str]:
    """The digests of the files of all datasets."""
    files = sorted(home.glob("datasets/**/*.arrow"))
    assert files
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
