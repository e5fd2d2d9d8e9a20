"""Rows appended to a dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tensorcache

pytestmark = pytest.mark.portable


def write(path: Path, frame: pd.DataFrame) -> Path:
    frame.to_csv(path, index=False)
    return path


def days(item: str, first: str, values: list[float]) -> pd.DataFrame:
    return pd.DataFrame(
        {"item": item, "day": pd.date_range(first, periods=len(values)), "v": values}
    )


def test_appended_rows_are_served_and_the_old_generation_goes_on(
    cache: tensorcache.Cache, tmp_path: Path
) -> None:
    rng = np.random.default_rng(3)
    parts = [
        pd.concat([days(i, "2026-01-01", rng.normal(size=50).tolist()) for i in "ab"]),
        pd.concat([days(i, "2026-02-20", rng.normal(size=20).tolist()) for i in "bca"]),
    ]
    files = [write(tmp_path / f"{n}.csv", part) for n, part in enumerate(parts)]
    old = cache.load(
        "growing", files[0], item_id="item", time="day", scale="standard", scale_per="item"
    )
    feed = old.windows(context_length=8, prediction_length=2).feed(batch_size=16)
    batches = iter(feed)
    first = next(batches).copy()
    new = cache.append("growing", files[1])
    assert (old.generation, new.generation, len(old), len(new)) == (1, 2, 100, 160)
    served = [first, *(batch.copy() for batch in batches)]
    assert sum(len(batch.start) for batch in served) == 2 * (50 - 9)
    feed.close()

    both = pd.concat(parts)
    for item in "abc":
        rows = both[both["item"] == item]
        code = list(new.items).index(item)
        at = {"a": 0, "b": 70, "c": 140}[item]
        seen = rows["v"] if item == "c" else rows["v"][:50]
        want = (rows["v"] - seen.mean()) / seen.std(ddof=0)
        np.testing.assert_allclose(new["v"][at : at + len(rows)], want, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(
            new.inverse("v", new["v"][at : at + len(rows)], item=item),
            rows["v"],
            rtol=1e-5,
            atol=1e-5,
        )
        assert code == "abc".index(item)
    np.testing.assert_array_equal(new["v"][:50], old["v"][:50])
    assert len(new.windows(context_length=8, prediction_length=2)) == 2 * (70 - 9) + (20 - 9)


def test_the_same_again_is_a_hit(cache: tensorcache.Cache, tmp_path: Path) -> None:
    files = [
        write(tmp_path / "a.csv", days("a", "2026-01-01", [1, 2])),
        write(tmp_path / "b.csv", days("a", "2026-02-01", [3])),
    ]
    cache.load("again", files[0], item_id="item", time="day")
    jobs: list[dict[str, Any]] = []
    assert cache.append("again", files[1], progress=jobs.append).generation == 2
    assert cache.append("again", files, progress=jobs.append).generation == 2
    assert [job["hit"] for job in jobs if job["state"] == "done"] == [False, True]
    with pytest.raises(
        tensorcache.SourceError,
        match=r'row 1 .*"day": time 2026-02-01 00:00:00 of item "a" is not after',
    ):
        cache.append("again", write(tmp_path / "c.csv", days("a", "2026-02-01", [3])))


def test_arrays_are_appended(cache: tensorcache.Cache) -> None:
    rows = {"t": np.arange(5), "v": np.arange(5) * 0.5}
    cache.put("arrays", rows, time="t")
    data = cache.append("arrays", {"t": np.arange(5, 8), "v": np.zeros(3)})
    assert data.generation == 2
    assert data["v"].tolist() == [0, 0.5, 1, 1.5, 2, 0, 0, 0]
    assert len(cache.append("arrays", pd.DataFrame({"t": [9], "v": [1.0]}))) == 9
    with pytest.raises(tensorcache.SourceError, match=r'column "t": time 3 is not after 9'):
        cache.append("arrays", {"t": np.array([3]), "v": np.zeros(1)})
    with pytest.raises(tensorcache.SpecError, match="hash_sources"):
        cache.append("arrays", {"t": np.array([30]), "v": np.zeros(1)}, hash_sources=True)
    with pytest.raises(tensorcache.NotFoundError):
        cache.append("nosuch", {"t": np.array([30])})


def test_random_appends_are_one_load(cache: tensorcache.Cache) -> None:
    rng = np.random.default_rng(11)
    for draw in range(6):
        name, layout = f"random{draw}", ("columns", "packed")[draw % 2]
        parts: list[pd.DataFrame] = []
        last = dict.fromkeys("abcd", 0)
        for _ in range(4):
            some = rng.permutation(list("abcd"))[: rng.integers(1, 5)]
            rows = []
            for i in np.repeat(some, 3):
                last[i] += int(rng.integers(1, 4))
                rows.append((str(i), last[i], rng.normal(), rng.integers(9)))
            parts.append(pd.DataFrame(rows, columns=["i", "t", "v", "n"]))
        cache.put(name, parts[0], item_id="i", time="t", layout=layout)
        for part in parts[1:]:
            data = cache.append(name, part)
        both = pd.concat(parts)
        both["i"] = pd.Categorical(both["i"], categories=both["i"].unique(), ordered=True)
        want = both.sort_values(["i", "t"], kind="stable")
        assert list(data.items) == list(want["i"].cat.categories), f"draw {draw}"
        for column in "tvn":
            np.testing.assert_array_equal(data[column], want[column], err_msg=f"draw {draw}")


UNITS = ["s", "ms", "us", "ns"]


@pytest.mark.parametrize("was", UNITS)
def test_times_of_another_unit_are_turned_into_the_datasets(
    cache: tensorcache.Cache, tmp_path: Path, was: str
) -> None:
    def part(first: str, unit: str) -> pd.DataFrame:
        times = pd.Series(pd.date_range(first, periods=3).as_unit(unit))
        gone = pd.Series(pd.to_timedelta([1, 2, 3], unit="s")).dt.as_unit(unit)
        return pd.DataFrame({"t": times, "gone": gone, "v": [1.0, 2.0, 3.0]})

    for unit in UNITS:
        old, new = part("2020-01-01", was), part("2020-02-01", unit)
        cache.put("units", old, time="t")
        data = cache.append("units", new)
        assert data["t"].dtype == f"datetime64[{was}]"
        both = pd.concat([old, new])
        np.testing.assert_array_equal(data["t"], both["t"].to_numpy().astype(f"datetime64[{was}]"))
        np.testing.assert_array_equal(
            data["gone"], both["gone"].to_numpy().astype(f"timedelta64[{was}]")
        )

        new = part("2020-02-01", unit).drop(columns="gone")
        cache.put("units", old.drop(columns="gone"), time="t", where={"time": ("2020-01-02", None)})
        data = cache.append("units", write(tmp_path / f"{was}-{unit}.csv", new))
        assert data["t"].tolist() == both["t"].to_numpy().astype(f"datetime64[{was}]")[1:].tolist()


def test_times_that_the_datasets_unit_cannot_say(cache: tensorcache.Cache, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("t,v\n2020-01-01T00:00:01,1\n")
    cache.load("coarse", tmp_path / "a.csv", time="t")
    late = np.array(["2020-01-01T00:00:02.000", "2020-01-01T00:00:03.500"], "M8[ms]")
    words = (
        r'row 2, column "t": "2020-01-01 00:00:03.500" is not a whole number of s, .*\nhint: load '
        r"all rows again"
    )
    with pytest.raises(tensorcache.SourceError, match=words):
        cache.append("coarse", {"t": late, "v": [1, 2]})
    (tmp_path / "b.csv").write_text("t,v\n2020-01-01T00:00:02.000,2\n2020-01-01T00:00:03.25,3\n")
    with pytest.raises(
        tensorcache.SourceError,
        match=r'b.csv, row 2 \(line 3\), column "t": "2020-01-01 00:00:03.250"',
    ):
        cache.append("coarse", tmp_path / "b.csv")
    (tmp_path / "c.csv").write_text("t,v\n2020-01-01T00:00:02.000,2\n")
    assert cache.append("coarse", tmp_path / "c.csv")["t"].astype(int).tolist() == [
        1577836801,
        1577836802,
    ]
    cache.put("fine", {"t": late.astype("M8[ns]"), "v": [1.0, 2.0]}, time="t")
    with pytest.raises(
        tensorcache.SourceError,
        match='row 1, column "t": "3000-01-01 00:00:00" is not a whole number of ns, the',
    ):
        cache.append("fine", {"t": np.array(["3000-01-01"], "M8[s]"), "v": [1.0]})
