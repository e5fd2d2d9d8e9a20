"""The code of the READMEs and docs, unchanged; test_jax.py has the part on JAX."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from daemon import REPOSITORY
from snippets import page, snippet


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("section", ["PyTorch", "Lightning"])
def test_the_snippets_run(home: Path, section: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(REPOSITORY)
    exec(
        compile(snippet(section), f"docs/FRAMEWORKS.md, {section}", "exec"), {"__name__": "snippet"}
    )


@pytest.mark.filterwarnings("ignore")
def test_the_page_of_torchrun_runs(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "examples").symlink_to(REPOSITORY / "examples")
    monkeypatch.chdir(tmp_path)  # the page writes a checkpoint
    path = "docs/clusters/torchrun.md"
    exec(compile(page(path), path, "exec"), {"__name__": "snippet"})


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", ["README.md", "clients/python/README.md"])
def test_the_readmes_run(home: Path, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(REPOSITORY / "examples" / "data")  # they fetch ETTh1.csv
    names: dict[str, Any] = {"__name__": "snippet"}
    exec(compile(page(path), path, "exec"), names)
    assert (len(names["train"]), dict(names["train"].rejected)) == (8209, {"split": 95}), (
        "as the comments say"
    )
    assert names["data"]["OT"].shape == (17420,)
    for open_still in ("loader", "feed"):
        names[open_still].close()
