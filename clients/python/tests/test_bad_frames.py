"""Frames whose column names are not told apart are refused by name."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import tensorcache


@pytest.mark.parametrize("names", [["a", "a"], [1, "1"], ["t", 1, "1"]])
def test_columns_of_one_name_are_refused(cache: tensorcache.Cache, names: list[Any]) -> None:
    frame = pd.DataFrame([[1.0] * len(names)] * 2, columns=names)
    with pytest.raises(tensorcache.SourceError, match="want one column a name") as caught:
        cache.put("twice", frame)
    assert caught.value.field == str(names[-1])


def test_names_of_text_and_numbers_may_be_mixed(cache: tensorcache.Cache) -> None:
    frame = pd.DataFrame([[1.0, 2.0]], columns=["a", 0])
    assert cache.put("mixed", frame).columns == ("a", "0")


@pytest.mark.parametrize("values", [[1, "x"], ["x", 1], [True, "x"], ("x", 1.5)])
def test_lists_of_texts_and_numbers_are_refused(cache: tensorcache.Cache, values: Any) -> None:
    with pytest.raises(tensorcache.SourceError, match=r'row [12], column "a": .* is no text'):
        cache.put("mixed", {"a": values})
    assert cache.put("texts", {"a": ["x", "y"]})["a"].tolist() == [0, 1]
