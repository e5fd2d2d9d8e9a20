"""The window spec as JSON: which field is read how, and what need not be said."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from . import _spec

FIELDS: dict[str, Callable[[str, Any], Any]] = {
    "context_length": _spec.whole,
    "prediction_length": _spec.whole,
    "gap": _spec.whole,
    "overlap": _spec.whole,
    "stride": _spec.whole,
    "dilation": _spec.whole,
    "anchor": _spec.text,
    "min_context": _spec.whole,
    "rows": _spec.rows,
    "time": _spec.times,
    "max_step": _spec.step,
    "max_missing": _spec.number,
    "count_filled": _spec.flag,
    "columns": _spec.names,
    "context_columns": _spec.names,
    "target_columns": _spec.names,
    "known_columns": _spec.names,
    "static_columns": _spec.names,
    "dtype": _spec.dtype_name,
    "missing_value": _spec.number,
}
NULL_MEANS_SOMETHING = ("max_missing", "dtype")
DEFAULTS = {
    "prediction_length": 0, "gap": 0, "overlap": 0, "stride": 1, "dilation": 1, "anchor": "start",
    "max_missing": 0.0,
    "count_filled": False, "dtype": "float32",
}  # fmt: skip


def window_spec(given: Mapping[str, Any]) -> dict[str, Any]:
    """The spec as JSON: what was given and is not the default."""
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
