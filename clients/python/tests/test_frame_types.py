"""Frames of pandas with every kind of dtype: categories, nullable, Arrow-backed, zones."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorcache
from cases import examples

START = datetime.datetime(2020, 3, 1)
WHOLE = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
UNITS = ["s", "ms", "us", "ns"]
ZONES = ["UTC", "Europe/Berlin", "+05:30"]


def arrow(values: list[Any], kind: pa.DataType) -> pd.Series[Any]:
    """Return an Arrow-backed column."""
    return pd.Series(pd.array(pa.array(values, kind), dtype=pd.ArrowDtype(kind)))


def numbers(seed: list[int], dtype: str) -> dict[str, Any]:
    """Return a column of whole numbers, floats or booleans in each form that pandas has."""
    values = np.array([number % 2 for number in seed]).astype(dtype)
    nullable = {"bool": "boolean"}.get(dtype, dtype.capitalize().replace("Ui", "UI"))
    kind = pa.from_numpy_dtype(values.dtype)
    forms = [pd.Series(values), arrow(values.tolist(), kind)]
    if dtype != "float16":  # pandas has no nullable one, and no category of it
        forms += [pd.Series(pd.array(values, dtype=nullable)), pd.Series(values).astype("category")]
    if dtype not in ("bool", "float16"):
        forms.append(pd.Series(pd.arrays.SparseArray(values)))
    return {"forms": forms, "values": values}


def times(seed: list[int], unit: str, zone: str | None) -> dict[str, Any]:
    """Return a column of times in each form that pandas has."""
    values = np.datetime64(START, unit) + np.array(seed).astype(f"timedelta64[{unit}]")
    plain = pd.Series(values)
    zoned = plain if zone is None else plain.dt.tz_localize("UTC").dt.tz_convert(zone)
    kind = pa.timestamp(unit, zone)
    forms = [zoned, zoned.astype("category"), arrow(pa.array(values).cast(kind).tolist(), kind)]
    return {"forms": forms, "values": values, "zone": zone or ""}


def texts(seed: list[int]) -> dict[str, Any]:
    """Return a column of texts, some missing, in each form that pandas has."""
    values = [None if number % 3 == 0 else f"ä{number % 5}" for number in seed]
    values[0] = "word"  # an untyped column of None alone is float64
    plain = pd.Series(values, dtype=object)
    kind = pa.dictionary(pa.int16(), pa.string())
    forms = [plain, arrow(values, pa.large_string()), arrow(values, kind)]
    forms += [plain.astype(dtype) for dtype in ("str", "string", "string[pyarrow]", "category")]
    forms.append(plain.astype("string[pyarrow]").astype("category"))
    return {"forms": forms, "words": values}


COLUMNS = st.one_of(
    st.tuples(st.just(numbers), st.sampled_from([*WHOLE, "float16", "float32", "float64", "bool"])),
    st.tuples(st.just(times), st.sampled_from(UNITS), st.sampled_from([None, *ZONES])),
    st.tuples(st.just(texts)),
)


@given(
    seed=st.lists(st.integers(0, 10**6), min_size=1, max_size=9),
    columns=st.lists(COLUMNS, min_size=1, max_size=5),
    picked=st.integers(0, 10**6),
)
@examples(60)
def test_a_value_is_the_same_in_every_dtype_that_has_it(
    cache: tensorcache.Cache, seed: list[int], columns: list[Any], picked: int
) -> None:
    made = {f"c{at}": make(seed, *more) for at, (make, *more) in enumerate(columns)}
    frame = pd.DataFrame(
        {name: one["forms"][picked % len(one["forms"])] for name, one in made.items()}
    )
    data = cache.put("typed", frame)
    for entry in data.manifest["columns"]:
        name = entry["name"]
        one = made[name]
        if "words" in one:
            words = data.vocab(name)
            assert [None if code < 0 else words[code] for code in data[name]] == one["words"]
            continue
        assert data[name].dtype == one["values"].dtype, (name, frame[name].dtype)
        np.testing.assert_array_equal(data[name], one["values"])
        assert entry.get("zone", "") == one.get("zone", "")


@pytest.mark.parametrize("dtype", [*WHOLE, "bool"])
def test_what_is_missing_is_filled_in_every_form(cache: tensorcache.Cache, dtype: str) -> None:
    nullable = {"bool": "boolean"}.get(dtype, dtype.capitalize().replace("Ui", "UI"))
    for column in (
        pd.Series(pd.array([1, None, 0], dtype=nullable)),
        arrow([True, None, False] if dtype == "bool" else [1, None, 0], pa.type_for_alias(dtype)),
    ):
        data = cache.put("gaps", pd.DataFrame({"a": column}), fill={"a": 0})
        assert data["a"].dtype == dtype
        assert data["a"].tolist() == [1, 0, 0]
        with pytest.raises(tensorcache.SourceError, match='row 2, column "a"'):
            cache.put("gaps", pd.DataFrame({"a": column}))


def test_other_types_of_arrow(cache: tensorcache.Cache) -> None:
    hour = datetime.timedelta(hours=1)
    frame = pd.DataFrame(
        {
            "day": arrow([START.date()] * 2, pa.date32()),
            "step": arrow([hour] * 2, pa.duration("ms")),
            "clock": arrow([datetime.time(1)] * 2, pa.time64("us")),
            "price": arrow([decimal.Decimal("1.5"), None], pa.decimal128(5, 2)),
            "nothing": arrow([None, None], pa.null()),
            "pair": arrow([[1, 2], [3, 4]], pa.list_(pa.int8(), 2)),
        }
    )
    data = cache.put("others", frame)
    np.testing.assert_array_equal(data["day"], np.array(["2020-03-01"] * 2, "datetime64[s]"))
    assert (data["step"] == np.timedelta64(hour)).all()
    assert (data["clock"] == np.timedelta64(hour)).all()
    np.testing.assert_array_equal(data["price"], [1.5, np.nan])
    np.testing.assert_array_equal(data["nothing"], [np.nan, np.nan])
    assert data["pair"].tolist() == [[1, 2], [3, 4]]
    gone = pd.DataFrame({"pair": arrow([[1, 2], None], pa.list_(pa.int8(), 2))})
    with pytest.raises(tensorcache.SourceError, match='row 2, column "pair": the list is missing'):
        cache.put("others", gone)


@pytest.mark.parametrize("zone", ZONES)
def test_an_index_and_a_category_have_zones_too(cache: tensorcache.Cache, zone: str) -> None:
    times = pd.date_range("2020-03-29", periods=3, freq="h", tz=zone)
    for index in (times, pd.Index(arrow(times.tolist(), pa.timestamp("us", zone)))):
        data = cache.put("zones", pd.DataFrame({"a": [1, 2, 3]}, index=index), time="t")
        assert data.manifest["columns"][0]["zone"] == zone
        np.testing.assert_array_equal(data["t"], times.tz_convert(None))
    months = pd.Series(pd.period_range("2020-01", periods=3, freq="M"))
    data = cache.put("zones", {"t": months.astype("category"), "a": [1, 2, 3]}, time="t")
    np.testing.assert_array_equal(data["t"], months.dt.start_time)
