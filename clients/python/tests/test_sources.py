"""What files may be: dialects of text, compression, folders, and what pandas and pyarrow make of the same."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tensorcache


@given(
    rows=st.lists(
        st.tuples(
            st.integers(-(2**53), 2**53).filter(lambda v: v != -999),
            st.one_of(st.none(), st.floats(allow_nan=False, width=32).filter(lambda v: v != -999)),
        ),
        min_size=2,
        max_size=20,
    ),
    delimiter=st.sampled_from([",", ";", "\t", "|", " "]),
    decimal=st.sampled_from([".", ","]),
    word=st.sampled_from(["-", "n/a", "-999"]),
    header=st.booleans(),
    packed=st.booleans(),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_dialects_are_read_as_pandas_reads_them(
    cache: tensorcache.Cache,
    tmp_path: Path,
    rows: list[tuple[int, float | None]],
    delimiter: str,
    decimal: str,
    word: str,
    header: bool,
    packed: bool,
) -> None:
    frame = pd.DataFrame(rows, columns=["a", "b"]).astype({"b": "float64"})
    path = tmp_path / ("x.csv.gz" if packed else "x.csv")
    frame.to_csv(path, index=False, header=header, sep=delimiter, decimal=decimal, na_rep=word)
    if delimiter == decimal:
        with pytest.raises(tensorcache.SpecError, match='decimal: ",": want another sign than the delimiter'):
            cache.load("dialect", path, delimiter=delimiter, decimal=decimal)
        return
    data = cache.load("dialect", path, delimiter=delimiter, decimal=decimal, no_header=not header, na=[word])
    want = pd.read_csv(path, sep=delimiter, decimal=decimal, na_values=[word], header=0 if header else None)
    assert list(data.columns) == (["a", "b"] if header else ["c0", "c1"])
    for at, name in enumerate(data.columns):
        np.testing.assert_array_equal(data[name], frame.iloc[:, at].to_numpy())  # what was written, bit for bit
        np.testing.assert_allclose(data[name], want.iloc[:, at].to_numpy(), rtol=1e-15)  # pandas may round otherwise


def test_a_number_can_stand_for_no_value(cache: tensorcache.Cache, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a,b\n-999,1\n2,-999\n-999.0, -999 \n")
    data = cache.load("sentinel", path, na="-999")
    np.testing.assert_array_equal(data["a"], [np.nan, 2, -999])
    np.testing.assert_array_equal(data["b"], [1, np.nan, np.nan])


def test_bad_dialects_are_refused(cache: tensorcache.Cache, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a;b\n1;2\n")
    for options, message in (
        ({"delimiter": "ab"}, 'delimiter: "ab": want one sign'),
        ({"delimiter": '"'}, "want one sign"),
        ({"decimal": ";"}, 'decimal: ";": want . or ,'),
        ({"na": [""]}, "na: want words without blanks around them"),
        ({"na": ["x", "x"]}, 'na: "x": want each word once'),
    ):
        with pytest.raises(tensorcache.SpecError, match=message):
            cache.load("refused", path, **options)


def test_compressed_text_that_is_cut_off_is_refused(cache: tensorcache.Cache, tmp_path: Path) -> None:
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(b"a\n" + b"1\n2\n" * 1000)[:-9])
    with pytest.raises(tensorcache.SourceError, match=r"x\.csv\.gz: is cut off: its gzip data does not end"):
        cache.load("cut", path)
