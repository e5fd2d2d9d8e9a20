"""The delivery bench runs, and its batches equal those of the recipes it compares with."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from daemon import REPOSITORY

DELIVERY = REPOSITORY / "bench" / "delivery.py"


@pytest.mark.parametrize("groups", ["packed,columns", "view,train1,train-view", "trainers,attach"])
def test_contents_agree_in_every_group(groups: str, tmp_path: Path) -> None:
    command = [sys.executable, str(DELIVERY), "--quick", "--only", groups, "--files", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    for group in groups.split(","):
        assert f"{group}: " in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_pages_have_what_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(DELIVERY.parent)
    import delivery
    import delivery_picture

    results = json.loads((DELIVERY.parent / "delivery.json").read_text())
    for page, bars_alone in (("bench/README.md", False), ("README.md", True)):
        text = (REPOSITORY / page).read_text()
        assert f"{delivery.rows_of(results, bars_alone)}\n" in text, page
        held, _, _ = delivery.heading(results, delivery.Options()).partition(". ")
        assert held in text, page
    assert (DELIVERY.parent / "delivery.svg").read_text() == delivery_picture.draw(results)
