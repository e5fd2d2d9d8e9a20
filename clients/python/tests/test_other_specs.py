"""A state of another window spec is refused with the field that differs, and both values."""

from __future__ import annotations

import json
from typing import Any

import pytest

import tensorcache

SPEC = {"context_length": 8, "prediction_length": 2}

OTHERS = [
    ({"context_length": 9}, "its context_length is 8, here 9"),
    ({"prediction_length": 0}, "its prediction_length is 2, here "),
    ({"gap": 1}, "its gap is .*, here 1"),
    ({"stride": 2}, "its stride is .*, here 2"),
    ({"columns": ["OT"]}, r"its columns is .*, here \['OT'\]"),
    ({"rows": (0, 100)}, r"its rows is .*, here \[0, 100\]"),
]


@pytest.mark.parametrize(("change", "says"), OTHERS)
def test_a_state_of_another_spec_names_the_field(
    etth1: tensorcache.Dataset, change: dict[str, Any], says: str
) -> None:
    with etth1.windows(**SPEC).feed(batch_size=4) as feed:
        state = json.loads(json.dumps(feed.state_dict()))
    with (
        etth1.windows(**{**SPEC, **change}).feed(batch_size=4) as other,
        pytest.raises(tensorcache.CursorError, match=says) as caught,
    ):
        other.load_state_dict(state)
    assert caught.value.detail.count(", here") == 1


def test_a_state_of_other_cuts_names_them(etth1: tensorcache.Dataset) -> None:
    whole = etth1.windows(**SPEC)
    train, test = whole.split(fractions=(0.8, None))
    with train.feed(batch_size=4) as feed:
        state = feed.state_dict()
    with (
        test.feed(batch_size=4) as other,
        pytest.raises(tensorcache.CursorError, match=r"its cuts is .*part.*, here .*part"),
    ):
        other.load_state_dict(state)


def test_a_state_without_the_spec_still_fits(etth1: tensorcache.Dataset) -> None:
    windows = etth1.windows(**SPEC)
    with windows.feed(batch_size=4) as feed:
        state = {key: value for key, value in feed.state_dict().items() if key != "spec"}
    with windows.feed(batch_size=4) as feed:
        feed.load_state_dict(state)
    with (
        etth1.windows(context_length=9).feed(batch_size=4) as other,
        pytest.raises(tensorcache.CursorError, match='its windows is "'),
    ):
        other.load_state_dict(state)
