"""Control: requests per second beside a feed, how much they slow it down, and response times.

    make bench-control

In this process, a trainer steps over batches of ETTh1 with numpy. A second process sends requests
over one connection, in turns of one second: as a user would (the dashboard's stream of events and
ten requests per second of every kind), at a fixed rate, or as fast as it can. The trainer's loss
comes from the median over the rounds of its steps per second in such a turn, to those in the quiet
turn before. The CPU time of a request is that of both sides: the client's, and the daemon's beyond
what the feed needs in the quiet turn.

``ls`` is the whole command from the start of its process, with a running daemon. The dashboard's
payload is the size of its page and all its files, as sent. The bench needs only numpy. Set
OMP_NUM_THREADS=1 to limit the trainer to one core.
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
from tensorcache._daemon.binary import find_binary
from tensorcache._daemon.http import Control, UnixConnection

ROOT = Path(__file__).parent.parent
ROUTES = [
    "/v1/health",
    "/v1/datasets",
    "/v1/datasets/etth1",
    "/v1/feeds",
    "/v1/jobs",
    "/v1/machine",
    "/v1/datasets/etth1/rows?from=0&to=20",
    "/v1/datasets/etth1/series?item_code=0&columns=OT&points=1000",
    "/metrics",
]
PACES = [
    (10, "a dashboard"),
    (100, "100 a second"),
    (300, "300 a second"),
    (0, "as fast as it can"),
]
"""Requests a second, 0 for no pause between them, and who asks so; with the first goes the stream
of events."""
BAR = 0.02  # the largest share of steps that may be lost, at all paces but the last


def look_on(socket: str) -> None:
    """Read the stream of events and send requests at the pace that standard input names.

    The function prints one line for each turn: the requests' times and its own CPU time.
    """
    asks, stream = UnixConnection(socket, 10), None
    for line in sys.stdin:
        seconds, pace = json.loads(line)
        took: list[float] = []
        worked = time.process_time()
        if pace == PACES[0][0]:
            stream = UnixConnection(socket, 10)
            stream.request("GET", "/v1/events")
            stream.getresponse().read1(1)
        start = time.perf_counter()
        while time.perf_counter() < start + seconds:
            if pace:
                time.sleep(max(0, start + len(took) / pace - time.perf_counter()))
            began = time.perf_counter()
            asks.request("GET", ROUTES[len(took) % len(ROUTES)])
            answer = asks.getresponse()
            answer.read()
            if answer.status != 200:
                raise SystemExit(f"{ROUTES[len(took) % len(ROUTES)]} answered {answer.status}")
            took.append(time.perf_counter() - began)
        worked = time.process_time() - worked
        if stream is not None:
            stream.close()
            stream = None
        print(json.dumps([took, worked]), flush=True)


def steps(batches: Iterator[tensorcache.Batch], seconds: float) -> float:
    """Return steps per second; a step is a forward and a backward product of a batch."""
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
    """Repeat epochs without end."""
    while True:
        yield from feed


def payload(control: Control) -> int:
    """Return the bytes of the dashboard's page and files, as sent to a logged-in browser."""
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


def processor_time(pid: int) -> float:
    """Return the CPU seconds of a process over all cores; nan on systems other than Linux."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return float("nan")
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(rounds: int) -> None:
    """Print the tables."""
    cache = tensorcache.connect()
    data = cache.load(
        "etth1", ROOT / "examples" / "data" / "ETTh1.csv", time="date", scale="standard"
    )
    home = Path(os.environ["TENSORCACHE_DIR"])
    socket = str(home / json.loads((home / "daemon.json").read_text())["control"])
    daemon = cache.health()["pid"]
    other = subprocess.Popen(
        [sys.executable, __file__, "--look-on", socket],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert other.stdin is not None
    assert other.stdout is not None
    lost: dict[int, list[float]] = {pace: [] for pace, _ in PACES}
    asked: dict[int, list[float]] = {pace: [] for pace, _ in PACES}
    worked: dict[int, list[float]] = {pace: [] for pace, _ in PACES}
    with data.windows(context_length=336, prediction_length=96).feed(
        batch_size=32, order="shuffle"
    ) as feed:
        batches = forever(feed)
        steps(batches, 1)
        for _ in range(rounds):
            for pace, _ in PACES:
                before = processor_time(daemon)
                quiet = steps(batches, 1)
                between = processor_time(daemon)
                other.stdin.write(json.dumps([1, pace]) + "\n")
                other.stdin.flush()
                loud = steps(batches, 1)
                took, by_asker = json.loads(other.stdout.readline())
                by_daemon = (processor_time(daemon) - between) - (between - before) * loud / quiet
                lost[pace].append(1 - loud / quiet)
                asked[pace] += took
                worked[pace].append((by_daemon + by_asker) / len(took))
    other.stdin.close()
    other.wait()
    cold = []
    for _ in range(31):
        began = time.perf_counter()
        subprocess.run([find_binary(), "ls"], check=True, stdout=subprocess.DEVNULL)
        cold.append(time.perf_counter() - began)
    total = payload(Control(socket, os.environ["TENSORCACHE_DIR"]))
    cache.stop()
    print(
        "| asked beside a feed | requests a second | 99th percentile | processor time of one | "
        "steps lost | bar | |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for pace, who in PACES:
        took, share = sorted(asked[pace]), statistics.median(lost[pace])
        bar = f"< {100 * BAR:.0f} % | {'held' if share < BAR else '**missed**'}" if pace else " | "
        print(
            f"| {who} | {len(took) / rounds:,.0f} | {1e3 * took[int(0.99 * len(took))]:.1f} ms "
            f"| {1e6 * statistics.median(worked[pace]):.0f} µs | {100 * share:.1f} % | {bar} |"
        )
    rows = [
        (
            "`ls` from a cold start",
            f"{1e3 * statistics.median(cold):.1f} ms",
            "< 20 ms",
            statistics.median(cold) < 0.02,
        ),
        ("the dashboard's payload", f"{total / 1e3:,.0f} kB", "< 200 kB", total < 200e3),
    ]
    print("\n| what | measured | bar | |\n| --- | --- | --- | --- |")
    for what, measured, bar, held in rows:
        print(f"| {what} | {measured} | {bar} | {'held' if held else '**missed**'} |")


def main() -> None:
    """Measure, or run as the process that sends requests."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
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
