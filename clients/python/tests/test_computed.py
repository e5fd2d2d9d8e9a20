"""Columns computed from those of a dataset, put together with them as another dataset."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import tensorcache
from test_put import arrays


@pytest.mark.parametrize("layout", ["columns", "packed"])
def test_computed_columns_stand_beside_the_others(cache: tensorcache.Cache, layout: str) -> None:
    given = arrays() | {"hole": np.array(["ünï", None, "", "x"] * 250, object)}
    data = cache.put("given", given, item_id=["id", "sector"], time="t", sort=True, layout=layout)
    more = cache.put(
        "more", {**data, "x": np.sqrt(np.abs(data["f8"]))}, item_id=["id", "sector"], time="t"
    )
    assert more.columns == (*data.columns, "x")
    assert list(more.items) == list(data.items)
    for name in data.columns:
        assert more[name].dtype == data[name].dtype
        np.testing.assert_array_equal(more[name], data[name], err_msg=name)
    for name in ("id", "sector", "hole"):
        assert list(more.vocab(name)) == list(data.vocab(name))
    np.testing.assert_array_equal(more["x"], np.sqrt(np.abs(data["f8"])))
    copy = cache.put("copy", data, item_id=["id", "sector"], time="t", sort=True, layout=layout)
    assert copy.digest == data.digest


def test_rows_of_a_text_column_are_words(cache: tensorcache.Cache) -> None:
    rng = np.random.default_rng(3)
    words = np.array(["a", "ünï", None, "", "a longer word than twelve bytes"], object)[
        rng.integers(0, 5, 3000)
    ]
    data = cache.put("words", {"w": words})
    keep = rng.random(3000) < 0.3
    for rows in (slice(7, None, 3), keep, np.flatnonzero(keep)[::-1]):
        part = cache.put("part", {"w": data["w"][rows]})
        assert part.vocab("w").decode(part["w"]).tolist() == words[rows].tolist()
    grown = cache.append("words", {"w": data["w"][:5]})
    assert grown.vocab("w").decode(grown["w"]).tolist() == [*words, *words[:5]]


@pytest.mark.parametrize(
    "numbers",
    [
        lambda codes: codes + 1,
        lambda codes: np.add(codes, 1, out=codes.copy()),
        np.asarray,
        lambda codes: codes.astype(np.int64),
        lambda codes: codes.astype(np.int64).astype(np.int32),
        lambda codes: pickle.loads(pickle.dumps(codes)),
        np.argsort,
        np.cumsum,
        np.diff,
    ],
)
def test_what_is_computed_from_codes_is_numbers(cache: tensorcache.Cache, numbers: Any) -> None:
    data = cache.put("words", {"w": ["b", "a", "b", None]})
    got = cache.put("numbers", {"n": numbers(data["w"])})
    np.testing.assert_array_equal(got["n"], numbers(np.array([0, 1, 0, -1], np.int32)))
    with pytest.raises(tensorcache.SpecError, match="only text columns have words"):
        got.vocab("n")


def test_codes_without_a_word_are_refused(cache: tensorcache.Cache) -> None:
    codes = cache.put("words", {"w": ["b", "a"]})["w"].copy()
    codes[1] = 2
    with pytest.raises(tensorcache.SourceError, match='row 2, column "w": 2 is no code of 2 words'):
        cache.put("bad", {"w": codes})
