"""Delivery compared with in-process recipes, DataLoaders and the machine's limit: `make bench`.

    python bench/delivery.py [--only packed,train1] [--runs 5] [--quick]

Each group of cases runs in a fresh process with its own daemon. In a group, cases take turns, and a
ratio is the median of the rounds' ratios. The bench compares contents by hash before it starts the
clock. It prints a table, writes tables into the pages of delivery_pages.py, and draws the picture
bench/delivery.svg. With --only, the other groups' lines come from bench/delivery.json.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import delivery_cold
import delivery_pages
import delivery_picture
from delivery_case import NotMeasuredError, Options
from delivery_machine import Others, machine
from delivery_once import GROUPS, skipped

HERE = Path(__file__).parent


def run(name: str, options: Options, folder: str | None) -> dict[str, Any]:
    """Measure a group and return its result."""
    directory = tempfile.mkdtemp(prefix=f"tensorcache-bench-{name}-", dir=folder)
    command = [sys.executable, str(HERE / "delivery_once.py"), name]
    child = None
    try:
        if name == "cold":
            if options.cgroup:
                child = delivery_cold.made(options.cgroup)
                options = Options(options.runs, options.seconds, options.quick, str(child))
            command = delivery_cold.scope(options, command)
        command.append(json.dumps(vars(options)))
        env = {
            **os.environ,
            "TENSORCACHE_DIR": directory,
            "HF_HOME": directory,
            "HF_HUB_OFFLINE": "1",
        }
        others = Others()
        done = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=True)
        return {**json.loads(done.stdout.splitlines()[-1]), "others": others.share(Path(directory))}
    except NotMeasuredError as why:
        return skipped(name, why).reply()
    finally:
        stop = "import tensorcache, sys; tensorcache.connect(sys.argv[1]).stop()"
        if (Path(directory) / "daemon.json").exists():
            subprocess.run(
                [sys.executable, "-c", stop, directory], check=False, capture_output=True
            )
        shutil.rmtree(directory)
        if child is not None:
            child.rmdir()


def conditions(results: dict[str, Any], options: Options) -> str:
    """Return how often was measured, and whether in one run."""
    runs = len({result.get("run") for result in results.values()})
    pieces = (
        " Not one run: groups were measured one by one, at different states of the code."
        if runs > 1
        else ""
    )
    return f"Medians of {options.runs} rounds, ratios within a round.{pieces}"


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help=f"groups, of {','.join(GROUPS)}")
    parser.add_argument("--runs", type=int, default=5, help="rounds; fewer take less time")
    parser.add_argument("--seconds", type=float, default=0.7, help="of each case in a round")
    parser.add_argument(
        "--quick", action="store_true", help="see that it runs and contents agree; writes nothing"
    )
    parser.add_argument("--dry", action="store_true", help="write nothing")
    parser.add_argument("--cgroup", default="", help="a cgroup directory in which one may be made")
    parser.add_argument(
        "--files", help="where data is kept meanwhile, 3 GB (the system's temporary directory)"
    )
    given = parser.parse_args()
    only = given.only.split(",") if given.only else list(GROUPS)
    if unknown := set(only) - set(GROUPS):
        parser.error(f"--only: got {sorted(unknown)}, want of {','.join(GROUPS)}")
    options = Options(given.runs, given.seconds, cgroup=given.cgroup)
    if given.quick:
        options = Options(1, 0.02, True, given.cgroup)
    kept = HERE / "delivery.json"
    writes = not (given.quick or given.dry)
    results = json.loads(kept.read_text()) if given.only and writes and kept.exists() else {}
    began_at = datetime.datetime.now().isoformat(timespec="seconds")
    for name in only:
        began = time.perf_counter()
        results[name] = {**run(name, options, given.files), "run": began_at}
        others = results[name].get("others") or 0.0
        took = f"{name}: {time.perf_counter() - began:.0f} s, others used {others:.0%} of the cores"
        print(took, file=sys.stderr, flush=True)
        groups = {name: results[name] for name in GROUPS if name in results}
        if writes:
            kept.write_text(json.dumps(groups, indent=1, ensure_ascii=False) + "\n")
    where, how = f"{machine()}; {datetime.date.today():%B %Y}.", conditions(groups, options)
    print(where, how, delivery_pages.targets_met(groups))
    print(f"\n{delivery_pages.all_rows(groups)}\n\n{delivery_pages.target_rows(groups)}")
    if writes:
        (HERE / "delivery.svg").write_text(delivery_picture.draw(groups))
        delivery_pages.publish(where, how, groups)


if __name__ == "__main__":
    main()
