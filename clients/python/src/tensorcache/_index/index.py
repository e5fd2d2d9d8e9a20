"""The index of a window spec: which windows exist, where they are, and their values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, cast, overload

import numpy as np
import numpy.typing as npt

from .._data.cutter import Cutter
from .._data.generation import Generation
from .._data.sample import Sample
from .._data.texts import in_range
from .._errors import SpecError
from .known_after import KnownAfter
from .runs import Runs


@dataclass(frozen=True)
class Counts:
    """The counts of an index in a plan."""

    windows: int
    positions: int
    rejected: Mapping[str, int]
    features: Mapping[str, tuple[str, ...]]
    computes_known: bool


class WindowIndex:
    """The windows of a generation under a spec and cuts; immutable.

    Args:
        dataset: the generation.
        spec: the window spec as JSON, without the defaults.
        cuts: the bounds and splits applied to it, in order.
        counts: the daemon's counts; None asks for them.
        lazy: ask for them when they are needed. The spec must be one of an index, whose times are
            instants.
    """

    def __init__(
        self,
        dataset: Generation,
        spec: dict[str, Any],
        cuts: Sequence[dict[str, Any]],
        counts: Counts | None = None,
        lazy: bool = False,
    ) -> None:
        self.dataset = cast(Any, dataset)  # a Dataset, whose module imports this one
        self._cuts = tuple(cuts)
        if counts is None and not lazy:
            reply = dataset._post("plan", spec, self._cuts)
            counts = counts_of(reply)
            if "time" in reply:
                spec = {**spec, "time": reply["time"]}
        self._spec = spec
        self._known_counts = counts
        self._runs: Runs | None = None
        self._cutter: Cutter | None = None

    @property
    def _counts(self) -> Counts:
        if self._known_counts is None:
            self._known_counts = counts_of(self.dataset._post("plan", self._spec, self._cuts))
        return self._known_counts

    @property
    def spec(self) -> Mapping[str, Any]:
        """The spec that was given, without the defaults, and with times as instants."""
        return MappingProxyType(self._spec)

    @property
    def positions(self) -> int:
        """The places where a window could start."""
        return self._counts.positions

    @property
    def rejected(self) -> Mapping[str, int]:
        """Positions that are no window, by reason."""
        return self._counts.rejected

    @property
    def features(self) -> Mapping[str, tuple[str, ...]]:
        """The names of each part's features."""
        return self._counts.features

    @property
    def dtype(self) -> str | None:
        """The dtype of the parts; None is as stored."""
        dtype: str | None = self._spec.get("dtype", "float32")
        return dtype

    def __len__(self) -> int:
        return self._counts.windows

    @overload
    def __getitem__(self, index: int) -> Sample: ...
    @overload
    def __getitem__(
        self, index: slice | Sequence[int] | npt.NDArray[np.integer[Any]]
    ) -> Sample: ...
    def __getitem__(
        self, index: int | slice | Sequence[int] | npt.NDArray[np.integer[Any]]
    ) -> Sample:
        cutter = self._cut()
        if isinstance(index, slice):
            return cutter.several(
                *self._index().places(np.arange(*index.indices(len(self)), dtype=np.int64))
            )
        if hasattr(index, "__index__") and not (isinstance(index, np.ndarray) and index.ndim):
            return cutter.one(*self._index().place(in_range(index, len(self))))
        return cutter.several(*self._index().places(self._numbers(index)))

    def __iter__(self) -> Iterator[Sample]:
        return (self[i] for i in range(len(self)))

    def __getitems__(self, indices: Sequence[int]) -> list[Sample]:
        """Several windows as a list of :class:`Sample`, which torch's ``DataLoader`` asks for."""
        return [self[i] for i in indices]

    def starts(self, item: Any = None) -> npt.NDArray[np.int64]:
        """The start rows of an item's windows in the item, ascending; negative if they are padded.

        Args:
            item: the item's value, such as ``windows[0].item``, and not its code; may be left out
                if there is one item.

        Raises:
            NotFoundError: no item has the value.
        """
        items = self.dataset.items
        code = 0 if item is None and len(items) == 1 else items.code(item)
        return self._index().starts(code)

    def per_item(self) -> npt.NDArray[np.int64]:
        """The number of windows of each item: int64 ``[items]``, in the order of ``data.items``."""
        item, _, count = self._index().runs
        counts = np.zeros(len(self.dataset.items), np.int64)
        np.add.at(counts, item, count)
        return counts

    def _numbers(self, index: Any) -> npt.NDArray[np.int64]:
        given = np.asarray(index)
        if (
            given.dtype == np.bool_
            or given.ndim != 1
            or (given.size and given.dtype.kind not in "iu")
        ):
            raise SpecError(
                f"windows[...]: got {index!r}, want a number, a slice or a list of numbers",
                field="index",
            )
        # Check before the cast, which would wrap unsigned numbers.
        outside = (given < -len(self)) | (given >= len(self))
        if outside.any():
            raise IndexError(f"{given[outside][0]} is outside of {len(self):,} windows")
        numbers = given.astype(np.int64)
        return np.where(numbers < 0, numbers + len(self), numbers)

    def _index(self) -> Runs:
        if self._runs is None:
            self._runs = Runs(
                self.dataset._post_for_bytes("runs", self._spec, self._cuts),
                self._spec.get("stride", 1),
            )
        return self._runs

    def _cut(self) -> Cutter:
        if self._cutter is None:
            features = {part: list(names) for part, names in self.features.items()}
            if self._is_latest():
                features["target"] = []
            self._cutter = Cutter(self.dataset, self._spec, features, self.dtype)
            if self._counts.computes_known:
                self._cutter.known_of = KnownAfter(self, self._cutter.known_bytes()).of
        return self._cutter

    def _is_latest(self) -> bool:
        return bool(self._cuts) and "latest" in self._cuts[-1]

    def _request(self) -> dict[str, Any]:
        """The fields that name these windows in a request to the daemon."""
        data = self.dataset
        return {
            "dataset": data.name,
            "generation": data.generation,
            "digest": data.digest,
            "spec": self._spec,
            "cuts": list(self._cuts),
        }

    def _whole(self) -> WindowIndex:
        """The windows before any cut."""
        return WindowIndex(self.dataset, self._spec, ()) if self._cuts else self

    def _with(self, **fields: Any) -> WindowIndex:
        """The windows of the spec with other fields, before any cut; None becomes null."""
        return WindowIndex(self.dataset, {**self._spec, **fields}, ())


def counts_of(reply: Mapping[str, Any]) -> Counts:
    """The counts in the reply to a plan."""
    features = reply.get("features") or {}
    return Counts(
        windows=int(reply["windows"]),
        positions=int(reply["positions"]),
        rejected=MappingProxyType(
            {str(k): int(v) for k, v in (reply.get("rejected") or {}).items()}
        ),
        features=MappingProxyType(
            {str(part): tuple(names or ()) for part, names in features.items()}
        ),
        computes_known=bool(reply.get("computes_known")),
    )
