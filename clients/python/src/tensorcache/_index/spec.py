"""The window spec as JSON: how each field is converted, and which defaults are left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .. import _checks

FIELDS: dict[str, Callable[[str, Any], Any]] = {
    "context_length": _checks.whole,
    "prediction_length": _checks.whole,
    "gap": _checks.whole,
    "overlap": _checks.whole,
    "stride": _checks.whole,
    "dilation": _checks.whole,
    "anchor": _checks.text,
    "min_context": _checks.whole,
    "rows": _checks.rows,
    "time": _checks.times,
    "max_step": _checks.step,
    "max_missing": _checks.share_of_missing,
    "count_filled": _checks.flag,
    "columns": _checks.names,
    "context_columns": _checks.names,
    "target_columns": _checks.names,
    "known_columns": _checks.names,
    "static_columns": _checks.names,
    "dtype": _checks.dtype_name,
    "missing_value": _checks.number,
    "pad_value": _checks.number_or_nan,
}
NULL_MEANS_SOMETHING = ("max_missing", "dtype", "pad_value")
DEFAULTS = {
    "prediction_length": 0, "gap": 0, "overlap": 0, "stride": 1, "dilation": 1, "anchor": "start",
    "max_missing": 0.0,
    "count_filled": False, "dtype": "float32", "pad_value": 0.0,
}  # fmt: skip


def window_spec(given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that were given and are not the default, as JSON."""
    spec: dict[str, Any] = {}
    for field, read in FIELDS.items():
        value = given[field]
        if value is not None:
            value = read(field, value)
        elif field not in NULL_MEANS_SOMETHING:
            continue
        if field not in DEFAULTS or value != DEFAULTS[field]:
            spec[field] = value
    return spec
