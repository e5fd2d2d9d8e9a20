"""The overview and the viewer work in Debian's Firefox, too."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from dashboard import login
from firefox import Firefox, running

import tensorcache

Cache, Dataset = tensorcache.Cache, tensorcache.Dataset

SPEC = "%7B%22context_length%22:336,%22prediction_length%22:96%7D"


@pytest.fixture(scope="module")
def firefox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    with running(tmp_path_factory.mktemp("firefox")) as f:
        yield f
        f.go("about:blank")


def text_of(selector: str) -> str:
    return f"(document.querySelector('{selector}')?.textContent ?? '')"


def test_overview_and_viewer_work_in_firefox(
    firefox: Firefox, cache: Cache, etth1: Dataset
) -> None:
    seconds = np.arange(500) * 60 + 1_600_000_000
    cache.put("unix", {"t": seconds, "v": np.arange(500.0)}, time="t")
    firefox.go(login())
    firefox.wait_for(f"{text_of('#datasets tbody')}.includes('etth1')")
    firefox.wait_for(f"{text_of('#sections')}.includes('0 running')")
    firefox.evaluate(f"location.hash = '#/datasets/etth1?spec={SPEC}&window=5000'")
    firefox.wait_for(f"{text_of('.answer .big')} === '16,989 windows'")
    firefox.wait_for("document.getElementById('window').value === '5000'")
    firefox.wait_for("document.querySelectorAll('.plot canvas').length === 2")
    firefox.evaluate("document.querySelector('[aria-label=\"Next window\"]').click()")
    firefox.wait_for("document.getElementById('window').value === '5001'")
    firefox.evaluate("location.hash = '#/datasets/unix'")
    firefox.wait_for(f"{text_of('h1:not(.sr)')} === 'unix'")
    firefox.wait_for(f"{text_of('.viewer-head')}.includes('500 rows')")
    firefox.wait_for("document.getElementById('window').value === '0'")
    table = text_of("[aria-label=\\'Values of the chart\\']")
    firefox.wait_for(f"{table}.includes('1600000000')")
    firefox.go("about:blank")
    assert firefox.errors == []
    cache.remove("unix")
