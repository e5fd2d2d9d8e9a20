"""The client and the daemon parse time bounds alike, in any unit and far out of range."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import tensorcache
from tensorcache._data.padding import moment
from tensorcache._index.positions import Positions

ROWS = 12
START = "2020-01-01T00:00"


def hourly(cache: tensorcache.Cache, unit: str, **options: str) -> tensorcache.Dataset:
    times = (np.datetime64(START, "s") + np.arange(ROWS) * np.timedelta64(1, "h")).astype(
        f"datetime64[{unit}]"
    )
    columns = {"t": times, "v": np.arange(1.0, ROWS + 1, dtype=np.float32)}
    return cache.put("hourly", columns, time="t", **options)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize(
    ("bounds", "rows"),
    [
        (("2020-01-01T02:00", "2020-01-01T09:00Z"), (2, 9)),
        (("2020-01-01T02:00:00+00:00", None), (2, ROWS)),
        (("2020-01-01 01:59:59.999999999", "2020-01-01T09:00:00.000000001"), (2, 10)),
        (
            ("0001-01-01", "9999-12-31T23:59:59.999999999Z"),
            (0, ROWS),
        ),  # outside the range of int64 nanoseconds
        (("1500-01-01", "2020-01-01T09:00"), (0, 9)),
    ],
    ids=str,
)
def test_padding_begins_where_the_daemon_says(
    cache: tensorcache.Cache,
    unit: str,
    bounds: tuple[str | None, str | None],
    rows: tuple[int, int],
) -> None:
    first, end = rows
    data = hourly(cache, unit)
    spec = data.windows(context_length=1, time=bounds).spec
    instant = moment(spec["time"][0], data["t"])
    # The second pair has the same bound as an integer in the column's unit.
    for time in (bounds, (instant, bounds[1])):
        if abs(instant) >= 2**63:
            continue
        windows = data.windows(context_length=4, prediction_length=1, min_context=1, time=time)
        mine = windows[:]
        assert mine.start.tolist() == list(range(first - 3, end - 4))
        for name in ("mask", "context", "target"):
            served = np.concatenate(
                [getattr(batch, name) for batch in windows.feed(batch_size=3, delivery="slot")]
            )
            np.testing.assert_array_equal(getattr(mine, name), served, err_msg=name)
        one = windows[0]
        assert one.mask is not None
        assert one.mask.tolist() == [False] * 3 + [True]
        assert one.context[:, 0].tolist() == [0, 0, 0, first + 1]
        starts, why = Positions(windows).of(0)
        assert starts[why < 0].tolist() == mine.start.tolist()


@pytest.mark.parametrize("unit", ["us", "ns"])
@pytest.mark.parametrize(
    "before", ["2020-01-01T06:00Z", "2020-01-01T06:00", "2020-01-01 05:59:59.5-00:00"]
)
def test_rows_fitted_before_a_time(cache: tensorcache.Cache, unit: str, before: str) -> None:
    data = hourly(cache, unit, scale="standard", fit_before=before)
    windows = data.windows(context_length=1, prediction_length=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        windows.split(lengths=(6, 6))
    with pytest.warns(tensorcache.LeakageWarning, match="rows 5 to 5 by test"):
        windows.split(lengths=(5, 7))


def test_moments_are_the_first_that_are_not_before() -> None:
    days, hours = np.zeros(1, "datetime64[D]"), np.zeros(1, "datetime64[s]")
    assert moment("1970-01-03T00:00:00Z", days) == 2
    assert moment("1970-01-02T00:00:00.5Z", days) == 2
    assert moment("1969-12-31T12:00:00Z", days) == 0
    assert moment("1970-01-01T01:30:00Z", hours) == 5400
    assert moment("9999-12-31T00:00:00Z", np.zeros(1, "datetime64[ns]")) > 2**63
    assert moment(-5, np.zeros(1, np.int64)) == -5
