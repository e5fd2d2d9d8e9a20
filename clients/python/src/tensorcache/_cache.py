"""The cache: the datasets of a daemon, and loading into it."""

from __future__ import annotations

import contextlib
import time as clock
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _checks
from ._daemon.cache_dir import cache_dir, read_address
from ._daemon.connect import lock_is_free
from ._daemon.jobs import run_job
from ._daemon.progress import Progress, display_of
from ._daemon.server import Server, connected
from ._dataset import Dataset
from ._errors import DaemonError, TensorcacheError
from ._keywords import takes
from ._load.options import (
    ARRAY_DEFAULTS,
    FILE_DEFAULTS,
    ArrayOptions,
    FileOptions,
    load_options,
    no_file_options,
    no_files,
    only_for_urls,
)
from ._load.paths import Source, absolute, listed_of, urls_of
from ._load.put import is_columns, put
from ._load.recipe import with_recipe
from ._option_text import for_put
from ._remote.load import staged
from ._warnings import warn_of_load

if TYPE_CHECKING:
    from typing_extensions import Unpack

STOP_SECONDS = 30.0
"""How long to wait for a daemon to stop."""

TWICE = {"columns": 'leave columns out of the mapping or frame, as frame[["a", "b"]] does'}
"""What to do about a parameter of :meth:`Cache.put` that other calls have as an option."""


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

    @takes(FILE_DEFAULTS, ArrayOptions, FileOptions)
    def load(
        self,
        name: str,
        sources: Source | Sequence[Source] | Mapping[str, Any],
        **options: Unpack[FileOptions],
    ) -> Dataset:
        """Load columns of files as the next generation of a dataset, and open it.

        The files are of CSV, JSON Lines, TSF, Parquet, Arrow, NumPy or TFRecord.

        The same files, unchanged, with the same options are a hit: nothing is read. Interrupting
        the call cancels the load, unless other clients wait for the same one.

        Args:
            name: the dataset's name: 1 to 100 of ``A-Z a-z 0-9 . _ -``.
            sources: a file, or several with the same columns, in order; a pattern like
                ``"data/*.csv"``, or a folder: all files of one kind in it, by path. The columns of
                folders ``key=value`` in that one are added. Or URLs: ``s3://``, ``gs://``,
                ``az://``, ``http://``, ``https://``, ``hf://`` and others that fsspec knows, of
                which only the bytes that the load reads are fetched; patterns and folders too, but
                not of web servers. Arrays by column, a frame or a table are put, as :meth:`put`
                does.
            **options: of the load.

        Raises:
            SourceError: a file cannot be read, or a remote one changes while it is fetched; the
                message names file, row and column.
            MissingExtraError: the package for the protocol of a URL is not installed.
            NotFoundError: a column is in no file; the message lists near names.
            SpecError: an option is out of range or of a wrong type.
            ResourceError: the disk or memory does not suffice.

        Warns:
            LoadWarning: what the load assumed or left out, as ``notes`` of the dataset say.
        """
        body = with_recipe(load_options(options), options["recipe"], options)
        if is_columns(sources):
            no_file_options(options)
            return self._put(name, sources, body)
        return self._read(
            "load", name, sources, body, options["storage_options"], options["progress"]
        )

    def _read(
        self,
        verb: str,
        name: str,
        sources: Any,
        body: dict[str, Any],
        storage_options: Any,
        progress: Progress | None,
    ) -> Dataset:
        """Load or append files with options as JSON, and open the new generation."""
        control, display = self._server.control, display_of(progress)
        name, listed = _checks.dataset_name(name), listed_of(sources)
        urls = urls_of(listed)
        with contextlib.ExitStack() as stack:
            if urls:
                body = stack.enter_context(
                    staged(control, self.dir, name, verb, body, urls, storage_options, display)
                )
            else:
                body = {**body, "sources": absolute(listed)}
                only_for_urls(storage_options)
            done = run_job(control, f"/v1/datasets/{name}/{verb}", body, display)
        return self._loaded(name, done)

    def _loaded(self, name: str, done: dict[str, Any]) -> Dataset:
        """Open the generation that a load made or found, and warn of its notes."""
        data = Dataset(self._server, name, int(done["generation"]))
        warn_of_load(data.notes)
        return data

    @takes(ARRAY_DEFAULTS, ArrayOptions, twice=TWICE)
    def put(
        self, name: str, columns: Mapping[str, Any], **options: Unpack[ArrayOptions]
    ) -> Dataset:
        """Put arrays into the cache as the next generation of a dataset, and open it.

        If the newest generation is a put of the same values and options, no new one is made.

        Args:
            name: the dataset's name.
            columns: names to values: numpy arrays of shape ``[rows]`` or ``[rows, n]``, pandas or
                Polars series, tensors of torch or JAX, or lists, of numbers, bool, datetime64 or
                text. It may also be a data frame of pandas or Polars, also a lazy one, a structured
                array, whose fields are columns, a dataset (its texts stay texts), a dataset of
                xarray, whose dimensions name item and time, or, if pyarrow is installed, a dataset
                of Hugging Face or an object with Arrow's interface: a pyarrow table, reader or
                dataset, a relation of DuckDB. Named levels of a pandas index are columns, one of
                times the time; times without a name need ``time``. A mapping of items to such
                tables (not of xarray or Hugging Face) is one table, in which ``item_id`` (the
                column ``item_id`` by default) names the key of each row; a list of tables, or of
                arrays of any lengths, has items 0, 1 and so on.
            **options: of the load.

        Raises:
            SourceError: an array cannot be stored, or the arrays differ in length.
            SpecError: an option is out of range or of a wrong type.

        Warns:
            LoadWarning: what the load assumed or left out, as ``notes`` of the dataset say.
        """
        body = with_recipe(load_options(options), options["recipe"], options)
        try:
            return self._put(name, columns, body)
        except TensorcacheError as error:
            error.hint = for_put(error.hint)
            raise

    def _put(self, name: str, columns: Any, body: dict[str, Any]) -> Dataset:
        """Put columns with options as JSON, and open the generation with them."""
        done = put(self._server.feed_path, _checks.dataset_name(name), columns, body)
        return self._loaded(name, done)

    def append(
        self,
        name: str,
        rows: Source | Sequence[Source] | Mapping[str, Any],
        *,
        hash_sources: bool = False,
        progress: Progress | None = None,
        storage_options: Mapping[str, Any] | None = None,
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
            progress: as for :meth:`load`; not for arrays.
            storage_options: as for :meth:`load`.

        Raises:
            NotFoundError: no dataset has the name.
            SourceError: a file or array cannot be read, has other columns or types than the
                dataset, or rows that are not newer; the message names file, row and column.
            StaleError: another client made a new generation while arrays were sent.
            ResourceError: the disk or memory does not suffice.

        Warns:
            LoadWarning: what the load assumed or left out, as ``notes`` of the dataset say.
        """
        name = _checks.dataset_name(name)
        if is_columns(rows):
            no_files("hash_sources", hash_sources)
            only_for_urls(storage_options)
            arrays: Any = rows
            done = put(self._server.feed_path, name, arrays, None, lambda: self.dataset(name))
            return self._loaded(name, done)
        body = load_options({"hash_sources": hash_sources})
        return self._read("append", name, rows, body, storage_options, progress)

    def dataset(self, name: str, generation: int = 0, *, digest: str | None = None) -> Dataset:
        """Open a dataset.

        Args:
            name: its name.
            generation: which load of it; 0 is the newest one that has the digest, or the newest of
                all if no digest is given.
            digest: of its content, 32 hex digits; None accepts any. Equal content has the same
                digest on every machine; numbers of generations differ.

        Raises:
            NotFoundError: no dataset has the name; the message lists near ones.
            SpecError: the digest has another form.
            StaleError: the generation has left the cache, or has another digest; or no generation
                in the cache has the digest.
        """
        generation = _checks.whole("generation", generation)
        wanted = "" if digest is None else _checks.digest(digest)
        return Dataset(self._server, name, generation, wanted)

    def datasets(self) -> list[dict[str, Any]]:
        """The newest generation of each dataset.

        Each is a dict with ``dataset``, ``generation``, ``rows``, ``items``, ``bytes`` and more.
        That of a scaled copy has ``scaled_of``, the name of its dataset.
        """
        return self._server.control.pages("/v1/datasets", "datasets")

    def remove(self, name: str) -> list[int]:
        """Remove a dataset and its scaled copies, and return its generations; open ones stay valid.

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

    def __reduce__(self) -> tuple[Any, ...]:
        return connect, (self.dir,)

    def __repr__(self) -> str:
        return f'<Cache "{self.dir}">'
