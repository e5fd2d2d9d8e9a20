"""``kill -9`` of trainers or the daemon in mid-epoch; new trainers resume from the saved state."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from typing import Any

import pytest

import tensorcache
from daemon import wait_until

pytestmark = pytest.mark.portable

SPEC = {"context_length": 24, "prediction_length": 6, "stride": 24}
LANES = {"context_length": 24, "stride": 24}
BEFORE, AFTER = (4, 3), (6, 2)
"""Batch size and ranks before and after."""
STEPS = 11

TRAINER = """if True:
    import json, sys, tensorcache
    spec, options = json.loads(sys.argv[1])
    windows = tensorcache.connect(autostart=False).dataset("etth1").windows(**spec)
    with windows.feed(**options) as feed:
        feed.set_epoch(2)
        for batch in feed:
            print(json.dumps([batch.start.tolist(), feed.state_dict()]), flush=True)
            sys.stdin.readline()  # the step
"""


def windows_of(spec: dict[str, Any]) -> tensorcache.Windows:
    return tensorcache.connect().dataset("etth1").windows(**spec)


def order_of(spec: dict[str, Any], order: str) -> list[int]:
    """The starts of the whole epoch, as one trainer receives them.

    The number of lanes is the batch size times the ranks; blocks have the batch size of one rank.
    """
    size = {"lanes": BEFORE[0] * BEFORE[1], "random_start": BEFORE[0]}.get(order, 32)
    with windows_of(spec).feed(batch_size=size, order=order, seed=9) as feed:
        feed.set_epoch(2)
        return [start for batch in feed for start in batch.start.tolist()]


def killed_trainers(
    spec: dict[str, Any], options: dict[str, Any]
) -> tuple[list[int], dict[str, Any]]:
    """Windows that trainers consumed before they were killed, and the state they had saved."""
    batch_size, ranks = BEFORE
    processes = []
    for rank in range(ranks):
        share = {
            **options,
            "batch_size": batch_size,
            "rank": rank,
            "num_replicas": ranks,
            "slots": 4,
        }
        argument = json.dumps([spec, share])
        command = [sys.executable, "-c", TRAINER, argument]
        processes.append(
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        )
    seen: list[int] = []
    states = []
    for _ in range(STEPS):
        states = []
        for process in processes:
            assert process.stdout is not None
            assert process.stdin is not None
            starts, state = json.loads(process.stdout.readline())
            seen += starts
            states.append(state)
            process.stdin.write("\n")
            process.stdin.flush()
    for process in processes:
        process.kill()
        process.communicate()
    cache = tensorcache.connect()
    wait_until(lambda: not cache.feeds(), "feeds of killed trainers are left")
    assert all(state == states[0] for state in states)
    return seen, states[0]


def killed_daemon(
    spec: dict[str, Any], options: dict[str, Any]
) -> tuple[list[int], dict[str, Any]]:
    """Windows that trainers consumed before the daemon was killed, and their state then."""
    batch_size, ranks = BEFORE
    windows = windows_of(spec)
    feeds = [
        windows.feed(batch_size=batch_size, rank=rank, num_replicas=ranks, **options)
        for rank in range(ranks)
    ]
    for feed in feeds:
        feed.set_epoch(2)
    passes = [iter(feed) for feed in feeds]
    seen = [start for _ in range(STEPS) for one in passes for start in next(one).start.tolist()]
    os.kill(tensorcache.connect().health()["pid"], signal.SIGKILL)
    states = [feed.state_dict() for feed in feeds]
    for feed in feeds:
        feed.close()
    assert all(state == states[0] for state in states)
    return seen, states[0]


@pytest.mark.parametrize("killed", [killed_trainers, killed_daemon], ids=["trainers", "daemon"])
@pytest.mark.parametrize(
    ("order", "tail"),
    [("shuffle", "short"), ("shuffle", "wrap"), ("shuffle", "drop"), ("sequential", "short"),
     ("bootstrap", "short"),
     ("random_start", "short"), ("lanes", "short"), ("lanes", "wrap"), ("lanes", "drop")],
)  # fmt: skip
def test_other_ranks_go_on_where_the_state_was_saved(
    etth1: tensorcache.Dataset, order: str, tail: str, killed: Any
) -> None:
    spec = LANES if order == "lanes" else SPEC
    options = {"order": order, "seed": 9, "tail": tail}
    whole = order_of(spec, order)
    seen, state = killed(spec, options)
    state = json.loads(json.dumps(state))
    batch_size, ranks = AFTER if order != "random_start" else (BEFORE[0], AFTER[1])
    dealt = []
    for rank in range(ranks):
        with windows_of(spec).feed(
            batch_size=batch_size, rank=rank, num_replicas=ranks, **options
        ) as feed:
            feed.load_state_dict(state)
            dealt.append([batch.start.tolist() for batch in feed])
            assert feed.state_dict()["epoch"] == 3
    rest = [
        start
        for step in itertools.zip_longest(*dealt, fillvalue=[])
        for batch in step
        for start in batch
    ]
    if order != "random_start":  # its steps differ in size
        assert state["consumed"] == len(seen) == STEPS * BEFORE[0] * BEFORE[1]
        assert seen == whole[: len(seen)]
    left = (len(whole) - len(seen)) % (batch_size * ranks)
    if tail == "short":
        assert Counter(seen + rest) == Counter(whole)
        assert seen + rest == whole
    elif tail == "wrap":
        assert left, "the case has a last, incomplete step"
        assert seen + rest == whole + whole[: batch_size * ranks - left]
    else:
        assert left
        assert seen + rest == whole[: len(whole) - left]
