"""The cuts of an index as JSON: bounds of ``where``, and requests of splits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .. import _checks
from .._checks import RowBounds, Time, TimeBounds


def where_cut(
    rows: RowBounds | None,
    time: TimeBounds | None,
    items: Iterable[Any] | None,
    context_before: bool,
) -> dict[str, Any]:
    """The cut of ``Windows.where``.

    Raises:
        SpecError: a bound has a wrong type.
    """
    where: dict[str, Any] = {}
    if rows is not None:
        where["rows"] = _checks.rows("rows", rows)
    if time is not None:
        where["time"] = _checks.times("time", time)
    if items is not None:
        where["items"] = _checks.item_values("items", items)
    return {
        "where": where,
        "context_before_split": _checks.flag("context_before_split", context_before),
    }


def split_request(
    lengths: Sequence[int | None] | None,
    fractions: Sequence[float | None] | None,
    at_times: Sequence[Time] | None,
    items: Sequence[Any] | None,
    purge: int,
    context_before: bool,
    names: Sequence[str] | None,
) -> dict[str, Any]:
    """The request of ``Windows.split``.

    Raises:
        SpecError: a value has a wrong type.
    """
    split: dict[str, Any] = {}
    if lengths is not None:
        split["lengths"] = _checks.optional_wholes("lengths", lengths)
    if fractions is not None:
        split["fractions"] = _checks.optional_numbers("fractions", fractions)
    if at_times is not None:
        split["at_times"] = _checks.list_of_times("at_times", at_times)
    if items is not None:
        split["items"] = _checks.part_items("items", items)
    if _checks.whole("purge", purge):
        split["purge"] = int(purge)
    if not _checks.flag("context_before_split", context_before):
        split["context_before_split"] = False
    if names is not None:
        split["names"] = _checks.names("names", names)
    return split
