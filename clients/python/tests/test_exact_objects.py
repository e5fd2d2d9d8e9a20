"""Python objects and values of lists: stored without a change, or refused by row."""

from __future__ import annotations

import datetime
import decimal
import re
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorcache
from cases import cases

BIG = 2**53 + 1
NANOSECONDS = {"D": 86_400 * 10**9, "h": 3600 * 10**9, "s": 10**9, "ms": 10**6, "us": 1000, "ns": 1}
EPOCH = datetime.datetime(1970, 1, 1)
MIDNIGHT = datetime.datetime(2020, 1, 2)
ZONED = datetime.datetime(2020, 1, 2, tzinfo=datetime.timezone(datetime.timedelta(hours=5)))


def objects(values: list[Any]) -> Any:
    """Return an array of the objects themselves."""
    array = np.empty(len(values), object)
    for row, value in enumerate(values):
        array[row] = value
    return array


FORMS: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "deque": deque,
    "array": objects,
    "series": lambda values: pd.Series(objects(values), dtype=object),
    "polars": lambda values: pl.Series(values, dtype=pl.Object),
    "rows": lambda values: [[value] for value in values],
}


def put(cache: tensorcache.Cache, column: Any) -> Any:
    """Return the stored values, or the refusal."""
    try:
        return cache.put("objects", {"a": column})["a"].reshape(-1)
    except tensorcache.SourceError as error:
        return error


def is_refused(stored: Any) -> bool:
    """Whether a column was refused, by its name and with what to do."""
    if isinstance(stored, tensorcache.SourceError):
        place = r'(row [\d,]+, column "a": |column "a" is objects of shape)'
        assert re.match(place, stored.detail), stored.detail
        assert stored.hint
        return True
    return False


INTEGERS = st.one_of(
    st.integers(-3, 3), st.integers(-(2**65), 2**65), st.sampled_from([BIG, -BIG, 2**63, 2**64])
)
NUMBERS = st.one_of(
    INTEGERS,
    st.booleans(),
    st.floats(allow_nan=False),
    st.integers(-(2**63), 2**63 - 1).map(np.int64),
    st.integers(0, 2**64 - 1).map(np.uint64),
    st.floats(width=32, allow_nan=False).map(np.float32),
)


@given(
    values=st.one_of(
        st.lists(INTEGERS, min_size=1, max_size=4), st.lists(NUMBERS, min_size=1, max_size=4)
    ),
    form=st.sampled_from(sorted(FORMS)),
)
@cases(0.05)
def test_no_number_changes(cache: tensorcache.Cache, values: list[Any], form: str) -> None:
    stored = put(cache, FORMS[form](values))
    if is_refused(stored):
        assert " does not fit " in stored.detail
        return
    assert [one.item() for one in stored] == [
        one.item() if isinstance(one, np.generic) else one for one in values
    ]


@pytest.mark.parametrize(
    "column",
    [
        [BIG, 0.5],
        pd.Series([BIG, 0.5], dtype=object),
        [[BIG, 0.5], [1, 2]],
        [BIG, float("nan")],
        [-1, 2**63],
        pd.Series([-1, 2**63], dtype=object),
        [decimal.Decimal("0.5"), BIG],
        pd.Series([BIG, None], dtype="Int64").astype("category"),
        pd.Series([[BIG, None]], dtype=pd.ArrowDtype(pa.list_(pa.int64(), 2))),
        pl.Series([[BIG, None]], dtype=pl.Array(pl.Int64, 2)),
    ],
)
def test_integers_are_not_rounded(cache: tensorcache.Cache, column: Any) -> None:
    refusal = put(cache, column)
    assert re.search(r"(90071992547|922337203).* does not fit (float64|int64)", str(refusal))
    assert 'np.asarray(values, "float64")' in refusal.hint


def test_integers_of_more_than_64_bits_are_named(cache: tensorcache.Cache) -> None:
    for values in ([2**64], [1.5, 2**64], [2**64, None], [[1, 2**64]], [-(2**63) - 1]):
        refusal = put(cache, values)
        assert re.search(r'row \d, column "a": -?\d{19,} does not fit 64 bits', refusal.detail)
    floats = put(cache, np.asarray([2**64, 1.5], "float64"))
    assert floats.tolist() == [2**64, 1.5]


def test_missing_integers_of_pyarrow_stay_missing(cache: tensorcache.Cache) -> None:
    for column in (pa.array([5, None]), pa.chunked_array([[5], [None]])):
        assert "row 2" in put(cache, column).detail
        stored = cache.put("gaps", {"a": column}, fill={"a": 0})["a"]
        assert (stored.dtype, stored.tolist()) == (np.int64, [5, 0])


def test_decimals_are_finite(cache: tensorcache.Cache) -> None:
    assert "does not fit float64" in put(cache, [decimal.Decimal("1e400")]).detail
    mixed = [1, decimal.Decimal("0.5"), 2.5, np.float32("inf"), None]
    for values in (mixed, mixed[::-1]):
        expected = [float("nan") if one is None else float(one) for one in values]
        np.testing.assert_array_equal(put(cache, values), expected)


def nanoseconds(value: Any) -> int:
    """Return a time since 1970, or a duration, in nanoseconds."""
    if isinstance(value, (pd.Timestamp, pd.Timedelta)):
        value = value.to_numpy()
    if isinstance(value, np.generic):
        unit, step = np.datetime_data(value.dtype)
        return int(value.view(np.int64)) * step * NANOSECONDS[unit]
    if isinstance(value, datetime.datetime):
        value -= EPOCH
    elif isinstance(value, datetime.date):
        value = datetime.timedelta((value - EPOCH.date()).days)
    seconds = value.days * 86_400 + value.seconds
    return (seconds * 10**6 + value.microseconds) * 1000


def of_unit(kind: str) -> Any:
    """Return times or durations of numpy and pandas, in all units."""
    near = st.integers(-(10**9), 10**9)
    make: Any = np.datetime64 if kind == "M8" else np.timedelta64
    of_pandas: Any = pd.Timestamp if kind == "M8" else pd.Timedelta
    return st.one_of(
        st.builds(lambda n, unit: make(n, unit), near, st.sampled_from(["h", "s", "ms", "ns"])),
        st.builds(lambda n: of_pandas(n, unit="ns"), near),
        st.builds(
            lambda n, unit: of_pandas(make(n, unit)), near, st.sampled_from(["s", "us", "ns"])
        ),
    )


TIMES = st.one_of(st.dates(), st.datetimes(), of_unit("M8"))
DURATIONS = st.one_of(st.timedeltas(), of_unit("m8"))
OTHERS = st.sampled_from(
    [5, 5.5, True, "now", "2020-01-02", ZONED, pd.Timestamp(ZONED), b"now", decimal.Decimal(5)]
)


@given(
    values=st.one_of(
        *(st.lists(kind, min_size=1, max_size=4) for kind in (TIMES, DURATIONS)),
        st.lists(st.one_of(TIMES, DURATIONS, OTHERS), min_size=1, max_size=4),
    ),
    form=st.sampled_from(sorted(FORMS)),
)
@cases(0.05)
def test_no_time_changes(cache: tensorcache.Cache, values: list[Any], form: str) -> None:
    stored = put(cache, FORMS[form](values))
    kinds = {
        "duration"
        if isinstance(one, (datetime.timedelta, np.timedelta64))
        else "time"
        if isinstance(one, (datetime.date, np.datetime64)) and not getattr(one, "tzinfo", None)
        else "other"
        for one in values
    }
    if len(kinds) > 1:
        assert is_refused(stored)
    elif "other" not in kinds:
        if is_refused(stored):
            assert " does not fit " in stored.detail
            return
        assert [nanoseconds(one) for one in stored] == [nanoseconds(one) for one in values]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("kind", ["M8", "m8"])
def test_a_list_of_pandas_times_is_as_its_series(
    cache: tensorcache.Cache, kind: str, unit: str
) -> None:
    series = pd.Series(np.array([1500, 2, 3], f"{kind}[{unit}]"))
    for column in (series, list(series), series.astype(object), series.to_list()):
        stored = put(cache, column)
        assert stored.dtype == series.dtype
        np.testing.assert_array_equal(stored, series)


@pytest.mark.parametrize(
    ("values", "message", "hint"),
    [
        (
            [MIDNIGHT, "now"],
            'row 2, .*"now" is a text, but the value of row 1 is a time',
            "isoform",
        ),
        ([MIDNIGHT, None, "2020-01-02"], "row 3, .* is a text, .* of row 1 is a time", "isoformat"),
        ([MIDNIGHT, 5], "row 2, .*: 5 is a number, .* is a time", "one kind"),
        ([MIDNIGHT.date(), 5], "row 2, .*: 5 is a number, .* is a time", "one kind"),
        ([datetime.timedelta(1), 5], "row 2, .*: 5 is a number, .* is a duration", "one kind"),
        ([np.timedelta64(1, "s"), 5], "row 2, .*: 5 is a number, .* is a duration", "one kind"),
        ([5, np.timedelta64(1, "s")], "row 2, .* is a duration, .* is a number", "one kind"),
        ([datetime.time(1), MIDNIGHT], "row 2, .* is a time, .* is a time of the day", "one kind"),
        ([MIDNIGHT, ZONED], "row 2, .* with a zone, but .* is a time without one", "astimezone"),
        ([ZONED, ZONED], r"row 1, .* is a time with a zone, which", "pd.to_datetime"),
        ([pd.Timestamp(ZONED)], r"row 1, .* is a time with a zone, which", "pd.to_datetime"),
        ([pd.Period("2020", "M")], r"row 1, .* is a period, which", "pd.PeriodIndex"),
        ([datetime.time(1, tzinfo=datetime.timezone.utc)], "row 1, .* with a zone", "tzinfo=None"),
        ([np.timedelta64(1, "M")], r"row 1, .* is of type timedelta64\[M\]", "numbers"),
        ([np.datetime64("9999"), pd.Timestamp(1)], r"row 1, .* does not fit date.*\[ns\]", "unit"),
        ([np.datetime64("9999"), np.datetime64(1, "ns")], r"row 1, .* does not fit", "unit"),
        ([datetime.timedelta(999_999_999)], "row 1, .* does not fit 64 bits", "unit"),
        (["x", 1], 'row 2, .*: 1 is no text, but "x" in row 1 is', "pd.to_numeric"),
        ([b"x", 1], "row 2, .*: 1 is no text, but b'x' in row 1 is", "pd.to_numeric"),
    ],
)
@pytest.mark.parametrize("form", [form for form in FORMS if form != "rows"])
def test_values_of_several_kinds_are_refused(
    cache: tensorcache.Cache, values: list[Any], message: str, hint: str, form: str
) -> None:
    refusal = put(cache, FORMS[form](values))
    assert re.search(message, refusal.detail), refusal.detail
    assert hint in refusal.hint


def test_what_the_hints_make_of_zones_and_periods_is_stored(cache: tensorcache.Cache) -> None:
    zoned = cache.put("zoned", {"t": pd.to_datetime([ZONED, ZONED], utc=True)})
    assert zoned.manifest["columns"][0]["zone"] == "UTC"
    assert zoned["t"].tolist() == [MIDNIGHT - datetime.timedelta(hours=5)] * 2
    periods = pd.period_range("2020-01", periods=2, freq="M")
    stored = cache.put("periods", {"t": pd.PeriodIndex(list(periods))})["t"]
    np.testing.assert_array_equal(stored, periods.start_time)


def test_times_that_are_missing_are_refused(cache: tensorcache.Cache) -> None:
    masked = np.ma.MaskedArray(np.array([1, 2], "M8[ns]"), [False, True])
    for values in ([MIDNIGHT, None], [MIDNIGHT, pd.NaT], [MIDNIGHT, np.datetime64("NaT")], masked):
        assert put(cache, values).detail == 'row 2, column "a": NaT is no time'


def test_arrow_types_keep_nanoseconds_and_zones(cache: tensorcache.Cache) -> None:
    clock = pa.array([1001], pa.time64("ns"))
    for column in (clock, pd.Series(pd.array(clock, dtype=pd.ArrowDtype(clock.type)))):
        assert put(cache, column).astype(int).tolist() == [1001]
    data = cache.put("zone", {"t": pa.array([1001], pa.timestamp("ns", "Europe/Berlin"))})
    assert data.manifest["columns"][0]["zone"] == "Europe/Berlin"
