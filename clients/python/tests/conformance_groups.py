"""The scripted case of orders of groups."""

from __future__ import annotations

from conformance_case import AB, COLUMNS, OPTIONS, Case, View, feed, frame

GROUPS = Case(
    "windows of one time: items that begin and end at different times, strides, ranks, resume",
    frame([26, 5, 17, 21], jumps=True),
    COLUMNS,
    OPTIONS,
    [
        View(
            AB,
            feeds=[
                *[feed(None, "cross_section", seed=6, epoch=epoch) for epoch in (0, 1)],
                feed(2, "cross_section", seed=6),
                feed(2, "cross_section", seed=6, min_items=3, epoch=4),
                *[
                    feed(2, "cross_section", seed=6, num_replicas=3, tail=tail)
                    for tail in ("short", "wrap", "drop")
                ],
                feed(None, "cross_section", seed=6, num_replicas=2, tail="wrap", consumed=6),
                feed(None, "cross_section_sequential", min_items=2, channels_first=True),
                feed(2, "cross_section_sequential", consumed=5, mask=True),
            ],
        ),
        View(
            {**AB, "stride": 2, "anchor": "end", "gap": 1},
            [{"where": {"items": ['b"ü0', 'a"ü2', 'd"ü3']}}],
            feeds=[feed(None, "cross_section", seed=1)],
        ),
        View(
            {"context_length": 3, "columns": ["a"], "max_missing": None, "min_context": 1},
            feeds=[feed(None, "cross_section_sequential")],
        ),
        View(AB, [{"latest": True}], feeds=[feed(None, "cross_section_sequential")]),
    ],
)
