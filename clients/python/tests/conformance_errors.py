"""The bad requests of the conformance cases, each with the error's type and field."""

from __future__ import annotations

from conformance_case import COLUMNS, OPTIONS, SHORT, Case, Json, bad, frame

BAD_SPECS: Json = {
    "context_length": 0,
    "prediction_length": -1,
    "stride": -2,
    "overlap": 5,
    "anchor": "middle",
    "min_context": 5,
    "rows": [5, 5],
    "max_missing": 1.5,
    "columns": ["t"],
    "dtype": "float8",
}
NO_VIEWS: list[tuple[Json, str]] = [
    ({**SHORT, "columns": ["a"]}, "shuffle"),
    ({**SHORT, "columns": ["a"], "min_context": 1}, "sequential"),
    (SHORT, "sequential"),
    ({**SHORT, "columns": ["c", "a"]}, "random_start"),
]
"""Windows that cannot be views: scattered, padded, converted, or reordered columns."""
BAD_OPTIONS: Json = {
    "batch_size": 0,
    "order": "random",
    "rank": 1,
    "tail": "cut",
    "weights": [1.0, 1.0],
}

ERRORS = Case(
    "what is refused, with its type and the field that is to blame",
    frame([20, 9]),
    COLUMNS,
    OPTIONS,
    errors=[
        bad("dataset", "dataset_not_found", "dataset", name="conformanse"),
        bad("dataset", "invalid_name", "dataset", name="a/b"),
        bad("column", "column_not_found", "aa", name="aa"),
        bad("item", "item_not_found", "item", item="b"),
        *[
            bad("windows", "invalid_spec", name, spec={**SHORT, name: value})
            for name, value in BAD_SPECS.items()
        ],
        bad("windows", "column_not_found", "columns", spec={**SHORT, "columns": ["a", "aa"]}),
        bad("windows", "no_windows", spec={"context_length": 100}),
        bad("where", "item_not_found", "where.items", spec=SHORT, where={"items": ["z"]}),
        bad("split", "invalid_spec", "lengths[1]", spec=SHORT, split={"lengths": [5, 0]}),
        bad("split", "invalid_spec", "fractions", spec=SHORT, split={"fractions": [0.9, 0.2]}),
        *[
            bad("feed", "invalid_spec", name, spec=SHORT, options={"batch_size": 4, name: value})
            for name, value in BAD_OPTIONS.items()
        ],
        *[
            bad("feed", "invalid_spec", "delivery", spec=spec, options=options)
            for spec, options in [
                *[
                    (spec, {"batch_size": 4, "order": order, "delivery": "view"})
                    for spec, order in NO_VIEWS
                ],
                (SHORT, {"batch_size": 4, "delivery": "slots"}),
            ]
        ],
        bad(
            "state",
            "cursor_mismatch",
            spec=SHORT,
            options={"batch_size": 4, "order": "shuffle"},
            state={"seed": 9},
        ),
    ],
)
