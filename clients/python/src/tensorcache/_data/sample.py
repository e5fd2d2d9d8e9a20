"""Windows that are copied out of the mapped columns, as users get them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .items import Items

Array = npt.NDArray[Any]


@dataclass(frozen=True, repr=False)
class Sample:
    """One window, or several of them along a leading axis B.

    All arrays are dense, writable copies of the mapped columns. Parts that the spec does not ask
    for are None.

    Attributes:
        context: ``[C, F]``, the rows looked back over.
        target: ``[L + P, F]``: overlap, then prediction rows.
        known: ``[C + G + P, F]``, the columns known in advance.
        static: ``[F]``, the values that are constant in the item.
        item: the item's value, made on access: text, an integer, a tuple of these if several
            columns name it, or None if no column does. Several windows have an array ``[B]``.
        item_code: int64, the item's code: ``data.items[item_code]`` is ``item``.
        start: int64 row of the first context row in the item; negative if it is padded.
        time: the time of that row, or of the item's first row if it is padded; None without a time
            column.
        mask: bool ``[C]``, True = real row; if the spec admits padding.
        context_missing: bool ``[C, F]``, True = missing; if the spec admits missing values.
        target_missing: bool ``[L + P, F]``.
    """

    context: Array
    target: Array | None
    known: Array | None
    static: Array | None
    item: Any
    item_code: Any
    start: Any
    time: Any
    mask: Array | None
    context_missing: Array | None
    target_missing: Array | None

    @classmethod
    def _of(cls, items: Items, **parts: Any) -> Sample:
        """A sample whose item is looked up when it is first asked for."""
        sample = cls(item=None, **parts)
        del vars(sample)["item"]
        vars(sample)["_items"] = items
        return sample

    if not TYPE_CHECKING:  # type checkers would take every name for an attribute

        def __getattr__(self, name: str) -> Any:
            """Look up the item."""
            if name != "item" or "_items" not in vars(self):
                raise AttributeError(f"a sample has no {name!r}")
            item = vars(self)["_items"][self.item_code]
            vars(self)["item"] = item
            return item

    def __getstate__(self) -> dict[str, Any]:
        """All attributes, to pickle and copy them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __repr__(self) -> str:
        parts = (
            f"{name} {list(value.shape)}"
            for name, value in vars(self).items()
            if isinstance(value, np.ndarray)
        )
        return f"<Sample {', '.join(parts)}>"
