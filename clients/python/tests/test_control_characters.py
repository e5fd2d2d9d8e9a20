"""Names and texts of the data control no terminal that shows reprs, errors and warnings."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import pytest

import tensorcache

RED = "\x1b[31mred"
BROKEN = "a\nb\x9b"


@pytest.fixture(scope="module")
def data(cache: tensorcache.Cache) -> tensorcache.Dataset:
    values = np.arange(10.0)
    columns = {"id": [RED] * 10, RED: values, BROKEN: values, "v": values}
    return cache.put("hostile", columns, item_id="id", scale={"v": "standard"})


def shown(data: tensorcache.Dataset) -> Iterator[str]:
    """Every text that a notebook or a traceback shows of a dataset."""
    windows = data.windows(context_length=2, prediction_length=1)
    yield from map(repr, (data, data.items, windows, windows[0], data.vocab("id")))
    failing = [
        lambda: data["red"],
        lambda: data.items.index("red"),
        lambda: data.windows(context_length=2, columns=[RED + "!"]),
        lambda: data.windows(context_length=2, columns=[RED, RED]),
        lambda: data.windows(context_length=2, max_missing=RED),  # type: ignore[arg-type]
        lambda: windows.split(lengths=[5, 5]).check_leakage(),
    ]
    for fail in failing:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with pytest.raises((tensorcache.TensorcacheError, ValueError)) as raised:
                fail()
        yield str(raised.value)
        yield from (str(warning.message) for warning in caught)


def test_texts_of_the_data_are_escaped(data: tensorcache.Dataset) -> None:
    texts = list(shown(data))
    assert any("red" in text for text in texts)
    for text in texts:
        assert all(line.isprintable() for line in text.split("\n")), text
    assert "\\x1b[31mred, a\\nb\\x9b, v" in repr(data)
    assert "\n" not in repr(data)
