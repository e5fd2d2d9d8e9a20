"""The indexes of pandas frames: none is lost without a word."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorcache
from cases import examples

ROWS = 6
LEVELS: dict[str, Any] = {
    "position": pd.RangeIndex(ROWS),
    "numbers": pd.Index([5, 3, 4, 1, 2, 9]),
    "nullable": pd.Index([5, 3, 4, 1, 2, 9], dtype="Int64"),
    "texts": pd.Index(list("aabbcc")),
    "category": pd.CategoricalIndex(list("aabbcc")),
    "floats": pd.Index(np.arange(ROWS) / 2),
    "times": pd.date_range("2020-01-01", periods=ROWS, freq="h"),
    "zoned": pd.date_range("2020-01-01", periods=ROWS, freq="h", tz="Europe/Berlin"),
    "arrow": pd.Index(
        pd.date_range("2020-01-01", periods=ROWS).to_series().astype("timestamp[us][pyarrow]")
    ),
    "periods": pd.period_range("2020-01", periods=ROWS, freq="M"),
}
UNNAMED = ("position", "numbers", "nullable")
TIMES = ("times", "zoned", "arrow", "periods")


def frame_of(levels: list[tuple[str, str | None]]) -> pd.DataFrame:
    """Return a frame with the levels, each a kind and a name."""
    frame = pd.DataFrame({"a": np.arange(ROWS, dtype=float), "b": np.arange(ROWS)})
    if len(levels) == 1:
        frame.index = LEVELS[levels[0][0]].rename(levels[0][1])
    else:
        frame.index = pd.MultiIndex.from_arrays(
            [LEVELS[kind] for kind, _ in levels], names=[name for _, name in levels]
        )
    return frame


def outcome(cache: tensorcache.Cache, columns: Any, time: str | None) -> Any:
    """Return what a put makes, or its refusal: no such column, or rows that are not in order."""
    try:
        data = cache.put("indexed", columns, time=time)
    except tensorcache.TensorcacheError as error:
        return error.detail
    return {c["name"]: c["xxh64"] for c in data.manifest["columns"]}, data.time, data.columns


@given(
    levels=st.lists(
        st.tuples(st.sampled_from(sorted(LEVELS)), st.sampled_from([None, "x", "y", "a"])),
        min_size=1,
        max_size=3,
    ),
    time=st.sampled_from([None, "time", "x"]),
)
@examples(120)
def test_each_level_is_a_column_or_a_position_or_refused(
    cache: tensorcache.Cache, levels: list[tuple[str, str | None]], time: str | None
) -> None:
    frame = frame_of(levels)
    named = {
        (time if name is None and kind in TIMES else name): (kind, at)
        for at, (kind, name) in enumerate(levels)
        if name is not None or kind not in UNNAMED
    }
    wanted = sum(name is not None or kind not in UNNAMED for kind, name in levels)
    if None in named or "a" in named or len(named) < wanted:
        with pytest.raises(tensorcache.SourceError, match=r"^index: .*(name|levels)"):
            cache.put("indexed", frame, time=time)
        return
    times = [name for name, (kind, _) in named.items() if kind in TIMES]
    chosen = time or (times[0] if len(times) == 1 else None)
    columns: dict[Any, Any] = {}
    for name, (_, at) in named.items():
        level = frame.index.get_level_values(at)
        columns[name] = level.start_time if isinstance(level, pd.PeriodIndex) else level
    columns |= dict(frame.items())
    want, data = outcome(cache, columns, chosen), outcome(cache, frame, time)
    assert data == want
    assert isinstance(data, str) or (data[1], set(data[2])) == (chosen, set(columns))


def test_levels_may_be_item_and_time(cache: tensorcache.Cache) -> None:
    index = pd.MultiIndex.from_product(
        [["x", "y"], pd.date_range("2020-01-01", periods=3)], names=["id", "date"]
    )
    frame = pd.DataFrame({"a": np.arange(6.0)}, index=index)
    for data in (
        cache.put("panel", frame, item_id="id"),
        cache.put("panel", frame, item_id="id", time="date"),
        cache.load("panel", frame, item_id="id"),
        cache.put("panel", frame, recipe={"item_id": "id", "time": "date"}),
        cache.put("panel", frame.swaplevel(), item_id="id"),
        cache.put("panel", frame.iloc[[2, 0, 1, 5, 4, 3]], item_id="id", sort=True),
    ):
        assert data.time == "date"
        assert list(data.items) == ["x", "y"]
        assert data["a"].tolist() == list(range(6))
    with pytest.raises(tensorcache.SourceError, match="date"):
        cache.put("panel", frame[::-1], item_id="id")  # not in order
    with pytest.raises(tensorcache.SourceError, match="date"):
        cache.put("panel", pd.concat([frame, frame]), item_id="id", sort=True)  # not unique


@pytest.mark.parametrize("layout", ["columns", "packed"])
def test_levels_of_numbers_are_in_windows_only_where_named(
    cache: tensorcache.Cache, layout: str
) -> None:
    index = pd.MultiIndex.from_arrays(
        [
            ["x"] * 4 + ["y"] * 4,
            np.arange(8),
            np.arange(8) / 2,
            [True, False] * 4,
            pd.to_timedelta(np.arange(8).astype("m8[s]")),
        ],
        names=["id", "run", "depth", "day", "age"],
    )
    frame = pd.DataFrame({"a": np.arange(8.0), "b": np.arange(8)}, index=index)
    data = cache.put("levels", frame, item_id="id", layout=layout)
    marked = {c["name"] for c in data.manifest["columns"] if c.get("named_only")}
    assert marked == {"run", "depth", "day"}
    plain = cache.put("plain", frame.reset_index(), item_id="id", layout=layout)
    assert plain.digest != data.digest
    assert cache.put("again", frame, item_id="id", layout=layout).digest == data.digest
    sizes = {"context_length": 2, "prediction_length": 1}
    assert data.windows(**sizes)[0].context.tolist() == [[0, 0], [1, 1]]
    assert plain.windows(**sizes)[0].context.shape == (2, 5)
    named = data.windows(**sizes, columns=["a"], known_columns=["run", "depth", "day", "age"])
    assert named[2].known.tolist() == [[4, 2, 1, 4], [5, 2.5, 0, 5], [6, 3, 1, 6]]
    windows = data.windows(**sizes, context_columns=["run", "a"])
    with windows.feed(batch_size=4, order="sequential") as feed:
        assert next(iter(feed)).context[:, :, 0].tolist() == [[0, 1], [1, 2], [4, 5], [5, 6]]
    grown = cache.append("levels", frame)
    assert {c["name"] for c in grown.manifest["columns"] if c.get("named_only")} == marked
    assert grown.windows(**sizes)[0].context.shape == (2, 2)
    cache.append("levels", frame.reset_index())
    assert cache.dataset("levels").windows(**sizes)[0].context.shape == (2, 2)
    alone = frame[[]].set_axis(index)
    with pytest.raises(tensorcache.SpecError, match=r"no column is left for the context"):
        cache.put("alone", alone, item_id="id").windows(**sizes)


def test_a_level_that_is_melted_is_a_series(cache: tensorcache.Cache) -> None:
    frame = pd.DataFrame({"a": [1, 2]}, index=pd.Index([5, 7], name="n"))
    data = cache.put("melted", frame, melt=True)
    assert list(data.items) == ["n", "a"]
    assert data.windows(context_length=1, prediction_length=1)[0].context.tolist() == [[5]]


def test_times_without_a_name_take_that_of_the_option(cache: tensorcache.Cache) -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0]}, index=pd.date_range("2020-01-01", periods=2))
    for method in (cache.put, cache.load):
        with pytest.raises(tensorcache.SourceError) as caught:
            method("frame", frame)  # type: ignore[operator]
        assert caught.value.detail == "index: got times without a name, want a name"
        assert 'time="time"' in str(caught.value.hint)
        assert method("frame", frame, time="when").columns == ("when", "a")  # type: ignore[operator]
    with pytest.raises(tensorcache.SourceError, match='"a" has the name of a column'):
        cache.put("frame", frame, time="a")
    wide = cache.put("wide", frame.assign(b=0.5), time="when", melt=True)
    assert list(wide.items) == ["a", "b"]


def test_append_names_times_as_the_dataset_does(cache: tensorcache.Cache) -> None:
    times = pd.date_range("2020-01-01", periods=4)
    frame = pd.DataFrame({"a": np.arange(4.0)}, index=times)
    cache.put("growing", frame[:2], time="when")
    data = cache.append("growing", frame[2:])
    assert data["a"].tolist() == [0, 1, 2, 3]
    np.testing.assert_array_equal(data["when"], times)
    cache.put("growing", frame[:2].rename_axis("when"))
    assert cache.append("growing", frame[2:].rename_axis("when"))["a"].tolist() == [0, 1, 2, 3]
    cache.put("timeless", frame[:2].reset_index(drop=True))
    with pytest.raises(tensorcache.SourceError, match=r"without a name(?s:.*)drop=True"):
        cache.append("timeless", frame[2:])
    assert len(cache.append("timeless", frame[2:].reset_index(drop=True))["a"]) == 4


@pytest.mark.parametrize("freq", ["h", "D", "W", "M", "Q", "Y", "15min", "ms"])
def test_periods_are_their_start(cache: tensorcache.Cache, freq: str) -> None:
    periods = pd.period_range("2020-01-01", periods=3, freq=freq)
    for columns in (
        pd.DataFrame({"a": [1, 2, 3]}, index=periods.rename("t")),
        {"t": periods, "a": [1, 2, 3]},
        pd.DataFrame({"t": periods, "a": [1, 2, 3]}),
    ):
        data = cache.put("periods", columns, time="t")
        np.testing.assert_array_equal(data["t"], periods.start_time)
    with pytest.raises(tensorcache.SourceError, match=r'row 2, column "t": NaT is no time'):
        cache.put("periods", {"t": pd.PeriodIndex(["2020", None], freq="Y")})


def test_an_index_of_dates_without_a_name_is_refused(cache: tensorcache.Cache) -> None:
    days = [datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)]
    frame = pd.DataFrame({"a": [1.0, 2.0]}, index=days)
    with pytest.raises(tensorcache.SourceError, match="got object without a name"):
        cache.put("days", frame)
    assert cache.put("days", frame.rename_axis("day"), time="day").time == "day"
