"""The snippets of docs/FRAMEWORKS.md run as written."""

from __future__ import annotations

from pathlib import Path

import pytest

from daemon import REPOSITORY
from snippets import snippet


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("section", ["Accelerate", "Transformers", "Keras"])
def test_the_snippets_run(home: Path, section: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(REPOSITORY)
    monkeypatch.setenv("KERAS_BACKEND", "torch")
    exec(
        compile(snippet(section), f"docs/FRAMEWORKS.md, {section}", "exec"), {"__name__": "snippet"}
    )
