"""The delivery bench runs, and what it would time has the same contents as the recipes it compares with."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

DELIVERY = Path(__file__).parents[3] / "bench" / "delivery.py"


@pytest.mark.parametrize("groups", ["packed,columns", "view,train1,train-view", "trainers,attach"])
def test_contents_agree_in_every_group(groups: str, tmp_path: Path) -> None:
    command = [sys.executable, str(DELIVERY), "--quick", "--only", groups, "--files", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    for group in groups.split(","):
        assert f"{group}: " in done.stderr
    assert list(tmp_path.iterdir()) == []
