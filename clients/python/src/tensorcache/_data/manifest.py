"""A generation's ``manifest.json``: which column is where, as in FORMAT.md.

Format history: 1, the first; 2, more dtypes, durations, text beside items.
"""

from __future__ import annotations

import mmap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._errors import ProtocolError
from .._warnings import texts_of

FORMATS = (1, 2)
DTYPES: dict[str, np.dtype[Any]] = {
    "float16": np.dtype("<f2"),
    "float32": np.dtype("<f4"),
    "float64": np.dtype("<f8"),
    "int8": np.dtype("i1"),
    "int16": np.dtype("<i2"),
    "int32": np.dtype("<i4"),
    "int64": np.dtype("<i8"),
    "uint8": np.dtype("u1"),
    "uint16": np.dtype("<u2"),
    "uint32": np.dtype("<u4"),
    "uint64": np.dtype("<u8"),
    "bool": np.dtype("?"),
    "timestamp": np.dtype("<i8"),
    "duration": np.dtype("<i8"),
    "text": np.dtype("<i4"),
}
"""The numpy dtypes that values are mapped as."""

FITTED = ("scaling", "winsorizing", "mean fill")
"""The steps that a load may fit on rows, by the names of leaks."""

TIMES = {"timestamp": "<M8", "duration": "<m8"}
"""The numpy type codes of dtypes with a unit."""


@dataclass(frozen=True)
class Scale:
    """A fitted scaling: ``stored = (value - shift) / scale``.

    ``shift`` and ``scale`` are float64 of shape ``[1 or items, width]``.
    """

    kind: str
    per: str
    shift: npt.NDArray[np.float64]
    scale: npt.NDArray[np.float64]

    @property
    def is_identity(self) -> bool:
        """Whether stored values are the original ones."""
        return bool((self.shift == 0).all() and (self.scale == 1).all())


@dataclass(frozen=True)
class Prepared:
    """The steps of a load before the scaling, in this order: fill, clip, log1p, diff, winsorize.

    ``first`` is float64 of shape ``[items, width]``: the value that an item's first difference is
    added to, after log1p. It is None without differences, or if there are too many items.
    ``before`` is the file with the rows that had missing cells before the fill; "" if there were
    none. ``filled_cells`` is the file with those rows by feature; "" unless a row had both missing
    and other values, and in generations of version 0.1.
    """

    fill: str = ""
    clip: tuple[float, float] = (-np.inf, np.inf)
    log1p: bool = False
    diff: bool = False
    first: npt.NDArray[np.float64] | None = None
    winsorize: bool = False
    before: str = ""
    filled_cells: str = ""

    @property
    def any(self) -> bool:
        """Whether there is a step."""
        clipped = self.clip != (-np.inf, np.inf)
        return bool(self.fill) or clipped or self.log1p or self.diff or self.winsorize


@dataclass(frozen=True)
class StepsOf:
    """The column of another dataset whose steps a column has.

    If ``changed``, the values are a part or a cast of those of the column. ``fit`` are the options
    of the load that fitted the steps, such as ``fit_rows``.
    """

    dataset: str
    column: str
    changed: bool
    fit: Mapping[str, Any]


@dataclass(frozen=True)
class ScaledOf:
    """The dataset of which a generation is a scaled copy.

    ``columns`` are those that were scaled, and ``fit_rows`` is the file with the rows that the
    scaling was fitted to.
    """

    dataset: str
    columns: tuple[str, ...]
    fit_rows: str


@dataclass(frozen=True)
class Column:
    """One column: its dtype, its steps, and where its values are in ``data.arrow``."""

    name: str
    role: str
    dtype: str
    unit: str
    shape: tuple[int, ...]
    offset: int
    strides: tuple[int, ...]
    scale: Scale | None
    missing: int = 0
    prepared: Prepared = Prepared()
    steps_of: StepsOf | None = None
    part_of_filled: Mapping[str, str] | None = None
    """The dataset and the column in which a load filled values, if these are a part of it."""
    calendar: str = ""
    """The feature that a load computed the values as; empty if it did not."""

    @property
    def width(self) -> int:
        """Features in a row: 1 for shape ``[rows]``."""
        return self.shape[1] if len(self.shape) > 1 else 1

    @property
    def has_steps(self) -> bool:
        """Whether a load changed the values, of this dataset or another one."""
        own = self.scale is not None or self.prepared.any
        return own or self.steps_of is not None

    @property
    def inverts(self) -> bool:
        """Whether ``inverse`` changes values of the column."""
        scaled = self.scale is not None and not self.scale.is_identity
        return scaled or self.prepared.log1p or self.prepared.diff

    @property
    def looks_ahead(self) -> bool:
        """Whether a fill used the next value."""
        return self.prepared.fill in ("backward", "linear") and bool(self.prepared.before)

    @property
    def needs_steps(self) -> bool:
        """Whether ``inverse`` or ``check_leakage`` are wrong for values without their steps."""
        return self.inverts or bool(self.fitted) or self.looks_ahead or self.steps_of is not None

    @property
    def fitted(self) -> set[str]:
        """The steps of ``FITTED`` that changed values of the column."""
        fits = {
            "scaling": self.scale is not None,
            "winsorizing": self.prepared.winsorize,
            "mean fill": self.prepared.fill == "mean" and bool(self.prepared.before),
        }
        return {how for how, changed in fits.items() if changed}

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """The dtype users see: ``datetime64`` for timestamps, ``timedelta64`` for durations."""
        if self.dtype in TIMES:
            return np.dtype(f"{TIMES[self.dtype]}[{self.unit}]")
        return DTYPES[self.dtype]

    def map(self, data: mmap.mmap) -> npt.NDArray[Any]:
        """The values as an array over the shared map, which no user may get."""
        if self.shape[0] == 0:
            empty = np.empty(self.shape, self.numpy_dtype)
            empty.flags.writeable = False
            return empty
        array: npt.NDArray[Any] = np.ndarray(
            self.shape, self.numpy_dtype, data, self.offset, self.axis_strides()
        )
        return array

    def axis_strides(self) -> tuple[int, ...]:
        """Bytes between neighbours along each axis of ``shape``."""
        if len(self.strides) == len(self.shape):
            return self.strides
        return (*self.strides[:1], DTYPES[self.dtype].itemsize)


class Manifest:
    """The manifest of one generation, checked as far as the client relies on it.

    Raises:
        ProtocolError: it has another format, or lacks a field.
    """

    def __init__(self, content: dict[str, Any]) -> None:
        self.raw = content
        if content.get("format") not in FORMATS:
            raise ProtocolError(
                f"the dataset is of format {content.get('format')!r}, this client reads "
                f"{FORMATS[0]} to {FORMATS[-1]}",
                type="format",
                hint="install the daemon's version of the client",
            )
        try:
            self.layout = str(content["layout"])
            self.rows = int(content["rows"])
            self.digest = str(content["digest"])
            self.item_id = [str(name) for name in content["item_id"] or ()]
            self.time = str(content["time"]) if content.get("time") else None
            self.columns = {str(c["name"]): column_of(c) for c in content["columns"]}
            self.items: dict[str, Any] = dict(content["items"])
            self.notes = texts_of(content.get("notes") or ())
            self.vocab: dict[str, Any] = dict(content.get("vocab") or {})
            self.scaled_of = scaled_of(content.get("scaled_of"))
        except (KeyError, TypeError, ValueError) as error:
            raise ProtocolError(
                f"the dataset's manifest cannot be read: {error!r}", type="format"
            ) from error


def column_of(entry: dict[str, Any]) -> Column:
    """A column from its entry in the manifest."""
    shape = tuple(int(n) for n in entry["shape"])
    dtype = str(entry["dtype"])
    if dtype not in DTYPES:
        raise ValueError(f'column "{entry["name"]}" is of dtype "{dtype}"')
    width = shape[1] if len(shape) > 1 else 1
    fitted = entry.get("scale")
    scale = None
    if fitted:
        scale = Scale(
            kind=str(fitted["kind"]),
            per=str(fitted["per"]),
            shift=np.asarray(fitted["shift"], np.float64).reshape(-1, width),
            scale=np.asarray(fitted["scale"], np.float64).reshape(-1, width),
        )
    return Column(
        name=str(entry["name"]),
        role=str(entry["role"]),
        dtype=dtype,
        unit=str(entry.get("unit") or ""),
        shape=shape,
        offset=int(entry["offset"]),
        strides=tuple(int(n) for n in entry["strides"]),
        scale=scale,
        missing=int(entry.get("missing") or 0),
        prepared=prepared_of(entry.get("prepared") or {}, width),
        steps_of=steps_of(entry.get("steps_of")),
        part_of_filled=entry.get("part_of_filled"),
        calendar=str(entry.get("calendar") or ""),
    )


def scaled_of(entry: dict[str, Any] | None) -> ScaledOf | None:
    """The dataset of which a generation is a scaled copy, from its entry in the manifest."""
    if entry is None:
        return None
    return ScaledOf(
        dataset=str(entry["dataset"]),
        columns=tuple(str(name) for name in entry["columns"]),
        fit_rows=str(entry["fit_rows"]["file"]),
    )


def steps_of(entry: dict[str, Any] | None) -> StepsOf | None:
    """The column whose steps a column has, from their entry in the manifest."""
    if entry is None:
        return None
    return StepsOf(
        dataset=str(entry["dataset"]),
        column=str(entry["column"]),
        changed=bool(entry.get("changed")),
        fit=dict(entry.get("fit") or {}),
    )


def prepared_of(entry: dict[str, Any], width: int) -> Prepared:
    """The steps before scaling from their entry in the manifest."""
    low, high = entry.get("clip_low"), entry.get("clip_high")
    first, before = entry.get("first"), entry.get("before") or {}
    return Prepared(
        fill=str(entry.get("fill") or ""),
        clip=(-np.inf if low is None else float(low), np.inf if high is None else float(high)),
        log1p=bool(entry.get("log1p")),
        diff=bool(entry.get("diff")),
        first=None if first is None else np.array(first, np.float64).reshape(-1, width),
        winsorize="winsorize" in entry,
        before=str(before.get("file") or ""),
        filled_cells=str((before.get("cells") or {}).get("file") or ""),
    )
