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
    import delivery_pages
    import delivery_picture

    results = json.loads((DELIVERY.parent / "delivery.json").read_text())
    for page, rows in delivery_pages.PAGES.items():
        assert f"{rows(results)}\n" in (REPOSITORY / page).read_text(), page
    targets = (REPOSITORY / "docs/performance.md").read_text()
    assert delivery_pages.targets_met(results) in targets
    assert (DELIVERY.parent / "delivery.svg").read_text() == delivery_picture.draw(results)
