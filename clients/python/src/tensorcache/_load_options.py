"""The options of loads as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import _spec
from ._errors import SpecError


def load_options(
    columns: Sequence[str] | str | None,
    item_id: Sequence[str] | str | None,
    time: str | None,
    dtype: Any,
    layout: str,
    melt: bool,
) -> dict[str, Any]:
    """The load options as JSON: those that are not the default."""
    return given(
        ("columns", columns, _spec.names, None),
        ("item_id", item_id, _spec.names, None),
        ("time", time, _spec.text, None),
        ("dtype", dtype, _spec.dtypes, None),
        ("layout", layout, _spec.text, "columns"),
        ("melt", melt, _spec.flag, False),
    )


def row_options(
    where: _spec.TimeBounds | Mapping[str, _spec.TimeBounds] | None,
    items: Sequence[Any] | None,
    item_bucket: str | None,
    sort: bool,
    duplicates: str | None,
    regrid: _spec.Step | None,
) -> dict[str, Any]:
    """The load options that choose, order and insert rows."""
    return given(
        ("where", where, _spec.where, None),
        ("items", items, _spec.item_values, None),
        ("item_bucket", item_bucket, _spec.text, None),
        ("sort", sort, _spec.flag, False),
        ("duplicates", duplicates, _spec.text, None),
        ("regrid", regrid, _spec.step, None),
    )


def text_options(
    delimiter: str | None,
    no_header: bool,
    decimal: str | None,
    na: Sequence[str] | str | None,
    time_format: str | None,
) -> dict[str, Any]:
    """The load options that only text files have."""
    return given(
        ("delimiter", delimiter, _spec.text, None),
        ("no_header", no_header, _spec.flag, False),
        ("decimal", decimal, _spec.text, None),
        ("na", na, _spec.names, None),
        ("time_format", time_format, _spec.text, None),
    )


def given(*readers: tuple[str, Any, Callable[[str, Any], Any], Any]) -> dict[str, Any]:
    """The options that are not the default, each read by its reader."""
    options: dict[str, Any] = {}
    for field, value, read, default in readers:
        if value is not None and (default is None or value != default):
            options[field] = read(field, value)
    return options


def no_files(field: str, value: Any) -> Any:
    """Refuses an option of files where there are none."""
    raise SpecError(f"{field}: got {value!r}, want it for files only, not for arrays", field=field)
