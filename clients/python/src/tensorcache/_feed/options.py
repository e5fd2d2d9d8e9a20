"""The options of a feed as JSON."""

from __future__ import annotations

from typing import Any

from .. import _checks


def sampler_options(
    batch_size: int, order: str, seed: int, rank: int, num_replicas: int, tail: str | None,
    weights: list[float] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """The order of an epoch and this trainer's share of it, as JSON."""
    return {
        "order": _checks.text("order", order),
        "seed": _checks.between("seed", seed, 0, 2**64 - 1),
        "batch_size": _checks.whole("batch_size", batch_size),
        "rank": _checks.whole("rank", rank),
        "num_replicas": _checks.between("num_replicas", num_replicas, 1),
        "tail": "" if tail is None else _checks.text("tail", tail),
        **({} if weights is None else {"weights": weights}),
    }


def feed_options(
    sampler: dict[str, Any], delivery: str, slots: int, channels_first: bool, mask: bool
) -> dict[str, Any]:
    """The fields of a feed's request that do not name the windows."""
    return {
        "options": sampler,
        "delivery": _checks.text("delivery", delivery),
        "views": True,
        "slots": _checks.whole("slots", slots),
        "channels_first": _checks.flag("channels_first", channels_first),
        "mask": _checks.flag("mask", mask),
    }
