"""Windows that are copied out of the mapped columns, as users get them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .items import Items

Array = npt.NDArray[Any]

MakeMask = Callable[[str, Any, Any], Array | None]
"""Makes a mask of windows from its name, the codes of their items, and their starts."""

KNOWN_PARTS = ("known_context", "known_target")
"""The parts that are samples of known."""

OBSERVED = {"observed": "context", "target_observed": "target"}
"""The parts that say which values of another part were observed, and that part."""

NOT_READ = (
    "this {kind} is a copy without {name!r}\n"
    "hint: read {name} of the {kind} before you copy or pickle it"
)
"""The message for a part that a copy cannot make."""


@dataclass(frozen=True, repr=False)
class Sample:
    """One window, or several of them along a leading axis B.

    All arrays are dense, writable copies. Parts that the spec does not ask
    for are None.

    Attributes:
        context: ``[C, F]``, the rows looked back over.
        target: ``[L + P, F]``: overlap, then prediction rows.
        known: ``[C + G + P, F]``, the columns known in advance.
        known_context: ``[C, F]``, samples [0, C) of ``known``: a copy, made on first access.
        known_target: ``[L + P, F]``, samples [C + G - L, C + G + P) of ``known``, likewise. None if
            ``prediction_length`` is 0. Windows of ``latest()`` have it, although their ``target``
            is None.
        observed: float32 ``[C, F]``, made on first access: 0 where the row of ``context`` is
            padded, or the value was missing in the source or made by the load (``fill``,
            ``regrid``), whatever ``count_filled`` is; else 1. A copy or a pickle has it only if it
            was read before.

            Raises SpecError if the generation does not store which values of a column were filled,
            and StaleError if no variable refers to the dataset or its windows any more.
        target_observed: float32 ``[L + P, F]``, the same for ``target``; None if that is None.
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
    def _of(
        cls, items: Items, make_mask: MakeMask, known_samples: dict[str, slice], **parts: Any
    ) -> Sample:
        """A sample that makes its other parts when they are first asked for.

        Args:
            items: the items of the dataset.
            make_mask: makes ``observed`` and ``target_observed``.
            known_samples: which samples of known are known_context, and which are known_target.
            **parts: the parts that are made already.
        """
        sample = cls(item=None, **parts)
        del vars(sample)["item"]
        vars(sample).update(_items=items, _make_mask=make_mask, _known_samples=known_samples)
        return sample

    @cached_property
    def known_context(self) -> Array | None:
        """See the class."""
        return self._of_known("known_context")

    @cached_property
    def known_target(self) -> Array | None:
        """See the class."""
        return self._of_known("known_target")

    @cached_property
    def observed(self) -> Array | None:
        """See the class."""
        return self._made("observed")

    @cached_property
    def target_observed(self) -> Array | None:
        """See the class."""
        return None if self.target is None else self._made("target_observed")

    def _made(self, name: str) -> Array | None:
        make_mask: MakeMask | None = vars(self).get("_make_mask")
        if make_mask is None:
            raise AttributeError(name)
        return make_mask(name, self.item_code, self.start)

    def _of_known(self, name: str) -> Array | None:
        of_parts = vars(self).get("_known_samples")
        if of_parts is None:  # dataclasses.replace made the sample
            raise AttributeError(name)
        samples = of_parts.get(name)
        return None if self.known is None or samples is None else self.known[..., samples, :].copy()

    if not TYPE_CHECKING:  # type checkers would take every name for an attribute

        def __getattr__(self, name: str) -> Any:
            """Look up the item."""
            if name in OBSERVED:
                message = NOT_READ.format(name=name, kind="sample")
                raise AttributeError(f"{message}; dataclasses.replace drops it")
            if name != "item" or "_items" not in vars(self):
                raise AttributeError(f"a sample has no {name!r}")
            item = vars(self)["_items"][self.item_code]
            vars(self)["item"] = item
            return item

    def __getstate__(self) -> dict[str, Any]:
        """All attributes but the dataset, to pickle and copy them."""
        _ = self.item
        return {
            name: value
            for name, value in vars(self).items()
            if name not in ("_items", "_make_mask")
        }

    def __repr__(self) -> str:
        parts = ((field.name, vars(self).get(field.name)) for field in fields(self))
        shapes = (f"{n} {list(part.shape)}" for n, part in parts if isinstance(part, np.ndarray))
        return f"<Sample {', '.join(shapes)}>"
