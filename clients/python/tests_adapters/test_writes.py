"""A write by torch or JAX into anything that the client gave out, as in tests/test_writes.py."""

from __future__ import annotations

from pathlib import Path

import pytest

import tensorcache
import writing
from writing_runs import write


@pytest.fixture(scope="module")
def datasets(cache: tensorcache.Cache) -> list[tensorcache.Dataset]:
    return writing.make(cache)


@pytest.mark.parametrize("place", ["main", "fork", "worker"])
def test_torch(datasets: list[tensorcache.Dataset], home: Path, place: str) -> None:
    found = write(datasets, home, "torch", place)
    for way in ("from_numpy", "as_tensor", "numpy()", "data", "dlpack"):
        assert found[f"{way}: written"] > 80, found


def test_jax(datasets: list[tensorcache.Dataset], home: Path) -> None:
    found = write(datasets, home, "jax", "main")
    assert found["donated: written"] == found["donated dlpack: written"] == 0, (
        "JAX changes no array"
    )
    assert found["pointer: written"] > 50, found
