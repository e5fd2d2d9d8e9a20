"""Snapshots: a Ray Dataset or a DataFrame of Spark, written to a folder that all machines reach.

The snapshots of a dataset are the folders ``STORAGE_PATH/NAME/ID``, where ID is the time at which
writing began, by the clock of the driver, and a random number. A folder has ``data/`` with Parquet
files, and ``tensorcache.json`` with their sizes, which is written last. Without it the snapshot is
not complete, and tensorcache never loads it.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import re
import secrets
from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._checks import dataset_name
from ._daemon.cache_dir import cache_dir
from ._daemon.server import connected
from ._errors import NotFoundError, SourceError, SpecError
from ._extras import required
from ._origin import Load, Origin
from ._portable import Portable, checked_options
from ._storage import FIELD, Folder, folder_of

if TYPE_CHECKING:
    from ._daemon.progress import Progress

FORMAT = 1
REMOVE_SECONDS = 30.0
"""How long removing what was not completed may delay the error that is raised then."""

ID = re.compile(r"\d{8}T\d{6}\.\d{6}Z-[0-9a-f]{8}")


class Snapshot:
    """One snapshot."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.data = folder / "data"
        self._marker = folder / "tensorcache.json"

    def create(self) -> None:
        """Make the folder of the files; object stores have none."""
        if self.data.is_local:
            self.data.call(lambda: Path(self.data.path).mkdir(parents=True), writes=True)

    def sizes(self) -> dict[str, int]:
        """The sizes of the files that a load reads, by name."""
        return {name: size for name, size in self.data.names().items() if is_data(name)}

    def check_written(self, rows: int) -> dict[str, int]:
        """Check what the engine has written, and return the sizes of the files, by name.

        Files without rows are removed: Spark writes them, and the daemon refuses them.

        Args:
            rows: how many rows the engine has written.

        Raises:
            SourceError: the engine wrote no rows, or the files have another number of rows.
        """
        import pyarrow
        from pyarrow.parquet import read_metadata

        path, filesystem = self.data.arrow()

        def footer(name: str) -> Any:
            try:
                return read_metadata(f"{path}/{name}", filesystem=filesystem)
            except (pyarrow.ArrowInvalid, OSError) as error:
                if isinstance(error, OSError) and error.errno is not None:
                    raise  # the file cannot be read
                raise SourceError(
                    f'storage_path: "{self.data.shown}/{name}" is not a Parquet file', field=FIELD
                ) from error

        sizes = self.sizes()
        footers = self.data.call_each(footer, sizes)
        found = sum(each.num_rows for each in footers.values())
        if found != rows:
            raise SourceError(
                f'storage_path: got {found:,} rows in "{self.data.shown}", want the {rows:,} that '
                "were written",
                field=FIELD,
                hint="give a folder that all machines reach" if found < rows else "",
            )
        if not rows:
            raise SourceError("sources: got no rows, want at least one", field="sources")
        full = {name: footers[name] for name in sorted(footers) if footers[name].num_rows}
        remove = self.data.filesystem.rm_file
        self.data.call_each(
            lambda name: remove(f"{self.data.path}/{name}"), sizes.keys() - full.keys()
        )
        return {name: sizes[name] for name in full}

    def complete(self, sizes: dict[str, int]) -> None:
        """Write ``tensorcache.json``, which marks the snapshot as complete."""
        text = json.dumps({"format": FORMAT, "files": sizes}, indent=1)

        def write() -> None:
            if not self._marker.is_local:
                self._marker.filesystem.pipe_file(self._marker.path, text.encode())
                return
            part = Path(f"{self._marker.path}.part")
            part.write_text(text)
            part.replace(self._marker.path)

        self._marker.call(write, writes=True)

    def is_complete(self) -> bool:
        """Whether ``tensorcache.json`` is there, and the files have the sizes that it has.

        Raises:
            SourceError: files were added, removed or have other sizes, or ``tensorcache.json`` is
                damaged, or of another version.
        """

        def read() -> bytes | None:
            try:
                content: bytes = self._marker.filesystem.cat_file(self._marker.path)
            except FileNotFoundError:
                return None
            return content

        text = self._marker.call(read)
        if text is None:
            return False
        want, found = self._parsed(text), self.sizes()
        for name in sorted({*want, *found}):
            if want.get(name) != found.get(name):
                problem, wanted = (
                    f"{sizes[name]:,} bytes" if name in sizes else "no such file"
                    for sizes in (found, want)
                )
                raise damaged(self.data / name, f"got {problem}, want {wanted}")
        return True

    def _parsed(self, text: bytes) -> dict[str, int]:
        """The sizes of the files in the text of ``tensorcache.json``."""
        try:
            content = json.loads(text)
            if content["format"] == FORMAT:
                return {str(name): int(size) for name, size in content["files"].items()}
            problem = f"got format {content['format']}, want {FORMAT}"
        except (ValueError, LookupError, TypeError, AttributeError, OverflowError):
            problem = "damaged"
        raise damaged(self._marker, problem)

    def remove(self) -> None:
        """Remove the folder; ignores errors."""

        def remove() -> None:
            with contextlib.suppress(Exception):  # so there is one try
                self.folder.filesystem.rm(self.folder.path, recursive=True)

        with contextlib.suppress(SourceError):
            self.folder.call(remove, seconds=REMOVE_SECONDS)


class Snapshots:
    """The snapshots of a dataset.

    Args:
        storage_path: a folder or the URL of one; None is a folder in the cache directory.
        name: of the dataset.

    Raises:
        SpecError: the name is wrong, or the path, as for :func:`folder_of`.
        TensorcacheError: the file system of the URL cannot be used.
    """

    def __init__(self, storage_path: str | os.PathLike[str] | None, name: str) -> None:
        place = f"{cache_dir(None)}/snapshots" if storage_path is None else storage_path
        self._name = dataset_name(name)
        self._folder = folder_of(place) / self._name

    def load(
        self,
        write: Callable[[Folder], int] | None,
        options: dict[str, Any],
        progress: Progress | None,
    ) -> Portable:
        """Load a snapshot on this machine.

        Args:
            write: writes the data as Parquet files to a folder, and returns the number of rows;
                None loads the newest complete snapshot.
            options: of the load, as JSON.
            progress: as for :meth:`Cache.load`.

        Raises:
            NotFoundError: no snapshot is complete.
            SourceError: a snapshot cannot be written or read, or files of it have other sizes than
                those written.
            Exception: what ``write`` raises.
            TensorcacheError: what :meth:`Cache.load` raises.
        """
        connected(cache_dir(None))  # an error comes before the data is written
        snapshot = self.newest() if write is None else self.written(write)
        data = Portable(Origin(self._name, Load((snapshot.data.path,), options)))
        data._open(progress)
        return data

    def written(self, write: Callable[[Folder], int]) -> Snapshot:
        """A new snapshot. It is removed if ``write`` fails, or the files are not what it wrote."""
        with required("pyarrow", "arrow"):
            importlib.import_module("pyarrow.parquet")
        self._folder.names()  # errors of the store and of pyarrow come before the data is written
        now = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%S.%fZ")
        snapshot = Snapshot(self._folder / f"{now}-{secrets.token_hex(4)}")
        try:
            snapshot.create()
            sizes = snapshot.check_written(write(snapshot.data))
        except BaseException:
            snapshot.remove()
            raise
        # Now nothing is removed: a call that was interrupted may still write tensorcache.json.
        snapshot.complete(sizes)
        return snapshot

    def newest(self) -> Snapshot:
        """The newest complete snapshot.

        Raises:
            NotFoundError: no snapshot is complete.
            SourceError: the newest one cannot be read, or its files have other sizes.
        """
        for name in sorted(filter(ID.fullmatch, self._folder.names()), reverse=True):
            snapshot = Snapshot(self._folder / name)
            if snapshot.is_complete():
                return snapshot
        raise NotFoundError(
            f'no complete snapshot of dataset "{self._name}" is in "{self._folder.shown}"',
            hint="load the data under this name first",
        )


def snapshot_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a load of a snapshot, as JSON.

    Raises:
        SpecError: one is wrong, has credentials, or no time column is named.
    """
    checked = checked_options(options)
    if not checked.get("time") and not checked.get("time_parts"):
        raise SpecError(
            "time: got none, want the column that orders the rows, because engines write them in "
            "any order",
            field="time",
        )
    return {**checked, "sort": True}


def damaged(file: Folder, problem: str) -> SourceError:
    """The error for a snapshot that cannot be loaded."""
    return SourceError(
        f'storage_path: "{file.shown}": {problem}',
        field=FIELD,
        hint="remove the snapshot, and load the data again",
    )


def is_data(name: str) -> bool:
    """Whether the name is that of a file that a load of the folder reads."""
    return name.endswith(".parquet") and not name.startswith((".", "_"))
