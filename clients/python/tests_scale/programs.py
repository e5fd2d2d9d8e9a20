"""Examples and the programs of docs/clusters, run as a user runs them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from daemon import REPOSITORY
from snippets import section

EXAMPLES = REPOSITORY / "examples"
ITEMS, ROWS = 3, 400
"""The size of the dataset ``prices`` of the pages."""


def run(*command: str | Path, **environment: str) -> str:
    """What a program prints. Programs of the tests' Python come before others."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    ran = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": path, **environment},
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def check_metrics(printed: str) -> None:
    """Check that examples/ray_train.py has trained for three epochs."""
    found = re.search(r"^\{'epoch': 2, 'loss': ([\d.]+)\}$", printed, re.MULTILINE)
    assert found, printed
    assert float(found[1]) < 1


def check_loss(printed: str) -> None:
    """Check that examples/spark_train.py has trained."""
    found = re.search(r"^loss ([\d.]+)$", printed, re.MULTILINE)
    assert found, printed
    assert float(found[1]) < 1


ONE_EPOCH = (("range(done, 3)", "range(done, 1)"), ('"done": epoch + 1', '"done": 2'))
"""What to replace in "Continue after a crash", so that another run has one of three epochs left."""


def check_continued(first: dict[str, Any], last: dict[str, Any]) -> None:
    """Check that a run has continued from the checkpoint of a run with ``ONE_EPOCH``."""
    assert (first["done"], last["done"]) == (2, 3)
    assert (first["loader"]["epoch"], last["loader"]["epoch"]) == (1, 2)
    steps = [state["adam"]["state"][0]["step"] for state in (first, last)]
    assert steps[1] == 2 * steps[0] > 0


class Page:
    """A page of docs/clusters, with files that it assumes, in a folder in place of ``/shared``."""

    def __init__(self, name: str, shared: Path) -> None:
        self.path = f"docs/clusters/{name}.md"
        self.shared = shared
        self.names: dict[str, Any] = {"__name__": "snippet"}  # no module, so pickled by value
        (shared / "prices").mkdir()
        pq.write_table(prices(), shared / "prices" / "part.parquet")

    def run(self, title: str, *replaced: tuple[str, str]) -> dict[str, Any]:
        """Run the code of a section, and return the names of all sections that ran."""
        code = section(self.path, title).replace("/shared", str(self.shared))
        for old, new in replaced:
            assert old in code, f"{self.path}, {title}: no {old}"
            code = code.replace(old, new)
        exec(compile(code, f"{self.path}, {title}", "exec"), self.names)
        return self.names


def prices() -> pa.Table:
    """Rows of several items, which are sorted by time alone."""
    hours = np.arange("2026-01-01", "2027-01-01", dtype="M8[h]")[:ROWS]
    draws = np.random.default_rng(0)
    return pa.table(
        {
            "symbol": np.tile([f"s{i}" for i in range(ITEMS)], ROWS),
            "t": np.repeat(hours.astype("M8[us]"), ITEMS),
            "close": draws.standard_normal(ITEMS * ROWS).cumsum(),
        }
    )
