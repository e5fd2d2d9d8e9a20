"""The parts of a split."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, ValuesView
from typing import TYPE_CHECKING

from ._errors import NotFoundError, near
from ._items import in_range

if TYPE_CHECKING:
    from ._windows import Windows


class Split:
    """The parts of a split, in order and by name.

    ``train, val, test = windows.split(...)`` unpacks them; ``split[1]`` and ``split["val"]`` are the same part.
    ``keys()``, ``values()`` and ``items()`` are those of a dict; iteration is over the parts, not over their names.
    """

    def __init__(self, parts: dict[str, Windows]) -> None:
        self._parts = parts

    def __len__(self) -> int:
        return len(self._parts)

    def __iter__(self) -> Iterator[Windows]:
        return iter(self._parts.values())

    def __getitem__(self, key: int | str) -> Windows:
        if not isinstance(key, str):
            return list(self._parts.values())[in_range(key, len(self._parts))]
        if key not in self._parts:
            raise NotFoundError(
                f'no part is named "{key}"{near(key, self._parts)}',
                type="part_not_found",
                hint=f"the parts: {', '.join(self._parts)}",
            )
        return self._parts[key]

    def keys(self) -> KeysView[str]:
        """The parts' names, in order."""
        return self._parts.keys()

    def values(self) -> ValuesView[Windows]:
        """The parts, in order."""
        return self._parts.values()

    def items(self) -> ItemsView[str, Windows]:
        """Names and parts, in order."""
        return self._parts.items()

    def __repr__(self) -> str:
        return f"<Split {', '.join(f'{name}: {len(part):,}' for name, part in self._parts.items())}>"
