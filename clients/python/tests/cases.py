"""How many random cases the property tests make, and from which seed.

``TENSORCACHE_CASES`` is their number, over all property tests together (`make soak` makes 100,000),
and ``TENSORCACHE_SEED`` their seed; a failure prints it, and a blob that ``@reproduce_failure``
takes.
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
    """Make a share of all cases a test's examples; an example makes ``of_each`` of them."""

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
    """Have a failure say how to make the same cases again."""
    note(f"TENSORCACHE_SEED={SEED} TENSORCACHE_CASES={CASES}")
