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
from typing import Any, TypedDict, TypeVar

from .weights import Weights

Function = TypeVar("Function", bound=Callable[..., Any])

PLACE = "    **options: "
"""The line of a function's ``Args:`` that the options take the place of."""


class BatchOptions(TypedDict, total=False):
    """What feeds and the loaders of all frameworks have in common.

    Attributes:
        seed: the seed of the order; with the epoch it fixes the order exactly.
        tail: what happens to the last, incomplete step: ``"short"``, ``"wrap"`` or ``"drop"``; None
            is short for one trainer, wrap for several.
        weights: weights of items for ``order="bootstrap"``: a mapping of all item values to
            weights, or one weight an item in the order of ``data.items``. None draws all windows
            evenly.
        slots: batches in flight, 3 to 16,384. 0 lets the daemon choose, and tunes the number by the
            time that each side waits.
        channels_first: arrays are ``[B, F, C]`` instead of ``[B, C, F]``.
        mask: deliver ``mask`` even if no window is padded.
        reconnect: when the daemon goes away, find or start another and continue with exactly the
            next batch. If none may be started (``TENSORCACHE_AUTOSTART=0``), wait for the next one
            for up to a minute.
    """

    seed: int
    tail: str | None
    weights: Weights | None
    slots: int
    channels_first: bool
    mask: bool
    reconnect: bool


class FeedOptions(BatchOptions, total=False):
    """What :meth:`Windows.feed` takes.

    Attributes:
        order: ``"sequential"``, ``"shuffle"``, ``"bootstrap"`` (with replacement, see ``weights``),
            ``"random_start"`` (blocks of neighbouring windows) or ``"lanes"`` (for stateful
            recurrent models, with ``batch.reset``; needs ``stride=context_length``).
            docs/WINDOWS.md has their formulas.
        rank: the number of this trainer among ``num_replicas``, from 0.
        num_replicas: how many trainers share an epoch.
        delivery: how batches arrive. ``"slot"``: the daemon gathers them into a slot of the feed's
            ring, dense and writable. ``"view"``: read-only strides over the mapped columns, without
            a copy, for the orders ``"sequential"`` and ``"random_start"``, if windows need neither
            padding nor a conversion (in ``"sequential"``, a batch that crosses an item's end is
            gathered). ``"local"``: this process gathers them, and the daemon only sends the order.
            ``"starts"``: only ``item``, ``start`` and ``row``. ``"auto"``: views if nearly all
            batches can be views, else slots or local, whichever makes the first steps shorter.
    """

    order: str
    rank: int
    num_replicas: int
    delivery: str


BATCH_DEFAULTS: BatchOptions = {
    "seed": 0,
    "tail": None,
    "weights": None,
    "slots": 0,
    "channels_first": False,
    "mask": False,
    "reconnect": False,
}
FEED_DEFAULTS: FeedOptions = {
    "order": "sequential",
    "rank": 0,
    "num_replicas": 1,
    "delivery": "auto",
    **BATCH_DEFAULTS,
}


def takes(
    defaults: Mapping[str, Any], *options: type[Mapping[str, Any]]
) -> Callable[[Function], Function]:
    """A decorator that makes keyword options the parameters of a function.

    The function is called with all of them. Its documentation lists them in place of its line
    ``**options: ...``.

    Args:
        defaults: the default of each option, in the order of the signature.
        options: the ``TypedDict`` classes that type and document them; a later one overrides what
            an earlier one says of an option.
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
            for name in given.keys() - allowed:
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
