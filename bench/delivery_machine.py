"""The machine of the measurement, and the share of it that other processes used."""

from __future__ import annotations

import json
import os
import platform
import resource
import time
from pathlib import Path

STAT = Path("/proc/stat")
TICK = os.sysconf("SC_CLK_TCK")


def machine() -> str:
    """Return a description of the machine."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.partition(": ")[2]
            for line in info.read_text().splitlines()
            if line.startswith("model name")
        ]
        cpu = names[0] if names else cpu
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    system = f"{platform.system()}, Python {platform.python_version()}"
    return f"{os.cpu_count()} cores of {cpu}, {memory:.0f} GiB, {system}"


class Others:
    """The share of the machine's CPU time that neither a group's processes nor its daemon used."""

    def __init__(self) -> None:
        self.began, self.busy, self.own = time.perf_counter(), busy(), of_children()

    def share(self, directory: Path) -> float | None:
        """Return the share since this object was created; None if the system has no /proc/stat.

        Call it when the group has ended and its daemon still runs.
        """
        if not STAT.exists():
            return None
        own = of_children() - self.own + of_daemon(directory)
        cores = os.cpu_count() or 1
        return max(0.0, busy() - self.busy - own) / cores / (time.perf_counter() - self.began)


def busy() -> float:
    """Return the CPU seconds used since boot by all processes, including steal time of the host."""
    if not STAT.exists():
        return 0.0
    user, nice, system, _, _, irq, softirq, steal, *_ = map(
        int, STAT.read_text().split("\n", 1)[0].split()[1:]
    )
    return (user + nice + system + irq + softirq + steal) / TICK


def of_children() -> float:
    """Return the CPU seconds of this process's children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def of_daemon(directory: Path) -> float:
    """Return the CPU seconds of a directory's daemon and its loads; 0 if no daemon runs."""
    reply = directory / "daemon.json"
    try:
        stat = Path(f"/proc/{json.loads(reply.read_text())['pid']}/stat").read_text()
    except (FileNotFoundError, KeyError):
        return 0.0
    return sum(map(int, stat.rpartition(")")[2].split()[11:15])) / TICK
