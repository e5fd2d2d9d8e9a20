"""The options of loads as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import _checks
from .._checks import Step, TimeBounds
from .._errors import SpecError


def load_options(
    columns: Sequence[str] | str | None,
    item_id: Sequence[str] | str | None,
    time: str | None,
    dtype: Any,
    layout: str,
    melt: bool,
) -> dict[str, Any]:
    """The load options that are not the default, as JSON."""
    return given(
        ("columns", columns, _checks.names, None),
        ("item_id", item_id, _checks.names, None),
        ("time", time, _checks.text, None),
        ("dtype", dtype, _checks.dtypes, None),
        ("layout", layout, _checks.text, "columns"),
        ("melt", melt, _checks.flag, False),
    )


def row_options(
    where: TimeBounds | Mapping[str, TimeBounds] | None,
    items: Sequence[Any] | None,
    item_bucket: str | None,
    sort: bool,
    duplicates: str | None,
    regrid: Step | None,
) -> dict[str, Any]:
    """The load options that select, sort and insert rows."""
    return given(
        ("where", where, _checks.where, None),
        ("items", items, _checks.item_values, None),
        ("item_bucket", item_bucket, _checks.text, None),
        ("sort", sort, _checks.flag, False),
        ("duplicates", duplicates, _checks.text, None),
        ("regrid", regrid, _checks.step, None),
    )


def text_options(
    delimiter: str | None,
    no_header: bool,
    decimal: str | None,
    na: Sequence[str] | str | None,
    time_format: str | None,
) -> dict[str, Any]:
    """The load options for text files."""
    return given(
        ("delimiter", delimiter, _checks.text, None),
        ("no_header", no_header, _checks.flag, False),
        ("decimal", decimal, _checks.text, None),
        ("na", na, _checks.names, None),
        ("time_format", time_format, _checks.text, None),
    )


def given(*readers: tuple[str, Any, Callable[[str, Any], Any], Any]) -> dict[str, Any]:
    """The options that are not the default, each converted by its function."""
    options: dict[str, Any] = {}
    for field, value, read, default in readers:
        if value is not None and (default is None or value != default):
            options[field] = read(field, value)
    return options


def no_files(field: str, value: Any) -> Any:
    """Refuse an option for files where arrays are given."""
    raise SpecError(f"{field}: got {value!r}, want it for files only, not for arrays", field=field)
