"""Errors of bad input say what is wrong, where, and what to do; the daemon keeps running."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tensorcache
from daemon import ETTH1
from test_load import write

pytestmark = pytest.mark.portable

Load = Callable[..., tensorcache.Dataset]


@pytest.fixture
def load(cache: tensorcache.Cache) -> Load:
    """A function that loads a bad file, and checks that no dataset is left."""

    def load_bad(path: Any, **options: Any) -> tensorcache.Dataset:
        try:
            return cache.load("bad", path, **options)
        finally:
            assert "bad" not in [d["dataset"] for d in cache.datasets()]
            assert cache.health()["status"] == "ok"

    return load_bad


def test_unknown_dataset_lists_near_names(
    cache: tensorcache.Cache, etth1: tensorcache.Dataset
) -> None:
    with pytest.raises(
        tensorcache.NotFoundError, match='no dataset is named "ettj1"; near: etth1'
    ) as caught:
        cache.dataset("ettj1")
    assert caught.value.type == "dataset_not_found"
    assert caught.value.field == "dataset"
    assert caught.value.hint


def test_unknown_generation_is_gone(cache: tensorcache.Cache, etth1: tensorcache.Dataset) -> None:
    with pytest.raises(tensorcache.StaleError, match="7"):
        cache.dataset("etth1", 7)


def test_unknown_column_lists_near_names(etth1: tensorcache.Dataset) -> None:
    with pytest.raises(
        tensorcache.NotFoundError,
        match=r'no column of dataset "etth1" is named "HUFLL"; near: .*HUFL',
    ) as e:
        etth1["HUFLL"]
    assert isinstance(e.value, KeyError)
    for field in (
        "columns",
        "context_columns",
        "target_columns",
        "known_columns",
        "static_columns",
    ):
        with pytest.raises(tensorcache.NotFoundError, match=r"near: .*HUFL") as caught:
            etth1.windows(context_length=3, prediction_length=1, **{field: ["HUFLL"]})
        assert caught.value.type == "column_not_found"
        assert caught.value.field == field


def test_unknown_column_of_a_load(load: Load) -> None:
    for options in ({"columns": ["OTT"]}, {"time": "datee"}, {"item_id": "dat"}):
        near = "OT" if "columns" in options else "date"
        with pytest.raises(tensorcache.NotFoundError, match=f"near: .*{near}") as caught:
            load(ETTH1, **options)
        assert caught.value.type == "column_not_found"


def test_names_that_cannot_be(cache: tensorcache.Cache, tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "a", "1")
    for name in ("", ".hidden", "a/b", "../up", "ä", "x" * 101, "a b"):
        for use in (
            lambda name=name: cache.load(name, path),
            lambda name=name: cache.dataset(name),
        ):
            with pytest.raises(tensorcache.SpecError, match="want 1 to 100 of") as caught:
                use()
            assert caught.value.type == "invalid_name"


def test_missing_file(load: Load, tmp_path: Path) -> None:
    with pytest.raises(tensorcache.SourceError, match=r"nowhere\.csv") as caught:
        load(tmp_path / "nowhere.csv")
    assert str(tmp_path / "nowhere.csv") in caught.value.detail


def test_directory_as_a_source(load: Load, tmp_path: Path) -> None:
    with pytest.raises(tensorcache.SourceError, match="director") as caught:
        load(tmp_path)
    assert str(tmp_path) in caught.value.detail


def test_socket_as_a_source(load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind("socket.csv")
        with pytest.raises(tensorcache.SourceError, match="socket"):
            load("socket.csv")


def test_empty_file(load: Load, tmp_path: Path) -> None:
    for name in ("empty.csv", "empty.parquet"):
        (tmp_path / name).touch()
        with pytest.raises(tensorcache.SourceError, match=r"empty\.(csv|parquet).*empty"):
            load(tmp_path / name)
    with pytest.raises(tensorcache.SourceError, match=r"header\.csv"):
        load(write(tmp_path / "header.csv", "a,b"))


def test_ragged_row_names_file_and_row(load: Load, tmp_path: Path) -> None:
    for line in ("3", "3,4,5"):
        with pytest.raises(tensorcache.SourceError, match=r"ragged\.csv, row 2") as caught:
            load(write(tmp_path / "ragged.csv", "a,b", "1,2", line, "5,6"))
        assert caught.value.type == "source_error"


def test_text_among_numbers_names_file_row_column_and_text(load: Load, tmp_path: Path) -> None:
    lines = [f"{i},{i}.5" for i in range(1, 5000)]
    lines[4000] = "4001,n/q"
    with pytest.raises(tensorcache.SourceError) as caught:
        load(write(tmp_path / "prices.csv", "day,close", *lines), time="day")
    for words in (str(tmp_path / "prices.csv"), "row 4001", 'column "close"', '"n/q"'):
        assert words in caught.value.detail
    assert caught.value.hint


def test_broken_parquet(load: Load, tmp_path: Path) -> None:
    path = tmp_path / "half.parquet"
    pd.DataFrame(
        {"a": np.arange(100_000.0), "b": np.random.default_rng(0).normal(size=100_000)}
    ).to_parquet(path)
    whole = path.read_bytes()
    for broken in (
        whole[: len(whole) // 2],
        whole[:100] + b"\xff" * 200 + whole[300:],
        b"PAR1" + whole[-8:],
    ):
        path.write_bytes(broken)
        with pytest.raises(tensorcache.SourceError, match=r"half\.parquet"):
            load(path)


def test_no_sources_and_sources_that_are_no_paths(cache: tensorcache.Cache) -> None:
    with pytest.raises(tensorcache.SourceError, match="got none"):
        cache.load("bad", [])
    with pytest.raises(tensorcache.SpecError, match="want paths"):
        cache.load("bad", [1])  # type: ignore[list-item]
    with pytest.raises(tensorcache.SourceError, match='got ""'):
        cache.load("bad", "")


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"layout": "rows"}, "layout"),
        ({"scale": "quantile"}, "scale"),
        ({"scale": "standard", "scale_per": "row"}, "scale_per"),
        ({"scale": "standard", "fit_rows": (10, 5)}, "fit_rows"),
        ({"scale": "standard", "fit_rows": 5}, "fit_rows"),
        ({"dtype": "float8"}, "dtype"),
    ],
)
def test_load_options_that_cannot_be(load: Load, options: dict[str, Any], field: str) -> None:
    with pytest.raises(tensorcache.SpecError) as caught:
        load(ETTH1, time="date", **options)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"context_length": 0}, "context_length"),
        ({"context_length": -1}, "context_length"),
        ({"context_length": 1.5}, "context_length"),
        ({"context_length": "many"}, "context_length"),
        ({"context_length": True}, "context_length"),
        ({"context_length": 2**62}, "context_length"),
        ({"context_length": 3, "prediction_length": -1}, "prediction_length"),
        ({"context_length": 3, "stride": 0}, "stride"),
        ({"context_length": 3, "dilation": 0}, "dilation"),
        ({"context_length": 3, "gap": 1}, "gap"),
        ({"context_length": 3, "prediction_length": 1, "overlap": 4}, "overlap"),
        ({"context_length": 3, "min_context": 4}, "min_context"),
        ({"context_length": 3, "max_missing": 1.5}, "max_missing"),
        ({"context_length": 3, "max_missing": float("nan")}, "max_missing"),
        ({"context_length": 3, "anchor": "middle"}, "anchor"),
        ({"context_length": 3, "rows": (5, 5)}, "rows"),
        ({"context_length": 3, "rows": 5}, "rows"),
        ({"context_length": 3, "time": ("yesterday", None)}, "time"),
        ({"context_length": 3, "max_step": "soon"}, "max_step"),
        ({"context_length": 3, "dtype": "float16"}, "dtype"),
        ({"context_length": 3, "columns": ["date"]}, "columns"),
        ({"context_length": 3, "columns": ["OT", "OT"]}, "columns"),
        ({"context_length": 3, "columns": [1]}, "columns"),
    ],
)
def test_specs_that_cannot_be(etth1: tensorcache.Dataset, spec: dict[str, Any], field: str) -> None:
    with pytest.raises(tensorcache.SpecError) as caught:
        etth1.windows(**spec)
    assert caught.value.field.split("[")[0] == field
    assert isinstance(caught.value, ValueError)


def test_context_longer_than_every_item_says_what_was_lost(etth1: tensorcache.Dataset) -> None:
    with pytest.raises(tensorcache.SpecError, match="item_end") as caught:
        etth1.windows(context_length=17_421)
    assert caught.value.type == "no_windows"


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"batch_size": 0}, "batch_size"),
        ({"batch_size": -3}, "batch_size"),
        ({"batch_size": 2.5}, "batch_size"),
        ({"batch_size": 2, "order": "random"}, "order"),
        ({"batch_size": 2, "seed": -1}, "seed"),
        ({"batch_size": 2, "rank": 2, "num_replicas": 2}, "rank"),
        ({"batch_size": 2, "rank": -1}, "rank"),
        ({"batch_size": 2, "num_replicas": 0}, "num_replicas"),
        ({"batch_size": 2, "tail": "long"}, "tail"),
        ({"batch_size": 2, "slots": 2}, "slots"),
        ({"batch_size": 2, "delivery": "pigeon"}, "delivery"),
        ({"batch_size": 2, "mask": "yes"}, "mask"),
    ],
)
def test_feeds_that_cannot_be(
    etth1: tensorcache.Dataset, options: dict[str, Any], field: str
) -> None:
    with pytest.raises(tensorcache.SpecError) as caught:
        etth1.windows(context_length=3, prediction_length=1).feed(**options)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("split", "field"),
    [
        ({}, "split"),
        ({"lengths": (1, 2), "fractions": (0.5, 0.5)}, "split"),
        ({"lengths": (-1, 2)}, "lengths"),
        ({"lengths": 5}, "lengths"),
        ({"fractions": (0.9, 0.9)}, "fractions"),
        ({"lengths": (100, 100), "purge": -1}, "purge"),
        ({"lengths": (100, 100), "names": ("a", "a")}, "names"),
    ],
)
def test_splits_that_cannot_be(
    etth1: tensorcache.Dataset, split: dict[str, Any], field: str
) -> None:
    with pytest.raises(tensorcache.SpecError) as caught:
        etth1.windows(context_length=3, prediction_length=1).split(**split)
    assert field in caught.value.field


def test_windows_that_are_not_there(etth1: tensorcache.Dataset) -> None:
    windows = etth1.windows(context_length=3, prediction_length=1)
    for index in (
        len(windows),
        -len(windows) - 1,
        [0, len(windows)],
        [2**63],
        np.asarray([2**64 - 1], np.uint64),
    ):
        with pytest.raises(IndexError):
            windows[index]  # type: ignore[index]
    for nonsense in (1.5, [1.5], [[1]], [True], "1"):
        with pytest.raises(tensorcache.SpecError):
            windows[nonsense]  # type: ignore[call-overload]
    with pytest.raises(tensorcache.SpecError, match="item_id"):
        windows.where(items=["x"])
    with pytest.raises(tensorcache.NotFoundError, match="one item, without a name"):
        windows.starts("x")


def test_states_that_are_none(etth1: tensorcache.Dataset) -> None:
    windows = etth1.windows(context_length=3, prediction_length=1)
    with windows.feed(batch_size=4) as feed:
        state = feed.state_dict()
        for nonsense in (
            {},
            {"epoch": 1},
            *({**state, "consumed": bad} for bad in (-1, "4", 4.5)),
            {**state, "epoch": "x"},
        ):
            with pytest.raises(tensorcache.CursorError):
                feed.load_state_dict(nonsense)
        with pytest.raises(tensorcache.SpecError, match="epoch: got -1"):
            feed.set_epoch(-1)
