"""Options in messages of the daemon, which are keywords here and flags on the command line."""

from __future__ import annotations

import json
import re
from typing import Any

OPTION = re.compile("`([a-z][a-z0-9_]*)(?:=([^`]+))?`")
"""An option as the daemon writes it: `sort=true`, with a JSON value, or `columns` alone."""


def with_keywords(message: str) -> str:
    """A message of the daemon with keywords in place of its options: ``sort=True``."""
    return OPTION.sub(lambda match: keyword(match[1], match[2]), message)


def for_put(hint: str) -> str:
    """A hint for a put, which has no option ``columns``."""
    hint = re.sub(r"\bout with columns=", "out of the mapping or frame", hint)
    return re.sub(r"\bname ((?:(?!\bname ).)*?) (?:with|in) columns=", r"put only \1", hint)


def keyword(name: str, value: str | None) -> str:
    """A keyword with its JSON value as Python writes it."""
    if value is None:
        return f"{name}="
    try:
        return f"{name}={python(json.loads(value))}"
    except ValueError:
        return f"{name}="


def python(value: Any) -> str:
    """A value of JSON in Python, with double quotes; bounds are a tuple."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{python(k)}: {python(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "(" + ", ".join(map(python, value)) + ")"
    return repr(value)
