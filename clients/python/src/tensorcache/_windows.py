"""Windows: which exist under a spec, and where each one is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from . import _spec
from ._errors import SpecError
from ._feed import Feed
from ._feed_options import feed_options, sampler_options
from ._items import in_range
from ._runs import Runs
from ._sample import Cutter, Sample
from ._split import Split

if TYPE_CHECKING:
    from ._dataset import Dataset


@dataclass(frozen=True)
class Counts:
    """What a plan says about an index."""

    windows: int
    positions: int
    rejected: Mapping[str, int]
    features: Mapping[str, tuple[str, ...]]


class Windows:
    """The windows of a dataset that a spec admits; immutable, picklable, cheap to cut further.

    ``len(windows)`` counts them. ``windows[i]`` is one of them as a read-only :class:`Sample`, with ``context`` of
    shape ``[context_length, features]`` and ``target`` of shape ``[overlap + prediction_length, features]``, cut out of
    the mapped columns here, without the daemon, and without a copy where the layout allows it. Slices and lists of
    numbers give several along a leading axis.

    Attributes:
        dataset: where they come from.
        positions: the places where a window could start; windows and rejections add up to it.
        rejected: positions that are no window, by the first reason that holds.
        features: for each part (context, target, known, static) the names of its features.
        dtype: the dtype the parts come in; None is as stored.
    """

    def __init__(
        self, dataset: Dataset, spec: dict[str, Any], cuts: Sequence[dict[str, Any]], counts: Counts | None = None
    ) -> None:
        self.dataset = dataset
        self._spec = spec
        self._cuts = tuple(cuts)
        self._counts = counts or counts_of(dataset._post("plan", spec, self._cuts))
        self._runs: Runs | None = None
        self._cutter: Cutter | None = None

    @property
    def spec(self) -> Mapping[str, Any]:
        """The spec as it was given, without the defaults."""
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
        """The dtype the parts come in; None is as stored."""
        dtype: str | None = self._spec.get("dtype", "float32")
        return dtype

    def __len__(self) -> int:
        return self._counts.windows

    @overload
    def __getitem__(self, index: int) -> Sample: ...
    @overload
    def __getitem__(self, index: slice | Sequence[int] | npt.NDArray[np.integer[Any]]) -> Sample: ...
    def __getitem__(self, index: int | slice | Sequence[int] | npt.NDArray[np.integer[Any]]) -> Sample:
        cutter = self._cut()
        if isinstance(index, slice):
            return cutter.several(*self._index().places(np.arange(*index.indices(len(self)), dtype=np.int64)))
        if hasattr(index, "__index__") and not (isinstance(index, np.ndarray) and index.ndim):
            return cutter.one(*self._index().place(in_range(index, len(self))))
        return cutter.several(*self._index().places(self._numbers(index)))

    def __iter__(self) -> Iterator[Sample]:
        return (self[i] for i in range(len(self)))

    def __getitems__(self, indices: Sequence[int]) -> list[Sample]:
        """Several windows as a list, one :class:`Sample` each: what torch's ``DataLoader`` asks a dataset for."""
        return [self[i] for i in indices]

    def starts(self, item: Any = None) -> npt.NDArray[np.int64]:
        """The start rows of an item's windows in the item, ascending; negative where they are padded.

        Args:
            item: the item's value; may be left out when there is one item.

        Raises:
            NotFoundError: no item has the value.
        """
        items = self.dataset.items
        code = 0 if item is None and len(items) == 1 else items.code(item)
        return self._index().starts(code)

    def plan(
        self,
        *,
        batch_size: int | None = None,
        order: str = "sequential",
        seed: int = 0,
        rank: int = 0,
        num_replicas: int = 1,
        tail: str | None = None,
        channels_first: bool = False,
    ) -> dict[str, Any]:
        """What would be served, exactly: counts, rejections, first and last window, the gather's path.

        With ``batch_size`` also ``batches``, ``last_batch``, ``batch_bytes`` and ``ranks``. The keys are those of
        ``tensorcache plan --json``.
        """
        more: dict[str, Any] = {"channels_first": _spec.flag("channels_first", channels_first)}
        if batch_size is not None:
            more["options"] = sampler_options(batch_size, order, seed, rank, num_replicas, tail)
        return self.dataset._post("plan", self._spec, self._cuts, **more)

    def where(
        self,
        *,
        rows: _spec.RowBounds | None = None,
        time: _spec.TimeBounds | None = None,
        items: Iterable[Any] | None = None,
        context_before_split: bool = True,
    ) -> Windows:
        """The windows whose prediction rows all lie inside: rows or times of each item, or the named items.

        ``context_before_split`` lets their context reach back before the bound.
        """
        where: dict[str, Any] = {}
        if rows is not None:
            where["rows"] = _spec.rows("rows", rows)
        if time is not None:
            where["time"] = _spec.times("time", time)
        if items is not None:
            where["items"] = _spec.item_values("items", items)
        if not where:
            raise SpecError("where: got nothing, want rows=, time= or items=", field="where")
        cut = {"where": where, "context_before_split": _spec.flag("context_before_split", context_before_split)}
        return Windows(self.dataset, self._spec, (*self._cuts, cut))

    def split(
        self,
        *,
        lengths: Sequence[int | None] | None = None,
        fractions: Sequence[float | None] | None = None,
        at_times: Sequence[_spec.Time] | None = None,
        items: Sequence[Any] | None = None,
        purge: int = 0,
        context_before_split: bool = True,
        names: Sequence[str] | None = None,
    ) -> Split:
        """Cut into parts by where the prediction rows lie; no prediction row is in two parts.

        Args:
            lengths: rows of each part per item, from its start; None takes the rest.
            fractions: shares of each item's rows; a part given as None, else the last, takes the rest.
            at_times: k bounds for k + 1 parts.
            items: lists of items, or shares of them (by a fixed hash of the item).
            purge: rows left out before each later part.
            context_before_split: lets a window's context reach back before its part.
            names: the parts' names; else train, val, test and the like.

        Returns:
            The parts in order; they unpack, and go by number and by name.
        """
        split: dict[str, Any] = {}
        if lengths is not None:
            split["lengths"] = _spec.optional_wholes("lengths", lengths)
        if fractions is not None:
            split["fractions"] = _spec.optional_numbers("fractions", fractions)
        if at_times is not None:
            split["at_times"] = _spec.list_of_times("at_times", at_times)
        if items is not None:
            split["items"] = _spec.part_items("items", items)
        if len(split) != 1:
            raise SpecError(
                f"split: got {', '.join(split) or 'nothing'}, want one of lengths, fractions, at_times, items",
                field="split",
            )
        if _spec.whole("purge", purge):
            split["purge"] = int(purge)
        if not _spec.flag("context_before_split", context_before_split):
            split["context_before_split"] = False
        if names is not None:
            split["names"] = _spec.names("names", names)
        said = self.dataset._post("plan", self._spec, self._cuts, split=split)
        parts = {}
        for part in said["splits"]:
            counts = counts_of({**part, "features": said["features"]})
            parts[str(part["name"])] = Windows(self.dataset, self._spec, (*self._cuts, part["cut"]), counts)
        return Split(parts)

    def feed(
        self,
        *,
        batch_size: int,
        order: str = "sequential",
        seed: int = 0,
        rank: int = 0,
        num_replicas: int = 1,
        tail: str | None = None,
        delivery: str = "auto",
        slots: int = 0,
        channels_first: bool = False,
        mask: bool = False,
    ) -> Feed:
        """A stream of batches for one trainer, prepared ahead by the daemon.

        Args:
            batch_size: windows a batch.
            order: ``"sequential"``, ``"shuffle"``, or another of design's orders where the daemon has it.
            seed: of the order; with the epoch it fixes the order exactly.
            rank: which of the trainers this is.
            num_replicas: how many trainers share an epoch.
            tail: what becomes of the last, incomplete step: ``"short"``, ``"wrap"``, ``"drop"``; None is short for one
                trainer, wrap for several.
            delivery: ``"slot"``: a piece of the feed's ring; ``"auto"`` lets the daemon choose.
            slots: batches in flight; 0 lets the daemon choose, 3 is the least.
            channels_first: ``[B, F, C]`` instead of ``[B, C, F]``.
            mask: deliver ``mask`` even where nothing is padded.

        Raises:
            SpecError: an option cannot be; ``field`` names it.
            ResourceError: the memory does not suffice for 3 slots.
        """
        sampler = sampler_options(batch_size, order, seed, rank, num_replicas, tail)
        return Feed(self, feed_options(sampler, delivery, slots, channels_first, mask))

    def _numbers(self, index: Any) -> npt.NDArray[np.int64]:
        given = np.asarray(index)
        if given.dtype == np.bool_ or given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
            raise SpecError(f"windows[...]: got {index!r}, want a number, a slice or a list of numbers", field="index")
        numbers = given.astype(np.int64)
        outside = (numbers < -len(self)) | (numbers >= len(self))
        if outside.any():
            raise IndexError(f"{numbers[outside][0]} is outside of {len(self):,} windows")
        return np.where(numbers < 0, numbers + len(self), numbers)

    def _index(self) -> Runs:
        if self._runs is None:
            self._runs = Runs(self.dataset._post_for_bytes("runs", self._spec, self._cuts), self._spec.get("stride", 1))
        return self._runs

    def _cut(self) -> Cutter:
        if self._cutter is None:
            features = {part: list(names) for part, names in self.features.items()}
            self._cutter = Cutter(self.dataset, self._spec, features, self.dtype)
        return self._cutter

    def __reduce__(self) -> tuple[Any, ...]:
        return Windows, (self.dataset, self._spec, self._cuts)

    def __repr__(self) -> str:
        return (
            f'<Windows of "{self.dataset.name}" generation {self.dataset.generation}: {len(self):,}, '
            f"{', '.join(f'{field} {value}' for field, value in self._spec.items())}>"
        )


def counts_of(said: Mapping[str, Any]) -> Counts:
    """The counts in a plan's answer."""
    features = said.get("features") or {}
    return Counts(
        windows=int(said["windows"]),
        positions=int(said["positions"]),
        rejected=MappingProxyType({str(k): int(v) for k, v in (said.get("rejected") or {}).items()}),
        features=MappingProxyType({str(part): tuple(names or ()) for part, names in features.items()}),
    )
