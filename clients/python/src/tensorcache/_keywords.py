"""Keyword options that several functions take, each documented in one place.

A ``TypedDict`` names the options and their types, its docstring says what they mean, and
:func:`takes` makes them the parameters of a function: in its signature, with their defaults, and in
its documentation. Type checkers read the ``TypedDict`` itself (``**options: Unpack[...]``).
"""

from __future__ import annotations

import functools
import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

PLACE = "    **options: "
"""The line of a function's ``Args:`` that the options take the place of."""


def takes(
    defaults: Mapping[str, Any],
    *options: type[Mapping[str, Any]],
    twice: Mapping[str, str] | None = None,
) -> Callable[[Function], Function]:
    """A decorator that makes keyword options the parameters of a function.

    The function is called with all of them. Its documentation lists them in place of its line
    ``**options: ...``.

    Args:
        defaults: the default of each option, in the order of the signature.
        options: the ``TypedDict`` classes that type and document them; a later one overrides what
            an earlier one says of an option.
        twice: what to do if a parameter is given by position and by keyword, by its name.
    """
    types: dict[str, Any] = {}
    texts: dict[str, str] = {}
    for option in options:
        types.update(option.__annotations__)
        texts.update(attributes_of(option))

    def decorate(function: Function) -> Function:
        signature = inspect.signature(function)
        own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        allowed = {p.name for p in own} | set(defaults)

        @functools.wraps(function)
        def wrapper(*args: Any, **given: Any) -> Any:
            for parameter in own[: len(args)]:
                if parameter.name in given and parameter.name in (twice or {}):
                    raise TypeError(
                        f"{function.__qualname__}() got {parameter.name!r} by position and by "
                        f"keyword: {(twice or {})[parameter.name]}"
                    )
            for name in given:
                if name not in allowed:
                    raise TypeError(
                        f"{function.__qualname__}() got an unexpected keyword argument {name!r}"
                    )
            return function(*args, **{**defaults, **given})

        keywords = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=default,
                annotation=getattr(types[name], "__forward_arg__", types[name]),
            )
            for name, default in defaults.items()
        ]
        wrapper.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[*own, *keywords]
        )
        if not texts:  # python -OO removes docstrings
            return wrapper  # type: ignore[return-value]
        text = inspect.cleandoc(function.__doc__ or "")
        entries = "\n".join(textwrap.indent(texts[name], "    ") for name in defaults)
        wrapper.__doc__ = re.sub(
            rf"^{re.escape(PLACE)}.*$", lambda _: entries, text, count=1, flags=re.MULTILINE
        )
        return wrapper  # type: ignore[return-value]

    return decorate


def attributes_of(documented: type) -> dict[str, str]:
    """The entries of a class docstring's ``Attributes:`` by name."""
    _, _, section = inspect.cleandoc(documented.__doc__ or "").partition("Attributes:\n")
    entries = re.split(r"^(?=\w)", textwrap.dedent(section), flags=re.MULTILINE)
    return {entry.partition(":")[0]: entry.rstrip() for entry in entries if entry}
