"""The options of loads: as keywords, and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict

from .. import _checks
from .._checks import RowBounds, Step, Time, TimeBounds
from .._daemon.progress import Progress
from .._errors import SpecError
from .recipe import Clip, Fill, Flags, Quantiles, Recipe


class ArrayOptions(TypedDict, total=False):
    """What loads of files and of arrays have in common.

    Attributes:
        item_id: the column, or columns, whose values name the series of a row.
        time: the column that orders the rows of an item. A list names the columns of year, month,
            day, hour, minute and second, or the first of these, in this order: they become the one
            column ``time``.
        dtype: the stored dtype of floats, such as ``"float32"``, or a mapping from columns to
            dtypes, such as ``{"a": "float32", "b": "int16", "*": "float32"}``. ``"text"`` stores a
            text file's cells as words. ``data.manifest`` has the precision that floats lose, as
            ``dtype_error``; integers are stored exactly or refused.
        layout: ``"columns"``, each contiguous; ``"packed"``, interleaved row by row; ``"auto"``,
            packed from 32 columns of numbers of one dtype on: ``data.manifest["layout"]`` says
            which it became.
        melt: True or ``"columns"``: every column but the time (or those in ``columns``) is a
            series: its name becomes its ``item``, and its values those of the one column ``value``.
            ``"rows"``: every row is a series, named by ``item_id`` or the first column, and ends
            with its last value that is not missing.
        fill: the value of missing cells: a number, ``"mean"``, ``"forward"``, ``"backward"`` or
            ``"linear"``. This step and the next five run in this order, on every value column of
            numbers, or by column, as in ``{"OT": "linear", "*": 0}``.
        clip: ``(low, high)`` that values are limited to; None is open.
        log1p: columns that are replaced by log(1 + value); True is all.
        diff: columns that are replaced by differences from row to row, the first of an item
            missing; True is all.
        winsorize: ``(low, high)``, as ``(0.01, 0.99)``: quantiles of the values in the fit rows
            that all values are clipped at.
        scale: ``"standard"``, ``"minmax"``, ``"robust"`` or ``"maxabs"``; :meth:`Dataset.inverse`
            undoes it.
        scale_per: fit scalings, quantiles and means for each ``"column"``, or for each ``"item"``
            of it.
        fit_rows: rows of each item that the fit may use, half-open; None is all.
        fit_before: the fit may use only rows before this time. It is in the zone of the time column
            if it has none.
        fit_fraction: the fit may use only this share of each item's rows, from its start.
        fit_sample: fit on so many of these rows, drawn at random.
        fit_seed: the seed of that draw; None is 0.
        calendar: features of the time to add as columns: ``"hour"``, ``"month_sincos"``,
            ``"timeF:h"`` for all of a frequency, ``"age"`` and others. Windows include them only
            if ``known_columns`` names them, all of them as ``"calendar"``.
        recipe: more of these options, as a dict or the path of a JSON or TOML file.
        where: load only the rows with a time in these bounds, half-open: ``(a, b)`` or
            ``{"time": (a, b)}``. Bounds without a zone are in the zone of the time column.
        items: load only these items, each a value, or a list of values if several columns name an
            item.
        item_bucket: load only the items of one bucket, as ``"3/16"``: the fourth of sixteen, by a
            hash of names.
        sort: sort the rows by item and time; otherwise unsorted rows are an error.
        duplicates: of several rows with one item and time keep the ``"first"``, the ``"last"`` or
            their ``"mean"``; None refuses them.
        max_duplicates: the largest share of rows, from 0 to 1, that ``duplicates`` may leave out;
            None is 0.5. More are likely several items that no ``item_id`` tells apart.
        regrid: insert the rows that are missing on a grid of this step from each item's first time
            on, such as ``"1h"``, a timedelta or an integer.
    """

    item_id: Sequence[str] | str | None
    time: Sequence[str] | str | None
    dtype: Any
    layout: str
    melt: bool | str
    fill: Fill | Mapping[str, Fill] | None
    clip: Clip | Mapping[str, Clip] | None
    log1p: Flags
    diff: Flags
    winsorize: Quantiles | Mapping[str, Quantiles] | None
    scale: str | Mapping[str, str] | None
    scale_per: str
    fit_rows: RowBounds | None
    fit_before: Time | None
    fit_fraction: float | None
    fit_sample: int | None
    fit_seed: int | None
    calendar: Sequence[str] | str | None
    recipe: Recipe | None
    where: TimeBounds | Mapping[str, TimeBounds] | None
    items: Sequence[Any] | None
    item_bucket: str | None
    sort: bool
    duplicates: str | None
    max_duplicates: float | None
    regrid: Step | None


class FileOptions(ArrayOptions, total=False):
    """What loads of files take besides.

    Attributes:
        columns: the columns to load; None is all.
        encoding: the encoding of text files by its name in Python, such as ``"cp1252"`` or
            ``"utf-16"``; None finds UTF-8, UTF-16 and cp1252 by the first bytes, and a note says so
            if it is not UTF-8.
        delimiter: the character between the cells of text files; None finds it by the first rows,
            and a note says so if it is no comma (no tab in ``.tsv`` files).
        no_header: text files begin with values; their columns are ``c0``, ``c1`` and so on.
        decimal: the decimal character of text files, ``"."`` or ``","``; None finds it by the first
            rows, and a note says so if it is a comma.
        thousands: the character between thousands in the numbers of text files: ``,`` ``.`` ``'``
            ``_``, the apostrophe U+2019, or a blank, which stands for no-break spaces too; None is
            none.
        skip: the number of lines of text files above the header, or above the values without one.
        comment: the character that begins lines of text files to skip, such as ``"#"``.
        na: words of text files for missing values, besides the empty cell, NA, NaN, nan, null and
            None.
        time_format: the format of the time column in text files, as in
            :meth:`datetime.datetime.strptime`: ``"%d/%m/%Y %H:%M"``; ``"%s"`` is seconds since
            1970. None is ISO 8601, and days with the year first.
        hash_sources: compare files by their content, not by size and time of change, and store
            their hashes for the next load. This reads every file.
        progress: whether a load of more than a second shows its progress on standard error: with
            tqdm if that is installed, else as lines. None is yes in a terminal or a notebook. Or a
            function, called with the job as a dict (``phase``, ``rows``, ``rows_total``, ``bytes``,
            ``bytes_total``, ``progress`` from 0 to 1, ``eta_s`` in seconds or None) whenever it
            made progress, and once at its end. While files are fetched, ``phase`` is ``"fetch"``,
            and ``progress`` is that of fetching.
        storage_options: for URLs, the options of fsspec's file system, such as ``key`` and
            ``secret`` of S3 or ``headers`` of HTTP, as pandas takes them. They never leave this
            process, but for the server.
    """

    columns: Sequence[str] | str | None
    encoding: str | None
    delimiter: str | None
    no_header: bool
    decimal: str | None
    thousands: str | None
    skip: int
    comment: str | None
    na: Sequence[str] | str | None
    time_format: str | None
    hash_sources: bool
    progress: Progress | None
    storage_options: Mapping[str, Any] | None


ARRAY_DEFAULTS: ArrayOptions = {
    "item_id": None,
    "time": None,
    "dtype": None,
    "layout": "columns",
    "melt": False,
    "fill": None,
    "clip": None,
    "log1p": False,
    "diff": False,
    "winsorize": None,
    "scale": None,
    "scale_per": "column",
    "fit_rows": None,
    "fit_before": None,
    "fit_fraction": None,
    "fit_sample": None,
    "fit_seed": None,
    "calendar": None,
    "recipe": None,
    "where": None,
    "items": None,
    "item_bucket": None,
    "sort": False,
    "duplicates": None,
    "max_duplicates": None,
    "regrid": None,
}
FILE_DEFAULTS: FileOptions = {
    "columns": None,
    **ARRAY_DEFAULTS,
    "encoding": None,
    "delimiter": None,
    "no_header": False,
    "decimal": None,
    "thousands": None,
    "skip": 0,
    "comment": None,
    "na": None,
    "time_format": None,
    "hash_sources": False,
    "progress": None,
    "storage_options": None,
}

FIELDS: dict[str, Callable[[str, Any], Any]] = {
    "columns": _checks.names,
    "item_id": _checks.names,
    "time": _checks.time_columns,
    "dtype": _checks.dtypes,
    "layout": _checks.text,
    "melt": _checks.melt,
    "where": _checks.where,
    "items": _checks.item_values,
    "item_bucket": _checks.text,
    "sort": _checks.flag,
    "duplicates": _checks.text,
    "max_duplicates": _checks.number,
    "regrid": _checks.step,
    "encoding": _checks.text,
    "delimiter": _checks.text,
    "no_header": _checks.flag,
    "decimal": _checks.text,
    "thousands": _checks.text,
    "skip": _checks.whole,
    "comment": _checks.text,
    "na": _checks.names,
    "time_format": _checks.text,
    "hash_sources": _checks.flag,
}
"""How each option becomes JSON; the steps are those of a recipe, see recipe.py."""


def load_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options besides the steps that are not the default, as JSON."""
    given: dict[str, Any] = {}
    for field, read in FIELDS.items():
        value, default = options.get(field), FILE_DEFAULTS.get(field)
        if value is not None and (default is None or value != default):
            given[field] = read(field, value)
    return given


FILE_OPTIONS = (
    FILE_DEFAULTS.keys() - ARRAY_DEFAULTS.keys() - {"columns", "progress", "storage_options"}
)
"""The options that say how files are read."""


def no_file_options(options: Mapping[str, Any]) -> None:
    """Refuse all options of files where arrays are given."""
    for field in sorted(FILE_OPTIONS):
        no_files(field, options[field])
    only_for_urls(options["storage_options"])


def no_files(field: str, value: Any) -> None:
    """Refuse an option for files where arrays are given."""
    if value not in (None, False):
        raise SpecError(
            f"{field}: got {value!r}, want it for files only, not for arrays", field=field
        )


def only_for_urls(storage_options: Any) -> None:
    """Refuse options of file systems where no URL is given; the message has none of them."""
    if storage_options is not None:
        raise SpecError(
            "storage_options: got no URL, want them for URLs only", field="storage_options"
        )
