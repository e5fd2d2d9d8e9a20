"""Weights of items as the daemon reads them: one number for each item, or "even"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from .. import _checks
from .._data.items import Items
from .._errors import SpecError, show

Weights: TypeAlias = (
    "Literal['even'] | Mapping[Any, float] | Sequence[float] | npt.NDArray[np.floating[Any]]"
)

WANTED = '"even", a mapping of all items to weights, or a list with one for each item'


def weights(given: Weights, items: Items) -> list[float] | Literal["even"]:
    """A weight for each item, in the order of the items' codes, or ``"even"``.

    Args:
        given: ``"even"``, a mapping of all item values to weights, or the weights in the order of
            ``data.items``.
        items: the items of the dataset.

    Raises:
        SpecError: a weight is negative or not a finite number, or an item has none.
        NotFoundError: a value of the mapping is no item.
    """
    if isinstance(given, str) and given == "even":
        return "even"
    if isinstance(given, Mapping):
        unknown = dict.fromkeys(given)
        listed = []
        for value in items:
            if value not in given:
                raise SpecError(
                    f"weights: item {show(value)} has none, want one for each of {len(items):,} "
                    "items",
                    field="weights",
                )
            listed.append(given[value])
            del unknown[value]
        for value in unknown:
            items.code(value)  # raises NotFoundError
    else:
        listed = _checks.listed("weights", given, WANTED)
        if len(listed) != len(items):
            raise SpecError(
                f"weights: got {len(listed):,} for {len(items):,} items, want {WANTED}",
                field="weights",
            )
    for code, weight in enumerate(listed):
        number = _checks.number("weights", weight)
        if number < 0:
            raise SpecError(
                f"weights: got {number} for item {show(items[code])}, want 0 or more",
                field="weights",
            )
        listed[code] = number
    return listed
