"""``arrange=``: a function of the user that turns each batch into what the loop receives."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from .._errors import FeedError, SpecError, show


class Arrange:
    """Calls a function of the user, and names the batch if the function raises.

    Args:
        function: gets what ``parts=`` or the format gives.

    Raises:
        SpecError: ``function`` is not callable.
    """

    def __init__(self, function: Any) -> None:
        if not callable(function):
            raise SpecError(
                f"arrange: got {show(function)}, want a function",
                field="arrange",
                hint='arrange=lambda parts: (parts["x"], parts["y"]) gives pairs of parts',
            )
        self._function = function

    def __call__(self, batch: Any, where: Callable[[], str]) -> Any:
        """The result of the function for a batch.

        Raises:
            FeedError: the function raised; ``where`` names the batch.
        """
        try:
            return self._function(batch)
        except Exception as error:  # the user's function may raise anything
            raise FeedError(
                f"arrange raised {type(error).__name__} for {where()}: {error}",
                type="arrange_failed",
            ) from error

    def __deepcopy__(self, memo: dict[int, Any]) -> Arrange:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        name = getattr(self._function, "__qualname__", "")
        if "<" in name and not pickles_functions(sys._getframe(1)):  # <lambda> or <locals>
            raise SpecError(
                f"arrange: {name} cannot be pickled",
                field="arrange",
                hint="another process finds a function by its name: define it with def, at the top "
                "of a module",
            )
        return Arrange, (self._function,)


def pickles_functions(frame: FrameType) -> bool:
    """Whether the code that pickles is that of cloudpickle or dill, which pickle any function."""
    module = str(frame.f_globals.get("__name__"))
    return "cloudpickle" in module or "dill" in module


def arrange_of(function: Any) -> Arrange | None:
    """The given function as an :class:`Arrange`; None without a function.

    Raises:
        SpecError: it is not callable.
    """
    return function if function is None or isinstance(function, Arrange) else Arrange(function)
