"""What the end of `.ci/run` says of tests that fail, always or once, in Go and in Python."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from daemon import REPOSITORY, wait_until

MAKEFILE = """
.PHONY: go go-race leaves starts-daemon python by-file lint broken-lint
go go-race:
\tcd go && go test $(RACE) $(GO_TEST_FLAGS) $(or $(TESTS),./$@)
go-race: RACE = -race
leaves:
\tsleep 1000 &
starts-daemon:
\tsetsid sh -c 'echo $$$$ > pid; exec sleep 1000' >/dev/null 2>&1 &
\twhile ! test -s pid; do sleep 0.01; done
python: lint
by-file: FLAGS = -n 2 --dist loadfile
python by-file:
\tcd python && %(python)s -m pytest -q $(FLAGS) --continue-on-collection-errors $(or $(TESTS),.)
lint:
\t@echo fine
broken-lint:
\t@echo "a line is too long"; exit 3
"""

GO = """
package one

import ("fmt"; "os"; "runtime"; "sync"; "sync/atomic"; "testing")

var _, _, _, _ = sync.Mutex{}, fmt.Print, runtime.GC, atomic.Int32{}

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
    for package in ("go", "go-race"):
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
    return run_python(project, str(REPOSITORY / "internal" / "ci" / "parts.py"), *targets)


def run_python(project: Path, *args: str) -> tuple[int, str]:
    """Run Python without the variables of this run of the tests."""
    ours = "TENSORCACHE|PYTEST|MAKE|MFLAGS|TESTS|EXTRA_PARTS|GO_TEST_FLAGS"
    kept = {k: v for k, v in os.environ.items() if not re.match(ours, k)}
    done = subprocess.run(
        [sys.executable, *args],
        cwd=project, env=kept, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        check=False,
    )  # fmt: skip
    return done.returncode, done.stdout


def add(project: Path, text: str, file: str = "go/go/one_test.go") -> None:
    """Add tests to a file."""
    path = project / file
    path.write_text(path.read_text() + text)


def final_lines(output: str) -> list[str]:
    """The lines at the end that name tests."""
    end = output.rpartition("\n==\n")[2]
    return [line for line in end.splitlines() if line.startswith(("FAILED", "FLAKY"))]


def test_what_passes_has_its_seconds(project: Path) -> None:
    code, output = run(project, "go", "python")
    assert (code, final_lines(output)) == (0, [])
    assert re.search(r"^go: \d+ s\npython: \d+ s$", output, re.MULTILINE)
    assert "not shown" not in output
    assert "ok  \texample.com/m/go" in output


def test_every_part_runs_and_each_failure_is_named(project: Path) -> None:
    add(
        project, 'func TestBad(t *testing.T) { t.Run("a", func(t *testing.T) { t.Error("is 4") }) }'
    )
    add(project, "def test_bad():\n    assert 1 == 2, 'is 5'\n", "python/test_one.py")
    code, output = run(project, "broken-lint", "go", "python", "lint")
    assert code == 1, output
    lint, *tests = final_lines(output)
    assert re.fullmatch(r"FAILED: broken-lint: make: \*\*\* \[.*broken-lint\] Error 3", lint)
    assert tests == [
        "FAILED: go: example.com/m/go.TestBad/a",
        "FAILED: python: test_one.py::test_bad",
    ]
    assert output.count("is 4") == 2, "the test did not run once more"
    assert "fine\n" in output


@pytest.mark.parametrize("part", ["go", "python", "by-file"])
def test_a_flaky_test_passes_and_is_named_with_its_first_output(project: Path, part: str) -> None:
    add(project, FLAKY_GO)
    add(project, FLAKY_PYTHON, "python/test_one.py")
    code, output = run(project, part)
    assert code == 0
    test = "example.com/m/go.TestFlaky" if part == "go" else "test_one.py::test_flaky[$(x)]"
    assert final_lines(output) == [f"FLAKY: {part}: {test}"]
    assert "it failed first" in output.rpartition("\n==\n")[2]


def test_the_words_of_a_page_are_no_signs_of_a_leak(project: Path) -> None:
    text = "not visible\\n\\nAria snapshot:\\n- paragraph: rows left out"
    add(project, f"def test_page():\n    assert not once('x'), '{text}'\n", "python/test_one.py")
    code, output = run(project, "python")
    assert (code, len(final_lines(output))) == (0, 1)
    assert "FLAKY: python: test_one.py::test_page" in output


def test_one_flaky_and_one_bad_test_are_told_apart(project: Path) -> None:
    add(project, FLAKY_GO + 'func TestBad(t *testing.T) { t.Error("is 4") }\n')
    code, output = run(project, "go")
    assert code == 1, output
    assert final_lines(output) == [
        "FLAKY: go: example.com/m/go.TestFlaky",
        "FAILED: go: example.com/m/go.TestBad",
    ]


def test_the_result_of_an_earlier_rerun_does_not_count(project: Path) -> None:
    add(project, FLAKY_GO)
    for _ in range(2):
        code, output = run(project, "go")
        assert (code, final_lines(output)) == (0, ["FLAKY: go: example.com/m/go.TestFlaky"])
        assert "(cached)" not in output
        (project / "go" / "go" / "flaky").unlink()


def test_a_process_that_is_left_behind_does_not_stop_the_run(project: Path) -> None:
    code, output = run(project, "leaves", "lint")
    assert (code, final_lines(output)) == (0, [])


def go_test(name: str, body: str) -> str:
    """A test that fails the first time; GO_ONCE in its body is true then."""
    return f"func {name}(t *testing.T) {{ {body.replace('GO_ONCE', 'once(t.Name())')} }}\n"


ERROR = 'if GO_ONCE { t.Error("first") }'
MANY = "".join(go_test(f"TestFlaky{i}", ERROR) for i in "1234")
SUBTESTS = go_test(
    "TestFlaky",
    "for i := range 4 { t.Run(fmt.Sprint(i), func(t *testing.T) { ERROR }) }".replace(
        "ERROR", ERROR
    ),
)
# The race detector may miss two writes at the same moment, so there are many; it needs the stack of
# the other write, and has forgotten that of a goroutine that has ended, or called many functions
# since. So both wait, asleep, until both have written.
RACE = """
var w sync.WaitGroup; var written atomic.Int32; done := make(chan int); n := 0
for range 2 { w.Go(func() { for range 100 { n++ }; written.Add(1); <-done }) }
for written.Load() < 2 { runtime.Gosched() }
close(done)
w.Wait(); _ = n
"""
DEFECTS = {
    "four tests": ("go", MANY, [f"TestFlaky{i}" for i in "1234"]),
    "four subtests": ("go", SUBTESTS, [f"TestFlaky/{i}" for i in "0123"]),
    "panic": ("go", go_test("TestPanics", 'if GO_ONCE { panic("no") }'), ["TestPanics"]),
    "panic in a log": (
        "go",
        go_test("TestPanics", 'if GO_ONCE { t.Log("level=ERROR msg=panic"); t.Error() }'),
        ["TestPanics"],
    ),
    "leak": (
        "go",
        go_test("TestLeaks", 'if GO_ONCE { t.Error("2 files are left") }'),
        ["TestLeaks"],
    ),
    "exit": ("go", go_test("TestExits", "os.Exit(3)"), ["TestExits"]),
    "TestMain": ("go", "func TestMain(m *testing.M) { m.Run(); os.Exit(3) }\n", None),
    "TestMain and a test": (
        "go",
        go_test("TestFlaky", ERROR)
        + 'func TestMain(m *testing.M) { m.Run(); fmt.Println("2 daemons run"); os.Exit(3) }\n',
        ["TestFlaky"],
    ),
    "syntax": ("go", "func TestIsNoGo\n", None),
    "race": ("go-race", go_test("TestRaces", f"if GO_ONCE {{ {RACE} }}"), ["TestRaces"]),
    "race beside another test": (
        "go-race",
        go_test("TestRaces", f"t.Parallel(); if GO_ONCE {{ {RACE} }}")
        + go_test("TestPrints", 't.Parallel(); for range 1000 { fmt.Println("x") }'),
        None,
    ),
    "leak in Python": (
        "python",
        "def test_leaks():\n    assert not once('x'), 'feeds are left'\n",
        ["::test_leaks"],
    ),
    "race in Python": (
        "python",
        "def test_race():\n    assert not once('x'), 'WARNING: DATA RACE'\n",
        ["::test_race"],
    ),
    "long log": (
        "python",
        "def test_log(tmp_path):\n"
        "    (tmp_path / 'daemon.log').write_text('DATA RACE\\n' + 'stack\\n' * 99)\n"
        "    assert not once('x')\n",
        ["::test_log"],
    ),
    "teardown": (
        "python",
        "@pytest.fixture(scope='module', autouse=True)\ndef world():\n    yield\n"
        "    assert not once('x')\n",
        ["::test_good"],
    ),
    "crash at the exit": (
        "python",
        "import atexit\n\n"
        "def test_bad():\n    atexit.register(os.abort)\n    assert not once('x')\n",
        ["::test_bad"],
    ),
    "import": ("python", "raise ValueError\n", [""]),
    "crash": ("python", "def test_dies():\n    os.abort()\n", None),
    "crash of a worker": (
        "by-file",
        "def test_dies():\n    if once('x'): os.abort()\n",
        ["::test_dies"],
    ),
    "race in a worker": (
        "by-file",
        "def test_race():\n    assert not once('x'), 'WARNING: DATA RACE'\n",
        ["::test_race"],
    ),
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_race_a_panic_a_leak_or_many_failures_do_not_run_again(
    project: Path, defect: str
) -> None:
    part, text, names = DEFECTS[defect]
    python = not part.startswith("go")
    add(project, text, "python/test_one.py" if python else f"go/{part}/one_test.go")
    code, output = run(project, part)
    assert code == 1, output
    assert f"== {part} again" not in output
    begin = f"FAILED: {part}: " + ("test_one.py" if python else f"example.com/m/{part}.")
    if names is None:
        assert final_lines(output)
    else:
        assert final_lines(output) == [begin + name for name in names]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows the variables of a process")
def test_what_a_killed_run_left_is_ended(project: Path) -> None:
    """The next run kills a daemon of a run that was killed, and none of a run that goes on."""

    def run_of(pid: int) -> str:
        start = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
        return f"{pid}-{start}"

    killed = subprocess.Popen(["sleep", "600"])
    runs = {"killed": run_of(killed.pid), "goes on": run_of(os.getpid())}
    killed.kill()
    os.waitid(os.P_PID, killed.pid, os.WEXITED | os.WNOWAIT)  # it keeps its entry in /proc
    left = {
        name: subprocess.Popen(
            ["sleep", "600"],
            env={**os.environ, "TENSORCACHE_TEST_RUN": of},
            start_new_session=True,
        )
        for name, of in runs.items()
    }
    try:
        assert run(project, "starts-daemon")[0] == 0
        assert left["killed"].wait(60) == -signal.SIGKILL
        assert left["goes on"].poll() is None
        daemon = Path("/proc", (project / "pid").read_text().strip())
        wait_until(lambda: not daemon.exists(), "the daemon of the run goes on")
    finally:
        for process in (killed, *left.values()):
            process.kill()
            process.wait()


def test_a_module_that_cannot_be_imported_hides_no_other(project: Path) -> None:
    (project / "python" / "test_two.py").write_text("raise ValueError\n")
    add(project, "def test_bad():\n    assert 0\n", "python/test_one.py")
    assert final_lines(run(project, "python")[1]) == [
        "FAILED: python: test_two.py",
        "FAILED: python: test_one.py::test_bad",
    ]


STRESS = str(REPOSITORY / "internal" / "ci" / "stress.py")


@pytest.mark.parametrize(
    ("tests", "text"),
    [
        ("-run Flaky ./go", go_test("TestFlaky", 'if GO_ONCE { t.Error("only once") }')),
        ("tests/test_one.py", "def test_flaky():\n    assert not once('x'), 'only once'\n"),
    ],
    ids=["go", "python"],
)
def test_stress_counts_the_runs_that_fail(project: Path, tests: str, text: str) -> None:
    named_as_ours(project)
    add(project, text, "go/go/one_test.go" if "Flaky" in text else "python/test_one.py")
    script = (
        f"import sys; sys.path.insert(0, {str(Path(STRESS).parent)!r}); import stress\n"
        f"stress.BUSY_LOOPS = 1; sys.exit(stress.main(3, {tests.split()}))"
    )
    code, output = run_python(project, "-c", script)
    assert code == 1, output
    assert output.endswith("1 of 3 runs failed\n")
    assert "only once" in output


def named_as_ours(project: Path) -> None:
    """Give the targets and folders the names that stress.py expects."""
    makefile = (project / "Makefile").read_text()
    names = makefile.replace("go go-race:", "test-go:").replace("python by-file:", "test-python:")
    (project / "Makefile").write_text(names.replace("$(TESTS),.)", "$(notdir $(TESTS)),.)"))
    (project / "clients" / "python" / "tests").mkdir(parents=True)
    (project / "clients" / "python" / "tests" / "test_one.py").touch()


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ("", "TIMES: got '', want a whole number from 1"),
        ("0 ./go", "TIMES: got '0', want a whole number from 1"),
        ("x ./go", "TIMES: got 'x', want a whole number from 1"),
        ("2", "TEST: got nothing, want tests/test_put.py or '-run Limits ./api'"),
        ("2 tests/typo.py", "TEST: clients/python has no file tests/typo.py"),
        (
            "2 ./tests/test_one.py",
            "TEST: clients/python has no file ./tests/test_one.py",
        ),
        ("2 -run Nope ./go", "TEST: -run Nope ./go names no test"),
    ],
)
def test_stress_refuses_what_runs_no_test(project: Path, args: str, says: str) -> None:
    named_as_ours(project)
    code, output = run_python(project, STRESS, *args.split())
    assert code == 1, output
    assert f"stress: {says}" in output
    assert "passed" not in output
