"""Random access: windows that the client copies out of the mapped columns."""

from __future__ import annotations

import copy
import itertools
import math
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._errors import StaleError
from .columns import Columns
from .manifest import DTYPES, Column
from .observed import observed
from .padding import FirstRows
from .sample import KNOWN_PARTS, OBSERVED, Sample

Array = npt.NDArray[Any]
Int64s = npt.NDArray[np.int64]


KINDS = {
    "static": ("static", "static"),
    **{f"{of}_missing": (of, "missing") for of in ("context", "target")},
    **{name: (of, "observed") for name, of in OBSERVED.items()},
}
"""The part of values and the kind of a part, by its name; others are the values themselves."""


class Part:
    """The columns of one part of windows, as ``[rows, features]``."""

    def __init__(
        self,
        data: Columns,
        columns: list[Column],
        dtype: str | None,
        fill: float | None,
        pad: float,
    ) -> None:
        self._data = data
        self.columns = columns
        self._given = (fill, pad)
        self._arrays = [data._mapped(column.name).view(DTYPES[column.dtype]) for column in columns]
        stored = np.result_type(*(DTYPES[c.dtype] for c in columns)) if columns else np.dtype("<f4")
        self.dtype = np.dtype(dtype) if dtype else stored
        self._width = sum(column.width for column in columns)
        self.pad = np.asarray(pad, self.dtype)
        self._fill = fill if fill is not None and self.dtype.kind == "f" else None
        self._matrix = strided_matrix(data, columns) if stored == self.dtype else None

    def choose(self, columns: Sequence[str] | None, dtype: str | None) -> Part:
        """Some of the columns, or all of them, in a dtype; None keeps the stored one."""
        by_name = {column.name: column for column in self.columns}
        chosen = self.columns if columns is None else [by_name[name] for name in columns]
        return Part(self._data, chosen, dtype, *self._given)

    def matrix(self) -> Array | None:
        """All rows as a view ``[rows, features]`` of what windows deliver, or None."""
        if self._matrix is None or (
            self._fill is not None and any(column.missing for column in self.columns)
        ):
            return None
        return self._matrix

    def copy(self, rows: slice) -> Array | None:
        """Rows copied as they are stored, or None if values have to be converted or replaced."""
        if self._matrix is None or (self._fill is not None and self.has_missing(rows)):
            return None
        copied: Array = self._matrix[rows].copy()
        return copied

    def has_missing(self, rows: slice) -> bool:
        """Whether a value of the rows is missing."""
        return any(
            array.dtype.kind == "f" and bool(np.isnan(array[rows]).any()) for array in self._arrays
        )

    def take(self, rows: Int64s, real: npt.NDArray[np.bool_] | None) -> Array:
        """Copies of rows, of shape ``[*rows.shape, features]``; ``pad`` in those not ``real``."""
        out = np.empty((*rows.shape, self._width), self.dtype)
        at = 0
        for array in self._arrays:
            values = array[rows]
            width = 1 if array.ndim == 1 else array.shape[1]
            out[..., at : at + width] = values[..., None] if array.ndim == 1 else values
            at += width
        if self._fill is not None:
            out[np.isnan(out)] = self._fill
        return set_padding(out, real, self.pad)

    def observed(self, rows: Int64s, real: npt.NDArray[np.bool_] | None) -> npt.NDArray[np.float32]:
        """1 for values that were observed, else 0, of shape ``[*rows.shape, features]``."""
        out = np.empty((*rows.shape, self._width), np.float32)
        at = 0
        for column, array in zip(self.columns, self._arrays, strict=True):
            seen = observed(column, array[rows], rows, self._data._filled(column))
            out[..., at : at + column.width] = seen[..., None] if array.ndim == 1 else seen
            at += column.width
        return set_padding(out, real)

    def missing(self, rows: Int64s, real: npt.NDArray[np.bool_] | None) -> npt.NDArray[np.bool_]:
        """Which values of the rows are missing, of shape ``[*rows.shape, features]``."""
        out = np.zeros((*rows.shape, self._width), np.bool_)
        at = 0
        for array in self._arrays:
            width = 1 if array.ndim == 1 else array.shape[1]
            if array.dtype.kind == "f":
                gone = np.isnan(array[rows])
                out[..., at : at + width] = gone[..., None] if array.ndim == 1 else gone
            at += width
        return set_padding(out, real)


class Origin:
    """The dataset and the spec of samples. It does not keep the dataset's files mapped."""

    def __init__(self, data: Columns, spec: dict[str, Any], features: dict[str, list[str]]) -> None:
        self._data = weakref.ref(data)
        self._name, self._spec, self._features = data.name, spec, features

    def observed(self, name: str, item_code: Any, start: Any) -> Array | None:
        """``observed`` or ``target_observed`` of windows.

        Raises:
            StaleError: no variable refers to the dataset any more.
            SpecError: the generation does not store which values were filled.
        """
        data = self._data()
        if data is None:
            raise StaleError(
                f'{name} needs dataset "{self._name}", to which no variable refers any more',
                type="closed",
                hint=f"read {name} while a variable refers to the dataset or its windows",
            )
        cutter = Cutter(data, self._spec, self._features, "float32")  # holds any pad_value
        part = cutter.part(name, np.atleast_1d(item_code), np.atleast_1d(start))
        return part if part is None or np.ndim(start) else part[0]


class Cutter:
    """Cuts the windows of one spec out of the mapped columns.

    Attributes:
        parts: the columns of each part that windows have.
        spans: the rows of each part except static, counted from a window's start.
        known_samples: which samples of known are known_context, and which are known_target; empty
            without known.
        dilation: rows between neighbours of a span.
        known_of: returns known of the windows of items, if the daemon computes rows of it; else
            None.
        admits_missing: whether the spec admits missing values.
        padded: whether the spec admits padding.
    """

    def __init__(
        self, data: Columns, spec: dict[str, Any], features: dict[str, list[str]], dtype: str | None
    ) -> None:
        self._data, self._dtype = data, dtype
        self.known_of: Callable[[Int64s], Array] | None = None
        self._origin = Origin(data, spec, features)
        self._first = FirstRows(data, spec)
        context: int = spec["context_length"]
        reach = context + spec.get("gap", 0) + spec.get("prediction_length", 0)
        dilation: int = spec.get("dilation", 1)
        overlap: int = spec.get("overlap", 0)
        fill, pad = spec.get("missing_value"), spec.get("pad_value", 0)
        pad = math.nan if pad is None else pad  # JSON has no NaN
        parts = {
            name: Part(
                data, columns_of(data, features[name]), dtype, fill, 0 if name == "static" else pad
            )
            for name in features
            if features[name]
        }
        if "known" in parts:
            parts |= dict.fromkeys(KNOWN_PARTS, parts["known"])
        spans = {
            "context": range(context),
            "target": range(context + spec.get("gap", 0) - overlap, reach),
            "known": range(reach),
        }
        spans |= {"known_context": spans["context"], "known_target": spans["target"]}
        self.known_samples = {
            name: slice(spans[name].start, spans[name].stop)
            for name in KNOWN_PARTS
            if name in parts and spans[name]
        }
        self.spans = {
            name: np.arange(s.start, s.stop) * dilation for name, s in spans.items() if len(s)
        }
        self._known_spans = {"known": slice(None), **self.known_samples}
        self.dilation = dilation
        self.parts = parts
        self._kinds = KINDS
        self.admits_missing = spec.get("max_missing", 0.0) != 0.0
        self.padded = self._first.padded

    def kind(self, name: str) -> tuple[str, str]:
        """The part whose columns a part has, and its kind: values, static, missing or observed."""
        return self._kinds.get(name, (name, "values"))

    def with_part(
        self, name: str, part: str, columns: Sequence[str] | None, dtype: str | None
    ) -> Cutter:
        """The same cutter with one more part.

        Args:
            name: the name of the part.
            part: the part of which it is: of values, or a mask.
            columns: names of its columns; None is all.
            dtype: of values; None is that of the windows.
        """
        of, kind = self.kind(part)
        cutter = copy.copy(self)
        chosen = self.parts[of].choose(columns, self._dtype if dtype is None else dtype)
        cutter.parts = {**self.parts, name: chosen}
        cutter._kinds = {**self._kinds, name: (name, kind)}
        if of in self.spans:
            cutter.spans = {**self.spans, name: self.spans[of]}
        if of in self._known_spans:
            cutter._known_spans = {**self._known_spans, name: self._known_spans[of]}
        return cutter

    def known_bytes(self) -> int:
        """The bytes of known of a window."""
        known = self.parts["known"]
        return len(self.spans["known"]) * len(known.columns) * known.dtype.itemsize

    def is_computed(self, name: str) -> bool:
        """Whether the daemon computes rows of a part."""
        return self.known_of is not None and name in self._known_spans

    def one(self, item: int, start: int) -> Sample:
        """The window of an item that starts at a row."""
        base = int(self._data.items._row_offset[item])
        first = self._first.of(item)

        def part(name: str) -> Array | None:
            if not self.has(name):
                return None
            if self.is_computed(name):
                computed: Array = self._computed(name, np.asarray([item]))[0]
                return computed
            rows = self.spans[name] + start
            if rows[0] >= first:
                copied = self.parts[name].copy(
                    slice(base + int(rows[0]), base + int(rows[-1]) + 1, self.dilation)
                )
                if copied is not None:
                    return copied
            return self._cut(name, rows, base, first)

        many = self._rest(np.asarray([item]), np.asarray([start]))
        return Sample._of(
            self._data.items,
            self._origin.observed,
            self.known_samples,
            context=part("context"),
            target=part("target"),
            known=part("known"),
            item_code=item,
            start=start,
            **{name: None if value is None else value[0] for name, value in many.items()},
        )

    def several(self, items: Int64s, starts: Int64s) -> Sample:
        """Windows along a leading axis."""
        return Sample._of(
            self._data.items,
            self._origin.observed,
            self.known_samples,
            context=self.part("context", items, starts),
            target=self.part("target", items, starts),
            known=self.part("known", items, starts),
            item_code=items,
            start=starts,
            **self._rest(items, starts),
        )

    def has(self, name: str) -> bool:
        """Whether windows have a part of values in rows."""
        _, kind = self.kind(name)
        return kind == "values" and name in self.parts and name in self.spans

    def part(self, name: str, items: Int64s, starts: Int64s) -> Array | None:
        """A part of windows along a leading axis, as a copy; None if they do not have it."""
        base = self._data.items._row_offset[items][:, None]
        of, kind = self.kind(name)
        if kind == "static":
            return self.parts[of].take(base[:, 0], None) if of in self.parts else None
        if name == "time":
            return self._first.times(items, starts)
        first = self._first.of_each(items)[:, None]
        if name == "mask":
            mask: Array = starts[:, None] + self.spans["context"] >= first
            return mask
        if of not in self.parts or of not in self.spans:
            return None
        if self.is_computed(of):
            return self._computed(of, items)
        rows = starts[:, None] + self.spans[of]
        if kind == "missing":
            return self.parts[of].missing(base + np.maximum(rows, first), rows >= first)
        if kind == "observed":
            return self.parts[of].observed(base + np.maximum(rows, first), rows >= first)
        return self._cut(of, rows, base, first)

    def _computed(self, name: str, items: Int64s) -> Array:
        """A part of known, from the daemon."""
        assert self.known_of is not None
        part, known = self.parts[name], self.parts["known"].columns
        samples = self.known_of(items)[:, self._known_spans[name]]
        columns = [known.index(column) for column in part.columns]  # of one feature each
        chosen: Array = samples[..., columns].astype(part.dtype)
        return chosen

    def _cut(self, name: str, rows: Int64s, base: Any, first: Any) -> Array:
        real = rows >= first if self._first.padded else None
        return self.parts[name].take(
            base + (rows if real is None else np.maximum(rows, first)), real
        )

    def _rest(self, items: Int64s, starts: Int64s) -> dict[str, Array | None]:
        wanted = {"static": True, "time": True, "mask": self.padded}
        wanted |= dict.fromkeys(("context_missing", "target_missing"), self.admits_missing)
        return {
            name: self.part(name, items, starts) if want else None for name, want in wanted.items()
        }


def columns_of(data: Columns, features: list[str]) -> list[Column]:
    """The columns that a list of features comes from; a column ``[rows, n]`` has n features."""
    columns: list[Column] = []
    at = 0
    known = data._manifest.columns
    while at < len(features):
        column = known.get(features[at])
        if column is None or column.width != 1:
            fitting = [
                c for c in known.values() if len(c.shape) > 1 and features[at].startswith(c.name)
            ]
            column = max(fitting, key=lambda c: len(c.name))
        columns.append(column)
        at += column.width
    return columns


def strided_matrix(data: Columns, columns: list[Column]) -> Array | None:
    """All columns as one strided view ``[rows, features]`` of the file, or None.

    There is one if the features are evenly spaced: neighbours in layout ``packed``, and columns
    that follow each other in layout ``columns``.
    """
    if (
        not columns
        or len({(DTYPES[column.dtype], column.strides[0]) for column in columns}) > 1
        or len(data) == 0
    ):
        return None
    size = DTYPES[columns[0].dtype].itemsize
    places = [column.offset + i * size for column in columns for i in range(column.width)]
    apart = {later - earlier for earlier, later in itertools.pairwise(places)} or {size}
    if len(apart) > 1 or min(apart) <= 0:
        return None
    strides = (columns[0].strides[0], apart.pop())
    shape = (len(data), len(places))
    dtype = DTYPES[columns[0].dtype]
    matrix: Array = np.ndarray(shape, dtype, data._file.memory, places[0], strides)
    return matrix


def set_padding(out: Array, real: npt.NDArray[np.bool_] | None, value: Any = 0) -> Array:
    """``out`` with a value in the rows that are padding."""
    if real is not None and not real.all():
        out[~real] = value
    return out
