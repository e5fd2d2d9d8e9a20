"""The scripted case of parts by name."""

from __future__ import annotations

import math

from conformance_case import OPTIONS, SHORT, WIDE, Case, Json, View, feed, frame


def part(name: str, of: str = "", columns: list[str] | None = None, dtype: str = "") -> Json:
    """A part of a feed; without ``of`` the one of that name."""
    chosen = {"columns": columns} if columns else {}
    return {"name": name, "part": of or name, **chosen, **({"dtype": dtype} if dtype else {})}


MASKS = [
    part(name) for name in ("observed", "target_observed", "context_missing", "target_missing")
]
SPEC: Json = {
    **SHORT, "columns": ["a", "b", "m"], "known_columns": ["c"], "static_columns": ["s"],
    "max_missing": None,
}  # fmt: skip

PARTS = Case(
    "parts by name: halves of known, masks of values, columns and dtypes of their own",
    frame([40, 17], missing=True, wide=True),
    WIDE,
    OPTIONS,
    [
        View(
            SPEC,
            feeds=[
                feed(5, parts=[part("known_target"), part("observed"), part("context")]),
                feed(
                    5,
                    "shuffle",
                    seed=3,
                    parts=[
                        part("category", "context", ["b"], "int64"),
                        part("real", "context", ["m", "a"]),
                        part("wide", "target", ["m"], "float64"),
                        part("seen", "observed", ["m", "a"]),
                        part("static"),
                        part("of item", "static", ["s"], "float64"),
                    ],
                ),
                feed(7, channels_first=True, parts=[*MASKS, part("known_context")]),
                feed(4, parts=[part("mask")]),
                feed(4, parts=[]),
            ],
        ),
        View(
            {
                **SPEC, "min_context": 1, "pad_value": None, "dilation": 2, "gap": 1, "overlap": 2,
                "missing_value": -7.5,
            },
            feeds=[
                feed(6, parts=[*MASKS, part("mask"), part("target"), part("known")]),
                feed(6, channels_first=True, num_replicas=2, tail="wrap", consumed=6, parts=MASKS),
            ],
            naive={"pad_value": math.nan},
        ),
        View(
            {**SHORT, "max_missing": None},
            [{"latest": True}],
            feeds=[feed(8, parts=[part("observed"), part("context")])],
        ),
    ],
)  # fmt: skip
