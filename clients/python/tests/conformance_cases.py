"""The scripted cases that every client passes.

Each has a dataset to put, windows and feeds to request, and bad requests.
"""

from __future__ import annotations

import math

from conformance_calendar import CALENDAR
from conformance_case import AB, COLUMNS, OPTIONS, SHORT, STEPS, WIDE, Case, View, feed, frame
from conformance_errors import ERRORS
from conformance_groups import GROUPS
from conformance_parts import PARTS
from conformance_passes import PASSES

ROLES = [
    View(
        {**SHORT, "known_columns": ["c"], "static_columns": ["s"]},
        at=[[0, 20]],
        feeds=[feed(5), feed(5, channels_first=True)],
    ),
    View(
        {**SHORT, "context_columns": ["m", "a"], "target_columns": ["b"], "gap": 1},
        at=[[3]],
        feeds=[feed(5, mask=True)],
    ),
]

CASES: dict[str, Case] = {
    "plain": Case(
        "one series without a name and without times",
        frame([40]).drop(columns=["id", "t"]).assign(id=0, t=range(40)),
        [("t", "int64", 1), *COLUMNS[2:]],
        {"time": "t"},
        [
            View(
                SHORT, at=[[0, 34, 17]], feeds=[feed(4), feed(7, tail="drop"), feed(35), feed(64)]
            ),
            View({"context_length": 5}, at=[[35]], feeds=[feed(6, channels_first=True)]),
            View(
                {**SHORT, "stride": 3, "dilation": 2, "gap": 1, "overlap": 2},
                at=[[1, 0]],
                feeds=[feed(4, mask=True)],
            ),
        ],
    ),
    "items": Case(
        "several items, jumps in time, strides from either end",
        frame([25, 6, 31, 3, 18], jumps=True),
        COLUMNS,
        OPTIONS,
        [
            View(
                {**AB, "max_step": 1},
                at=[[0, 3]],
                feeds=[feed(5), feed(8, "shuffle", seed=1, channels_first=True)],
            ),
            View({**AB, "anchor": "end", "stride": 4, "gap": 2, "overlap": 1}, feeds=[feed(4)]),
            View({**AB, "rows": [3, -2]}, at=[[5, 0]], feeds=[feed(9, "shuffle", seed=2, epoch=5)]),
            View({**AB, "time": [8, 30]}, feeds=[feed(9)]),
            View({**AB, "rows": [None, -5], "target_columns": ["c"]}, feeds=[feed(16)]),
        ],
    ),
    "padding": Case(
        "windows with fewer real rows than the context has",
        frame([12, 2, 7]),
        COLUMNS,
        {**OPTIONS, "layout": "packed"},
        [
            View(
                {**AB, "min_context": 0},
                at=[[0, 5, 2]],
                feeds=[feed(4), feed(5, "shuffle", seed=7, channels_first=True)],
            ),
            View(
                {**AB, "min_context": 2, "dilation": 2, "anchor": "end", "stride": 2},
                at=[[0]],
                feeds=[feed(3)],
            ),
            View({**AB, "min_context": 1, "rows": [2, None]}, at=[[0, 1]], feeds=[feed(4)]),
            View({**AB, "min_context": 2, "rows": [-8, -1]}, at=[[0, 1]], feeds=[feed(4)]),
            View({**AB, "min_context": 1, "time": [3, None]}, at=[[0, 1]], feeds=[feed(4)]),
            View(
                {**AB, "min_context": 1, "pad_value": -2, "overlap": 4},
                at=[[0, 5, 2]],
                feeds=[feed(4), feed(5, channels_first=True, mask=True)],
            ),
        ],
    ),
    "missing": Case(
        "missing values: rejected, admitted, replaced",
        frame([40, 17], missing=True),
        COLUMNS,
        OPTIONS,
        [
            View(SHORT, at=[[0]], feeds=[feed(8)]),
            View(
                {**SHORT, "max_missing": 0.1},
                at=[[0, 4]],
                feeds=[feed(8), feed(6, channels_first=True)],
            ),
            View(
                {**SHORT, "max_missing": None, "missing_value": -7.5},
                at=[[2, 1]],
                feeds=[feed(8, "shuffle", seed=3)],
            ),
            View(
                {**SHORT, "max_missing": None, "min_context": 1, "known_columns": ["c"]},
                at=[[0, 6]],
                feeds=[feed(8)],
            ),
            View(
                {
                    **SHORT,
                    "max_missing": None,
                    "missing_value": -7.5,
                    "min_context": 1,
                    "pad_value": None,
                    "known_columns": ["c"],
                },
                naive={"pad_value": math.nan},
                at=[[0, 6]],
                feeds=[feed(8), feed(5, channels_first=True)],
            ),
        ],
    ),
    "columns": Case(
        "roles of columns, matrices, layout columns",
        frame([20, 14], wide=True),
        WIDE,
        OPTIONS,
        ROLES,
    ),
    "packed": Case(
        "the same, packed",
        frame([20, 14], wide=True),
        WIDE,
        {**OPTIONS, "layout": "packed"},
        ROLES,
    ),
    "dtypes": Case(
        "parts as float64, int32, int64 and as stored",
        frame([30]),
        COLUMNS,
        OPTIONS,
        [
            View({**SHORT, "dtype": "float64"}, at=[[7]], feeds=[feed(8)]),
            View({**SHORT, "dtype": "int64", "columns": ["b"]}, at=[[7]], feeds=[feed(8)]),
            View({**SHORT, "dtype": "int32", "columns": ["b"]}, feeds=[feed(8)]),
            View(
                {**SHORT, "dtype": None, "columns": ["b"]},
                at=[[7]],
                feeds=[feed(8)],
                stored="int32",
            ),
            View(
                {**SHORT, "dtype": None, "columns": ["a", "c"]}, feeds=[feed(8)], stored="float32"
            ),
        ],
    ),
    "views": Case(
        "windows of whole rows that follow each other, so that they can be views",
        frame([26, 5, 17], missing=True).drop(columns="b"),
        [COLUMNS[0], COLUMNS[1], COLUMNS[2], COLUMNS[4]],
        {**OPTIONS, "layout": "packed"},
        [
            View(
                {**SHORT, "max_missing": None},
                at=[[0, 25]],
                feeds=[
                    feed(4, view=True),
                    feed(40, view=True),
                    feed(4, "random_start", seed=3, epoch=2, view=True),
                    feed(3, "random_start", seed=3, num_replicas=2, tail="wrap", view=True),
                    feed(4, "random_start", seed=3, consumed=5, view=True),
                ],
            ),
            View(
                {**SHORT, "stride": 3, "gap": 1, "overlap": 2, "columns": ["a", "c"]},
                feeds=[feed(2, view=True), feed(3, "random_start", seed=5, mask=True, view=True)],
            ),
            View(
                {"context_length": 3, "max_missing": 0.5, "rows": [2, -1]},
                feeds=[feed(5, "sequential", num_replicas=2, tail="drop", view=True)],
            ),
            View({**SHORT, "anchor": "end", "stride": 2}, feeds=[feed(3, view=True)]),
        ],
    ),
    "views_of_columns": Case(
        "the same of single columns of layout columns",
        frame([20, 14], wide=True),
        WIDE,
        OPTIONS,
        [
            View(
                {**SHORT, "context_columns": ["c"], "target_columns": ["a"], "known_columns": ["c"]}
                | {"static_columns": ["s"]},
                feeds=[
                    feed(5, view=True),
                    feed(5, "random_start", seed=2, channels_first=True, view=True),
                ],
            ),
            View({**SHORT, "columns": ["m"]}, feeds=[feed(6, mask=True, view=True)]),
            View(
                {**SHORT, "columns": ["b"], "dtype": "int32"},
                feeds=[feed(8, "random_start", seed=1, view=True)],
            ),
            View(
                {**SHORT, "columns": ["b"], "dtype": None},
                feeds=[feed(8, view=True)],
                stored="int32",
            ),
        ],
    ),
    "ranks": Case(
        "several ranks, every tail, resume with another number of them",
        frame([33, 20]),
        COLUMNS,
        OPTIONS,
        [
            View(
                AB,
                feeds=[
                    *[
                        feed(4, "shuffle", seed=11, num_replicas=3, tail=tail)
                        for tail in ("short", "wrap", "drop")
                    ],
                    *[
                        feed(5, "sequential", num_replicas=4, tail=tail)
                        for tail in ("short", "wrap", "drop")
                    ],
                    feed(4, "shuffle", seed=11, num_replicas=2, tail="short", consumed=24),
                    feed(3, "shuffle", seed=11, epoch=1, consumed=12),
                    feed(40, "shuffle", seed=2**64 - 1, num_replicas=2, tail="wrap", epoch=2**40),
                ],
            )
        ],
    ),
    "bootstrap": Case(
        "draws with replacement, with weights of items and without",
        frame([12, 9, 20]),
        COLUMNS,
        OPTIONS,
        [
            View(
                AB,
                feeds=[
                    feed(6, "bootstrap", seed=5),
                    feed(6, "bootstrap", seed=5, weights=[1.0, 0.0, 0.25], epoch=2),
                    feed(5, "bootstrap", seed=8, weights="even"),
                    feed(4, "bootstrap", seed=6, num_replicas=2, tail="wrap", consumed=8),
                ],
            )
        ],
    ),
    "random_start": Case(
        "blocks of neighbouring windows with a phase of their own",
        frame([26, 5, 17], jumps=True),
        COLUMNS,
        OPTIONS,
        [
            View({**AB, "max_step": 1}, feeds=[feed(3, "random_start", seed=1)]),
            View(
                AB,
                feeds=[
                    *[feed(4, "random_start", seed=9, epoch=epoch) for epoch in (0, 1)],
                    *[
                        feed(4, "random_start", seed=9, num_replicas=2, tail=tail)
                        for tail in ("short", "wrap", "drop")
                    ],
                    feed(4, "random_start", seed=9, consumed=5),
                ],
            ),
        ],
    ),
    "lanes": Case(
        "lanes of windows that continue each other, with resets",
        frame([23, 9, 30], jumps=True),
        COLUMNS,
        OPTIONS,
        [
            View(
                {**AB, "stride": 4},
                feeds=[
                    *[feed(2, "lanes", seed=4, epoch=epoch) for epoch in (0, 3)],
                    feed(1, "lanes", seed=4, num_replicas=2, tail="short"),
                    feed(2, "lanes", seed=4, tail="drop", consumed=4),
                ],
            ),
            View(
                {"context_length": 2, "stride": 2, "max_step": 1, "columns": ["a"]},
                feeds=[feed(3, "lanes", seed=8)],
            ),
        ],
    ),
    "cross_section": GROUPS,
    "splits": Case(
        "parts by rows, shares, times and items",
        frame([30, 24, 41, 12]),
        COLUMNS,
        OPTIONS,
        [
            View(
                AB,
                [{"split": {"lengths": [12, 6, None]}, "part": 1}],
                at=[[0, 2]],
                feeds=[feed(4, "shuffle", seed=1)],
            ),
            View(
                AB,
                [
                    {
                        "split": {"lengths": [12, None], "purge": 2, "context_before_split": False},
                        "part": 0,
                    }
                ],
                feeds=[feed(9)],
            ),
            View(
                AB,
                [{"split": {"lengths": [12, None], "context_before_split": False}, "part": 1}],
                feeds=[feed(9)],
            ),
            View(AB, [{"split": {"fractions": [0.6, 0.2, 0.2]}, "part": 2}], feeds=[feed(4)]),
            View(AB, [{"split": {"at_times": [15, 25]}, "part": 1}], feeds=[feed(4)]),
            View(
                AB,
                [{"split": {"items": [['b"ü0', 'a"ü2'], ['c"ü1', 'd"ü3']]}, "part": 1}],
                feeds=[feed(16)],
            ),
            View(AB, [{"split": {"items": [0.5, 0.5]}, "part": 0}], feeds=[feed(16)]),
            View(AB, [{"where": {"rows": [-12, None]}}], feeds=[feed(4)]),
            View(
                AB,
                [
                    {
                        "where": {"time": [10, 22], "items": ['a"ü2', 'b"ü0']},
                        "context_before_split": False,
                    }
                ],
                feeds=[feed(4)],
            ),
            View(
                AB,
                [{"where": {"rows": [4, None]}}, {"split": {"lengths": [10, None]}, "part": 1}],
                feeds=[feed(8)],
            ),
        ],
    ),
    "latest": Case(
        "the window of each item that is forecast from",
        frame([20, 9, 30], missing=True),
        COLUMNS,
        OPTIONS,
        [
            View(
                {**SHORT, "max_missing": None},
                [{"latest": True}],
                at=[[0, 2]],
                feeds=[feed(2), feed(8, channels_first=True)],
            ),
            View(
                {**AB, "max_missing": None},
                [{"where": {"rows": [None, 8]}}, {"latest": True}],
                feeds=[feed(8)],
            ),
        ],
    ),
    "times": Case(
        "timestamps in seconds; bounds and steps as texts",
        frame([30, 20], jumps=True, start=1_000_000_000),
        [("id", "text", 1), ("t", "timestamp[s]", 1), *COLUMNS[2:]],
        {**OPTIONS, "layout": "packed"},
        [
            View({**AB, "max_step": "2s"}, at=[[0]], feeds=[feed(8)], naive={"max_step": 2}),
            View(
                {**AB, "time": ["2001-09-09T01:46:48Z", None]},
                feeds=[feed(8)],
                naive={"time": (1_000_000_008, None)},
            ),
        ],
    ),
    "parts": PARTS,
    "passes": PASSES,
    "calendar": CALENDAR,
    "errors": ERRORS,
    "inverse": Case(
        "what a load did to the values is undone: to the values that were put, within 1e-4 of them",
        frame([20, 15, 9]),
        COLUMNS,
        {**OPTIONS, **STEPS},
        inverse=[{"column": "b"}, {"column": "c"}, {"column": "a"}],
    ),
}
