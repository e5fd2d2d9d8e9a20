"""The known rows of ``latest()`` after the end of items, which the daemon computes."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

CHUNK = 256
"""How many windows are requested at a time, at most."""
CHUNK_BYTES = 4 << 20
"""How many bytes of them are requested at a time, unless one window has more."""
KEPT_BYTES = 64 << 20
"""How many bytes of the latest chunks are kept, and at least one chunk."""


class KnownAfter:
    """``known`` of windows of ``latest()``.

    Args:
        windows: the windows, which must exist as long as this is used.
        window_bytes: the bytes of ``known`` of one window.
    """

    def __init__(self, windows: Any, window_bytes: int) -> None:
        self._windows = weakref.ref(windows)  # which refer to this
        self._size = max(1, min(CHUNK, len(windows), CHUNK_BYTES // max(1, window_bytes)))
        self._most = max(1, KEPT_BYTES // max(1, window_bytes * self._size))
        self._chunks: dict[int, Array] = {}  # the latest ones

    def of(self, items: npt.NDArray[np.int64]) -> Array:
        """``known`` of the windows of items: ``[B, C+G+P, F]``, a copy."""
        windows = self._windows()
        assert windows is not None
        numbers = np.searchsorted(windows._index().runs[0], items)  # an item has one window
        chunks = numbers // self._size
        first = self._chunk(windows, int(chunks[0]) if len(chunks) else 0)
        out = np.empty((len(numbers), *first.shape[1:]), first.dtype)
        for chunk in np.unique(chunks):
            here = chunks == chunk
            out[here] = self._chunk(windows, int(chunk))[numbers[here] % self._size]
        return out

    def _chunk(self, windows: Any, chunk: int) -> Array:
        """``known`` of the windows of a chunk."""
        found = self._chunks.get(chunk)
        if found is not None:
            return found
        with windows.feed(batch_size=self._size, parts=("known",), delivery="slot") as feed:
            begin = {"epoch": 0, "consumed": chunk * self._size}
            feed.load_state_dict({**feed.state_dict(), **begin})
            (known,) = next(iter(feed))
            found = np.array(known)
        kept = [*self._chunks.items()][max(0, len(self._chunks) - self._most + 1) :]
        self._chunks = {**dict(kept), chunk: found}  # another thread may read the old dict
        return found
