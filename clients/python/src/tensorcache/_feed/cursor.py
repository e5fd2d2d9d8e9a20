"""A cursor: the few integers that resume an order exactly."""

from __future__ import annotations

import json
import operator
from collections.abc import Mapping, Sized
from typing import Any

from .._errors import CursorError, show
from .orders import traits

Place = tuple[int, int]
"""An epoch, and how many of its windows all ranks together consumed; batches if the order has
blocks."""


def place(state: Mapping[str, Any], ours: Mapping[str, Any]) -> Place:
    """The place of a state that belongs to the same order as our cursor.

    Raises:
        CursorError: the state belongs to another order; the message says what differs.
    """
    try:
        epoch, consumed = operator.index(state["epoch"]), operator.index(state["consumed"])
    except (KeyError, TypeError):
        raise CursorError(
            f"got {state!r}, want what state_dict() returned", field="state"
        ) from None
    differing = difference(state, ours)
    if differing:
        raise CursorError(f"the state was saved from another feed: {differing}", field="state")
    for field, value, bits in (("epoch", epoch, 64), ("consumed", consumed, 63)):
        if not 0 <= value < 1 << bits:
            raise CursorError(
                f"the state is at epoch {epoch} after {consumed_text(ours, consumed)}, want "
                f"{field} from 0 to {(1 << bits) - 1}",
                field=field,
                hint="load what state_dict() returned",
            )
    return epoch, consumed


def consumed_text(cursor: Mapping[str, Any], consumed: int, windows: Sized = ()) -> str:
    """What a cursor counts as consumed, as text, with the number of all windows if known."""
    if traits(str(cursor.get("order"))).blocks:
        return f"{consumed:,} batches"
    return f"{consumed:,} of {len(windows):,} windows" if windows else f"{consumed:,} windows"


def difference(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> str:
    """What differs between two cursors besides their places, as text; "" if nothing does."""
    unsaid = {"seed": 0}  # a cursor leaves a seed of 0 out
    theirs, ours = {**unsaid, **theirs}, {**unsaid, **ours}
    if theirs.get("windows") != ours.get("windows") and spec_of(theirs) and spec_of(ours):
        theirs = {**theirs, "windows": "", **spec_of(theirs)}
        ours = {**ours, "windows": "", **spec_of(ours)}
    keys = [
        key
        for key in {**ours, **theirs}
        if key not in ("epoch", "consumed", "spec") and theirs.get(key) != ours.get(key)
    ]
    return ", ".join(
        f"its {key} is {show(theirs.get(key))}, here {show(ours.get(key))}" for key in keys
    )


def spec_of(cursor: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a cursor's window spec, and its cuts; none if the cursor lacks them."""
    try:
        content = json.loads(cursor.get("spec", ""))
        return {**content["spec"], "cuts": content["cuts"]}
    except (TypeError, ValueError, KeyError):
        return {}
