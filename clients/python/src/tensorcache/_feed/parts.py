"""Parts of windows that are requested by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from .. import _checks
from .._data.cutter import Cutter
from .._data.sample import KNOWN_PARTS, OBSERVED
from .._errors import NotFoundError, SpecError, near, show
from .._index.index import WindowIndex

VALUES = ("context", "target", "known", *KNOWN_PARTS, "static")
MASKS = (*OBSERVED, "context_missing", "target_missing")
PLACES = ("item", "item_code", "start", "row", "time", "reset")
NAMES = (*VALUES, *MASKS, "mask", *PLACES)
"""The parts that can be requested."""

PART_OF = {
    **dict.fromkeys(KNOWN_PARTS, "known"), **OBSERVED,
    "context_missing": "context", "target_missing": "target",
}  # fmt: skip
"""The part of the spec whose columns another part has."""

REASONS = {
    "target": "these windows predict nothing",
    "known": "these windows have no columns known in advance; name them in known_columns=",
    "static": "these windows have no static columns; name them in static_columns=",
    "time": "the dataset has no time column",
    "reset": 'only order="lanes" has it',
}
"""Why windows may not have a part."""


@dataclass(frozen=True)
class Part:
    """A part of windows for ``parts=``: some of its columns, or another dtype.

    ``parts={"real": Part("context", columns=["sales"]), "category": Part("context",
    columns=["shop"], dtype="int64")}`` makes two arrays of one context. Texts are their codes.

    Args:
        name: ``"context"``, ``"target"``, ``"known"``, ``"known_context"``, ``"known_target"``,
            ``"static"``, or one of their masks: ``"observed"``, ``"target_observed"``,
            ``"context_missing"``, ``"target_missing"``. Other parts have no columns.
        columns: names of columns of the part, in the order of the last axis. A column ``[rows, n]``
            has n features. None is all columns.
        dtype: ``"float32"``, ``"float64"``, ``"int32"``, ``"int64"``, or the dtype in which all
            columns are stored. None is the dtype of the windows. Masks have their own.

    Raises:
        SpecError: there is no such part, or it has no columns or no dtype to choose.
    """

    name: str
    columns: Sequence[str] | None = None
    dtype: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or self.name not in NAMES:
            like = near(self.name, NAMES) if isinstance(self.name, str) else ""
            raise SpecError(
                f"parts: got {show(self.name)}{like}; want one of {', '.join(NAMES)}",
                field="parts",
            )
        if self.columns is not None:
            self._refuse("columns", self.name not in (*VALUES, *MASKS))
            if isinstance(self.columns, (set, frozenset)):
                raise SpecError(
                    f"columns: got a {type(self.columns).__name__}, want a list, whose order is "
                    "that of the features",
                    field="columns",
                )
            columns = tuple(_checks.names("columns", self.columns))
            twice = next((name for name in columns if columns.count(name) > 1), None)
            if not columns or twice is not None:
                got = "no column" if twice is None else f'column "{twice}" twice'
                raise SpecError(f"columns: got {got} for {self.name}", field="columns")
            object.__setattr__(self, "columns", columns)
        if self.dtype is not None:
            self._refuse("dtype", self.name not in VALUES)
            object.__setattr__(self, "dtype", _checks.dtype_name("dtype", self.dtype))

    def _refuse(self, field: str, refused: bool) -> None:
        if refused:
            raise SpecError(
                f"{field}: got {show(getattr(self, field))} for {self.name}, which has none to "
                "choose",
                field=field,
                hint=f'the name alone asks for it: "{self.name}"',
            )


Parts: TypeAlias = Sequence[str | Part] | Mapping[str, str | Part]
"""What ``parts=`` takes: a tuple of parts, or a mapping of names of the user to parts."""


class Selection:
    """The parts of a batch, and whether they are a tuple or a dict; picklable.

    Args:
        parts: the parts in order.
        keys: the keys of the dict; None for a tuple.

    Attributes:
        names: the names of the parts in a batch, in order.
        chosen: the parts with columns or a dtype of their own, by name in a batch.
    """

    def __init__(self, parts: Sequence[Part], keys: Sequence[str] | None) -> None:
        self._keys = None if keys is None else tuple(keys)
        self.names: tuple[str, ...] = ()
        self.chosen: dict[str, Part] = {}
        for number, part in enumerate(parts):
            name = part.name
            if part.columns is not None or part.dtype is not None:
                name = f"{part.name} {number}"
                self.chosen[name] = part
            self.names += (name,)

    @property
    def is_tuple(self) -> bool:
        """Whether the parts are a tuple, and not a dict."""
        return self._keys is None

    def part_of(self, name: str) -> str:
        """The part that a name in a batch is of, such as context."""
        return self.chosen[name].name if name in self.chosen else name

    @property
    def values(self) -> list[str]:
        """The names in a batch of the parts with values of columns."""
        return [name for name in self.names if self.part_of(name) in VALUES]

    @property
    def has_masks(self) -> bool:
        """Whether parts report something about each value, such as observed."""
        return any(self.part_of(name) in MASKS for name in self.names)

    def request(self) -> list[dict[str, Any]]:
        """The parts that the request to the daemon names, as JSON."""
        request = []
        for name in self.names:
            if self.part_of(name) not in (*VALUES, *MASKS, "mask"):
                continue
            entry: dict[str, Any] = {"name": name, "part": self.part_of(name)}
            if (part := self.chosen.get(name)) is not None:
                entry["columns"] = None if part.columns is None else list(part.columns)
                entry["dtype"] = part.dtype or ""
            request.append(entry)
        return request

    def pack(self, arrays: list[Any]) -> Any:
        """A tuple or a dict of the arrays of a batch."""
        return tuple(arrays) if self._keys is None else dict(zip(self._keys, arrays, strict=True))


def selection_of(
    parts: Any, windows: WindowIndex, order: str, delivery: str, mask: bool
) -> Selection:
    """The parts that windows have of those that were requested.

    Raises:
        SpecError: ``parts`` cannot be, or a tuple has a part that the windows lack, or ``mask`` is
            True.
        NotFoundError: a part has no column of a name.
    """
    if mask:
        raise SpecError(
            "mask: got True with parts, which name all that a batch has",
            field="mask",
            hint='name "mask" or "context_missing" in parts=',
        )
    requested, keys = parse_parts(parts)
    kept = []
    for number, part in enumerate(requested):
        check_columns(windows, part)
        if delivery == "starts" and part.name not in PLACES:
            raise SpecError(
                f'parts: got {part.name} with delivery="starts", which has {", ".join(PLACES)}',
                field="parts",
                hint='delivery="local" gathers in this process',
            )
        if has_part(windows, part.name, order):
            kept.append(number)
        elif keys is None:
            raise no_part_error(windows, part.name)
    if not kept:
        raise SpecError("parts: these windows have none of them", field="parts")
    return Selection(
        [requested[number] for number in kept],
        None if keys is None else [keys[number] for number in kept],
    )


def parse_parts(parts: Any) -> tuple[list[Part], list[str] | None]:
    """The parts as they were requested, and the keys of a mapping.

    Raises:
        SpecError: they are neither a tuple nor a mapping of parts, or one is there twice.
    """
    keys: list[str] | None = None
    if isinstance(parts, Mapping):
        strange = next((key for key in parts if not isinstance(key, str)), None)
        if strange is not None:
            raise SpecError(f"parts: got the key {show(strange)}, want text", field="parts")
        keys, given = list(parts), list(parts.values())
    elif isinstance(parts, Sequence) and not isinstance(parts, (str, bytes)):
        given = list(parts)
    else:
        given = []
    if not given:
        raise SpecError(
            f"parts: got {show(parts)}, want a tuple of names or a mapping of keys to names",
            field="parts",
            hint='parts=("context", "target") or parts={"x": "context", "y": "target"}',
        )
    listed = [part if isinstance(part, Part) else Part(part) for part in given]
    for number, part in enumerate(listed):
        if part in listed[:number]:
            where = (
                "" if keys is None else f', as "{keys[listed.index(part)]}" and "{keys[number]}"'
            )
            raise SpecError(f"parts: got {part.name} twice{where}", field="parts")
    return listed, keys


def has_part(windows: WindowIndex, name: str, order: str) -> bool:
    """Whether batches of windows have a part."""
    cutter = windows._cut()
    if name in VALUES:
        return cutter.has(name) or (name == "static" and name in cutter.parts)
    if name in MASKS:
        return cutter.has(PART_OF[name])
    if name == "time":
        return windows.dataset.time is not None
    return name != "reset" or order == "lanes"


def no_part_error(windows: WindowIndex, name: str) -> SpecError:
    """The error for a part in a tuple that windows do not have."""
    of = PART_OF.get(name, name)
    if name == "known_target" and windows._cut().has("known"):
        of = "target"
    why = REASONS[of]
    if of == "target" and windows._is_latest():
        why = "windows of latest() have none"
    return SpecError(
        f"parts: {name}: {why}",
        field="parts",
        hint="leave it out; a mapping leaves it out by itself",
    )


def cutter_of(windows: WindowIndex, selection: Selection | None) -> Cutter:
    """What cuts the parts of windows out of the mapped columns.

    The daemon must have accepted the dtypes of the parts.
    """
    cutter = windows._cut()
    for name, part in selection.chosen.items() if selection else ():
        cutter = cutter.with_part(name, part.name, part.columns, part.dtype)
    return cutter


def check_columns(windows: WindowIndex, part: Part) -> None:
    """Refuse columns that a part does not have.

    Raises:
        NotFoundError: it does not have one.
    """
    of = windows._cut().parts.get(PART_OF.get(part.name, part.name))
    if part.columns is None or of is None:
        return
    names = [column.name for column in of.columns]
    for name in part.columns:
        if name not in names:
            raise NotFoundError(
                f"parts: {part.name} has no column {show(name)}{near(name, names)}",
                type="column_not_found",
                field="parts",
                hint=f"its columns: {', '.join(names[:20])}",
            )
