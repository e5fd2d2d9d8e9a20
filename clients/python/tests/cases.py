"""The number and the seed of the random cases of the tests: two runs draw the same values.

``TENSORCACHE_CASES`` is the number over all tests with ``@cases`` together, 1,000 by default
(`make soak` sets 100,000); ``@examples`` scales with it. ``TENSORCACHE_SEED`` is the seed, 1 by
default. A failure prints a blob for ``@reproduce_failure``.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, note, seed, settings

USUAL = 1000


def whole_number(name: str, default: int) -> int:
    """Read a whole number from 1 from an environment variable."""
    text = os.environ.get(name) or str(default)
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 2**64):
        raise ValueError(f'{name}: got "{text}", want a whole number from 1')
    return int(text)


CASES = whole_number("TENSORCACHE_CASES", USUAL)
SEED = whole_number("TENSORCACHE_SEED", 1)


def use_fixed_profile() -> None:
    """Make Hypothesis ignore the clock and earlier runs; ``conftest.py`` calls it."""
    settings.register_profile(
        "fixed",
        derandomize=True,  # without @seed, too
        deadline=None,  # the daemon loads in a child process
        database=None,
        print_blob=True,
        suppress_health_check=list(HealthCheck),
    )
    settings.load_profile("fixed")


def drawn(max_examples: int, **options: Any) -> Callable[[Any], Any]:
    """Give a test a number of examples, and further settings of Hypothesis."""

    def decorate(test: Any) -> Any:
        return seed(SEED)(settings(max_examples=max_examples, **options)(test))

    return decorate


def cases(share: float, of_each: int = 1) -> Callable[[Any], Any]:
    """Give a test a share of all cases; one example counts as ``of_each`` cases."""
    return drawn(max(1, round(CASES * share / of_each)))


def examples(usual: int) -> Callable[[Any], Any]:
    """Give a test a number of examples, which grows with the number of all cases."""
    return drawn(max(1, round(usual * CASES / USUAL)))


def note_seed() -> None:
    """Add to a failure the settings that make the same cases again."""
    note(f"TENSORCACHE_SEED={SEED} TENSORCACHE_CASES={CASES}")
