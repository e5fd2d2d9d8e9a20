"""Datasets: an open generation that windows can be made of."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from . import _checks
from ._checks import RowBounds, Step, TimeBounds
from ._daemon.jobs import run_job
from ._daemon.progress import Progress, display_of
from ._daemon.server import Server, connected
from ._data.generation import Generation
from ._errors import NotFoundError, SpecError, printable, show
from ._index.spec import window_spec
from ._repr.views import dataset_html
from ._windows import Windows

if TYPE_CHECKING:
    from typing_extensions import Self


class Dataset(Generation):
    """One generation of a dataset, mapped; all processes that open it share its pages.

    ``data["OT"]`` is a column as a numpy array, read-only, and valid even after :meth:`close`. Its
    first axis is rows. Timestamps are ``datetime64``, and text is int32 codes into :meth:`vocab`.
    Codes know their words: ``cache.put(name, {**data, "x": f(data["OT"])})`` stores texts again,
    but numbers for ``np.asarray(codes)`` and for results of computations. ``len(data)`` counts
    rows; ``in`` and iteration are over columns.

    An object stays on the generation that it opened, and keeps it in the cache until it is closed
    or dropped.

    Attributes:
        name: the dataset's name.
        generation: which load of it this is, from 1.
        digest: 32 hex digits that identify its content.
        items: the items' values by code, with ``row_offset`` and ``rows``; see :class:`Items`.
        columns: the names of all columns, in order.
        time: the time column's name, or None.
        layout: ``"columns"`` or ``"packed"``.
        notes: what the load assumed or left out, each a text with a hint; see :class:`LoadWarning`.
    """

    _reconnects = False

    def __init__(self, server: Server, name: str, generation: int = 0, digest: str = "") -> None:
        super().__init__(server, _checks.dataset_name(name), generation, digest)

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
        pad_value: float | None = 0.0,
    ) -> Windows:
        """The windows that a spec admits.

        Args:
            context_length: rows of context in a window.
            prediction_length: rows to predict; 0 makes context-only windows.
            gap: rows between the two.
            overlap: context rows repeated at the start of the target.
            stride: rows between starts of neighbouring windows.
            dilation: rows between samples inside a window.
            anchor: whether strides count from an item's ``"start"`` or its ``"end"``.
            min_context: the fewest real context rows; the others are padded with ``pad_value``.
                None: no padding.
            rows: rows of each item that may be used, half-open; negative counts from its end.
            time: the same as times: text (RFC 3339), datetime, datetime64, or int for integer time.
                Text and datetime without a zone are in that of the time column, datetime64 in UTC.
            max_step: the largest step in time between neighbouring rows, such as ``"1h"``.
            max_missing: the largest share of missing cells; None admits all.
            count_filled: whether filled values count as missing.
            columns: columns of context and target; None is every numeric value column but the
                levels of a pandas index and the calendar columns.
            context_columns: columns of the context.
            target_columns: columns of the target.
            known_columns: columns known in advance, delivered for all rows of the window; none of
                ``target_columns``. ``"calendar"`` means all calendar columns.
            static_columns: columns constant in an item, delivered once for each window; none of the
                others.
            dtype: the dtype of the parts; None is as stored.
            missing_value: replaces missing values that are admitted; None is NaN.
            pad_value: the value of padded samples in context, target and known, whose dtypes must
                all represent it; None is NaN, for floats only.

        Raises:
            SpecError: a field is out of range, or no window is left; ``field`` names it.
            NotFoundError: there is no such column.
        """
        return Windows(self, window_spec(locals()), ())

    def scaled(
        self,
        scale: str,
        *,
        fit: Windows,
        columns: Sequence[str] | str | None = None,
        scale_per: str = "column",
        progress: Progress | None = None,
    ) -> Self:
        """A copy of this generation whose columns are scaled, fitted to the rows of a part.

        The same spec and split on the copy give the same windows. ``inverse`` undoes the scaling,
        and ``check_leakage`` knows the rows that it was fitted to. The copy is a dataset of its own
        beside this one: ``name`` is its name, ``datasets()`` lists it, and removing this dataset
        removes it too. It is made once, and takes about as much memory as this generation: the
        job's ``bytes_total``, which ``progress`` gets first, and then the ``bytes`` of
        ``datasets()``. Rows cannot be appended to it.

        Args:
            scale: ``"standard"``, ``"minmax"``, ``"robust"`` or ``"maxabs"``.
            fit: windows of this generation. The scaling is fitted to all rows inside the bounds of
                their part, also to those that no window has: ``windows.split(...)[0]`` has the rows
                of each item before the second part.
            columns: the columns to scale, of numbers and without a scaling. None is all columns of
                numbers that windows have by default.
            scale_per: ``"column"`` fits all items together, ``"item"`` each item alone.
            progress: as for :meth:`Cache.load`.

        Raises:
            SpecError: a column is no number, or is scaled already, or the windows are of another
                generation; ``field`` names the argument.
            SourceError: a column, or an item of it, has values, but none in the rows of ``fit``.
            ResourceError: the disk or memory does not suffice.
        """
        scaling = scaled_request(self, scale, fit, columns, scale_per)
        return cast("Self", self._scaled(fit._spec, fit._cuts, scaling, progress))

    def _scaled(
        self,
        spec: dict[str, Any],
        cuts: Sequence[dict[str, Any]],
        scaling: dict[str, Any],
        progress: Progress | None,
    ) -> Dataset:
        """The scaled copy of a part; scaling is what :func:`scaled_request` makes."""
        route, body = self._request_of("scaled", spec, cuts, scaling)
        done = run_job(self._server.control, route, body, display_of(progress))
        return Dataset(self._server, str(done["dataset"]), int(done["generation"]))

    def _reconnect(self, given: bool | None) -> bool:
        """The option ``reconnect`` of a feed; None is the default of the dataset."""
        return _checks.flag("reconnect", self._reconnects if given is None else given)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return reopen, (self._server.dir, self.name, self.generation, self.digest)

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__} {self._label()}: {len(self):,} rows, "
            f"{len(self.items):,} item{'' if len(self.items) == 1 else 's'}, "
            f"{', '.join(map(printable, self.columns[:8]))}"
            f"{', …' if len(self.columns) > 8 else ''}>"
        )

    def _repr_html_(self) -> str:
        return dataset_html(self)


def scaled_request(
    data: Dataset, scale: Any, fit: Any, columns: Any, scale_per: Any
) -> dict[str, Any]:
    """What to scale, and how, as JSON.

    Raises:
        SpecError: an argument has a wrong type, or the windows are of another generation.
    """
    if not isinstance(fit, Windows):
        raise SpecError(
            f"fit: got {show(fit)}, want windows of the dataset",
            field="fit",
            hint="windows.split(...)[0] are those of the first part",
        )
    if fit._is_latest():
        raise SpecError("fit: got the latest windows, want those of a part", field="fit")
    of = fit.dataset
    if of.digest != data.digest:
        raise SpecError(
            f'fit: got windows of generation {of.generation} of "{of.name}", want windows of '
            f'generation {data.generation} of "{data.name}"',
            field="fit",
        )
    return {
        "scale": _checks.text("scale", scale),
        "scale_per": _checks.text("scale_per", scale_per),
        "columns": None if columns is None else _checks.names("columns", columns),
    }


_reopened: weakref.WeakValueDictionary[tuple[str, str, str], Dataset] = (
    weakref.WeakValueDictionary()
)


def reopen(directory: str, name: str, generation: int, digest: str) -> Dataset:
    """Connect, and open the generation with this content: unpickles a dataset.

    Raises:
        NotFoundError: no dataset has the name.
        StaleError: no generation in the cache has the digest any more.
    """
    key = (directory, name, digest)
    data = _reopened.get(key)
    if data is not None and data._is_leased():
        return data
    server = connected(directory)
    try:
        data = of_digest(server, name, generation, digest)
    except NotFoundError as error:
        if error.field in ("dataset", "digest"):
            error.hint = (
                "load the same files again; windows of tensorcache.portable do so themselves"
            )
        raise
    _reopened[key] = data
    return data


def of_digest(server: Server, name: str, generation: int, digest: str) -> Dataset:
    """Open a generation with a digest; this was its number, or 0 if that is not known."""
    # The first requests have no digest, because daemons of version 0.1 do not know it.
    for number in dict.fromkeys((generation, 0)):
        with contextlib.suppress(NotFoundError):  # StaleError is one
            data = Dataset(server, name, number)
            if data.digest == digest:
                return data
            data.close()
    return Dataset(server, name, digest=digest)
