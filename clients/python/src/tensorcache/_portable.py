"""Datasets that are pickled as how to load them, and open on the machine that uses them."""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from . import _checks
from ._cache import Cache
from ._daemon.cache_dir import cache_dir
from ._daemon.server import connected
from ._dataset import Dataset, of_digest
from ._errors import NotFoundError, SourceError, SpecError
from ._keywords import takes
from ._load.options import FILE_DEFAULTS, ArrayOptions, FileOptions, load_options
from ._load.paths import Source, checked, listed_of, urls_of
from ._load.put import is_columns
from ._load.recipe import with_recipe
from ._origin import Load, Origin, Scaling, files_of, other_content
from ._remote.urls import has_user, shown

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._daemon.progress import Progress
    from ._daemon.server import Server

ONLY_OPEN = frozenset(
    (
        *("columns", "generation", "items", "layout", "notes", "time"),
        *("_arrays", "_file", "_filled_bits", "_lease", "_manifest", "_maps"),
        *("_random_readers", "_server", "_socket", "_texts"),
    )
)
"""Attributes that only an open dataset has. Reading one opens it."""


ENVIRONMENT = "set the environment of each machine, as for s3fs AWS_ACCESS_KEY_ID"
"""The hint of refusals of credentials."""


@takes(FILE_DEFAULTS, ArrayOptions, FileOptions)
def portable(
    name: str, sources: Source | Sequence[Source], **options: Unpack[FileOptions]
) -> Portable:
    """Load a dataset on this machine, as one that can be pickled to other machines.

    For training on several machines, with any launcher. If each process of the job calls it, as
    with torchrun, the loaders for torch compare the content of the ranks. If one process pickles
    the dataset, or its windows, to others, they refuse other content.

    URLs and options are pickled. ``storage_options`` are refused: set the environment of each
    machine instead.

    Args:
        name: as for :meth:`Cache.load`. Jobs that load other content need other names.
        sources: as for :meth:`Cache.load`: files that every machine reaches by the same path, or
            URLs.
        **options: of the load.

    Raises:
        SpecError: the sources are arrays, or have credentials.
        TensorcacheError: what :meth:`Cache.load` raises.

    Warns:
        LoadWarning: as for :meth:`Cache.load`, on each machine that loads.
    """
    load = Load(checked_sources(sources), checked_options(options))
    data = Portable(Origin(_checks.dataset_name(name), load))
    data._open(options["progress"])
    return data


def checked_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a load as JSON that can be pickled.

    Raises:
        SpecError: one is wrong, or has credentials.
    """
    if options["storage_options"]:
        raise SpecError(
            "storage_options: got some, want none, because they would be pickled",
            field="storage_options",
            hint=ENVIRONMENT,
        )
    return with_recipe(load_options(options), options["recipe"], options)


def checked_sources(sources: Source | Sequence[Source]) -> tuple[str, ...]:
    """Sources as URLs, or as absolute paths and patterns. Nothing is read.

    Raises:
        SpecError: they are arrays or have credentials.
        SourceError: one is no path.
    """
    if is_columns(sources):
        raise SpecError(
            f"sources: got {type(sources).__name__}, want files that every machine reaches",
            field="sources",
            hint="write the data as Parquet to a folder that all machines reach",
        )
    listed = listed_of(sources)
    urls = urls_of(listed)
    for url in urls:
        if has_user(url):
            raise SpecError(
                f'sources: "{shown(url)}" has credentials, which would be pickled',
                field="sources",
                hint=ENVIRONMENT,
            )
    return tuple(urls or [str(Path(path).absolute()) for path in checked(listed)])


class Portable(Dataset):
    """A dataset that opens by the daemon of whatever machine uses it.

    It is a :class:`Dataset` of the machine on which it is used. Pickled, it and its windows have
    neither a path of the cache nor data: they say how to load it. Unpickling does nothing. Its
    first use on a machine connects to the daemon there, or starts it, and opens the content, or
    loads it if it is not there: once for all processes of the machine. Other content is refused.
    Feeds and loaders of its windows have ``reconnect=True`` by default.

    Raises:
        StaleError: at its first use, if the sources have other content on this machine; the
            message names the file, size and time that differ.
        TensorcacheError: at its first use, what connecting and loading raise.
    """

    _reconnects = True
    _closed_hint = "tensorcache.portable makes it again"

    def __init__(self, origin: Origin) -> None:
        self._origin = origin
        self._opened = False
        self._lock, self._process = threading.RLock(), os.getpid()
        if origin.digest:
            self.name, self.digest = origin.name, origin.digest

    if not TYPE_CHECKING:  # type checkers know the attributes by Dataset

        def __getattr__(self, name: str) -> Any:
            if name in ONLY_OPEN:
                self._open(None)
                return vars(self)[name]
            raise AttributeError(f"'Portable' object has no attribute '{name}'")

    def close(self) -> None:
        """End the lease, as :meth:`Dataset.close`; does nothing if it has not been used."""
        if self._opened:
            super().close()

    def _open(self, progress: Progress | None) -> None:
        """Open the content on this machine, and load it if it is not there."""
        if self._process != os.getpid():  # a thread of the parent may have held the lock
            self._lock, self._process = threading.RLock(), os.getpid()
        with self._lock:
            if not self._opened:
                self._open_or_load(connected(cache_dir(None)), progress)
                self._opened = True

    def _open_or_load(self, server: Server, progress: Progress | None) -> None:
        origin = self._origin
        if origin.digest:
            with (
                contextlib.suppress(NotFoundError),  # StaleError is one
                of_digest(server, origin.name, 0, origin.digest) as found,
            ):
                super().__init__(server, found.name, found.generation)
                return
        with self._made(server, progress) as made:
            if origin.digest and made.digest != origin.digest:
                raise other_content(origin, made.digest, made.manifest)
            super().__init__(server, made.name, made.generation)
        if not origin.digest:
            files, count = files_of(self.manifest)
            self._origin = Origin(self.name, origin.by, self.digest, files, count)

    def _made(self, server: Server, progress: Progress | None) -> Dataset:
        """The dataset, loaded or scaled on this machine."""
        name, by = self._origin.name, self._origin.by
        if isinstance(by, Scaling):
            with Portable(by.of) as data:
                return Dataset._scaled(data, by.spec, by.cuts, by.scaling, progress)
        try:
            return Cache(server)._read("load", name, by.sources, by.options, None, progress)
        except SourceError as error:
            if self._origin.digest:
                error.detail = (
                    f'dataset "{name}" is not in the cache of {os.uname().nodename}, and cannot be '
                    f"loaded there: {error.detail}"
                )
            raise

    def _scaled(
        self,
        spec: dict[str, Any],
        cuts: Sequence[dict[str, Any]],
        scaling: dict[str, Any],
        progress: Progress | None,
    ) -> Portable:
        if self._opened and not self._lease.alive:
            return cast("Portable", super()._scaled(spec, cuts, scaling, progress))  # refuses it
        copy = Portable(Origin("", Scaling(self._origin, spec, cuts, scaling)))
        copy._open(progress)
        return copy

    def _is_used_here(self) -> bool:
        """Whether it is open by the daemon of the cache directory that the environment names."""
        return self._is_leased() and self._server.dir == cache_dir(None)

    def _label(self) -> str:
        return super()._label() if self._opened else f'"{self.name}", not open yet'

    def __repr__(self) -> str:
        return super().__repr__() if self._opened else f"<Portable {self._label()}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return unpickled, (self._origin,)


_unpickled: weakref.WeakValueDictionary[str, Portable] = weakref.WeakValueDictionary()


def unpickled(origin: Origin) -> Portable:
    """One dataset for all windows of it that this process unpickles, so that it opens once."""
    key = repr(origin)
    data = _unpickled.get(key)
    if data is None or (data._opened and not data._is_used_here()):
        data = _unpickled[key] = Portable(origin)
    return data
