"""The parts of a split."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, Sequence, ValuesView
from typing import TYPE_CHECKING, Any

from .._data.items import in_range
from .._errors import NotFoundError, near
from . import leakage

if TYPE_CHECKING:
    from .windows import Windows


class Split:
    """The parts of a split, in order and by name.

    ``train, val, test = windows.split(...)`` unpacks them; ``split[1]`` and ``split["val"]`` are
    the same part. ``keys()``, ``values()`` and ``items()`` are those of a dict; iteration is over
    the parts, not over their names.
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

    def check_leakage(self) -> None:
        """Check that the scaling was fitted on no prediction rows of a later part than the first.

        ``split`` and ``backtest`` warn of the same.

        Raises:
            LeakageError: it was; the message names the columns, the parts and their rows.
        """
        leakage.check(self[0], self._later())

    def plot(self, *, items: Sequence[Any] | None = None, ax: Any = None) -> Any:
        """Draw each part's prediction and context rows, and the positions in no part and why.

        Needs matplotlib (``pip install tensorcache[plot]``).

        Args:
            items: item values to draw; None draws the first few.
            ax: the matplotlib axes to draw on; None makes a figure.

        Returns:
            The axes.
        """
        from .plot import plot_parts

        return plot_parts(self._parts, items, ax)

    def _later(self) -> list[tuple[str, Windows]]:
        return list(self._parts.items())[1:]

    def __repr__(self) -> str:
        return (
            f"<Split {', '.join(f'{name}: {len(part):,}' for name, part in self._parts.items())}>"
        )
