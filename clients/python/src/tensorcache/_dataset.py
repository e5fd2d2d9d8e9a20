"""A dataset: one generation, mapped."""

from __future__ import annotations

import mmap
import socket
import weakref
from collections.abc import Iterator, KeysView, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _checks
from ._checks import RowBounds, Step, TimeBounds
from ._daemon import frames
from ._data.inverse import inverse
from ._data.items import Items, Texts, show
from ._data.madvise import Scattered
from ._data.manifest import Column, Manifest
from ._data.missing_rows import missing_stretches
from ._data.text_codes import codes_of
from ._errors import NotFoundError, ProtocolError, SpecError, StaleError, near
from ._windows.spec import window_spec
from ._windows.windows import Windows

if TYPE_CHECKING:
    from ._cache import Cache


class Dataset:
    """One generation of a dataset, mapped read-only.

    Every process that opens it shares the same pages.

    ``data["OT"]`` is a column as a numpy array: read-only, no copy, valid as long as somebody holds
    it, even after :meth:`close`. Its first axis is rows. Timestamps are ``datetime64``, text is
    int32 codes into :meth:`vocab`. They know their words: ``cache.put(name, {**data, "x":
    f(data["OT"])})`` stores texts again; of ``np.asarray(codes)``, and of all that is computed from
    them, numbers. ``len(data)`` counts rows; ``in`` and iteration are over columns.

    Handles stay on the generation they opened and keep it in the cache until closed or dropped.

    Attributes:
        name: the dataset's name.
        generation: which load of it this is, from 1.
        digest: 32 hex digits that stand for its content.
        items: the items' values by code, with ``row_offset`` and ``rows``; see :class:`Items`.
        columns: the names of all columns, in order.
        time: the time column's name, or None.
        layout: ``"columns"`` or ``"packed"``.
    """

    def __init__(self, cache: Cache, name: str, generation: int = 0) -> None:
        self._cache = cache
        lease, said, fds = opened(cache._feed_path, _checks.dataset_name(name), generation)
        self._lease = weakref.finalize(self, lease.close)
        self._maps: dict[str, mmap.mmap] = dict(zip(said["files"], map_files(fds), strict=True))
        self._manifest = Manifest(said["manifest"])
        self._arrays: dict[str, npt.NDArray[Any]] = {}
        self._scattered = Scattered(self._maps["data.arrow"])
        self._texts: dict[str, Texts] = {}
        self.name = str(said["dataset"])
        self.generation = int(said["generation"])
        self.digest = str(said["digest"])
        self.layout = self._manifest.layout
        self.time = self._manifest.time
        self.columns: tuple[str, ...] = tuple(self._manifest.columns)
        self.items = Items(self._manifest, self._maps["items.arrow"])

    @property
    def manifest(self) -> Mapping[str, Any]:
        """The generation's manifest, as FORMAT.md describes it."""
        return MappingProxyType(self._manifest.raw)

    @property
    def rows(self) -> int:
        """The number of rows; the same as ``len(data)``."""
        return self._manifest.rows

    def __len__(self) -> int:
        return self._manifest.rows

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __contains__(self, name: object) -> bool:
        return name in self._manifest.columns

    def keys(self) -> KeysView[str]:
        """The column names, so that ``dict(data)`` is all columns as arrays."""
        return self._manifest.columns.keys()

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """A column as an array of shape ``[rows]`` or ``[rows, n]``: read-only, no copy.

        Raises:
            NotFoundError: no column has the name; the message lists near ones.
        """
        array = self._arrays.get(name)
        if array is None:
            array = self._column(name).map(self._maps["data.arrow"])
            if name in self._manifest.vocab:
                array = codes_of(array, self.vocab(name))
            self._arrays[name] = array
        return array

    def vocab(self, name: str) -> Texts:
        """The words of a text column.

        ``data.vocab("symbol")[code]``, ``.decode(codes)`` for arrays.

        Raises:
            NotFoundError: no column has the name.
            SpecError: the column is not text.
        """
        column = self._column(name)
        place = self._manifest.vocab.get(name)
        if place is None:
            raise SpecError(
                f'column "{name}" is {column.dtype}, only text columns have words', field=name
            )
        texts = self._texts.get(name)
        if texts is None:
            at = (int(place.get(key, 0)) for key in ("count", "offsets", "data", "data_bytes"))
            texts = self._texts[name] = Texts(self._maps[place["file"]], *at)
        return texts

    def describe(self) -> dict[str, dict[str, Any]]:
        """Statistics of the numeric value columns as stored, computed while they were loaded.

        Returns:
            By column ``count`` (values that are not missing), ``missing`` and, as floats, ``min``,
            ``max``, ``mean``,
            ``std`` (ddof 0) and ``quantiles``, a dict from 0.01 to 0.99: approximate, of a t-digest
            of some thousand
            values drawn at random. The features of a column ``[rows, n]`` are taken together; None
            stands for what is
            not finite.
        """

        def number(said: float | None) -> float | None:
            return (
                None if said is None else float(said)
            )  # in JSON whole ones have the digits of another from 2^53 on

        return {
            str(column["name"]): {
                **{
                    name: number(said)
                    for name, said in column["statistics"].items()
                    if name != "quantiles"
                },
                "count": int(column["statistics"]["count"]),
                "missing": int(column.get("missing") or 0),
                "quantiles": {
                    float(q): number(said) for q, said in column["statistics"]["quantiles"].items()
                },
            }
            for column in self.manifest["columns"]
            if column.get("statistics")
        }

    def inverse(
        self,
        columns: str | Sequence[str],
        values: npt.ArrayLike,
        *,
        item: Any = None,
        initial: npt.ArrayLike | None = None,
    ) -> npt.NDArray[Any]:
        """Undo the steps of a column, in float64, as a new array of the same shape.

        ``stored * scale + shift``; then, for ``diff``, sums along the rows; then, for ``log1p``,
        ``expm1``. What was filled stays filled, and what was clipped clipped.

        Args:
            columns: a column's name, or several: then the last axis of ``values`` holds their
                features side by side, as ``batch.target`` does. A column without steps comes back
                as it is.
            values: stored values of any shape; for a column ``[rows, n]`` the last axis is n. Rows
                run along the last axis of a single column ``[rows]``, else along the one before the
                last.
            item: for a scaling fitted per item: an item's value, or an integer array of item codes
                (``batch.item``) along the first axis of ``values``.
            initial: for ``diff``: the undone values of the rows before the first, in the shape of
                ``values`` without the axis of rows. None: ``values`` begin with the first rows of
                items.

        Raises:
            NotFoundError: no column or item has the name.
            SpecError: the scaling is per item and no item is given, differences begin nowhere, or a
                shape does not fit.
        """
        listed = [columns] if isinstance(columns, str) else list(columns)
        found = [self._column(name) for name in listed]
        return inverse(found, values, item, initial, self.items, isinstance(columns, str))

    def windows(
        self,
        *,
        context_length: int,
        prediction_length: int = 0,
        gap: int = 0,
        overlap: int = 0,
        stride: int = 1,
        dilation: int = 1,
        anchor: str = "start",
        min_context: int | None = None,
        rows: RowBounds | None = None,
        time: TimeBounds | None = None,
        max_step: Step | None = None,
        max_missing: float | None = 0.0,
        count_filled: bool = False,
        columns: Sequence[str] | str | None = None,
        context_columns: Sequence[str] | str | None = None,
        target_columns: Sequence[str] | str | None = None,
        known_columns: Sequence[str] | str | None = None,
        static_columns: Sequence[str] | str | None = None,
        dtype: str | type | np.dtype[Any] | None = "float32",
        missing_value: float | None = None,
    ) -> Windows:
        """The windows that a spec admits.

        Args:
            context_length: rows a window looks back over.
            prediction_length: rows to predict; 0 is a context-only window.
            gap: rows between the two.
            overlap: context rows repeated at the start of the target.
            stride: rows between starts of neighbouring windows.
            dilation: rows between samples inside a window.
            anchor: whether strides count from an item's ``"start"`` or its ``"end"``.
            min_context: least real context rows; fewer are padded with 0. None: no padding.
            rows: rows of each item that may be used, half-open; negative counts from its end.
            time: the same as times: text (RFC 3339), datetime, datetime64, or int for integer time.
            max_step: largest step in time between neighbouring rows, such as ``"1h"``.
            max_missing: largest share of missing cells; None admits all.
            count_filled: filled values count as missing.
            columns: names for context and target both; None is every numeric value column.
            context_columns: names for the context.
            target_columns: names for the target.
            known_columns: names known in advance, delivered for all rows of the window; none of
                ``target_columns``.
            static_columns: names constant in an item, delivered once a window; none of the others.
            dtype: what the parts are delivered in; None is as stored.
            missing_value: what stands in for missing values that are admitted; None is NaN.

        Raises:
            SpecError: the spec cannot be, or no window is left; ``field`` names the culprit.
            NotFoundError: a column is not there.
        """
        return Windows(self, window_spec(locals()), ())

    def private_map(self) -> mmap.mmap:
        """Another map of the columns: writable, and what is written stays in it.

        Raises:
            StaleError: the generation has left the cache.
        """
        lease, said, fds = opened(self._cache._feed_path, self.name, self.generation)
        lease.close()
        try:
            if said["digest"] != self.digest:
                raise StaleError(
                    f'generation {self.generation} of dataset "{self.name}" is another one by now'
                )
            return mmap.mmap(fds[said["files"].index("data.arrow")], 0, access=mmap.ACCESS_COPY)
        finally:
            frames.close_all(fds)

    def close(self) -> None:
        """Give the generation back: it may now leave the cache.

        Arrays handed out stay valid; calling twice is fine.
        """
        self._lease()

    def __enter__(self) -> Dataset:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _column(self, name: str) -> Column:
        column = self._manifest.columns.get(name)
        if column is None:
            raise NotFoundError(
                f'no column of dataset "{self.name}" is named '
                f"{show(name)}{near(str(name), self.columns)}",
                type="column_not_found",
                field=str(name),
                hint=f"its columns: {', '.join(self.columns[:20])}",
            )
        return column

    def _before_fill(self, column: Column) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The rows with cells that were missing before they were filled, as stretches.

        Their first rows and ends.
        """
        return missing_stretches(bytes(self._maps[column.prepared.before]))

    def _post(
        self, action: str, spec: dict[str, Any], cuts: Sequence[dict[str, Any]], **more: Any
    ) -> dict[str, Any]:
        return self._cache._control.post(*self._question(action, spec, cuts, more))

    def _post_for_bytes(
        self, action: str, spec: dict[str, Any], cuts: Sequence[dict[str, Any]]
    ) -> bytes:
        return self._cache._control.post_for_bytes(*self._question(action, spec, cuts, {}))

    def _question(
        self,
        action: str,
        spec: dict[str, Any],
        cuts: Sequence[dict[str, Any]],
        more: dict[str, Any],
    ) -> tuple[str, dict[str, Any]]:
        if not self._lease.alive:
            raise StaleError(
                f'this handle of dataset "{self.name}" is closed',
                type="closed",
                hint="cache.dataset(name) opens it again",
            )
        body = {
            "generation": self.generation,
            "digest": self.digest,
            "spec": spec,
            "cuts": list(cuts),
            **more,
        }
        return f"/v1/datasets/{self.name}/{action}", body

    def __reduce__(self) -> tuple[Any, ...]:
        return reopen, (self._cache.dir, self.name, self.generation, self.digest)

    def __repr__(self) -> str:
        return (
            f'<Dataset "{self.name}" generation {self.generation}: {len(self):,} rows, '
            f"{len(self.items):,} item{'' if len(self.items) == 1 else 's'}, "
            f"{', '.join(self.columns[:8])}"
            f"{', …' if len(self.columns) > 8 else ''}>"
        )


def opened(
    path: str, name: str, generation: int
) -> tuple[socket.socket, dict[str, Any], list[int]]:
    """The lease on a generation, what the daemon said of it, and its files' descriptors."""
    lease = frames.dial(path)
    try:
        frames.request(lease, {"request": "open", "dataset": name, "generation": generation})
        said, fds = frames.receive_reply(lease)
        if len(fds) != len(said["files"]):
            frames.close_all(fds)
            raise ProtocolError(
                f"the daemon sent {len(fds)} descriptors for {len(said['files'])} files"
            )
    except BaseException:
        lease.close()
        raise
    return lease, said, fds


def map_files(fds: list[int]) -> list[mmap.mmap]:
    """Map each file read-only and close its descriptor."""
    try:
        return [mmap.mmap(fd, 0, access=mmap.ACCESS_READ) for fd in fds]
    finally:
        frames.close_all(fds)


_reopened: weakref.WeakValueDictionary[tuple[str, str, str], Dataset] = (
    weakref.WeakValueDictionary()
)


def reopen(directory: str, name: str, generation: int, digest: str) -> Dataset:
    """What unpickling a dataset does: connect, and open the generation of this content.

    Raises:
        StaleError: no generation in the cache has the digest any more.
    """
    from ._cache import connect

    key = (directory, name, digest)
    data = _reopened.get(key)
    if data is not None:
        return data
    cache = connect(directory)
    try:
        data = cache.dataset(name, generation)
    except StaleError:
        data = cache.dataset(name)
    if data.digest != digest:
        data.close()
        data = cache.dataset(name)
    if data.digest != digest:
        raise StaleError(
            f'dataset "{name}" of digest {digest} has left the cache; generation {data.generation} '
            f"is {data.digest}",
            hint="load the same files again, or make the windows anew from cache.dataset(name)",
        )
    _reopened[key] = data
    return data
