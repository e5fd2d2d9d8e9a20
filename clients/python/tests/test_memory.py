"""Memory: all trainers share one copy of the data, and a load uses little anonymous memory."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tensorcache
from daemon import children
from tensorcache._daemon import binary

LIMIT = 96 << 20
ROWS, COLUMNS = 16_000_000, 8  # a Parquet file of 1 GB


@pytest.fixture(scope="module", autouse=True)
def shipped_binary(home: Path) -> Iterator[None]:
    """Use the binary that users run, if there is one, with two workers a load.

    A build with the race detector uses more memory, and so does each worker.
    """
    named = os.environ.pop("TENSORCACHE_BIN")
    os.environ["GOMAXPROCS"] = "2"
    try:
        os.environ["TENSORCACHE_BIN"] = binary.find_binary()
    except tensorcache.DaemonError:
        os.environ["TENSORCACHE_BIN"] = named
    yield
    os.environ["TENSORCACHE_BIN"] = named
    del os.environ["GOMAXPROCS"]


def anonymous(pids: list[int]) -> int:
    """Return the anonymous memory of processes, in bytes; an ended process counts as 0."""
    total = 0
    for pid in pids:
        try:
            lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) << 10 for line in lines if line.startswith("RssAnon:"))
    return total


def mapped(pid: int, path: Path) -> tuple[int, int]:
    """Return the resident (RSS) and proportional (PSS) size of a mapped file, in bytes."""
    rss = pss = 0
    inside = False
    for line in Path(f"/proc/{pid}/smaps").read_text().splitlines():
        if "-" in line.split()[0]:
            inside = line.endswith(str(path))
        elif inside and line.startswith("Rss:"):
            rss += int(line.split()[1]) << 10
        elif inside and line.startswith("Pss:"):
            pss += int(line.split()[1]) << 10
    return rss, pss


@pytest.fixture(scope="module")
def gigabyte(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a Parquet file of 1 GB: 8 float64 columns of random, incompressible numbers."""
    path = tmp_path_factory.mktemp("big") / "gigabyte.parquet"
    rng = np.random.default_rng(0)
    chunk = 1_000_000
    schema = pa.schema([(f"c{i}", pa.float64()) for i in range(COLUMNS)])
    with pq.ParquetWriter(path, schema, compression="snappy", use_dictionary=False) as writer:
        for _ in range(ROWS // chunk):
            writer.write_table(pa.table([rng.random(chunk) for _ in range(COLUMNS)], schema=schema))
    assert path.stat().st_size > 1_000_000_000
    yield path
    path.unlink()


@pytest.mark.parametrize(
    "options", [{}, {"dtype": "float32", "scale": "standard", "layout": "packed"}]
)
def test_loading_a_gigabyte_takes_little_memory_of_its_own(
    cache: tensorcache.Cache, home: Path, gigabyte: Path, options: dict[str, str]
) -> None:
    peak = load_and_watch(cache, home, gigabyte, options)
    assert peak < LIMIT, f"{peak / 2**20:.0f} MiB of anonymous memory"


def test_loading_a_gigabyte_of_text_takes_little_memory_of_its_own(
    cache: tensorcache.Cache, home: Path, tmp_path: Path
) -> None:
    path = tmp_path / "gigabyte.csv"
    rng = np.random.default_rng(0)
    block = "\n".join(",".join(f"{v:.6f}" for v in row) for row in rng.random((100_000, 8)) * 1000)
    with path.open("w") as file:
        file.write(",".join(f"c{i}" for i in range(8)) + "\n")
        while file.tell() < 1_000_000_000:
            file.write(block + "\n")
    peak = load_and_watch(cache, home, path, {"dtype": "float32"})
    path.unlink()
    assert peak < LIMIT, f"{peak / 2**20:.0f} MiB of anonymous memory"


@pytest.mark.parametrize("how", ["put", "file", "lz4"])
def test_one_batch_of_everything_takes_little_memory_of_its_own(
    cache: tensorcache.Cache, home: Path, tmp_path: Path, how: str
) -> None:
    """A table is often written as a single batch; Arrow's reader keeps two copies in memory."""
    rows = 2_000_000
    rng = np.random.default_rng(0)
    columns: dict[str, pa.Array] = {f"c{i}": pa.array(rng.random(rows)) for i in range(COLUMNS - 4)}
    columns["bool"] = pa.array(rng.random(rows) < 0.5)
    columns["text"] = pa.array(
        np.array(["some words", "a much longer text"], object)[rng.integers(0, 2, rows)]
    )
    columns["few"] = columns["text"].dictionary_encode()
    columns["decimal"] = pa.array(rng.integers(0, 10**6, rows)).cast(pa.decimal128(19, 0))
    table = pa.table(columns)
    path = tmp_path / "one.arrow"
    options = pa.ipc.IpcWriteOptions(compression="lz4" if how == "lz4" else None)
    with (pa.ipc.new_stream if how == "put" else pa.ipc.new_file)(
        path, table.schema, options=options
    ) as writer:
        writer.write_batch(table.to_batches()[0])

    def put() -> None:
        command = [os.environ["TENSORCACHE_BIN"], "put", "big"]
        with path.open("rb") as file:
            subprocess.run(command, stdin=file, check=True, stdout=subprocess.DEVNULL)

    peak = load_and_watch(cache, home, path, {}, put if how == "put" else None)
    assert peak < LIMIT, f"{peak / 2**20:.0f} MiB of anonymous memory"


def load_and_watch(
    cache: tensorcache.Cache,
    home: Path,
    path: Path,
    options: dict[str, str],
    load: Callable[[], None] | None = None,
) -> int:
    """Return the peak anonymous memory of the daemon and its child during a load, in bytes."""
    done = threading.Event()
    peak = 0

    def watch() -> None:
        nonlocal peak
        daemon = cache.health()["pid"]
        while not done.wait(0.01):
            peak = max(peak, anonymous([daemon, *children(daemon)]))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        if load is None:
            data = cache.load("big", path, **options)  # type: ignore[arg-type]
        else:
            load()
            data = cache.dataset("big")
        assert len(data.columns) == COLUMNS
    finally:
        done.set()
        watcher.join()
    data.close()
    cache.remove("big")
    assert peak > 0
    return peak


TRAINER = """if True:
    import sys, tensorcache
    data = tensorcache.connect(autostart=False).dataset("shared")
    windows = data.windows(context_length=64, prediction_length=16)
    columns = [data[name] for name in data.columns]
    total = sum(float(column.sum()) for column in columns)
    with windows.feed(batch_size=256, order="shuffle", seed=int(sys.argv[1])) as feed:
        for _, batch in zip(range(100), feed):
            total += float(batch.context[0, 0, 0])
        print("ready", flush=True)
        sys.stdin.read()
"""


@pytest.mark.portable
def test_two_trainers_hold_the_data_once(cache: tensorcache.Cache, home: Path) -> None:
    rows = 4_000_000
    columns = {f"c{i}": np.full(rows, i, np.float32) for i in range(4)}
    size = sum(column.nbytes for column in columns.values())
    cache.put("shared", columns).close()
    # The kernel may drop pages that are not pinned.
    subprocess.run([binary.find_binary(), "pin", "shared"], check=True)
    path = home / "datasets" / "shared" / "1" / "data.arrow"
    trainers = [
        subprocess.Popen(
            [sys.executable, "-c", TRAINER, str(seed)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in range(2)
    ]
    try:
        for trainer in trainers:
            assert trainer.stdout is not None
            assert trainer.stdout.readline() == "ready\n"
        sizes = [
            mapped(pid, path)
            for pid in [cache.health()["pid"], *(trainer.pid for trainer in trainers)]
        ]
        assert all(rss >= size for rss, _ in sizes[1:]), "each trainer sees all of it"
        assert sum(pss for _, pss in sizes) <= 1.05 * path.stat().st_size, (
            "together they hold it once"
        )
    finally:
        for trainer in trainers:
            trainer.communicate("")
