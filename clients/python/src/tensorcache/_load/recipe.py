"""The steps of a load and what they are fitted on, from keywords, a dict or a file."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from .. import _checks
from .._errors import SpecError, show

Fill: TypeAlias = "float | str"
Clip: TypeAlias = "tuple[float | None, float | None]"
Quantiles: TypeAlias = "tuple[float, float] | str"
Flags: TypeAlias = "bool | str | Sequence[str] | Mapping[str, bool]"
Recipe: TypeAlias = "Mapping[str, Any] | str | os.PathLike[str]"


def with_recipe(
    options: dict[str, Any], recipe: Recipe | None, steps: Mapping[str, Any]
) -> dict[str, Any]:
    """The load options with those of the given steps and of a recipe.

    Raises:
        SpecError: a field is given twice, has a value of a wrong type, or the recipe cannot be
            read.
    """
    fields = {
        field: read(field, steps[field]) for field, read in READERS.items() if given(steps, field)
    }
    options = {**options, **fields}
    if recipe is None:
        return with_time_parts(options)
    for field, value in fields_of(recipe).items():
        if field in options:
            raise SpecError(
                f"{field}: is in the recipe and in the call", field=field, hint="give it once"
            )
        if field in ("sources", "origins", "storage_options"):
            raise SpecError(f"recipe: {field} are no part of it", field="recipe")
        if field in ("columns", "item_id", "na") and isinstance(value, str):
            value = [value]
        options[field] = READERS.get(field, same)(field, value)
    return with_time_parts(options)


def with_time_parts(options: dict[str, Any]) -> dict[str, Any]:
    """The options with a list of time columns under the name that the daemon has for it."""
    if isinstance(options.get("time"), (list, tuple)):
        columns = _checks.time_columns("time", options.pop("time"))
        return {**options, "time_parts": columns}
    return options


def given(steps: Mapping[str, Any], field: str) -> bool:
    """Whether a step is given."""
    value = steps.get(field)
    return (
        value is not None
        and value is not False
        and not (field == "scale_per" and value == "column")
    )


def fields_of(recipe: Recipe) -> Mapping[str, Any]:
    """The fields of a recipe, from a dict, or a JSON or TOML file."""
    if isinstance(recipe, Mapping):
        return recipe
    if not isinstance(recipe, (str, os.PathLike)):
        raise SpecError(
            f"recipe: got {show(recipe)}, want a dict, or the path of a JSON or TOML file",
            field="recipe",
        )
    path = Path(os.path.expanduser(recipe))  # noqa: PTH111 - it raises no error
    try:
        text = path.read_text("utf-8")
        if path.suffix == ".toml":
            return toml_of(path, text)
        fields = json.loads(text)
    except (OSError, ValueError) as error:
        raise SpecError(f"recipe: {path}: {error}", field="recipe") from error
    if not isinstance(fields, dict):
        raise SpecError(f"recipe: {path}: got {show(fields)}, want an object", field="recipe")
    return fields


def toml_of(path: Path, text: str) -> Mapping[str, Any]:
    """The fields of a TOML file."""
    if sys.version_info < (3, 11):
        raise SpecError(
            f"recipe: {path}: TOML needs Python 3.11 or newer",
            field="recipe",
            hint="write the recipe in JSON",
        )
    import tomllib

    fields: dict[str, Any] = tomllib.loads(text)
    return fields


def per_column(read: Callable[[str, Any], Any]) -> Callable[[str, Any], Any]:
    """A function that reads one setting, or a mapping from columns to settings.

    ``"*"`` in a mapping is for all other columns.
    """

    def reader(field: str, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {
                _checks.text(field, name): read(field, setting) for name, setting in value.items()
            }
        return read(field, value)

    return reader


def fill(field: str, value: Any) -> float | str:
    """A number or the name of a method."""
    return str(value) if isinstance(value, str) else literal(field, value)


def clip(field: str, value: Any) -> list[Any]:
    """Two bounds."""
    return _checks.pair(field, value, literal)


def quantiles(field: str, value: Any) -> list[float] | str:
    """Two quantiles, or ``"none"``; the daemon checks them."""
    if isinstance(value, str):
        return value
    if not isinstance(value, Iterable):
        raise SpecError(
            f"{field}: got {show(value)}, want two quantiles, such as (0.01, 0.99)", field=field
        )
    return [_checks.number(field, quantile) for quantile in value]


def literal(field: str, value: Any) -> float:
    """A float, or an int if no float is equal to it: with all digits, the daemon refuses it."""
    nearest = _checks.number(field, value)
    return nearest if int(nearest) == int(value) else int(value)


def flags(field: str, value: Any) -> Any:
    """True or False for all columns, names of columns, or a mapping from columns to flags."""
    if isinstance(value, Mapping):
        return {
            _checks.text(field, name): _checks.flag(field, setting)
            for name, setting in value.items()
        }
    if isinstance(value, str) or not isinstance(value, (bool, Sequence)):
        return _checks.names(field, value)
    return value if isinstance(value, bool) else _checks.names(field, value)


def same(_: str, value: Any) -> Any:
    """The value as it is: the daemon checks it."""
    return value


READERS: dict[str, Callable[[str, Any], Any]] = {
    "fill": per_column(fill),
    "clip": per_column(clip),
    "log1p": flags,
    "diff": flags,
    "winsorize": per_column(quantiles),
    "scale": per_column(_checks.text),
    "scale_per": _checks.text,
    "fit_rows": _checks.rows,
    "fit_before": _checks.time,
    "fit_fraction": _checks.number,
    "fit_sample": _checks.whole,
    "fit_seed": _checks.whole,
    "calendar": _checks.names,
}
