"""A text column is compared with words, and its codes stay numbers elsewhere."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import tensorcache

SKU = ["a", "b", None, "a"]

MASKED = np.ma.array(["a"] * 4, mask=True)


@pytest.fixture(scope="module")
def data(cache: tensorcache.Cache) -> tensorcache.Dataset:
    """Two text columns with different words, and one of many words."""
    return cache.put(
        "words",
        {"sku": SKU, "other": ["b", "b", None, "c"], "y": np.zeros(4)},
    )


def test_a_word_is_compared_with_a_text_column(data: tensorcache.Dataset) -> None:
    codes = data["sku"]
    pandas = pytest.importorskip("pandas")
    alike: list[tuple[Any, list[bool]]] = [
        ("a", [True, False, False, True]),
        ("b", [False, True, False, False]),
        ("nothing", [False] * 4),
        ("a\0", [False] * 4),
        ("\ud800", [False] * 4),
        (np.str_("a"), [True, False, False, True]),
        (np.array("a"), [True, False, False, True]),
        (None, [False, False, True, False]),
        (["a", "b", "x", "y"], [True, True, False, False]),
        (np.array(["a", "b", "x", "y"]), [True, True, False, False]),
        (["a", None, None, float("nan")], [True, False, True, False]),
        (np.array(["a", None, np.nan, "a"], object), [True, False, True, True]),
        (["a", pandas.NA, pandas.NA, "a"], [True, False, True, True]),
        (pandas.Series(SKU), [True] * 4),
        (pandas.Index(SKU), [True] * 4),
        (float("nan"), [False, False, True, False]),
        (pandas.Series([np.nan] * 4), [False, False, True, False]),
        (data["other"], [False, True, True, False]),
        (codes, [True] * 4),
        (0, [True, False, False, True]),
        (np.array([0, 0, 0, 0]), [True, False, False, True]),
    ]
    for value, want in alike:
        assert np.asarray(codes == value).tolist() == want, value
        assert np.asarray(codes != value).tolist() == [not same for same in want], value
        assert np.asarray(value == codes).tolist() == want, value
    assert np.isin(codes, ["a", None]).tolist() == [True, False, True, True]
    assert np.isin(codes, data["other"], invert=True).tolist() == [True, False, False, True]
    assert np.isin(test_elements="b", element=codes).tolist() == [False, True, False, False]
    assert np.array_equal(codes, np.array(SKU, object))
    assert not np.array_equal(codes, data["other"])
    assert np.array_equal(codes, data["sku"], equal_nan=False)
    assert np.equal.outer(codes, data["other"])[:, 0].tolist() == [False, True, False, False]
    assert (codes[1:] == "b").tolist() == [True, False, False]
    assert not isinstance(codes == "a", type(codes))


def test_many_words_are_compared_like_few(cache: tensorcache.Cache) -> None:
    words = [f"w{number}" for number in range(100)]
    other = words[50:] + [f"x{number}" for number in range(50)]
    data = cache.put("many", {"a": words, "b": other, "y": np.zeros(100)})
    assert (data["a"] == words).all()
    assert (data["a"] == data["a"][::-1]).sum() == 0
    assert (data["a"] == data["b"]).sum() == 0
    assert (data["a"][50:] == data["b"][:50]).all()
    assert not (data["a"][:50] == data["b"][50:]).any()


@pytest.mark.parametrize(
    "value",
    [
        True,
        b"a",
        ["a", b"b", None, "a"],
        ["a", 1, None, "a"],
        [{}] * 4,
        ["a", ("b",)],
        MASKED,
    ],
)
def test_what_is_no_text_is_not_compared(data: tensorcache.Dataset, value: Any) -> None:
    with pytest.raises(TypeError, match="compared with texts"):
        _ = data["sku"] == value


def test_codes_without_words_are_not_compared_with_words(data: tensorcache.Dataset) -> None:
    sku = data["sku"]
    for codes in (pickle.loads(pickle.dumps(sku)), np.concatenate([sku, sku]), np.hstack([sku, 0])):
        for value in ("a", sku, codes[::-1], ["a"] * len(codes)):
            with pytest.raises(TypeError, match="these codes have no words\nhint: compare data"):
                _ = codes == value
        with pytest.raises(TypeError, match="these codes have no words"):
            _ = sku == codes
        assert (codes == 1)[:4].tolist() == [False, True, False, False]
