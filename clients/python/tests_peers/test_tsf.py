"""GluonTS' reader of .tsf files, compared with ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tensorcache
from peers import peer

reader = peer("gluonts.dataset.repository._tsf_reader")

pytestmark = pytest.mark.filterwarnings("ignore")
UNITS = ("minutely", "hourly", "daily", "weekly", "monthly", "quarterly", "yearly")
MULTIPLES = ("10_minutes", "half_hourly", "2_hours", "3_days", "2_weeks", "2_months", "2_quarters")


def random_file(path: Path, rng: np.random.Generator, frequency: str) -> None:
    """Write series of different lengths, with missing values, attributes and comments."""
    lines = ["# made by a test", "@relation test", "@attribute series_name string"]
    lines += ["@attribute state string", "@attribute start_timestamp date", "@attribute n numeric"]
    lines += [f"@frequency {frequency}", "@horizon 3", "@missing true", "@equallength false"]
    lines += ["@data"]
    for i in range(int(rng.integers(1, 8))):
        start = pd.Timestamp("1970-01-31") + pd.Timedelta(int(rng.integers(0, 10**9)), "s")
        values = rng.normal(0, 10.0 ** rng.integers(-5, 6), int(rng.integers(1, 60)))
        texts = [rng.choice([repr(float(v)), f"{v:.2f}", str(int(v)), f"{v:.3e}"]) for v in values]
        texts = ["?" if rng.random() < 0.1 else text for text in texts]
        stamp = start.strftime("%Y-%m-%d %H-%M-%S")
        lines.append(f"T{i + 1}:S {i % 2}:{stamp}:{rng.integers(-9, 9)}:{','.join(texts)}")
        if rng.random() < 0.2:
            lines.append("# a comment: 1,2")
    path.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("frequency", UNITS + MULTIPLES)
def test_values_attributes_and_periods(
    cache: tensorcache.Cache, tmp_path: Path, frequency: str
) -> None:
    """Every value, attribute and period of random files is that of GluonTS."""
    rng = np.random.default_rng(sum(frequency.encode()))
    for i in range(5):
        path = tmp_path / f"{i}.tsf"
        random_file(path, rng, frequency)
        meta, theirs = reader.TSFReader(path).read()
        data = cache.load("tsf", path)
        words = data.vocab("state")
        ours = list(data.by_item())
        assert [item for item, _ in ours] == [one["series_name"] for one in theirs]
        for (_, columns), one in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(columns["value"], one["target"])
            assert {words[code] for code in columns["state"]} == {one["state"]}
            assert set(columns["n"].tolist()) == {one["n"]}
            times = columns["timestamp"]
            assert times[0] == np.datetime64(one["start_timestamp"])
            assert_periods(
                times, one["start_timestamp"], reader.frequency_converter(meta.frequency)
            )


def assert_periods(times: Any, start: Any, frequency: str) -> None:
    """Every time is in the period with the same place, as GluonTS counts them from the start."""
    if frequency.startswith("0.5"):
        frequency = "30min"  # what 0.5h means; no period of pandas has it
    first = pd.Period(start, frequency)
    base = pd.Period(start, frequency.lstrip("0123456789")).freq  # pandas counts in units
    step = first.freq.n
    for k, time in enumerate(times):
        assert pd.Period(time, base) == pd.Period(start, base) + k * step


def test_a_file_of_m4_lines(cache: tensorcache.Cache, tmp_path: Path) -> None:
    """Read a file without starts, as the ones of M4's hourly series, by the name of an item."""
    path = tmp_path / "m4.tsf"
    path.write_text("@attribute series_name string\n@frequency hourly\n@data\nH1:605,586,?\nH2:1\n")
    _, theirs = reader.TSFReader(path).read()
    data = cache.load("m4", path)
    assert data.time is None
    np.testing.assert_array_equal(data.item("H1")["value"], theirs[0]["target"])
