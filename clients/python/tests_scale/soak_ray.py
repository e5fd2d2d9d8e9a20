"""The code of docs/clusters/ray.md on a cluster, and examples/ray_train.py on one machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import ray
import torch
from ray.train.torch import TorchTrainer

import tensorcache
from programs import (
    EXAMPLES,
    ITEMS,
    ONE_EPOCH,
    ROWS,
    Page,
    check_continued,
    check_metrics,
    run,
)
from ray_cluster import RayCluster

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


@pytest.mark.usefixtures("ray_environment")
def test_the_program_runs_on_one_machine(home: Path, tmp_path: Path) -> None:
    printed = run("python", EXAMPLES / "ray_train.py", RAY_ADDRESS="local", HOME=str(tmp_path))
    check_metrics(printed)
    assert list((home / "snapshots" / "etth1").glob("*/tensorcache.json"))


def test_the_code_of_the_page_runs(ray_cluster: RayCluster, tmp_path: Path) -> None:
    page = Page("ray", tmp_path)
    page.run("The usual code", ("num_workers=3", "num_workers=1"))  # Ray Data needs CPUs, too
    page.run("Files, or a Ray Dataset")
    for directory in ray_cluster.directories:
        cache = tensorcache.connect(directory, autostart=False)
        assert len(cache.dataset("cleaned")) == ITEMS * ROWS

    windows = page.run("With tensorcache")["windows"]
    assert len(windows) == ITEMS * (ROWS - 119)
    for directory in ray_cluster.directories:
        found = tensorcache.connect(directory, autostart=False).dataset("prices")
        assert found.digest == windows.dataset.digest

    def state_after(*replaced: tuple[str, str]) -> Any:
        trainer = TorchTrainer(
            page.run("Continue after a crash", *replaced)["train"],
            train_loop_config={"windows": windows},
            scaling_config=ray.train.ScalingConfig(num_workers=1),
            run_config=ray.train.RunConfig(name="run", storage_path=str(tmp_path / "runs")),
        )
        checkpoint = trainer.fit().checkpoint
        assert checkpoint is not None
        with checkpoint.as_directory() as folder:
            return torch.load(Path(folder, "state.pt"))

    first = state_after(*ONE_EPOCH)
    check_continued(first, state_after())
