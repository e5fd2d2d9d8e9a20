"""The cache: the datasets of a daemon, and loading into it."""

from __future__ import annotations

import time as clock
from collections.abc import Mapping, Sequence
from typing import Any

from . import _checks
from ._checks import RowBounds, Step, Time, TimeBounds
from ._daemon.cache_dir import cache_dir, read_address
from ._daemon.connect import lock_is_free, reap
from ._daemon.jobs import Progress, wait_for
from ._daemon.server import Server, connected
from ._dataset import Dataset
from ._errors import DaemonError
from ._load.arrow import is_table
from ._load.options import given, load_options, no_files, row_options, text_options
from ._load.paths import Source, absolute
from ._load.put import put
from ._load.recipe import Clip, Fill, Flags, Recipe, with_recipe

STOP_SECONDS = 30.0
"""How long to wait for a daemon to stop."""


def connect(dir: Source | None = None, *, autostart: bool | None = None) -> Cache:  # noqa: A002
    """The cache of a directory; its daemon is started if none runs.

    Args:
        dir: the cache directory; None is ``$TENSORCACHE_DIR``, else the user's cache directory.
        autostart: whether a daemon may be started; None is yes, unless ``TENSORCACHE_AUTOSTART=0``.

    Raises:
        DaemonError: no daemon runs, and none may or can be started.
        ProtocolError: the running daemon speaks another protocol version.
    """
    return Cache(connected(cache_dir(dir), autostart))


class Cache:
    """The datasets in one cache directory, and its daemon; made by :func:`connect`.

    Attributes:
        dir: the cache directory, absolute.
    """

    def __init__(self, server: Server) -> None:
        self.dir = server.dir
        self._server = server

    def load(
        self,
        name: str,
        sources: Source | Sequence[Source],
        *,
        columns: Sequence[str] | str | None = None,
        item_id: Sequence[str] | str | None = None,
        time: str | None = None,
        dtype: Any = None,
        layout: str = "columns",
        melt: bool = False,
        fill: Fill | Mapping[str, Fill] | None = None,
        clip: Clip | Mapping[str, Clip] | None = None,
        log1p: Flags = False,
        diff: Flags = False,
        scale: str | Mapping[str, str] | None = None,
        scale_per: str = "column",
        fit_rows: RowBounds | None = None,
        fit_before: Time | None = None,
        fit_fraction: float | None = None,
        fit_sample: int | None = None,
        fit_seed: int | None = None,
        calendar: Sequence[str] | str | None = None,
        recipe: Recipe | None = None,
        where: TimeBounds | Mapping[str, TimeBounds] | None = None,
        items: Sequence[Any] | None = None,
        item_bucket: str | None = None,
        sort: bool = False,
        duplicates: str | None = None,
        regrid: Step | None = None,
        delimiter: str | None = None,
        no_header: bool = False,
        decimal: str | None = None,
        na: Sequence[str] | str | None = None,
        time_format: str | None = None,
        hash_sources: bool = False,
        progress: Progress | None = None,
    ) -> Dataset:
        """Load columns of files as the next generation of a dataset, and open it.

        The files are of CSV, Parquet, Arrow, NumPy or TFRecord.

        The same files, unchanged, with the same options are a hit: nothing is read. Interrupting
        the call cancels the load, unless other clients wait for the same one.

        Args:
            name: the dataset's name: 1 to 100 of ``A-Z a-z 0-9 . _ -``.
            sources: a file, or several with the same columns, in order; a pattern like
                ``"data/*.csv"``, or a folder: all files of one kind in it, by path. The columns of
                folders ``key=value`` in that one are added.
            columns: names to load; None is all.
            item_id: the column, or columns, whose values name the series of a row.
            time: the column that orders the rows of an item.
            dtype: store floats as this, such as ``"float32"``, or columns as those of a mapping,
                such as ``{"a": "float32", "b": "int16", "*": "float32"}``; ``"text"`` takes a text
                file's cells as words. What floats lose stands in ``data.manifest`` as
                ``dtype_error``; integers are kept exactly or refused.
            layout: ``"columns"``, each contiguous; ``"packed"``, interleaved row by row.
            melt: every column but the time (or those in ``columns``) is a series: its name becomes
                its ``item``, its values those of the one column ``value``.
            fill: missing cells: a number, ``"mean"``, ``"forward"``, ``"backward"`` or
                ``"linear"``. This and the next four are done in this order, to every value column
                of numbers, or as ``{"OT": "linear", "*": 0}`` says.
            clip: ``(low, high)`` that values are kept within; None is open.
            log1p: columns of which log(1 + value) is taken; True is all.
            diff: columns of which differences from row to row are taken, the first of an item
                missing; True is all.
            scale: ``"standard"``, ``"minmax"``, ``"robust"`` or ``"maxabs"``;
                :meth:`Dataset.inverse` undoes it.
            scale_per: fit scalings and means for each ``"column"`` or each ``"item"`` of it.
            fit_rows: rows of each item that the fit may see, half-open; None is all.
            fit_before: the fit may see rows before this time only.
            fit_fraction: the fit may see this share of each item's rows only, from its start.
            fit_sample: fit on so many of these rows, drawn at random.
            fit_seed: the seed of that draw; None is 0.
            calendar: features of the time as further columns: ``"hour"``, ``"month_sincos"`` and so
                on.
            recipe: more of these options, as a dict or the path of a JSON or TOML file.
            where: keep only the rows with a time in these bounds, half-open: ``(a, b)`` or
                ``{"time": (a, b)}``.
            items: keep only these items, each a value, or a list of values where several columns
                name an item.
            item_bucket: keep only the items of one bucket, as ``"3/16"``: the fourth of sixteen, by
                a hash of names.
            sort: sort the rows by item and time; else unsorted rows are an error.
            duplicates: of several rows with one item and time keep the ``"first"``, the ``"last"``
                or their ``"mean"``; None refuses them.
            regrid: insert the rows that are missing on a grid of this step from each item's first
                time on, such as ``"1h"``, a timedelta or an integer.
            delimiter: the sign between the cells of text files; None is a tab in ``.tsv`` files and
                a comma in others.
            no_header: text files begin with values; their columns are ``c0``, ``c1`` and so on.
            decimal: the decimal sign of text files, ``"."`` or ``","``; None is ``"."``.
            na: words of text files that stand for no value, beside the empty cell, NA, NaN, nan,
                null and None.
            time_format: how text files write the time column, as in
                :meth:`datetime.datetime.strptime`: ``"%d/%m/%Y %H:%M"``; ``"%s"`` is seconds since
                1970. None is ISO 8601.
            hash_sources: tell by their content, instead of by size and time of change, whether the
                files are the same, and keep their hashes for the next load. Every file is read for
                it.
            progress: called with the job as a dict (``phase``, ``rows``, ``rows_total``, ``bytes``,
                ``bytes_total``, ``progress`` from 0 to 1, ``eta_s`` in seconds or None) whenever it
                moved, and once at its end.

        Raises:
            SourceError: a file cannot be read; the message says file, row and column.
            NotFoundError: a column is in no file; the message lists near names.
            SpecError: an option cannot be.
            ResourceError: the disk or memory does not suffice.
        """
        options = load_options(columns, item_id, time, dtype, layout, melt)
        options |= row_options(where, items, item_bucket, sort, duplicates, regrid)
        options |= text_options(delimiter, no_header, decimal, na, time_format)
        options |= given(("hash_sources", hash_sources, _checks.flag, False))
        options = with_recipe(options, recipe, locals())
        options["sources"] = absolute(sources)
        job = self._server.control.post(f"/v1/datasets/{_checks.dataset_name(name)}/load", options)
        done = wait_for(self._server.control, job, progress)
        return Dataset(self._server, name, int(done["generation"]))

    def put(
        self,
        name: str,
        columns: Mapping[str, Any],
        *,
        item_id: Sequence[str] | str | None = None,
        time: str | None = None,
        dtype: Any = None,
        layout: str = "columns",
        melt: bool = False,
        fill: Fill | Mapping[str, Fill] | None = None,
        clip: Clip | Mapping[str, Clip] | None = None,
        log1p: Flags = False,
        diff: Flags = False,
        scale: str | Mapping[str, str] | None = None,
        scale_per: str = "column",
        fit_rows: RowBounds | None = None,
        fit_before: Time | None = None,
        fit_fraction: float | None = None,
        fit_sample: int | None = None,
        fit_seed: int | None = None,
        calendar: Sequence[str] | str | None = None,
        recipe: Recipe | None = None,
        where: TimeBounds | Mapping[str, TimeBounds] | None = None,
        items: Sequence[Any] | None = None,
        item_bucket: str | None = None,
        sort: bool = False,
        duplicates: str | None = None,
        regrid: Step | None = None,
    ) -> Dataset:
        """Put arrays into the cache as the next generation of a dataset, and open it.

        Args:
            name: the dataset's name.
            columns: name to values: numpy arrays of shape ``[rows]`` or ``[rows, n]``, pandas or
                Polars series, lists; numbers, bool, datetime64 or text. A data frame of either will
                do, or a dataset (its texts stay texts), or, where pyarrow is installed, what speaks
                Arrow: a pyarrow table or reader, a relation of DuckDB.
            item_id: as for :meth:`load`, and so are the others.
            time: the column that orders the rows of an item.
            dtype: store floats, or named columns, as this.
            layout: ``"columns"`` or ``"packed"``.
            melt: every column but the time is a series.
            fill: as the next ones until ``recipe``, as :meth:`load` has it.
            clip: bounds.
            log1p: columns.
            diff: columns.
            scale: how values are scaled.
            scale_per: ``"column"`` or ``"item"``.
            fit_rows: rows of each item that the fit may see.
            fit_before: a time.
            fit_fraction: a share.
            fit_sample: a number of rows.
            fit_seed: a seed.
            calendar: features of the time.
            recipe: a dict or a file.
            where: as for :meth:`load`, and so are ``items`` and ``item_bucket``.
            items: the items to keep.
            item_bucket: the bucket of items to keep.
            sort: sort the rows by item and time.
            duplicates: ``"first"``, ``"last"`` or ``"mean"``.
            regrid: the step of a regular grid.

        Raises:
            SourceError: an array is of a kind that cannot be stored, or its length is not that of
                the others.
            SpecError: an option cannot be.
        """
        options = load_options(None, item_id, time, dtype, layout, melt)
        options |= row_options(where, items, item_bucket, sort, duplicates, regrid)
        options = with_recipe(options, recipe, locals())
        done = put(self._server.feed_path, _checks.dataset_name(name), columns, options)
        return Dataset(self._server, name, int(done["generation"]))

    def append(
        self,
        name: str,
        rows: Source | Sequence[Source] | Mapping[str, Any],
        *,
        hash_sources: bool = False,
        progress: Progress | None = None,
    ) -> Dataset:
        """Append newer rows to a dataset as its next generation, and open that one.

        The old rows are copied, not read again, and keep their items and numbers. New rows go to
        the end of their items, new items behind all others. They are read with the options of the
        first load, and scaled and filled with its fit. Their times must be after the last one of
        their item. Files that the dataset already has are skipped: appending the same twice is a
        hit. Feeds stay on their generation.

        Args:
            name: the dataset's name.
            rows: files, as :meth:`load` takes them, or arrays by column, as :meth:`put` does.
            hash_sources: compare files by their content with those of the dataset, and store their
                hashes.
            progress: called with the job as for :meth:`load`; not for arrays.

        Raises:
            NotFoundError: no dataset has the name.
            SourceError: a file or array cannot be read, has other columns or types than the
                dataset, or rows that are not newer; the message names file, row and column.
            StaleError: another client made a new generation while arrays were sent.
            ResourceError: the disk or memory does not suffice.
        """
        name = _checks.dataset_name(name)
        if isinstance(rows, Mapping) or hasattr(rows, "columns") or is_table(rows):
            given(("hash_sources", hash_sources, no_files, False))
            arrays: Any = rows
            done = put(self._server.feed_path, name, arrays, None)
        else:
            options = given(("hash_sources", hash_sources, _checks.flag, False)) | {
                "sources": absolute(rows)
            }
            done = wait_for(
                self._server.control,
                self._server.control.post(f"/v1/datasets/{name}/append", options),
                progress,
            )
        return Dataset(self._server, name, int(done["generation"]))

    def dataset(self, name: str, generation: int = 0) -> Dataset:
        """Open a dataset.

        Args:
            name: its name.
            generation: which load of it; 0 is the newest.

        Raises:
            NotFoundError: no dataset has the name; the message lists near ones.
            StaleError: the generation has left the cache.
        """
        return Dataset(self._server, name, _checks.whole("generation", generation))

    def datasets(self) -> list[dict[str, Any]]:
        """The newest generation of each dataset.

        Each is a dict with ``dataset``, ``generation``, ``rows``, ``items``, ``bytes`` and more.
        """
        return self._server.control.pages("/v1/datasets", "datasets")

    def remove(self, name: str) -> list[int]:
        """Remove a dataset and return its generations; open ones stay valid.

        Raises:
            NotFoundError: no dataset has the name.
        """
        reply = self._server.control.delete(f"/v1/datasets/{_checks.dataset_name(name)}")
        return [int(generation) for generation in reply["removed"]]

    def feeds(self, *, timeout: float | None = None) -> list[dict[str, Any]]:
        """The feeds of all trainers.

        Each is a dict with ``feed``, ``dataset``, ``pid``, ``batches``, ``verdict`` and more.
        """
        return self._server.control.pages("/v1/feeds", "feeds", timeout)

    def health(self) -> dict[str, Any]:
        """The daemon's ``status``, ``version``, ``protocol``, ``pid``, ``dir`` and ``uptime_s``."""
        return self._server.control.get("/v1/health")

    def stop(self) -> None:
        """Stop the daemon, and return once it has stopped.

        The datasets stay in the cache for the next daemon.

        Raises:
            DaemonError: no daemon runs, or it does not stop.
        """
        before = read_address(self.dir)
        pid = self._server.control.post("/v1/stop")["pid"]
        deadline = clock.monotonic() + STOP_SECONDS
        while not lock_is_free(self.dir):
            now = read_address(self.dir)
            if now is not None and (
                now.pid != pid or (before and before.pid == pid and now.started != before.started)
            ):
                # A client that reconnects has started the next daemon. In a container the first
                # process of each has the same pid.
                break
            if clock.monotonic() > deadline:
                raise DaemonError(
                    f'the daemon of "{self.dir}" has not left after {STOP_SECONDS:.0f} s'
                )
            clock.sleep(0.005)
        reap(1.0)

    def __reduce__(self) -> tuple[Any, ...]:
        return connect, (self.dir,)

    def __repr__(self) -> str:
        return f'<Cache "{self.dir}">'
