"""Texts of CSV files, compared with Python's csv and with pandas."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import tensorcache


def texts(generator: np.random.Generator, rows: int) -> list[str]:
    """Random texts with line ends, quotes and delimiters in them, none of which is a number."""
    signs = ["\r\n", "\n", "\r", '"', '""', ",", ";", " ", "x", "ö", "\t"]
    sizes = generator.integers(0, 6, rows)
    return ["a" + "".join(generator.choice(signs, size)) for size in sizes]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("seed", range(10))
def test_texts_are_those_that_csv_and_pandas_read(
    cache: tensorcache.Cache, tmp_path: Path, end: str, seed: int
) -> None:
    generator = np.random.default_rng(seed)
    ids, words = texts(generator, 200), texts(generator, 200)
    with (path := tmp_path / "x.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator=end, quoting=csv.QUOTE_ALL)
        writer.writerows([["id", "word", "v"], *zip(ids, words, range(200), strict=True)])
    rows = list(csv.reader(io.StringIO(path.read_bytes().decode(), newline="")))
    assert [row[:2] for row in rows[1:]] == [list(pair) for pair in zip(ids, words, strict=True)]
    assert pd.read_csv(path)["word"].tolist() == words
    data = cache.load("x", path, delimiter=",")
    for name, want in (("id", ids), ("word", words)):
        assert [data.vocab(name)[code] for code in data[name]] == want


def test_items_that_differ_in_their_line_ends_are_several(
    cache: tensorcache.Cache, tmp_path: Path
) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(b'id,v\r\n"a\r\nb",1\r\n"a\nb",2\r\n"a\rb",3\r\n')
    data = cache.load("x", path, item_id="id")
    assert list(data.items) == ["a\r\nb", "a\nb", "a\rb"]
