"""Lines that are no rows and signs between thousands, as pandas reads them."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import tensorcache


@pytest.mark.parametrize("seed", range(30))
def test_files_are_what_pandas_reads(cache: tensorcache.Cache, tmp_path: Path, seed: int) -> None:
    draws = random.Random(seed)
    delimiter = draws.choice([",", ";", "\t", "|"])
    thousands = draws.choice([None, ",", "'", "_"])
    comment = draws.choice([None, "#", "%"])
    above = [draws.choice(["A title", "", "two, cells", "# x"]) for _ in range(draws.randrange(4))]
    if comment:
        above = [line for line in above if not line.startswith("#")]
    lines = [*above, delimiter.join(["a", "b", "c"])]
    for _ in range(draws.randrange(1, 30)):
        if comment and draws.randrange(4) == 0:
            lines.append(comment + draws.choice(["", " a comment", "1,2,3"]))
        numbers = [draws.randrange(10 ** draws.randrange(1, 12)) for _ in range(3)]
        cells = [f"{number:,}".replace(",", thousands or "") for number in numbers]
        cells[2] += f".{draws.randrange(100):02}"
        lines.append(delimiter.join(f'"{cell}"' for cell in cells))
    path = tmp_path / "x.csv"
    path.write_text("\n".join(lines) + "\n")
    want = pd.read_csv(
        path,
        skiprows=len(above),
        sep=delimiter,
        thousands=thousands,
        comment=comment,
    )
    data = cache.load(
        "above",
        path,
        skip=len(above),
        delimiter=delimiter,
        thousands=thousands,
        comment=comment,
    )
    for name in ("a", "b", "c"):
        np.testing.assert_array_equal(data[name], want[name].to_numpy())


def test_appends_skip_the_same_lines(cache: tensorcache.Cache, tmp_path: Path) -> None:
    first, second = tmp_path / "1.csv", tmp_path / "2.csv"
    first.write_text("title\n# one\na\n1\n")
    second.write_text("title\na\n# two\n2\n")
    cache.load("above", first, skip=1, comment="#")
    assert cache.append("above", second)["a"].tolist() == [1, 2]
