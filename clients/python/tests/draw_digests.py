"""Print a digest of what each property test draws, as JSON; the tests themselves do not run.

``python draw_digests.py FOLDER ...`` imports the test modules of the folders.
``test_fixed_draws.py`` runs it twice.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import json
import re
import sys
from pathlib import Path
from typing import Any

from hypothesis import is_hypothesis_test
from hypothesis import strategies as st

from cases import use_fixed_profile

ADDRESS = re.compile(r" at 0x[0-9a-f]+")  # of a function


def digest_of(test: Any) -> str:
    """Return a digest of all values that a test draws."""
    digest = hashlib.sha256()

    def note(*unnamed: Any, **named: Any) -> None:
        for value in (*unnamed, *named.values()):
            if isinstance(value, st.DataObject):  # the test would draw from it
                value = value.draw(st.lists(st.integers(), min_size=3))
            digest.update(ADDRESS.sub("", f"{value!r};").encode())

    test.hypothesis.inner_test = note
    test(**dict.fromkeys(inspect.signature(test).parameters))  # no fixture is used
    return digest.hexdigest()


if __name__ == "__main__":
    use_fixed_profile()
    digests = {}
    for folder in sys.argv[1:]:
        sys.path.insert(0, folder)
        for path in sorted(Path(folder).glob("test_*.py")):
            if "@given" in path.read_text():
                module = importlib.import_module(path.stem)
                digests |= {
                    f"{path.stem}::{name}": digest_of(test)
                    for name, test in vars(module).items()
                    if name.startswith("test_") and is_hypothesis_test(test)
                }
    json.dump(digests, sys.stdout)
