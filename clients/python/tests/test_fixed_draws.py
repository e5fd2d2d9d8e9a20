"""Two runs of the tests draw the same values, unless ``TENSORCACHE_SEED`` differs."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cases import whole_number

FOLDER = Path(__file__).parent
TESTS = [
    path for folder in sorted(FOLDER.parent.glob("tests*")) for path in sorted(folder.rglob("*.py"))
]
DECORATORS = {"cases", "drawn", "examples"}
"""What gives a property test a seed; they are functions of ``cases.py``."""


def digests(hash_seed: int, **env: str) -> dict[str, str]:
    """What all property tests draw in a process of their own."""
    folders = [str(FOLDER), str(FOLDER.parent / "tests_remote")]
    kept = {name: value for name, value in os.environ.items() if "TENSORCACHE" not in name}
    output = subprocess.run(
        [sys.executable, str(FOLDER / "draw_digests.py"), *folders],
        env={**kept, "PYTHONHASHSEED": str(hash_seed), "TENSORCACHE_CASES": "600", **env},
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    return json.loads(output)


def test_two_runs_draw_the_same() -> None:
    with ThreadPoolExecutor() as pool:
        one = pool.submit(digests, 1)
        two = pool.submit(digests, 2, TENSORCACHE_SEED="1")
        other = pool.submit(digests, 1, TENSORCACHE_SEED="2")
    assert one.result() == two.result()
    assert len(one.result()) >= 36
    same = [name for name, digest in other.result().items() if digest == one.result()[name]]
    assert same == [], "TENSORCACHE_SEED changes nothing"


@pytest.mark.parametrize("text", ["0", "-1", "x", "1.5", "²", str(2**64)])
def test_another_seed_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENSORCACHE_SEED", text)
    with pytest.raises(ValueError, match=f'TENSORCACHE_SEED: got "{text}", want a whole number'):
        whole_number("TENSORCACHE_SEED", 1)


def unseeded(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a file of tests whose draws differ between runs, with the reasons."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            names = [
                ast.unparse(one).split("(")[0].rpartition(".")[2] for one in node.decorator_list
            ]
            if any(name.endswith("settings") for name in names):
                yield node.lineno, "@settings: use @examples or @cases"
            if "given" in names and not DECORATORS & set(names):
                yield node.lineno, "@given without @examples or @cases"
        if isinstance(node, ast.ImportFrom) and node.module in ("random", "secrets"):
            yield node.lineno, f"from {node.module} import: import the module"
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        module, _, name = called.rpartition(".")
        if module == "secrets" or name in ("SystemRandom", "urandom", "uuid4", "time_ns"):
            yield node.lineno, f"{called}: use cases.SEED"
        if module == "random" and name != "Random":
            yield node.lineno, f"{called}: use random.Random(cases.SEED)"
        if module in ("np.random", "numpy.random") and name not in ("default_rng", "Generator"):
            yield node.lineno, f"{called}: use np.random.default_rng(cases.SEED)"
        if name in ("Random", "default_rng"):
            seed = ast.unparse([*node.args, *(one.value for one in node.keywords)])
            if seed in ("", "None"):
                yield node.lineno, f"{called}() without a seed"
            elif "time." in seed:
                yield node.lineno, f"{called} with a seed of the clock"


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.name)
def test_a_file_of_tests_draws_the_same_in_every_run(path: Path) -> None:
    assert list(unseeded(path.read_text("utf-8"))) == []


@pytest.mark.parametrize(
    "text",
    [
        "random.SystemRandom()",
        "random.random()",
        "random.randrange(9)",
        "random.Random()",
        "random.Random(time.time_ns())",
        "np.random.rand(9)",
        "np.random.default_rng()",
        "os.urandom(9)",
        "@settings(max_examples=9)\n@given(a=b)\ndef f(): ...",
        "@hypothesis.given(a=b)\ndef f(): ...",
        "from random import randrange",
        "secrets.token_hex()",
        "seed = time.time_ns()",
        "np.random.default_rng(None)",
    ],
)
def test_a_draw_without_a_seed_is_found(text: str) -> None:
    assert list(unseeded(text))


@pytest.mark.parametrize(
    "text",
    [
        "random.Random(SEED).random()",
        "np.random.default_rng(7).integers(9)",
        "np.random.default_rng(seed=7)",
        "@examples(9)\n@given(a=b)\ndef f(): ...",
    ],
)
def test_a_draw_with_a_seed_is_allowed(text: str) -> None:
    assert not list(unseeded(text))
