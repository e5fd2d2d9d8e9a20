"""The parts of windows that this process cuts out of the mapped columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._data.texts import in_range
from .._index.index import WindowIndex
from .parts import Selection, cutter_of

Int64s = npt.NDArray[np.int64]


class WindowParts:
    """Cuts the parts of a selection out of the mapped columns; picklable.

    Args:
        windows: the windows.
        selection: the parts.
    """

    def __init__(self, windows: WindowIndex, selection: Selection) -> None:
        self._windows, self._selection = windows, selection
        self._cutter: Any = None

    def one(self, index: int) -> list[Any]:
        """The parts of a window."""
        return [part[0] for part in self.several([in_range(index, len(self._windows))])]

    def several(self, indices: Sequence[int]) -> list[Any]:
        """The parts of windows, along a leading axis."""
        if self._cutter is None:
            self._cutter = cutter_of(self._windows, self._selection)
        windows = self._windows
        codes, starts = windows._index().places(windows._numbers(indices))
        return [self._part(name, codes, starts) for name in self._selection.names]

    def _part(self, name: str, codes: Int64s, starts: Int64s) -> Any:
        items = self._windows.dataset.items
        if name == "item":
            return items[codes]
        if name == "row":
            return items._row_offset[codes] + starts
        places = {"item_code": codes, "start": starts}
        return places[name] if name in places else self._cutter.part(name, codes, starts)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_cutter": None}
