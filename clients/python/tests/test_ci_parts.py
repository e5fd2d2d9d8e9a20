"""What the end of `.ci/run` says of tests that fail, always or once, in Go and in Python."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from daemon import REPOSITORY

MAKEFILE = """
.PHONY: go go-race python lint broken-lint
go go-race:
\tcd go && go test -count=1 $(RACE) $(REPORT) $(or $(TESTS),./$@)
go-race: RACE = -race
python: lint
\tcd python && %(python)s -m pytest -q -p no:cacheprovider $(or $(TESTS),test_one.py)
lint:
\t@echo fine
broken-lint:
\t@echo "a line is too long"; exit 3
"""

GO = """
package one

import ("os"; "sync"; "testing")

var _ = sync.Mutex{}

// once returns whether a file does not exist yet, and makes it.
func once(name string) bool {
\t_, err := os.Stat(name)
\tos.WriteFile(name, nil, 0o600)
\treturn err != nil
}

func TestGood(t *testing.T) { t.Log("not shown") }

"""

PYTHON = """
from pathlib import Path
import os, pytest

def once(name):
    new = not Path(name).exists()
    Path(name).touch()
    return new

def test_good():
    pass

"""

FLAKY_GO = 'func TestFlaky(t *testing.T) { if once("flaky") { t.Error("it failed first") } }\n'
FLAKY_PYTHON = """
@pytest.mark.parametrize("text", ["a b", "$(x)"])
def test_flaky(text):
    assert text != "$(x)" or not once("flaky"), "it failed first"
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with tests of both languages, all of which pass."""
    (tmp_path / "Makefile").write_text(MAKEFILE % {"python": sys.executable})
    for package in ("go", "go-race", "two"):
        (tmp_path / "go" / package).mkdir(parents=True)
    (tmp_path / "go" / "go.mod").write_text("module example.com/m\n\ngo 1.26\n")
    (tmp_path / "go" / "go" / "one_test.go").write_text(GO)
    (tmp_path / "go" / "go-race" / "one_test.go").write_text(GO)
    (tmp_path / "python").mkdir()
    (tmp_path / "python" / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "python" / "test_one.py").write_text(PYTHON)
    tests = REPOSITORY / "clients" / "python"
    shutil.copy(tests / "conftest.py", tmp_path / "python")
    shutil.copy(tests / "tests" / "cases.py", tmp_path / "python")
    return tmp_path


def run(project: Path, *targets: str) -> tuple[int, str]:
    """Run targets; return the exit code and what was printed."""
    kept = {k: v for k, v in os.environ.items() if not re.match("TENSORCACHE|PYTEST|MAKE", k)}
    done = subprocess.run(
        [sys.executable, str(REPOSITORY / "internal" / "ci" / "parts.py"), *targets],
        cwd=project, env=kept, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        check=False,
    )  # fmt: skip
    return done.returncode, done.stdout


def add(project: Path, text: str, file: str = "go/go/one_test.go") -> None:
    """Add tests to a file."""
    path = project / file
    path.write_text(path.read_text() + text)


def ends(output: str) -> list[str]:
    """The lines at the end that name tests."""
    end = output.rpartition("\n==\n")[2]
    return [line for line in end.splitlines() if line.startswith(("FAILED", "FLAKY"))]


def test_what_passes_has_its_seconds(project: Path) -> None:
    code, output = run(project, "go", "python")
    assert (code, ends(output)) == (0, [])
    assert re.search(r"^go: \d+ s\npython: \d+ s$", output, re.MULTILINE)
    assert "not shown" not in output
    assert "ok  \texample.com/m/go" in output


def test_every_part_runs_and_each_failure_is_named(project: Path) -> None:
    add(
        project, 'func TestBad(t *testing.T) { t.Run("a", func(t *testing.T) { t.Error("is 4") }) }'
    )
    add(project, "def test_bad():\n    assert 1 == 2, 'is 5'\n", "python/test_one.py")
    code, output = run(project, "broken-lint", "go", "python", "lint")
    assert code == 1
    assert ends(output) == [
        "FAILED: broken-lint: make: *** [Makefile:11: broken-lint] Error 3",
        "FAILED: go: example.com/m/go.TestBad",
        "FAILED: python: test_one.py::test_bad",
    ]
    assert output.count("is 4") == 2, "the test did not run once more"
    assert "fine\n" in output


@pytest.mark.parametrize("part", ["go", "python"])
def test_a_flaky_test_passes_and_is_named_with_its_first_output(project: Path, part: str) -> None:
    add(project, FLAKY_GO)
    add(project, FLAKY_PYTHON, "python/test_one.py")
    code, output = run(project, part)
    assert code == 0
    test = {"go": "example.com/m/go.TestFlaky", "python": "test_one.py::test_flaky[$(x)]"}[part]
    assert ends(output) == [f"FLAKY: {part}: {test}"]
    assert "it failed first" in output.rpartition("\n==\n")[2]


def test_one_flaky_and_one_bad_test_are_told_apart(project: Path) -> None:
    add(project, FLAKY_GO + 'func TestBad(t *testing.T) { t.Error("is 4") }\n')
    code, output = run(project, "go")
    assert code == 1
    assert ends(output) == [
        "FLAKY: go: example.com/m/go.TestFlaky",
        "FAILED: go: example.com/m/go.TestBad",
    ]


MANY = "".join(
    f'func TestFlaky{i}(t *testing.T) {{ if once("{i}") {{ t.Error("first") }} }}\n' for i in "1234"
)


@pytest.mark.parametrize(
    ("part", "text", "names"),
    [
        ("go", MANY, [f"example.com/m/go.TestFlaky{i}" for i in "1234"]),
        (
            "go",
            'func TestPanics(t *testing.T) { if once("x") { panic("no") } }\n',
            ["example.com/m/go.TestPanics"],
        ),
        (
            "go",
            'func TestLeaks(t *testing.T) { if once("x") { t.Error("2 files are left") } }\n',
            ["example.com/m/go.TestLeaks"],
        ),
        ("go", "func TestExits(t *testing.T) { os.Exit(3) }\n", ["example.com/m/go.TestExits"]),
        ("go", "func TestMain(m *testing.M) { m.Run(); os.Exit(3) }\n", None),
        ("go", "func TestIsNoGo\n", None),
        (
            "go-race",
            'func TestRaces(t *testing.T) { if once("x") { var w sync.WaitGroup; n := 0;'
            " for range 2 { w.Go(func() { n++ }) }; w.Wait(); _ = n } }\n",
            ["example.com/m/go-race.TestRaces"],
        ),
        (
            "python",
            "def test_leaks():\n    assert not once('x'), 'feeds are left'\n",
            ["test_one.py::test_leaks"],
        ),
        (
            "python",
            "def test_race():\n    assert not once('x'), 'WARNING: DATA RACE'\n",
            ["test_one.py::test_race"],
        ),
        ("python", "raise ValueError\n", ["test_one.py"]),
        ("python", "def test_dies():\n    os.abort()\n", None),
    ],
)
def test_what_is_always_a_defect_does_not_run_again(
    project: Path, part: str, text: str, names: list[str] | None
) -> None:
    add(project, text, "python/test_one.py" if part == "python" else f"go/{part}/one_test.go")
    code, output = run(project, part)
    assert code == 1
    assert f"== {part} again" not in output
    if names is None:
        assert [line.startswith(f"FAILED: {part}: make: ***") for line in ends(output)] == [True]
    else:
        assert ends(output) == [f"FAILED: {part}: {name}" for name in names]
