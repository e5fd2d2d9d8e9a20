"""The scripted case of calendar columns, which the load computes and pandas computes here."""

from __future__ import annotations

import numpy as np
import pandas as pd

from conformance_case import COLUMNS, OPTIONS, SHORT, Case, View, feed, frame
from conformance_parts import part

FIRST = 1_709_150_400
"""A second of 2024-02-28, two days before the end of the month."""
TIMEF = ["hour_unit", "dayofweek_unit", "day_unit", "dayofyear_unit"]
ABC = ["a", "b", "c"]


def marked(table: pd.DataFrame) -> pd.DataFrame:
    """The table with a step of hours, and with its calendar columns."""
    seconds = FIRST + table["t"] * 3600
    times = pd.to_datetime(seconds, unit="s").dt
    row = table.groupby("id", sort=False).cumcount()
    features = {
        "hour_unit": times.hour / 23 - 0.5,
        "dayofweek_unit": times.day_of_week / 6 - 0.5,
        "day_unit": (times.day - 1) / 30 - 0.5,
        "dayofyear_unit": (times.day_of_year - 1) / 365 - 0.5,
        "age": np.log10(2.0 + row),
    }
    stored = {name: values.astype("f4") for name, values in features.items()}
    return table.assign(t=seconds, **stored)


ALL = {"columns": ABC, "known_columns": [*TIMEF, "age"]}
"""Columns of the oracle, which knows no calendar columns."""

CALENDAR = Case(
    "calendar columns: not in context and target, and known as calendar",
    marked(frame([60, 25], jumps=True)),
    [("id", "text", 1), ("t", "timestamp[s]", 1), *COLUMNS[2:]],
    {**OPTIONS, "calendar": ["timeF:h", "age"]},
    [
        View(SHORT, at=[[0, 5]], feeds=[feed(7)], naive={"columns": ABC}),
        View(
            {**SHORT, "known_columns": ["calendar"], "gap": 1, "overlap": 1},
            at=[[3]],
            feeds=[
                feed(5, "shuffle", seed=4, num_replicas=2, tail="wrap"),
                feed(6, channels_first=True, consumed=12),
                feed(5, parts=[part("known_target"), part("y", "target", ["a"]), part("known")]),
                feed(4, parts=[part("marks", "known_context", ["age", "day_unit"], "float64")]),
            ],
            naive=ALL,
        ),
        View(
            {**SHORT, "known_columns": ["b", "calendar"], "min_context": 0},
            feeds=[feed(9, "bootstrap", seed=2)],
            naive={"context_columns": ABC, "target_columns": ["a", "c"],
                   "known_columns": ["b", *TIMEF, "age"]},
        ),
    ],
)  # fmt: skip
