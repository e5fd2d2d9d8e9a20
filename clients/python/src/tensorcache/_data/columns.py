"""The mapped columns of a generation: arrays, items, words of text columns."""

from __future__ import annotations

from collections.abc import Iterator, KeysView, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from .._errors import NotFoundError, SpecError, near, show
from .inverse import inverse
from .items import Items, ItemValue
from .madvise import RandomReaders
from .manifest import Column, Manifest
from .mapped_file import MappedFile
from .missing_rows import missing_runs, stretches
from .observed import Bits, filled_bits
from .text_codes import codes_of
from .texts import Texts


class Columns:
    """The columns of one generation, as arrays over its mapped files.

    Arrays for users are private (:meth:`MappedFile.private`). ``_mapped`` has the others.

    Args:
        name: the dataset's name, for messages.
        digest: 32 hex digits that stand for the content.
        files: the files by name.
        manifest: the generation's manifest, as FORMAT.md describes it.
    """

    def __init__(
        self, name: str, digest: str, files: dict[str, MappedFile], manifest: dict[str, Any]
    ) -> None:
        self.name = name
        self.digest = digest
        self._file = files["data.arrow"]
        # The descriptors of the other files are closed with ``files``.
        self._maps = {file: mapped.memory for file, mapped in files.items()}
        self._manifest = Manifest(manifest)
        self._arrays: dict[str, npt.NDArray[Any]] = {}
        self._filled_bits: dict[str, Bits | None] = {}
        self._random_readers = RandomReaders(self._file.memory)
        self._texts: dict[str, Texts] = {}
        self.layout = self._manifest.layout
        self.time = self._manifest.time
        self.notes = self._manifest.notes
        self.columns: tuple[str, ...] = tuple(self._manifest.columns)
        self.items = Items(self._manifest, files["items.arrow"])

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

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        """Refuse to be one array, of column names, for numpy and pandas."""
        raise TypeError(
            f'dataset "{self.name}" is a mapping of columns and not an array\n'
            "hint: data[name] is a column, and dict(data) has all by name, with text columns as "
            "codes; data.vocab(name).decode(data[name]) has the words of column name"
        )

    def __contains__(self, name: object) -> bool:
        return name in self._manifest.columns

    def keys(self) -> KeysView[str]:
        """The column names, so that ``dict(data)`` is all columns as arrays."""
        return self._manifest.columns.keys()

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """A column as an array of shape ``[rows]`` or ``[rows, n]``, read-only for numpy.

        numpy refuses writes. torch does not: one through ``torch.from_numpy(array)`` changes this
        array alone, since each call gives another one. So take the column once before a loop. A
        column of more than 128 KiB is not copied: its pages are those of the dataset's file, which
        all processes share.

        Raises:
            NotFoundError: no column has the name; the message lists near ones.
            ResourceError: the system has no room for the array.
        """
        private = self._file.private(self._mapped(name))
        return self._with_words(name, private)

    def _mapped(self, name: str) -> npt.NDArray[Any]:
        """A column over the map that all readers of this process share; no user may get it."""
        array = self._arrays.get(name) if isinstance(name, str) else None
        if array is None:
            array = self._arrays[name] = self._column(name).map(self._file.memory)
        return array

    def _with_words(self, name: str, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Rows of a column; those of a text column know their words."""
        return codes_of(array, self.vocab(name)) if name in self._manifest.vocab else array

    def vocab(self, name: str) -> Texts:
        """The words of a text column.

        ``data.vocab("symbol")[code]`` is a word, ``.decode(codes)`` decodes an array.

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

    def item(self, value: Any) -> dict[str, npt.NDArray[Any]]:
        """The stored rows of one item: all columns by name, as arrays like ``data[name]``.

        ``data.item("SKU_1")["sales"]`` is a column of it. As in ``data[name]``, scaled values are
        scaled, and text columns are codes.

        Args:
            value: the item's value, such as ``windows[0].item``, and not its code.

        Raises:
            NotFoundError: no item has the value; the message lists near ones.
        """
        return self._rows_of(self.items.code(value))

    def by_item(self) -> Iterator[tuple[ItemValue, dict[str, npt.NDArray[Any]]]]:
        """Iterate over the items by their codes: an item's value and its rows as :meth:`item`."""
        return ((value, self._rows_of(code)) for code, value in enumerate(self.items))

    def _rows_of(self, code: int) -> dict[str, npt.NDArray[Any]]:
        first = int(self.items._row_offset[code])
        rows = slice(first, first + int(self.items._rows[code]))
        private = self._file.private_arrays([self._mapped(name)[rows] for name in self.columns])
        return {
            name: self._with_words(name, array)
            for name, array in zip(self.columns, private, strict=True)
        }

    def describe(self) -> dict[str, dict[str, Any]]:
        """Statistics of the numeric value columns as stored, computed by the load.

        Returns:
            By column: ``count`` (values that are not missing), ``missing`` and, as floats, ``min``,
                ``max``, ``mean``, ``std`` (ddof 0) and ``quantiles``, a dict from 0.01 to 0.99.
                Quantiles are approximate, from a t-digest of some thousand values drawn at random.
                The features of a column ``[rows, n]`` are taken together. None stands for a number
                that is not finite.
        """

        def number(value: float | None) -> float | None:
            # JSON has integers for whole floats, with other digits from 2^53 on.
            return None if value is None else float(value)

        return {
            str(column["name"]): {
                **{
                    name: number(value)
                    for name, value in column["statistics"].items()
                    if name != "quantiles"
                },
                "count": int(column["statistics"]["count"]),
                "missing": int(column.get("missing") or 0),
                "quantiles": {
                    float(q): number(value)
                    for q, value in column["statistics"]["quantiles"].items()
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
        item_code: Any = None,
        initial: npt.ArrayLike | None = None,
    ) -> npt.NDArray[Any]:
        """Undo the steps of a column, in float64, as a new array of the same shape.

        The order is ``stored * scale + shift``, then for ``diff`` sums along the rows, then for
        ``log1p`` ``expm1``. Filled, clipped and winsorized values stay as they are: sums of
        winsorized differences drift from the original values.

        Args:
            columns: a column's name, or several names: then the last axis of ``values`` has their
                features side by side, as ``batch.target`` does. A column without steps is returned
                unchanged.
            values: stored values, ``[P, F]`` or ``[B, P, F]``: rows of a window, or of each
                window, and the features of ``columns``; leading axes are allowed. For one name of
                a column ``[rows]`` also ``[P]`` and ``[B, P]``, and any shape without differences.
                ``[n, 1]`` of one name with differences is n windows if ``initial`` has n values, or
                if one initial value is for several items. Else it is refused, because it may also
                be n rows.
            item: for a scaling fitted per item: an item's value (``windows[0].item``), or one for
                each along the first axis of ``values`` (``batch.item``): a list, or an array of
                NumPy, torch or JAX.
            item_code: the same as codes of items (``batch.item_code``, or ``batch["item_code"]``
                of a loader), in place of ``item``.
            initial: for ``diff``: the original value before the first row: one number for all,
                ``[F]`` for all windows, or ``[B, F]``; for one feature also ``[B]``. It broadcasts
                as NumPy's arrays do; with several features one axis is ``[F]``, even if B is F.
                None: ``values`` begin with the first rows of items.

        Raises:
            NotFoundError: no column or item has the name.
            SpecError: the scaling is per item and no item is given, differences have no initial
                value, or a shape does not fit or is ambiguous.
        """
        listed = [columns] if isinstance(columns, str) else list(columns)
        found = [self._column(name) for name in listed]
        return inverse(
            found, values, item, item_code, initial, self.items, isinstance(columns, str)
        )

    def _column(self, name: str) -> Column:
        if not isinstance(name, str):
            raise self._not_text(name)
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

    def _not_text(self, name: Any) -> NotFoundError:
        """The error for a name that is no text, such as a number or a list of names."""
        hint = f"its columns: {', '.join(self.columns[:20])}"
        if str(name) in self.columns:
            hint = f"names are text: {show(str(name))}"
        elif isinstance(name, (list, tuple)) and all(
            isinstance(one, str) and one in self for one in name
        ):
            hint = f"name one column at a time: {{name: data[name] for name in {name!r}}}"
        return NotFoundError(
            f'no column of dataset "{self.name}" is named {name!r}: names are text, got '
            f"{type(name).__name__}",
            type="column_not_found",
            field=str(name),
            hint=hint,
        )

    def _before_fill(self, column: Column) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The first rows and ends of the runs of rows that had missing cells before the fill."""
        first, end, _ = missing_runs(self._list(column.prepared.before))
        return stretches(first, end)

    def _fit_rows(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The rows of each item that a scaled copy was fitted to, half-open: int64 ``[items]``."""
        copied = self._manifest.scaled_of
        first, end, _ = missing_runs(self._list("" if copied is None else copied.fit_rows))
        offset, rows = self.items._row_offset, self.items._rows
        run = np.searchsorted(end, offset, side="right")
        first, end = np.append(first, np.iinfo(np.int64).max), np.append(end, 0)
        low = np.clip(first[run], offset, offset + rows) - offset
        return low, np.clip(end[run], offset + low, offset + rows) - offset

    def _list(self, file: str) -> bytes:
        """The bytes of a file of lists of rows; empty if its name is."""
        return bytes(self._maps[file]) if file else b""

    def _filled(self, column: Column) -> Bits | None:
        """Which values a load filled; see :func:`filled_bits`.

        Raises:
            SpecError: the generation does not store which cells were filled.
        """
        if column.name not in self._filled_bits:
            steps = column.prepared
            rows, cells = self._list(steps.before), self._list(steps.filled_cells)
            self._filled_bits[column.name] = filled_bits(column, rows, cells)
        return self._filled_bits[column.name]
