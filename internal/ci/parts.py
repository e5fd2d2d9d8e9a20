"""Run targets of make, all of them even if one fails, and print at the end what failed.

``parts.py TARGET ...`` prints at its end the seconds of each target, and a line
``FAILED: target: test`` for each failure.

The failed tests of a target run once more, in new processes. A test that passes then is listed as
``FLAKY: target: test`` with its first output; if all of them pass, the target passes. A flaky test
is a defect of the test or of the program. Nothing runs again after a data race, a panic or a leak,
or if more than three tests failed.

Go tests report by ``go test -json``, which the targets add from the variable ``GO_TEST_FLAGS``;
those of Python by ``clients/python/conftest.py``, which writes the file that
``TENSORCACHE_TEST_REPORT`` names. The variable ``TESTS`` selects the tests that run again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

MAX_RERUN_TESTS = 3
"""If more tests of a target fail, none of them runs again."""

LIMIT_SECONDS = 5400.0
"""A target that takes longer hangs, and is killed."""

DEFECT_SIGNS = re.compile(
    r"DATA RACE|race detected|panic(ked)?:|msg=\"?panic|fatal error:|Fatal Python error"
    r"|SIG(SEGV|BUS|ABRT)|signal: |crashed while running|checkptr|ResourceWarning"
    r"|goroutines|\bleft\b|\bleaks?\b|\bleaves\b|still (there|open)|keeps descriptors"
    r"|more than before"
)
"""The words of a data race, a panic or a leak in what a failed test prints."""

RACE_SIGNS = re.compile(r"DATA RACE|race detected|\bpanic: |fatal error: ")
"""Those that the Go runtime may print while a test runs that passes."""


@dataclasses.dataclass
class Outcome:
    """The result of one run of a target."""

    code: int
    last_line: str = ""
    may_rerun: bool = True  # only tests failed; no data race, panic or leak
    failed: dict[str, str] = dataclasses.field(default_factory=dict)
    """The output of each failed test."""
    passed: set[str] = dataclasses.field(default_factory=set)
    places: dict[str, tuple[str, str]] = dataclasses.field(default_factory=dict)
    """The package and the top-level test of each failed Go test."""


def leaves(names: set[str]) -> list[str]:
    """The names without the tests that failed only because a subtest did."""
    return sorted(
        name for name in names if not any(other.startswith(f"{name}/") for other in names)
    )


class GoEvents:
    """The events of ``go test -json``, printed as ``go test`` prints them."""

    def __init__(self) -> None:
        """Start without events."""
        self.output: dict[tuple[str, str], list[str]] = defaultdict(list)
        self.failing: dict[str, set[str]] = defaultdict(set)  # of each package, with subtests
        self.running: dict[str, set[str]] = defaultdict(set)  # of each package
        self.failed: dict[str, str] = {}
        self.places: dict[str, tuple[str, str]] = {}
        self.passed: set[str] = set()
        self.may_rerun = True

    def add(self, event: dict[str, Any]) -> None:
        """Add one event, and print the output of a package when it ends."""
        action, test = event["Action"], event.get("Test", "")
        package = event.get("Package") or event.get("ImportPath", "")
        if action in ("output", "build-output"):
            self.output[package, test].append(event["Output"])
        elif action == "build-fail":
            print("".join(self.output.pop((package, ""), [])), end="", flush=True)
        elif test and action == "run":
            self.running[package].add(test)
        elif test and action in ("pass", "fail", "skip"):
            self.running[package].discard(test)
            if action == "fail":
                self.failing[package].add(test)
            elif action == "pass":
                self.passed.add(f"{package}.{test}")
        elif not test and action in ("pass", "fail", "skip"):
            self.end(package, failed=action == "fail")

    def end(self, package: str, *, failed: bool) -> None:
        """Print the output of a package and of its failed tests."""
        output = {
            test: "".join(line for line in lines if not line.startswith("=== "))
            for (of, test), lines in self.output.items()
            if of == package
        }
        for key in [key for key in self.output if key[0] == package]:
            del self.output[key]
        died = self.running.pop(package, set())  # with the process
        names = self.failing.pop(package, set()) | died
        shown = {
            name: text
            for name, text in output.items()
            if name and (name in names or (failed and RACE_SIGNS.search(text)))
        }
        for text in shown.values():
            print(text, end="")
        # -json makes go test print PASS and FAIL as -v does.
        lines = output.get("", "").splitlines(keepends=True)
        lines = [line for line in lines if line not in ("PASS\n", "FAIL\n")]
        print("".join(lines), end="", flush=True)
        for name in leaves(names):
            top = name.split("/")[0]
            same = [text for other, text in shown.items() if other.split("/")[0] == top]
            self.failed[f"{package}.{name}"] = "".join(same)
            self.places[f"{package}.{name}"] = package, top
        if not failed:
            return
        other = [line for line in lines if not re.match(r"FAIL\t|exit status 1$", line)]
        if not names:  # it did not compile, or TestMain failed
            self.failed[package] = "".join(lines)
        if not names or died or other or any(map(DEFECT_SIGNS.search, shown.values())):
            self.may_rerun = False


def run(target: str, *variables: str) -> Outcome:
    """Run a target, print its output, and return what its tests reported."""
    events, last_line = GoEvents(), ""

    def read() -> None:
        nonlocal last_line
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("{") and '"Action":' in line:
                with contextlib.suppress(ValueError):  # two processes wrote at once
                    events.add(json.loads(line))
                    continue
            print(line, end="", flush=True)
            last_line = line.strip() or last_line

    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = ["make", "--no-print-directory", target, "GO_TEST_FLAGS=-json", *variables]
        process = subprocess.Popen(
            command, env={**os.environ, "TENSORCACHE_TEST_REPORT": str(report)},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8",
            errors="replace", start_new_session=True,
        )  # fmt: skip
        # A thread, because a process that a test left behind keeps the pipe open.
        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        try:
            code = process.wait(LIMIT_SECONDS)
        except subprocess.TimeoutExpired:
            code = 1
            last_line = f"killed after {LIMIT_SECONDS:.0f} s"
        except KeyboardInterrupt:
            with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
                os.killpg(process.pid, signal.SIGINT)
                process.wait(30)
            raise
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # what is left of it
            process.wait()
        reader.join(10)
        ended = re.search(r"\*\*\* .* (\d+)$", last_line)  # with this exit code, says make
        outcome = Outcome(
            code, last_line, events.may_rerun, events.failed, events.passed, events.places
        )
        outcome.may_rerun &= ended is not None and ended[1] == "1"
        if report.exists():
            python = json.loads(report.read_text("utf-8"))
            for name, found in python["failed"].items():
                outcome.failed[name] = found["text"]
                outcome.may_rerun &= found["may_rerun"] and not DEFECT_SIGNS.search(found["signs"])
            outcome.passed |= set(python["passed"])
        return outcome


def rerun(target: str, first: Outcome) -> Outcome:
    """Run the failed tests of a target once more."""
    with tempfile.TemporaryDirectory() as folder:
        if all("::" in name for name in first.failed):  # node ids of pytest
            names = Path(folder) / "tests.txt"
            names.write_text("".join(f"{name}\n" for name in first.failed), "utf-8")
            tests = f"@{names}"
        else:
            packages, tops = (sorted(set(one)) for one in zip(*first.places.values(), strict=True))
            # Without -count=1, go test may print the result of an earlier rerun.
            chosen = ["-count=1", "-run", f"^({'|'.join(tops)})$", *packages]
            tests = shlex.join(chosen).replace("$", "$$")
        return run(target, f"TESTS={tests}")


def started(pid: int) -> str:
    """When a process was started, in ticks since the boot; empty if it does not run."""
    try:
        state, *fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if state == "Z" else fields[18]  # Z: its parent has not waited for it


def end_leftovers(ended: str = "") -> None:
    """Kill the daemons and trainers of runs that were killed, and those of the run ``ended``.

    The processes of a run have the variable ``TENSORCACHE_TEST_RUN``. Only Linux shows it.
    """
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # the process is another user's, or has ended
            environment = (process / "environ").read_bytes()
            run = re.search(rb"(?:^|\0)TENSORCACHE_TEST_RUN=((\d+)-\d+)\0", environment)
            pid = int(process.name)
            if not run or pid == os.getpid():
                continue
            # A container has process ids of its own.
            if (process / "ns" / "pid").readlink() != Path("/proc/self/ns/pid").readlink():
                continue
            name = run[1].decode()
            if name == ended or name != f"{run[2].decode()}-{started(int(run[2]))}":
                os.kill(pid, signal.SIGKILL)


class Summary:
    """What the end of the run prints."""

    def __init__(self) -> None:
        """Start without targets."""
        self.seconds: dict[str, float] = {}
        self.flaky: list[str] = []
        self.failed: list[str] = []

    def run(self, target: str) -> None:
        """Run a target, and its failed tests once more."""
        last = first = run(target)
        if first.code and first.may_rerun and 0 < len(first.failed) <= MAX_RERUN_TESTS:
            print(f"== {target} again: {' '.join(first.failed)}", flush=True)
            last = rerun(target, first)
            self.flaky += [
                f"FLAKY: {target}: {test}\n{text.rstrip()}\n"
                for test, text in first.failed.items()
                if test in last.passed
            ]
            if not last.code and not first.failed.keys() <= last.passed:
                last = first  # a test did not run
        if last.code:
            names = last.failed or first.failed or [last.last_line]
            self.failed += [f"FAILED: {target}: {name}" for name in names]

    def print(self) -> None:
        """Print the seconds of each target, then what failed."""
        print("==")
        for target, took in self.seconds.items():
            print(f"{target}: {took:.0f} s")
        for line in self.flaky + self.failed:
            print(line, flush=True)


def main(targets: list[str]) -> int:
    """Run all targets, print what failed, and return the exit code."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # CI cancels with it
    os.environ["TENSORCACHE_TEST_RUN"] = this = f"{os.getpid()}-{started(os.getpid())}"
    end_leftovers()
    summary = Summary()
    for target in targets:
        begin = time.monotonic()
        print(f"== {target} (load {os.getloadavg()[0]:.1f})", flush=True)
        try:
            summary.run(target)
        except KeyboardInterrupt:
            summary.failed.append(f"FAILED: {target}: interrupted")
            break
        finally:
            end_leftovers(this)
            summary.seconds[target] = time.monotonic() - begin
    summary.print()
    return int(bool(summary.failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
