"""Portable datasets open, or load, on the machine that uses them, and refuse other content.

A cache directory with a daemon of its own stands for a machine.
"""

from __future__ import annotations

import copy
import os
import pickle
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorcache
from daemon import leave, wait_until

Move = Callable[[str], Path]


@pytest.fixture
def move(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[str], Path]]:
    """A function that makes this process one of the machine with a name."""
    machines: dict[str, Path] = {}

    def to(name: str) -> Path:
        machines[name] = tmp_path / name
        monkeypatch.setenv("TENSORCACHE_DIR", str(machines[name]))
        return machines[name]

    yield to
    for directory in machines.values():
        if directory.exists():
            leave(directory)


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    """A file of two items."""
    path = tmp_path / "prices.csv"
    write(path, range(60))
    return path


def write(path: Path, values: Any) -> None:
    rows = [f"{'ab'[i % 2]},{i // 2},{value}" for i, value in enumerate(values)]
    path.write_text("\n".join(["id,t,v", *rows, ""]))


def load(path: Any, **options: Any) -> tensorcache.Portable:
    return tensorcache.portable("prices", path, item_id="id", time="t", sort=True, **options)


def size_of(pickled: bytes, *paths: Path) -> int:
    """How many bytes are pickled beside paths."""
    return len(pickled) - sum(pickled.count(str(path).encode()) * len(str(path)) for path in paths)


def jobs() -> list[Any]:
    """The jobs of this machine's daemon."""
    return list(tensorcache.connect()._server.control.get("/v1/jobs")["jobs"])


def values_of(windows: tensorcache.Windows) -> list[list[float]]:
    feed = windows.feed(batch_size=7, order="shuffle", seed=3)
    with feed as batches:
        return [batch.context[:, :, 0].ravel().tolist() for batch in batches]


def test_windows_load_on_another_machine_once_and_are_the_same(move: Move, prices: Path) -> None:
    here = move("one")
    data = load(prices, scale="standard", fit_fraction=0.7)
    windows = data.windows(context_length=4, prediction_length=1)
    train, val = windows.split(fractions=[0.7, 0.3])
    pickled = pickle.dumps((train, val.where(items="b"), windows.latest(), data))
    assert size_of(pickled, prices) < 2048
    assert str(here).encode() not in pickled
    there = move("two")
    train_there, val_there, latest, again = pickle.loads(pickled)
    assert not there.exists(), "unpickling does nothing"
    assert values_of(train_there) == values_of(train)
    assert np.array_equal(val_there[3].context, val.where(items="b")[3].context)
    assert len(latest) == 2
    assert again.digest == data.digest
    assert np.array_equal(again["v"], data["v"])
    assert again.generation == 1
    assert len(jobs()) == 1, "the first use loaded, the others opened"
    assert train_there.dataset._server.dir == str(there)
    assert data._server.dir == str(here)


def test_what_was_unpickled_is_cut_and_pickled_further(move: Move, prices: Path) -> None:
    move("one")
    windows = load(prices).windows(context_length=4, prediction_length=1)
    pickled = pickle.dumps(windows)
    move("two")
    travelled = pickle.loads(pickle.dumps(pickle.loads(pickled)))
    parts = pickle.loads(pickle.dumps(travelled.split(lengths=[20, None])[1]))
    assert len(parts) == len(windows.split(lengths=[20, None])[1])
    folds = travelled.backtest(folds=2, horizon=3)
    assert [len(test) for _, test in folds] == [
        len(test) for _, test in windows.backtest(folds=2, horizon=3)
    ]
    assert len(travelled) == len(windows)
    assert repr(travelled) == repr(windows)


def test_scaled_copies_travel(move: Move, prices: Path) -> None:
    move("one")
    data = load(prices)
    spec: dict[str, Any] = {"context_length": 4, "prediction_length": 1}
    train, _ = data.windows(**spec).split(fractions=[0.7, 0.3])
    scaled = data.scaled("standard", fit=train)
    assert isinstance(scaled, tensorcache.Portable)
    windows = scaled.windows(**spec)
    pickled = pickle.dumps(windows)
    assert size_of(pickled, prices) < 2048
    move("two")
    travelled = pickle.loads(pickled)
    assert values_of(travelled) == values_of(windows)
    assert travelled.dataset.name == scaled.name
    cache = tensorcache.connect()
    assert [d["dataset"] for d in cache.datasets()] == ["prices", scaled.name]
    cache.remove("prices")
    assert len(pickle.loads(pickled)) == len(windows), "still open"
    again = pickle.loads(pickle.dumps(travelled.dataset.windows(**spec)))
    del travelled
    assert values_of(again) == values_of(windows)


def test_a_feed_of_portable_windows_reconnects_unless_told_otherwise(
    move: Move, prices: Path
) -> None:
    move("one")
    data = load(prices)
    windows = data.windows(context_length=4)
    with windows.feed(batch_size=2) as feed:
        assert feed._reconnect
    with windows.feed(batch_size=2, reconnect=False) as feed:
        assert not feed._reconnect
    plain = tensorcache.connect().dataset("prices").windows(context_length=4)
    with plain.feed(batch_size=2) as feed:
        assert not feed._reconnect


def test_the_state_of_one_machine_continues_on_another(move: Move, prices: Path) -> None:
    move("one")
    windows = load(prices).windows(context_length=4)
    with windows.feed(batch_size=3, order="shuffle") as feed:
        batches = [batch.start.tolist() for batch in feed]
        for _, batch in zip(range(4), feed, strict=False):
            last = batch.start.tolist()
        state = feed.state_dict()
    pickled = pickle.dumps(windows)
    move("two")
    with pickle.loads(pickled).feed(batch_size=3, order="shuffle") as feed:
        feed.load_state_dict(state)
        rest = [batch.start.tolist() for batch in feed]
    assert last not in rest
    assert len(rest) == len(batches) - 4


def test_other_content_under_the_name_does_not_matter(move: Move, prices: Path) -> None:
    move("one")
    data = load(prices)
    pickled = pickle.dumps(data)
    there = move("two")
    held = pickle.loads(pickled)
    assert held["v"][5] == data["v"][5]
    cache = tensorcache.connect()
    newest = cache.put("prices", {"v": [1.0, 2.0]})
    assert pickle.loads(pickled).generation == held.generation, "opened by its digest"
    held.close()
    again = pickle.loads(pickled)
    assert np.array_equal(again["v"], data["v"])
    assert again.generation > newest.generation, "loaded again"
    assert there.exists()


def test_an_edited_source_is_refused_by_name(move: Move, prices: Path) -> None:
    move("one")
    pickled = pickle.dumps(load(prices).windows(context_length=4))
    before = prices.stat().st_size
    write(prices, range(100, 160))
    move("two")
    windows = pickle.loads(pickled)
    with pytest.raises(tensorcache.StaleError) as caught:
        windows.feed(batch_size=2)
    assert f'"{prices}" has {prices.stat().st_size} bytes of 2' in caught.value.detail
    assert f"and had {before} bytes of 2" in caught.value.detail
    assert "has digest" in caught.value.detail
    with pytest.raises(tensorcache.StaleError):
        len(windows)
    write(prices, range(60))
    assert len(windows) == 54, "the file is as it was"


def test_patterns_are_expanded_where_they_are_used(move: Move, tmp_path: Path) -> None:
    folder = tmp_path / "days"
    folder.mkdir()
    for day in range(12):
        write(folder / f"{day:02}.csv", range(day, day + 4))
    move("one")
    data = tensorcache.portable("days", str(folder / "*.csv"), columns=["v"])
    pickled = pickle.dumps(data)
    assert size_of(pickled, folder) < 2048
    move("two")
    assert np.array_equal(pickle.loads(pickled)["v"], data["v"])
    write(folder / "12.csv", range(4))
    move("three")
    with pytest.raises(
        tensorcache.StaleError, match=r" on \S+, want .* it has 13 files, and had 12"
    ):
        len(pickle.loads(pickled))
    (folder / "05.csv").unlink()
    (folder / "12.csv").unlink()
    move("four")
    with pytest.raises(
        tensorcache.StaleError, match=r'has the file "\S+/06.csv", and had "\S+/05.csv"'
    ):
        len(pickle.loads(pickled))


def test_relative_paths_are_those_of_who_loads_first(
    move: Move, prices: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    move("one")
    monkeypatch.chdir(prices.parent)
    data = load("prices.csv")
    monkeypatch.chdir("/")
    move("two")
    assert pickle.loads(pickle.dumps(data)).digest == data.digest


def test_many_threads_load_once(move: Move, prices: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    move("one")
    pickled = pickle.dumps(load(prices))
    move("two")
    travelled = pickle.loads(pickled)
    found: list[float] = []
    opened: list[Any] = []
    really = tensorcache.Portable._open_or_load

    def counted(self: tensorcache.Portable, *given: Any) -> None:
        opened.append(self)
        really(self, *given)

    monkeypatch.setattr(tensorcache.Portable, "_open_or_load", counted)
    threads = [threading.Thread(target=lambda: found.append(travelled["v"][7])) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1
    assert opened == [travelled]
    assert len(jobs()) == 1


@pytest.mark.parametrize(
    ("sources", "options", "says"),
    [
        ({"v": [1.0]}, {}, "sources: got dict, want files that every machine reaches"),
        ([{"v": 1.0}], {}, "sources: got "),
        ("x.csv", {"storage_options": {"key": "k"}}, "storage_options: got some, want none"),
        ("", {}, 'sources: got "", want the path of a file'),
        ([], {}, "sources: got none"),
        (["x.csv", "http://localhost/y.csv"], {}, "got local files and URLs"),
        ("http://me:secret@localhost/x.csv", {}, r'"http://localhost/x.csv" has credentials'),
        ("http://[bad/x.csv", {}, "want a host and a number as its port"),
        ("abfs://box@account.host/x.csv", {}, "adlfs is not installed"),
        ("x.csv", {"scale": "big"}, "scale"),
        ("x.csv", {"colums": ["v"]}, "colums"),
    ],
)
def test_what_cannot_be_portable_is_refused(
    move: Move, sources: Any, options: dict[str, Any], says: str
) -> None:
    move("one")
    with pytest.raises((tensorcache.TensorcacheError, TypeError), match=says):
        tensorcache.portable("x", sources, **options)


def test_only_what_needs_the_content_opens_it(move: Move, prices: Path) -> None:
    move("one")
    data = load(prices)
    there = move("two")
    travelled, windows = pickle.loads(pickle.dumps((data, data.windows(context_length=4))))
    assert (travelled.name, travelled.digest) == ("prices", data.digest)
    assert repr(travelled) == '<Portable "prices", not open yet>'
    assert repr(windows) == '<Windows of "prices", not open yet: context_length 4>'
    for name in ("window", "_repr_mimebundle_", "__array_interface__"):
        assert not hasattr(travelled, name)
    with pytest.raises(AttributeError, match="no attribute 'window'"):
        travelled.__getattr__("window")
    travelled.close()
    with travelled:
        pass
    assert not there.exists()
    assert len(travelled) == 60, "what was not open is not closed"
    assert repr(travelled).startswith('<Portable "prices" generation 1: 60 rows, 2 items, ')


def test_attributes_of_open_datasets_are_listed(move: Move, prices: Path) -> None:
    move("one")
    load(prices)
    plain = tensorcache.connect().dataset("prices")
    assert set(vars(plain)) - {"name", "digest"} == tensorcache._portable.ONLY_OPEN


def test_windows_that_are_unpickled_share_what_is_open(move: Move, prices: Path) -> None:
    move("one")
    data = load(prices)
    pickled = pickle.dumps(data.windows(context_length=4))
    first, second = pickle.loads(pickled), copy.deepcopy(pickle.loads(pickled))
    assert first.dataset is second.dataset
    first.dataset["v"]
    first.dataset.close()
    with pytest.raises(tensorcache.StaleError, match="makes it again"):
        first.latest()
    assert len(pickle.loads(pickled).latest()) == 2, "opened anew"


def test_what_is_unpickled_after_the_daemon_ended_opens_anew(move: Move, prices: Path) -> None:
    move("one")
    plain = load(prices).windows(context_length=4)
    pickled = [pickle.dumps(each) for each in (plain, tensorcache.connect().dataset("prices"))]
    for each in pickled:
        used = pickle.loads(each)
        assert len(used)
        data = getattr(used, "dataset", used)
        assert getattr(pickle.loads(each), "dataset", data) is data
        os.kill(tensorcache.connect().health()["pid"], signal.SIGKILL)
        wait_until(lambda data=data: not data._is_leased(), "the daemon lives")
        again = pickle.loads(each)
        data = getattr(again, "dataset", again)
        assert len(data.windows(context_length=4).latest()) == 2


def test_equal_content_of_other_files_is_loaded_from_them(move: Move, prices: Path) -> None:
    move("one")
    copied = prices.with_name("copied.csv")
    copied.write_bytes(prices.read_bytes())
    pickled = [pickle.dumps(load(path)) for path in (prices, copied)]
    prices.unlink()
    move("two")
    first, second = map(pickle.loads, pickled)
    with pytest.raises(tensorcache.SourceError, match=r'^dataset "prices" is not in the cache of '):
        len(first)
    assert len(second) == 60


def test_a_child_opens_although_a_thread_of_its_parent_loads(move: Move, prices: Path) -> None:
    move("one")
    pickled = pickle.dumps(load(prices))
    travelled = pickle.loads(pickled)
    with travelled._lock:
        child = os.fork()
        if not child:
            signal.alarm(60)  # instead of waiting for ever
            os._exit(0 if travelled["v"][7] == 14 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_file_of_another_size_is_named_before_copies_with_another_time(
    move: Move, tmp_path: Path
) -> None:
    paths = [tmp_path / f"{i}.csv" for i in range(3)]
    for path in paths:
        write(path, range(4))
    move("one")
    pickled = pickle.dumps(tensorcache.portable("days", iter(paths), columns=["v"]))
    os.utime(paths[0], (0, 1))
    write(paths[2], range(10, 14))
    move("two")
    with pytest.raises(
        tensorcache.StaleError, match=r'"\S+/2.csv" has 35 bytes of .*, and had 31 '
    ):
        len(pickle.loads(pickled))


def test_a_loader_continues_when_the_daemon_is_killed(move: Move, prices: Path) -> None:
    move("one")
    windows = load(prices).windows(context_length=4)
    with windows.feed(batch_size=2, order="shuffle") as feed:
        whole = [batch.start.tolist() for batch in feed]
    with windows.feed(batch_size=2, order="shuffle", slots=3) as feed:
        got = []
        for batch in feed:
            got.append(batch.start.tolist())
            if len(got) == 2:
                os.kill(tensorcache.connect().health()["pid"], signal.SIGKILL)
    assert got == whole
