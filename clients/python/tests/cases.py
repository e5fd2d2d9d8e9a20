"""The number and the seed of the random cases of the property tests.

``TENSORCACHE_CASES`` is the number over all property tests together (`make soak` sets 100,000).
``TENSORCACHE_SEED`` is the seed. A failure prints the seed and a blob for ``@reproduce_failure``.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, note, seed, settings

CASES = int(os.environ.get("TENSORCACHE_CASES") or 2000)
SEED = int(os.environ.get("TENSORCACHE_SEED") or random.SystemRandom().randrange(2**32))


def cases(share: float, of_each: int = 1) -> Callable[[Any], Any]:
    """Give a test a share of all cases; one example counts as ``of_each`` cases."""

    def decorate(test: Any) -> Any:
        options = settings(
            max_examples=max(1, round(CASES * share / of_each)),
            deadline=None,  # the daemon loads in a child process
            print_blob=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        return seed(SEED)(options(test))

    return decorate


def note_seed() -> None:
    """Add to a failure the settings that make the same cases again."""
    note(f"TENSORCACHE_SEED={SEED} TENSORCACHE_CASES={CASES}")
