"""The public names, what importing does, and what errors carry."""

from __future__ import annotations

import importlib.metadata
import inspect
import pickle
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tensorcache
from tensorcache import _errors
from tensorcache._load import options, recipe

PACKAGE = Path(tensorcache.__file__).parent
MAIN = Path(__file__).resolve().parents[3] / "cmd" / "tensorcache" / "main.go"

NAMES = [
    "Batch", "Cache", "CancelledError", "CursorError", "DaemonError", "Dataset", "Feed",
    "FeedError", "Items",
    "LeakageError", "LeakageWarning", "LoadWarning", "MissingExtraError",
    "NotFoundError",
    "Part", "Portable", "ProtocolError", "ResourceError", "Sample", "SourceError", "SpecError",
    "Split", "StaleError",
    "TensorcacheError", "Texts", "Windows", "__version__", "accelerate", "connect", "jax", "keras",
    "lightning",
    "portable", "ray", "spark",
    "torch", "transformers",
]  # fmt: skip


def test_all_is_what_it_was() -> None:
    assert tensorcache.__all__ == NAMES
    assert sorted(NAMES) == NAMES
    assert all(hasattr(tensorcache, name) for name in NAMES)


def test_modules_are_private_but_the_adapters() -> None:
    adapters = [
        "accelerate.py",
        "jax.py",
        "keras.py",
        "lightning.py",
        "ray.py",
        "spark.py",
        "torch.py",
        "transformers.py",
    ]
    assert sorted(p.name for p in PACKAGE.glob("[!_]*.py")) == adapters
    assert (PACKAGE / "py.typed").exists()


def test_the_version_is_the_daemons() -> None:
    found = re.search(r'^var version = "(.*)"$', MAIN.read_text(), re.MULTILINE)
    assert found is not None
    assert found[1] == tensorcache.__version__
    # A wheel takes its version from the same line as __version__.
    assert importlib.metadata.version("tensorcache") == tensorcache.__version__


def test_importing_opens_nothing_and_imports_no_framework() -> None:
    code = """if True:
        import os, sys, threading, warnings
        import numpy
        files, modules = set(os.listdir("/proc/self/fd")), set(sys.modules)
        import tensorcache
        assert set(os.listdir("/proc/self/fd")) == files
        assert threading.active_count() == 1
        new = {name.partition(".")[0] for name in set(sys.modules) - modules}
        new -= set(sys.stdlib_module_names)
        assert new <= {"tensorcache", "numpy"}, new
    """
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "public",
    [getattr(tensorcache, name) for name in NAMES if inspect.isclass(getattr(tensorcache, name))],
    ids=lambda c: c.__name__,
)
def test_every_public_class_and_method_says_what_it_does(public: type) -> None:
    assert public.__doc__
    for name, member in vars(public).items():
        if not name.startswith("_") and callable(member):
            assert member.__doc__, f"{public.__name__}.{name}"


def test_errors_are_one_tree_and_survive_pickling() -> None:
    for name in NAMES:
        error = getattr(tensorcache, name)
        if (
            inspect.isclass(error)
            and issubclass(error, BaseException)
            and not issubclass(error, Warning)
        ):
            assert issubclass(error, tensorcache.TensorcacheError)
            assert name in (_errors.__doc__ or "")
            made = error("what", type="some_type", hint="do this", field="where")
            again = pickle.loads(pickle.dumps(made))
            assert type(again) is error
            assert (again.type, again.detail, again.hint, again.field) == (
                "some_type",
                "what",
                "do this",
                "where",
            )
            assert str(again) == "what\nhint: do this"


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (tensorcache.DaemonError, ConnectionError),
        (tensorcache.NotFoundError, KeyError),
        (tensorcache.SpecError, ValueError),
        (tensorcache.SourceError, ValueError),
        (tensorcache.LeakageError, ValueError),
        (tensorcache.LeakageWarning, UserWarning),
        (tensorcache.LoadWarning, UserWarning),
        (tensorcache.ResourceError, OSError),
        (tensorcache.CursorError, ValueError),
        (tensorcache.FeedError, RuntimeError),
    ],
)
def test_errors_are_also_what_python_calls_them(error: type, builtin: type) -> None:
    assert issubclass(error, builtin)


def test_problem_types_of_the_protocol_have_their_class() -> None:
    problem = {
        "type": "column_not_found",
        "title": "t",
        "status": 404,
        "detail": "d",
        "hint": "h",
        "field": "columns",
    }
    error = _errors.from_problem(problem)
    assert type(error) is tensorcache.NotFoundError
    assert (error.type, error.detail, error.hint, error.field) == (
        "column_not_found",
        "d",
        "h",
        "columns",
    )
    assert (
        type(_errors.from_problem({"type": "new_in_a_later_version", "detail": "d"}))
        is tensorcache.TensorcacheError
    )


def test_every_file_is_short() -> None:
    for path in [*PACKAGE.rglob("*.py"), *Path(__file__).parent.glob("*.py")]:
        assert len(path.read_text().splitlines()) <= 400, path


def test_the_client_works_without_docstrings() -> None:
    code = "import tensorcache; tensorcache.Windows.feed; tensorcache.torch.loader"
    subprocess.run([sys.executable, "-OO", "-c", code], check=True, timeout=60)


def test_every_option_of_a_load_is_sent() -> None:
    sent = {*options.FIELDS, *recipe.READERS, "recipe", "progress", "storage_options"}
    assert set(options.FILE_DEFAULTS) == sent, "what is in neither FIELDS nor READERS is ignored"
