"""tensorcache.ray.load opens a dataset on every node of a real Ray cluster."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import ray

import tensorcache
import tensorcache.ray
from daemon import ETTH1, paused_loads, wait_until
from ray_cluster import NODES, RayCluster, on
from tensorcache._adapters import ray_nodes

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


def write(path: Path, rows: int) -> Path:
    path.write_text("t,v\n" + "".join(f"{i},{i}\n" for i in range(rows)))
    return path


def digests(directories: list[Path], name: str) -> set[str]:
    """The digests of the newest generations in some cache directories."""
    return {tensorcache.connect(each, autostart=False).dataset(name).digest for each in directories}


def test_all_nodes_have_the_dataset(ray_cluster: RayCluster, home: Path) -> None:
    data = tensorcache.ray.load("etth1", ETTH1, time="date")
    assert len(ray_cluster.directories) == NODES
    assert digests([home, *ray_cluster.directories[:NODES]], "etth1") == {data.digest}


def test_a_driver_that_is_not_connected_connects(ray_cluster: RayCluster) -> None:
    ray.shutdown()
    try:
        data = tensorcache.ray.load("etth1", ETTH1, time="date", preload=False)
        assert not ray.is_initialized()
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("RAY_ADDRESS", ray_cluster.cluster.address)
            assert tensorcache.ray.load("etth1", ETTH1, time="date").digest == data.digest
        assert ray.get_runtime_context().gcs_address == ray_cluster.cluster.address
    finally:
        ray.shutdown()
        ray_cluster.connect()


def test_a_driver_outside_the_cluster_is_refused(
    ray_cluster: RayCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray.util.client.ray, "is_connected", lambda: True)
    with pytest.raises(tensorcache.SpecError, match="Ray Client connects the driver"):
        tensorcache.ray.load("never", ETTH1, time="date")
    assert "never" not in [each["dataset"] for each in tensorcache.connect().datasets()]


@pytest.mark.parametrize(
    ("options", "want"),
    [
        ({"preload": "yes"}, 'preload: got "yes", want True or False'),
        ({"timeout": 0}, "timeout: got 0, want seconds above 0"),
        ({"timeout": "long"}, 'timeout: got "long", want a number'),
        ({"sources": {"v": [1.0]}}, "sources: got dict, want files that every machine reaches"),
        ({"nodes": 3}, "nodes"),
    ],
)
def test_wrong_arguments_are_refused_before_ray_is_started(
    options: dict[str, Any], want: str, home: Path
) -> None:
    program = (
        "import ray, tensorcache.ray\n"
        "try: tensorcache.ray.load(**({'name': 'x', 'sources': 'x.csv'} | %r))\n"
        "except (tensorcache.SpecError, TypeError) as error: print(error)\n"
        "assert not ray.is_initialized()"
    )
    said = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program % options],
        capture_output=True,
        text=True,
        check=True,
    )
    assert want in said.stdout


def test_without_preload_only_the_driver_loads(ray_cluster: RayCluster, tmp_path: Path) -> None:
    tensorcache.ray.load("lazy", write(tmp_path / "a.csv", 100), time="t", preload=False)
    for directory in ray_cluster.directories[:NODES]:
        cache = tensorcache.connect(directory)
        assert "lazy" not in [each["dataset"] for each in cache.datasets()]


def test_ranks_share_an_epoch(ray_cluster: RayCluster, tmp_path: Path) -> None:
    from ray.train import RunConfig, ScalingConfig
    from ray.train.torch import TorchTrainer

    def train(config: dict[str, Any]) -> None:
        import tensorcache.torch

        loader = tensorcache.torch.loader(
            config["windows"], batch_size=64, shuffle=True, format="dict"
        )
        starts = [batch["start"].tolist() for _ in range(2) for batch in loader]
        context = ray.train.get_context()
        said = {"directory": os.environ["TENSORCACHE_DIR"], "starts": starts}
        Path(config["out"], str(context.get_world_rank())).write_text(json.dumps(said))

    data = tensorcache.ray.load("etth1", ETTH1, time="date")
    windows = data.windows(context_length=24, prediction_length=6)
    TorchTrainer(
        train,
        train_loop_config={"windows": windows, "out": str(tmp_path)},
        scaling_config=ScalingConfig(num_workers=NODES, placement_strategy="STRICT_SPREAD"),
        run_config=RunConfig(storage_path=str(tmp_path / "runs")),
    ).fit()
    ranks = [json.loads((tmp_path / str(rank)).read_text()) for rank in range(NODES)]
    assert {each["directory"] for each in ranks} == set(map(str, ray_cluster.directories[:NODES]))
    steps = -(-len(windows) // (64 * NODES))
    assert [len(each["starts"]) for each in ranks] == [2 * steps] * NODES
    for epoch in (0, 1):
        served = Counter(
            start
            for each in ranks
            for batch in each["starts"][epoch * steps : (epoch + 1) * steps]
            for start in batch
        )
        assert set(served) == set(range(len(windows)))
        assert served.total() - len(served) == steps * 64 * NODES - len(windows)


def trainer(node: Any) -> Any:
    """An actor on a node. It uses a dataset."""

    class Trainer:  # here, so that it is pickled by value
        def pids(self, data: tensorcache.Dataset) -> tuple[int, int]:
            """The process ids of the actor, and of the daemon that serves the dataset here."""
            assert len(data) == 17420
            return os.getpid(), int(tensorcache.connect().health()["pid"])

    return ray.remote(Trainer).options(**on(node)).remote()


def oom_score(pid: int) -> int:
    """What a process adds to its score for the out-of-memory killer."""
    return int(Path(f"/proc/{pid}/oom_score_adj").read_text())


def lowest_oom_score() -> int:
    """0, or the least that a process may set here."""
    script = "echo 0 >/proc/self/oom_score_adj; cat /proc/self/oom_score_adj"
    return int(subprocess.run(["sh", "-c", script], capture_output=True, check=True).stdout)


def test_a_daemon_outlives_the_actor_that_started_it(ray_cluster: RayCluster) -> None:
    data = tensorcache.ray.load("etth1", ETTH1, time="date", preload=False)
    with ray_cluster.added() as node:
        actor = trainer(node)
        own, pid = ray.get(actor.pids.remote(data))
        assert oom_score(own) > oom_score(pid) == lowest_oom_score()
        ray.kill(actor)
        wait_until(lambda: not Path(f"/proc/{own}").exists(), "the actor has not ended")
        other = trainer(node)
        assert ray.get(other.pids.remote(data))[1] == pid
        ray.kill(other)
    cache = tensorcache.connect(ray_cluster.directories[-1], autostart=False)
    assert cache.health()["pid"] == pid


def test_a_new_node_loads_once(ray_cluster: RayCluster) -> None:
    data = tensorcache.ray.load("etth1", ETTH1, time="date", preload=False)

    @ray.remote
    def used(windows: tensorcache.Windows) -> tuple[str, int]:
        return windows.dataset.digest, len(windows)

    windows = data.windows(context_length=24, prediction_length=6)
    with ray_cluster.added() as node:
        tasks = [used.options(**on(node)).remote(windows) for _ in range(3)]
        assert ray.get(tasks) == [(data.digest, len(windows))] * 3
    cache = tensorcache.connect(ray_cluster.directories[-1], autostart=False)
    jobs = cache._server.control.pages("/v1/jobs", "jobs")
    assert [job["hit"] for job in jobs].count(False) == 1, "the others join it or find its content"


def test_a_source_edited_between_two_nodes_is_refused(
    ray_cluster: RayCluster, tmp_path: Path
) -> None:
    path = write(tmp_path / "edited.csv", 100)
    data = tensorcache.ray.load("edited", path, time="t", preload=False)
    windows = data.windows(context_length=4)
    write(path, 101)

    @ray.remote
    def first(windows: tensorcache.Windows) -> str:
        try:
            for batch in windows.feed(batch_size=8):
                return f"served {batch.start}"
        except tensorcache.StaleError as error:
            return error.detail
        return ""

    said = ray.get(first.remote(windows))
    assert f'"{path}" has ' in said
    assert "and had" in said
    with pytest.raises(tensorcache.StaleError, match=r"on node .*edited"):
        ray_nodes.open_on_all(data, 60)


def test_a_node_that_cannot_load_is_named(ray_cluster: RayCluster, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    with (
        ray_cluster.added(TENSORCACHE_DIR=str(file)) as node,
        pytest.raises(tensorcache.DaemonError, match=node.node_id[:8]) as refused,
    ):
        tensorcache.ray.load("etth1", ETTH1, time="date")
    assert str(file) in str(refused.value)


def test_a_node_without_the_client_is_named(ray_cluster: RayCluster, tmp_path: Path) -> None:
    other = tmp_path / "tensorcache"
    other.mkdir()
    (other / "__init__.py").write_text("")
    with (
        ray_cluster.added(PYTHONPATH=str(tmp_path)) as node,
        pytest.raises(tensorcache.DaemonError, match=node.node_id[:8]) as refused,
    ):
        tensorcache.ray.load("etth1", ETTH1, time="date")
    assert refused.value.type == "node_failed"
    assert "ModuleNotFoundError: No module named 'tensorcache._" in refused.value.detail
    assert "\n" not in refused.value.detail
    assert "install this version" in (refused.value.hint or "")


def test_a_node_that_is_late_is_named(
    ray_cluster: RayCluster, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tensorcache.ray.load("etth1", ETTH1, time="date")
    others = ray_nodes.alive()
    answered: list[str] = []

    def check(task: Any, node: dict[str, Any], name: str) -> None:
        real(task, node, name)
        answered.append(node["NodeID"])

    def now() -> float:
        """The time runs out when all other nodes have answered, and this one loads."""
        all_others = len(answered) == len(others)
        return 61.0 if all_others and is_loading(ray_cluster.directories[-1]) else 0.0

    real = ray_nodes.check
    monkeypatch.setattr(ray_nodes, "check", check)
    monkeypatch.setattr(ray_nodes, "time", SimpleNamespace(monotonic=now))
    with ray_cluster.added() as node, paused_loads(home) as resume:
        with pytest.raises(tensorcache.DaemonError) as refused:
            ray_nodes.open_on_all(data, 60)
        resume()
    assert set(answered) == set(others)
    assert refused.value.type == "load_timeout"
    assert "is not open after 60 s on node " in refused.value.detail
    assert re.findall(r"node (\w{8}) ", refused.value.detail) == [node.node_id[:8]]


def test_a_node_that_leaves_is_not_waited_for(ray_cluster: RayCluster, home: Path) -> None:
    data = tensorcache.ray.load("etth1", ETTH1, time="date")
    with (
        ThreadPoolExecutor(1) as loads,
        ray_cluster.added() as node,
        paused_loads(home) as resume,
    ):
        load = loads.submit(ray_nodes.open_on_all, data, 600)
        wait_until(lambda: is_loading(ray_cluster.directories[-1]), "the node does not load")
        node.kill_raylet()
        load.result(timeout=300)
        resume()


def test_a_node_that_is_leaving_is_not_waited_for(ray_cluster: RayCluster) -> None:
    data = tensorcache.ray.load("etth1", ETTH1, time="date")
    with ray_cluster.added() as node:
        actor = trainer(node)
        ray.get(actor.pids.remote(data))  # a node without actors leaves at once
        subprocess.run(
            [
                *(Path(sys.executable).with_name("ray"), "drain-node"),
                *("--address", ray_cluster.cluster.address, "--node-id", node.node_id),
                *("--reason", "DRAIN_NODE_REASON_PREEMPTION", "--reason-message", "test"),
                *("--deadline-remaining-seconds", "3600"),
            ],
            check=True,
        )
        ray_nodes.open_on_all(data, 300)
        assert node.node_id in ray_nodes.alive()
        ray.kill(actor)


def is_loading(directory: Path) -> bool:
    """Whether the daemon of a directory has a job."""
    try:
        control = tensorcache.connect(directory, autostart=False)._server.control
    except tensorcache.DaemonError:
        return False
    return bool(control.pages("/v1/jobs", "jobs"))


def test_a_message_names_three_nodes() -> None:
    nodes = [
        {
            "NodeID": f"{i}" * 56,
            "NodeManagerHostname": f"host{i}",
            "NodeManagerAddress": "127.0.0.1",
        }
        for i in range(5)
    ]
    assert ray_nodes.listed(nodes) == (
        "node 00000000 (host0, 127.0.0.1), node 11111111 (host1, 127.0.0.1), "
        "node 22222222 (host2, 127.0.0.1) and 2 more"
    )
    assert ray_nodes.listed(nodes[:1]) == "node 00000000 (host0, 127.0.0.1)"
