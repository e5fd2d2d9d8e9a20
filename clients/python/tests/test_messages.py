"""Messages name what a user of Python has: keywords, not the flags of the command line."""

from __future__ import annotations

import ast
import inspect
import json
import re
from pathlib import Path

import pytest

import tensorcache
from tensorcache._errors import from_problem

REPOSITORY = Path(__file__).parents[3]
SOURCES = sorted(Path(tensorcache.__file__).parent.rglob("*.py"))

TAKEN_BY = [
    tensorcache.connect,
    tensorcache.Cache.load,
    tensorcache.Cache.put,
    tensorcache.Cache.append,
    tensorcache.Dataset.windows,
    tensorcache.Windows.feed,
]


def test_every_option_in_messages_of_the_daemon_is_a_keyword() -> None:
    options = (REPOSITORY / "testdata/public/message_options.txt").read_text().split()
    keywords = {name for function in TAKEN_BY for name in inspect.signature(function).parameters}
    assert len(options) > 20
    assert not set(options) - keywords


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("leave it out with `columns`", "leave it out with columns="),
        ("use `sort=true`", "use sort=True"),
        ('`fill={"a":0}`, or not', 'fill={"a": 0}, or not'),
        ('`fill={"a b":"linear"}`', 'fill={"a b": "linear"}'),
        ('`fill={"a\\u0060":0}`', 'fill={"a`": 0}'),
        ('`clip={"ä":[0,null]}`', 'clip={"ä": (0, None)}'),
        ('`time_format="%d/%m"`', 'time_format="%d/%m"'),
        ("`na=[`", "na="),
        ('the cell "`"', 'the cell "`"'),
    ],
)
def test_options_of_the_daemon_are_shown_as_keywords(message: str, shown: str) -> None:
    error = from_problem(json.loads(json.dumps({"detail": message, "hint": message})))
    assert error.detail == shown
    assert error.hint == shown


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_no_message_of_the_client_names_a_flag(path: Path) -> None:
    nodes = list(ast.walk(ast.parse(path.read_text())))
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            message = "" if id(node) in docstrings else node.value
            assert " " not in message or not re.search(r"(?<![\w-])--[a-z]", message), message
