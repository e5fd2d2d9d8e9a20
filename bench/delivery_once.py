"""One group of cases in a fresh process.

`python delivery_once.py GROUP OPTIONS` prints its result as JSON.
"""

from __future__ import annotations

import importlib
import json
import sys

from delivery_case import NotMeasuredError, Options, Result

GROUPS = {
    "packed": ("delivery_windows", "packed"),
    "columns": ("delivery_windows", "columns"),
    "client": ("delivery_client", "client"),
    "view": ("delivery_windows", "view"),
    "train1": ("delivery_training", "one_thread"),
    "train2": ("delivery_training", "two_threads"),
    "train-view": ("delivery_training", "by_views"),
    "trainers": ("delivery_trainers", "four"),
    "attach": ("delivery_windows", "attach"),
    "many": ("delivery_windows", "many"),
    "cuda": ("delivery_device", "cuda"),
    "cold": ("delivery_cold", "cold"),
}
"""By name: module and function; in the order of the table."""


SKIPPED = {
    "cuda": (
        ("ring to device", "≥ 0.9 × the link"),
        ("resident gather on the device", "≥ 1 × a plain gather there"),
    ),
    "cold": (("data 4 × the memory, random_start", "≥ 0.8 × dd"),),
    "trainers": (("4 trainers at once, different orders", "≥ 0.9 × one alone"),),
}
"""Lines of groups that not every machine can measure."""


def skipped(name: str, why: NotMeasuredError) -> Result:
    """Return the lines of a group that was not measured."""
    result = Result()
    for what, bar in SKIPPED[name]:
        result.skipped(what, why, bar)
    return result


def main() -> None:
    """Measure one group."""
    name, options = sys.argv[1], Options(**json.loads(sys.argv[2]))
    module, function = GROUPS[name]
    try:
        result = getattr(importlib.import_module(module), function)(options)
    except NotMeasuredError as why:
        result = skipped(name, why)
    print(json.dumps(result.reply()))


if __name__ == "__main__":
    main()
