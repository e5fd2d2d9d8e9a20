"""Control: requests a second beside a feed, what they take from it, and what people wait for.

    make bench-control

A trainer steps over batches of ETTh1 with numpy, in this process. Beside it, in turns of a second, another process

- looks on as people do: the dashboard's stream of events, and ten requests a second of every kind there is; what the
  trainer lost is the median over the rounds of its steps a second beside the others' turn, to those of the quiet turn
  before;
- asks as fast as it can, over one connection: requests a second and how long they took.

``ls`` is the whole command from a cold start of the process, with the daemon up. The dashboard's payload is what its
page and all files of it weigh, as sent. Needs numpy alone; OMP_NUM_THREADS=1 leaves it one core.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

import tensorcache
from tensorcache._binary import find_binary
from tensorcache._http import Control, UnixConnection

ROOT = Path(__file__).parent.parent
ROUTES = [
    "/v1/health",
    "/v1/datasets",
    "/v1/datasets/etth1",
    "/v1/feeds",
    "/v1/jobs",
    "/v1/machine",
    "/v1/datasets/etth1/rows?from=0&to=20",
    "/v1/datasets/etth1/series?code=0&columns=OT&points=1000",
    "/metrics",
]
PACE = 10  # requests a second of who looks on


def look_on(socket: str) -> None:
    """Hold the stream of events and ask now and then, by turns told on standard input; each one's times are a line."""
    asks, stream = UnixConnection(socket, 10), None
    for line in sys.stdin:
        seconds, at_once = json.loads(line)
        took: list[float] = []
        if not at_once:
            stream = UnixConnection(socket, 10)
            stream.request("GET", "/v1/events")
            stream.getresponse().read1(1)
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            began = time.perf_counter()
            asks.request("GET", ROUTES[len(took) % len(ROUTES)])
            answer = asks.getresponse()
            answer.read()
            if answer.status != 200:
                raise SystemExit(f"{ROUTES[len(took) % len(ROUTES)]} answered {answer.status}")
            took.append(time.perf_counter() - began)
            if not at_once:
                time.sleep(1 / PACE)
        if stream is not None:
            stream.close()
            stream = None
        print(json.dumps(took), flush=True)


def steps(batches: Iterator[tensorcache.Batch], seconds: float) -> float:
    """How many steps a second the trainer makes: a forward and a backward product of each batch."""
    weights = np.zeros((336, 96), np.float32)
    n, began = 0, time.perf_counter()
    while (passed := time.perf_counter() - began) < seconds:
        batch = next(batches)
        context, target = batch.context.transpose(0, 2, 1), batch.target.transpose(0, 2, 1)
        error = context @ weights - target
        weights -= 1e-6 * np.tensordot(context, error, axes=((0, 1), (0, 1)))
        n += 1
    return n / passed


def forever(feed: tensorcache.Feed) -> Iterator[tensorcache.Batch]:
    """All epochs, one after the other."""
    while True:
        yield from feed


def payload(control: Control) -> int:
    """Bytes of the dashboard's page and files, as they are sent to a browser that is logged in."""
    url = urlsplit(control.post("/v1/ui")["url"])
    connection = http.client.HTTPConnection(url.netloc)

    def get(path: str, cookie: str = "") -> tuple[bytes, str]:
        connection.request("GET", path, headers={"Cookie": cookie, "Sec-Fetch-Site": "none"})
        answer = connection.getresponse()
        return answer.read(), answer.getheader("Set-Cookie") or ""

    _, cookie = get(f"{url.path}?{url.query}")
    cookie = cookie.split(";")[0]
    total = len(get("/", cookie)[0])
    for file in sorted((ROOT / "api" / "dashboard").iterdir()):
        if file.suffix in (".js", ".css"):
            body = get(f"/assets/{file.name}", cookie)[0]
            if body != file.read_bytes():
                raise SystemExit(f"{file.name} is sent otherwise than it is")
            total += len(body)
    connection.close()
    return total


def measure(rounds: int) -> None:
    """Write the table."""
    cache = tensorcache.connect()
    data = cache.load("etth1", ROOT / "examples" / "data" / "ETTh1.csv", time="date", scale="standard")
    socket = json.loads((Path(os.environ["TENSORCACHE_DIR"]) / "daemon.json").read_text())["control"]
    other = subprocess.Popen(
        [sys.executable, __file__, "--look-on", socket], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert other.stdin is not None
    assert other.stdout is not None
    lost: list[float] = []
    asked: list[float] = []
    beside: list[float] = []
    with data.windows(context_length=336, prediction_length=96).feed(batch_size=32, order="shuffle") as feed:
        batches = forever(feed)
        steps(batches, 1)
        for _ in range(rounds):
            for at_once in (False, True):
                quiet = steps(batches, 1)
                other.stdin.write(json.dumps([1.2, at_once]) + "\n")
                other.stdin.flush()
                loud = steps(batches, 1)
                took = json.loads(other.stdout.readline())
                if at_once:
                    asked += took
                    beside.append(1 - loud / quiet)
                else:
                    lost.append(1 - loud / quiet)
    other.stdin.close()
    other.wait()
    cold = []
    for _ in range(31):
        began = time.perf_counter()
        subprocess.run([find_binary(), "ls"], check=True, stdout=subprocess.DEVNULL)
        cold.append(time.perf_counter() - began)
    asked.sort()
    total = payload(Control(socket, os.environ["TENSORCACHE_DIR"]))
    cache.stop()
    rows = [
        (
            "steps lost while a dashboard looks on",
            f"{100 * statistics.median(lost):.1f} %",
            "< 2 %",
            statistics.median(lost) < 0.02,
        ),
        ("requests a second beside a feed, one connection", f"{len(asked) / (1.2 * rounds):,.0f}", "", None),
        ("their 99th percentile", f"{1e3 * asked[int(0.99 * len(asked))]:.1f} ms", "", None),
        ("steps lost meanwhile", f"{100 * statistics.median(beside):.0f} %", "", None),
        (
            "`ls` from a cold start",
            f"{1e3 * statistics.median(cold):.1f} ms",
            "< 20 ms",
            statistics.median(cold) < 0.02,
        ),
        ("the dashboard's payload", f"{total / 1e3:,.0f} kB", "< 200 kB", total < 200e3),
    ]
    print("| what | measured | bar | |\n| --- | --- | --- | --- |")
    for what, measured, bar, held in rows:
        print(f"| {what} | {measured} | {bar} | {'' if held is None else 'held' if held else '**missed**'} |")


def main() -> None:
    """Measure, or be the one that looks on."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--look-on", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.look_on:
        look_on(args.look_on)
        return
    with tempfile.TemporaryDirectory(prefix="tensorcache-bench-control-") as scratch:
        os.environ["TENSORCACHE_DIR"] = scratch
        measure(args.rounds)


if __name__ == "__main__":
    main()
