"""The mapped columns that a feed's batches are cut from."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from .._data.cutter import Cutter
from .._data.sample import KNOWN_PARTS, OBSERVED
from .._errors import ProtocolError
from .._index.index import WindowIndex
from .parts import Selection, cutter_of
from .run_copies import Copier, run_copier

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

ROW_PARTS = ("context", "target", "known")
VALUE_PARTS = (*ROW_PARTS, "static")
CHANNEL_PARTS = (*ROW_PARTS, *KNOWN_PARTS, *OBSERVED, "context_missing", "target_missing")
"""The parts that ``channels_first`` transposes."""


class MappedWindows:
    """The columns of a feed's windows, and the parts of a batch that are not in the ring.

    Attributes:
        stride: rows between the starts of neighbouring windows.
        items: the items of the dataset.
        known_index: the index into known that gives known_context, and the one that gives
            known_target; empty without known.
    """

    def __init__(
        self,
        windows: WindowIndex,
        channels_first: bool,
        mask: bool,
        selection: Selection | None = None,
    ) -> None:
        data = windows.dataset
        self._data = data
        self.stride: int = windows._spec.get("stride", 1)
        self.items = data.items
        self._offsets = data.items._row_offset
        cutter = windows._cut()
        self._windows, self._selection = windows, selection
        self._channels_first = channels_first
        features = () if channels_first else (slice(None),)
        self.known_index = {
            name: (..., samples, *features) for name, samples in cutter.known_samples.items()
        }
        self._counted = False
        self._missing = (
            {"context_missing", "target_missing"} if mask or cutter.admits_missing else set()
        )
        self._mask = {"mask"} if mask or cutter.padded else set()

    @cached_property
    def _cutter(self) -> Cutter:
        """The cutter of the windows. The daemon has accepted the parts before this is read."""
        return cutter_of(self._windows, self._selection)

    def _part_of(self, name: str) -> str:
        """The part that a name in a batch is of."""
        return name if self._selection is None else self._selection.part_of(name)

    def parts_of(self, delivery: str) -> frozenset[str]:
        """The parts of a batch that are cut out of the mapped columns on access."""
        if self._selection is not None:
            return frozenset({"row", "time", *self._selection.names})
        named = {"row", "time"}
        if delivery != "slot":
            named |= self._missing
        if delivery != "starts":
            named |= {*OBSERVED}
        if delivery in ("view", "local"):
            named |= {*VALUE_PARTS}
        if delivery == "view":
            named |= self._mask
        return frozenset(named)

    def part(self, name: str, items: Array, starts: Array) -> Array | None:
        """A part of a batch, copied out of the mapped columns; None if windows do not have it."""
        if name == "row":
            rows: Array = self._offsets[items] + starts
            return rows
        value = self._cutter.part(name, items, starts)
        if self._channels_first and value is not None and self._part_of(name) in CHANNEL_PARTS:
            value = np.ascontiguousarray(value.swapaxes(1, 2))
        return value

    def item(self, row: int) -> int:
        """The code of the item that has a row of the dataset."""
        return int(np.searchsorted(self._offsets, row, side="right")) - 1

    def offset(self, row: int) -> int:
        """The first row of the item of a row of the dataset."""
        return int(self._offsets[self.item(row)])

    def advise_random(self) -> None:
        """Advise the kernel of random reads of the dataset's map, as long as this object lives."""
        if not self._counted:
            self._counted = True
            self._data._random_readers.add(self)

    def has(self, name: str) -> bool:
        """Whether windows have context, target or known."""
        return self._cutter.has(name)

    def can_be_gathered(self) -> bool:
        """Whether all windows can be gathered as stored, without converting or checking values."""
        if self._selection is not None and self._selection.has_masks:
            return False  # the daemon makes masks from bits, and this process from the values
        wanted = ("context", "target") if self._selection is None else self._selection.values
        names = [name for name in wanted if self.has(name)]
        return bool(names) and all(self.all_windows(name) is not None for name in names)

    def run_copiers(self, read_only: bool) -> list[Copier]:
        """Functions that make context and, if windows have one, target of a batch.

        Args:
            read_only: as for :func:`run_copier`.

        Raises:
            ProtocolError: the windows cannot be views.
        """
        made = (self.copier(name, read_only) for name in ("context", "target"))
        return [copier for copier in made if copier is not None]

    def copier(self, name: str, read_only: bool) -> Copier | None:
        """A function that makes a part of a batch; None if it has no values in rows.

        Raises:
            ProtocolError: the part cannot be a view.
        """
        if not self.has(name):
            return None
        matrix = self._matrix(name)
        if matrix is None:
            raise ProtocolError("the daemon delivers views of columns that cannot be viewed")
        span, dilation = self._cutter.spans[name], self._cutter.dilation
        return run_copier(matrix, span, self.stride, dilation, self._channels_first, read_only)

    def _matrix(self, name: str) -> Array | None:
        """The columns of a part, ``[rows, F]``; None if windows are not strides over them."""
        if self._cutter.padded or self._cutter.is_computed(name):
            return None
        return self._cutter.parts[name].matrix()

    def all_windows(self, name: str) -> Array | None:
        """The windows that start at each row of the dataset: ``[rows, C, F]``, or ``[rows, F, C]``.

        The view overlaps itself and is read-only. ``all_windows[row]`` is the part of the window
        whose first context row is ``row``, whether or not the window exists. None if windows are
        padded, converted or have values replaced, or if the columns are not evenly spaced in the
        file.

        Args:
            name: context, target or known; windows must have the part.
        """
        cutter, matrix = self._cutter, self._matrix(name)
        if matrix is None:
            return None
        span = cutter.spans[name]
        rows, features = matrix.strides
        count, first = max(0, len(matrix) - int(span[-1])), matrix[int(span[0]) :]
        shape, strides = (
            (count, len(span), matrix.shape[1]),
            (rows, rows * cutter.dilation, features),
        )
        if self._channels_first:
            shape, strides = (shape[0], *shape[:0:-1]), (strides[0], *strides[:0:-1])
        return as_strided(first, shape, strides, writeable=False)
