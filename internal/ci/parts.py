"""Run targets of make, each whatever happens to the others, and say at the end all that failed.

``parts.py TARGET ...`` prints at its end a line ``FAILED: target: test`` for each failure, and the
seconds of each target.

The failed tests of a target run once more, in new processes. If all of them pass then, the target
passes, and the end has ``FLAKY: target: test`` with the first output: a defect of the test or of
the program. Nothing runs again after a data race, a panic or a leak, nor if more than three tests
failed.

Go tests report by ``go test -json``, which the target adds from the variable ``REPORT``; those of
Python by ``clients/python/conftest.py``, which writes the file that ``TENSORCACHE_TEST_REPORT``
names. The variable ``TESTS`` selects the tests that run again.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

MOST = 3
"""The most failed tests of a target that run again."""

NEVER = re.compile(
    r"DATA RACE|\bpanic:|^fatal error:|Fatal Python error|SIGSEGV|SIGBUS|crashed while running"
    r"|unexpected goroutines|(is|are|was|were) left\b|left (behind|in tmp)|more than before",
    re.MULTILINE,
)
"""What the output of a test says of a data race, a panic or a leak."""


@dataclasses.dataclass
class Outcome:
    """What one run of a target said of its tests."""

    code: int
    last_line: str = ""
    again: bool = True  # only tests failed, and none by what always is a defect
    failed: dict[str, str] = dataclasses.field(default_factory=dict)
    """What is said of each failed test."""
    passed: set[str] = dataclasses.field(default_factory=set)


class GoEvents:
    """The events of ``go test -json``, printed as ``go test`` prints them."""

    def __init__(self) -> None:
        """Have seen nothing."""
        self.output: dict[tuple[str, str], list[str]] = defaultdict(list)
        self.failed: dict[str, list[str]] = {}  # of each package, with subtests
        self.tests: dict[str, str] = {}
        self.passed: set[str] = set()
        self.running: dict[str, set[str]] = defaultdict(set)  # of each package
        self.again = True

    def add(self, event: dict[str, Any]) -> None:
        """Take one event, and print what a package said when it ends."""
        action, test = event["Action"], event.get("Test", "")
        package = event.get("Package") or event.get("ImportPath", "")
        if action in ("output", "build-output"):
            self.output[package, test].append(event["Output"])
        elif action == "build-fail":
            print("".join(self.output.pop((package, ""), [])), end="", flush=True)
            self.again = False
        elif test and action == "run":
            self.running[package].add(test)
        elif test and action in ("pass", "fail", "skip"):
            self.running[package].discard(test)
            if action == "fail":
                self.failed.setdefault(package, []).append(test)
            elif action == "pass" and "/" not in test:
                self.passed.add(f"{package}.{test}")
        elif not test and action in ("pass", "fail", "skip"):
            self.end(package, failed=action == "fail")

    def end(self, package: str, *, failed: bool) -> None:
        """Print the output of a package and of its failed tests."""
        running = self.running.pop(package, set())  # when the process died
        names = sorted({*self.failed.pop(package, []), *running})
        for top in sorted({name.split("/")[0] for name in names}):
            text = "".join(
                "".join(self.output[package, name])
                for name in names
                if name == top or name.startswith(f"{top}/")
            )
            self.tests[f"{package}.{top}"] = text
            self.again &= not NEVER.search(text)
            print(text, end="")
        # Without the sign of tests that pass: -json makes go test print what -v does.
        said = [line for line in self.output[package, ""] if line not in ("PASS\n", "FAIL\n")]
        print("".join(said), end="", flush=True)
        if failed and (not names or running or NEVER.search("".join(said))):
            self.again = False
        for key in [key for key in self.output if key[0] == package]:
            del self.output[key]


def run(target: str, *variables: str) -> Outcome:
    """Run a target, print what it prints, and return what its tests reported."""
    go, last_line = GoEvents(), ""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = ["make", "--no-print-directory", target, "REPORT=-json", *variables]
        env = {**os.environ, "TENSORCACHE_TEST_REPORT": str(report)}
        with subprocess.Popen(
            command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            encoding="utf-8", errors="replace",
        ) as process:  # fmt: skip
            assert process.stdout is not None
            for line in process.stdout:
                if line.startswith("{") and '"Action":' in line:
                    go.add(json.loads(line))
                    continue
                print(line, end="", flush=True)
                last_line = line.strip() or last_line
        outcome = Outcome(process.returncode, last_line, go.again, go.tests, go.passed)
        if report.exists():
            python = json.loads(report.read_text("utf-8"))
            outcome.again &= python["exitstatus"] == 1  # some tests failed, and nothing else
            for name, said in python["failed"].items():
                outcome.failed[name] = said["text"]
                outcome.again &= not NEVER.search(said["message"])
            outcome.passed |= set(python["passed"])
        return outcome


def again(target: str, first: Outcome) -> Outcome:
    """Run the failed tests of a target once more."""
    with tempfile.TemporaryDirectory() as folder:
        if all("::" in name for name in first.failed):  # node ids of pytest
            names = Path(folder) / "tests.txt"
            names.write_text("".join(f"{name}\n" for name in first.failed), "utf-8")
            chosen = f"@{names}"
        else:
            packages = sorted({name.rpartition(".")[0] for name in first.failed})
            tests = "|".join(sorted({name.rpartition(".")[2] for name in first.failed}))
            chosen = shlex.join(["-run", f"^({tests})$", *packages]).replace("$", "$$")
        return run(target, f"TESTS={chosen}")


def main(targets: list[str]) -> int:
    """Run all targets, print what failed, and return the exit code."""
    flaky: list[str] = []
    failed: list[str] = []
    seconds: dict[str, float] = {}
    for target in targets:
        begin = time.monotonic()
        print(f"== {target} (load {os.getloadavg()[0]:.1f})", flush=True)
        last = first = run(target)
        if first.code and first.again and 0 < len(first.failed) <= MOST:
            print(f"== {target} again: {' '.join(first.failed)}", flush=True)
            last = again(target, first)
            flaky += [
                f"FLAKY: {target}: {test}\n{text.rstrip()}\n"
                for test, text in first.failed.items()
                if test in last.passed
            ]
            if not last.code and not first.failed.keys() <= last.passed:
                last = first  # some did not run
        if last.code:
            names = last.failed or first.failed or [last.last_line]
            failed += [f"FAILED: {target}: {name}" for name in names]
        seconds[target] = time.monotonic() - begin
    print("==")
    for target, took in seconds.items():
        print(f"{target}: {took:.0f} s")
    for line in flaky + failed:
        print(line, flush=True)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
