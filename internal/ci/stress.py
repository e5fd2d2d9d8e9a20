"""Run tests many times beside busy loops, and print the output of the runs that fail.

``stress.py TIMES TESTS`` takes tests of Go as ``go test`` does, and tests of Python by their path
below ``clients/python``: ``stress.py 20 -run Limits ./api``, ``stress.py 20 tests/test_put.py``. A
test that fails in one of the runs depends on time or load.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

BUSY_LOOPS = 4

LOOP = "import os, sys\nwhile os.getppid() == int(sys.argv[1]):\n    sum(range(100_000))"
"""A loop ends with the process that started it, even if that is killed."""

TARGETS = {
    "tests": "test-python",
    "tests_adapters": "test-adapters",
    "tests_browser": "test-browser",
    "tests_frameworks": "test-frameworks",
    "tests_peers": "test-peers",
    "tests_remote": "test-remote",
    "tests_scale": "test-scale",
    "tests_wheels": "test-wheels",
}
"""The target of make that runs the tests of each folder of Python."""

RAN = re.compile(r"^ok .*(?<!\[no tests to run\])$|\b[0-9]+ passed\b", re.MULTILINE)
"""What Go or pytest print of at least one test that passed."""


def target_of(tests: list[str]) -> str:
    """Return the target of make that runs the tests, or end with what is wrong with them."""
    for test in tests:
        folder = test.partition("/")[0]
        file = Path("clients/python", test.partition("::")[0])
        if folder in TARGETS and file.exists():
            return TARGETS[folder]
        if ".py" in test or folder in TARGETS:
            sys.exit(f"stress: TEST: clients/python has no file {test}")
    if not tests:
        sys.exit("stress: TEST: got nothing, want tests/test_put.py or '-run Limits ./api'")
    return "test-go"


def main(times: int, tests: list[str]) -> int:
    """Run the tests so many times, and return the exit code."""
    chosen = shlex.join(tests).replace("$", "$$")
    command = ["make", "--no-print-directory", target_of(tests)]
    command += [f"TESTS={chosen}", "GO_TEST_FLAGS=-count=1"]
    failed = 0
    loop = [sys.executable, "-c", LOOP, str(os.getpid())]
    loops = [subprocess.Popen(loop) for _ in range(BUSY_LOOPS)]
    try:
        for n in range(1, times + 1):
            begin = time.monotonic()
            done = subprocess.run(
                command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
            )
            if done.returncode:
                failed += 1
                print(done.stdout, end="")
            elif not RAN.search(done.stdout):
                sys.exit(f"{done.stdout}stress: TEST: {shlex.join(tests)} names no test")
            result = "failed" if done.returncode else "passed"
            print(f"run {n}: {result} in {time.monotonic() - begin:.0f} s", flush=True)
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        for process in loops:
            process.kill()
            process.wait()
    print(f"{failed} of {times} runs failed")
    return int(failed > 0)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if len(sys.argv) < 2 or not re.fullmatch("[1-9][0-9]*", sys.argv[1]):
        sys.exit(f"stress: TIMES: got {' '.join(sys.argv[1:2])!r}, want a whole number from 1")
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
