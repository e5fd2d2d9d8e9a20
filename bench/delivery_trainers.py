"""Four trainers at once over one dataset, each in its own order: throughput and memory."""

from __future__ import annotations

import gc
import itertools
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from delivery_case import (
    NotMeasuredError,
    Options,
    Result,
    Shape,
    by_turns,
    connect,
    forever,
    middle,
    millions,
    put,
    rate,
    ratio,
    table,
)  # fmt: skip

TRAINERS = 4
HERE = Path(__file__).parent


def pss(pid: int) -> int:
    """Return the proportional set size (PSS) of a process, in bytes."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    raise ValueError(f"no Pss of process {pid}")


class Trainer:
    """A process that reads one command per line and answers each."""

    def __init__(self, seed: int, shape: Shape) -> None:
        job = json.dumps({"seed": seed, "rows": shape.rows})
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "delivery_trainers.py"), job],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.hear()

    def say(self, word: object) -> None:
        """Send it a command."""
        assert self.process.stdin
        self.process.stdin.write(f"{json.dumps(word)}\n")
        self.process.stdin.flush()

    def hear(self) -> Any:
        """Return its next answer."""
        assert self.process.stdout
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("a trainer ended")
        return json.loads(line)


def together(trainers: list[Trainer], seconds: float) -> Callable[[], float]:
    """Return a case that measures the windows per second of all these trainers together."""

    def case() -> float:
        for trainer in trainers:
            trainer.say(seconds)
        return sum(trainer.hear() for trainer in trainers)

    return case


def four(options: Options) -> Result:
    """Compare four trainers with one, and their memory with that of one dataset and four rings."""
    if not Path("/proc/self/smaps_rollup").exists():
        raise NotMeasuredError("this system does not tell shares of memory")
    result, shape = Result(), options.shape()
    daemon = connect().health()["pid"]
    trainers = [Trainer(seed, shape) for seed in range(TRAINERS)]
    try:
        pids = [daemon, *(trainer.process.pid for trainer in trainers)]
        # Attach to a tiny dataset first, so that `before` includes the fixed memory of a feed.
        put("packed", table(Shape(1000)), "packed")
        for word, trainer in itertools.product(("attach", "detach"), trainers):
            trainer.say(word)
            trainer.hear()
        connect().remove("packed")
        before = sum(map(pss, pids))
        data = put("packed", table(shape), "packed")
        for trainer in trainers:
            trainer.say("attach")
            trainer.hear()
        seconds = options.seconds * 2
        cases = {"one": together(trainers[:1], seconds), "four": together(trainers, seconds)}
        by_turns(cases, 1)
        measured = by_turns(cases, options.runs)
        rings = 0
        for trainer in trainers:
            trainer.say("ring")
            rings += trainer.hear()
        more, own = sum(map(pss, pids)) - before, sum(data[name].nbytes for name in data.columns)
    finally:
        for trainer in trainers:
            trainer.process.kill()
            trainer.process.wait()
    value = millions(middle(measured, "four"))
    alone = f"alone {millions(middle(measured, 'one'))}"
    result.at_least(
        "4 trainers at once, different orders",
        value,
        ratio(measured, "four", "one"),
        "one alone",
        0.9,
        alone,
    )
    value = f"{more / 2**20:.0f} MiB"
    need = (
        f"data {own / 2**20:.0f} MiB, rings {rings / 2**20:.0f} MiB; daemon and trainers, "
        "beyond what they had before"
    )
    result.at_most("sum of PSS", value, more / (own + rings), "data + rings", 1.05, need)
    return result


def main() -> None:
    """Run one trainer process.

    It answers 0 after it has imported torch, the ring's bytes to "attach" and "ring", and a rate to
    a number of seconds.
    """
    import torch

    from tensorcache import torch as adapter

    torch.set_num_threads(1)
    job = json.loads(sys.argv[1])
    batch, loader, batches = 256, None, iter(())
    print(0, flush=True)
    for line in sys.stdin:
        word = json.loads(line)
        if isinstance(word, float):
            print(rate(batches, word) * batch, flush=True)
            continue
        if word == "attach":
            data = connect().dataset("packed")
            for name in data.columns:
                data[name].sum()  # maps the column's pages into this process
            windows = data.windows(context_length=96, prediction_length=24)
            loader = adapter.loader(windows, batch_size=batch, shuffle=True, seed=job["seed"])
            batches = reading(forever(loader))
            rate(batches, 0.1)
        assert loader
        if word == "detach":
            loader.close()
            loader = batches = None
            gc.collect()
            print(0, flush=True)
            continue
        stats = loader.stats()
        print(stats["slots"] * stats["slot_bytes"], flush=True)


def reading(batches: Iterator[Any]) -> Iterator[Any]:
    """Touch a value on each page of the first batches, so that this process maps the ring too."""
    for count, (context, target) in enumerate(batches):
        if count < 1024:
            context.flatten()[::1024].sum()
            target.flatten()[::1024].sum()
        yield count


if __name__ == "__main__":
    main()
