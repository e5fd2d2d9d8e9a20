"""A method whose library is not installed names the extra that installs it."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import tensorcache

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"

CALLS = {
    "torch": "tensorcache.torch.loader(windows, batch_size=2)",
    "lightning": "tensorcache.lightning.datamodule(windows, batch_size=2)",
    "jax": "tensorcache.jax.loader(windows, batch_size=2)",
    "accelerate": "tensorcache.accelerate.loader(None, windows, batch_size=2)",
    "transformers": "tensorcache.transformers.trainer_class()",
    "keras": "tensorcache.keras.dataset(windows, batch_size=2)",
    "arrow": "cache.put('other', Table())",
    "plot": "windows.plot(0)",
    "remote": "cache.load('other', 's3://bucket/x.parquet')",
    "ray": "tensorcache.ray.load('other', 'x.csv')",
}

SCRIPT = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {libraries!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
import tensorcache

class Table:
    __arrow_c_stream__ = None

cache = tensorcache.connect()
windows = cache.put("extras", {{"a": [1.0, 2.0, 3.0]}}).windows(context_length=1)
try:
    {call}
except tensorcache.MissingExtraError as error:
    assert isinstance(error, ImportError) and isinstance(error, tensorcache.TensorcacheError)
    assert error.name in {libraries!r}, error.name
    assert error.detail == f"{{error.name}} is not installed", error.detail
    print(error.hint)
"""


def extras() -> dict[str, list[str]]:
    """The libraries of each extra that a method imports."""
    section = PYPROJECT.read_text().partition("[project.optional-dependencies]\n")[2]
    lines = section.partition("\n\n")[0].splitlines()
    named = {
        line.partition(" = ")[0]: re.findall(r'"(\w+)', line.partition(" = ")[2]) for line in lines
    }
    del named["test"], named["spark"]  # tensorcache.spark imports nothing of it
    return named


@pytest.mark.parametrize("extra", extras())
def test_a_missing_extra_is_named(cache: tensorcache.Cache, extra: str) -> None:
    script = textwrap.dedent(SCRIPT).format(libraries=extras()[extra], call=CALLS[extra])
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert run.stdout == f'pip install "tensorcache[{extra}]"\n', run.stderr


def test_the_error_survives_pickling() -> None:
    error = tensorcache.MissingExtraError("x is not installed", hint="pip install x")
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy)) == (tensorcache.MissingExtraError, str(error))
