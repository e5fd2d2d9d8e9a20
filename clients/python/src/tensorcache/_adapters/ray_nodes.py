"""Opening a portable dataset on all nodes of a Ray cluster."""

from __future__ import annotations

import contextlib
import re
import time
import warnings
from collections.abc import Iterable
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError, RuntimeEnvSetupError, TaskUnschedulableError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from .._errors import DaemonError, LoadWarning, SpecError, TensorcacheError
from .._portable import Portable

POLL_SECONDS = 1.0
"""How many seconds to wait for an answer before the driver checks which nodes have left."""

MAX_NAMED = 3
"""The largest number of nodes that a message names."""


def refuse_client() -> None:
    """Refuse a driver outside the cluster.

    Raises:
        SpecError: Ray Client connects the driver.
    """
    if ray.util.client.ray.is_connected():
        raise SpecError(
            "Ray Client connects the driver, but ray.load needs a driver on the cluster",
            hint="run the driver on the cluster, as `ray job submit` does",
        )


def open_on_all(data: Portable, seconds: float) -> None:
    """Open a dataset on all alive nodes, by a task on each, or load it there.

    Nodes that leave the cluster during the call are ignored.

    Raises:
        TensorcacheError: the first one that was raised on a node; the message begins with the node.
        DaemonError: a node did not answer within the time, or cannot run the task.
    """
    task = ray.remote(num_cpus=0)(open_here)
    waiting: dict[Any, dict[str, Any]] = {}
    deadline = time.monotonic() + seconds
    try:
        for node_id, node in alive().items():
            on_node = task.options(
                name=f"load {data.name}",
                scheduling_strategy=NodeAffinitySchedulingStrategy(node_id, soft=False),
            )
            waiting[on_node.remote(data)] = node
        while waiting:
            left = deadline - time.monotonic()
            done, _ = ray.wait(list(waiting), timeout=max(0, min(left, POLL_SECONDS)))
            for finished in done:
                check(finished, waiting.pop(finished), data.name)
            if done:
                continue
            here = alive()
            gone = [each for each, node in waiting.items() if node["NodeID"] not in here]
            for unfinished in gone:
                cancel(unfinished)
                del waiting[unfinished]
            if left <= 0 and waiting:
                raise DaemonError(
                    f'dataset "{data.name}" is not open after {seconds:g} s on '
                    f"{listed(waiting.values())}",
                    type="load_timeout",
                    hint="give the nodes more time with timeout=",
                )
    finally:
        for unfinished in waiting:
            cancel(unfinished)


def cancel(task: Any) -> None:
    """End a task, unless the driver is disconnected."""
    with contextlib.suppress(RayError):
        ray.cancel(task, force=True)


def open_here(data: Portable) -> TensorcacheError | None:
    """Open the dataset on this node, and return the error instead of raising it.

    Ray wraps an exception of a task in a class of its own.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LoadWarning)  # the driver has shown them
        try:
            data._open(None)
        except TensorcacheError as error:
            return error
    return None


def check(task: Any, node: dict[str, Any], name: str) -> None:
    """Raise what a task has returned or raised, unless its node has left."""
    try:
        error = ray.get(task)
    except TaskUnschedulableError:  # the node is leaving, and takes no tasks
        return
    except RayError as failure:
        if node["NodeID"] not in alive():
            return
        raise DaemonError(
            f'{described(node)} cannot open dataset "{name}": {reason(failure)}',
            type="node_failed",
            hint="install this version of tensorcache, and what the load needs, on every node"
            if isinstance(failure, RayTaskError)
            else "see Ray's logs of the node",
        ) from failure
    if error is not None:
        error.detail = f"on {described(node)}: {error.detail}"
        raise error


def reason(failure: RayError) -> str:
    """The most specific line of a failure: the last one of a traceback, otherwise the first."""
    cause = getattr(failure, "cause", None)
    if isinstance(cause, Exception) and not isinstance(cause, RayError):
        return f"{type(cause).__name__}: {cause}".partition("\n")[0]
    lines = re.sub(r"\x1b\[\d*m", "", str(failure)).strip().splitlines()
    return lines[-1 if isinstance(failure, (RayTaskError, RuntimeEnvSetupError)) else 0]


def alive() -> dict[str, dict[str, Any]]:
    """The alive nodes of the cluster by their ids, the head among them."""
    return {node["NodeID"]: node for node in ray.nodes() if node["Alive"]}


def listed(nodes: Iterable[dict[str, Any]]) -> str:
    """How a message names nodes."""
    names = [described(node) for node in nodes]
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return ", ".join(names[:MAX_NAMED]) + more


def described(node: dict[str, Any]) -> str:
    """How a message names a node."""
    return (
        f"node {node['NodeID'][:8]} ({node['NodeManagerHostname']}, {node['NodeManagerAddress']})"
    )
