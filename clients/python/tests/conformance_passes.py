"""The scripted case of passes of n batches."""

from __future__ import annotations

from conformance_case import AB, COLUMNS, OPTIONS, Case, View, feed, frame

PASSES = Case(
    "passes of n batches: shorter and longer than an epoch, tails, ranks, places inside a batch",
    frame([12, 7, 3, 16]),
    COLUMNS,
    OPTIONS,
    [
        View(
            AB,
            feeds=[
                feed(5, "shuffle", seed=3, batches_per_epoch=2),
                feed(5, "shuffle", seed=3, batches_per_epoch=2, epoch=1, consumed=10),
                feed(5, "shuffle", seed=3, batches_per_epoch=12, epoch=2, consumed=15),
                feed(5, "shuffle", seed=3, tail="drop", batches_per_epoch=7, epoch=2),
                feed(5, "sequential", tail="wrap", batches_per_epoch=6),
                feed(4, "bootstrap", seed=9, weights="even", batches_per_epoch=3, consumed=12),
                *[
                    feed(2, "shuffle", seed=4, num_replicas=3, tail=tail, batches_per_epoch=5)
                    for tail in ("wrap", "drop")
                ],
                feed(4, "shuffle", seed=4, batches_per_epoch=3, epoch=4, consumed=6),
                feed(4, "shuffle", seed=4, tail="drop", batches_per_epoch=2, consumed=19),
                feed(4, "shuffle", seed=4, batches_per_epoch=3, epoch=2**63),
            ],
        ),
    ],
)
