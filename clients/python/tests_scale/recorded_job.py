"""Recorded training as a job of Ray Train."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ray.train
import torch
from ray.train.torch import TorchTrainer

import recorded_steps
import tensorcache

for module in (recorded_steps, sys.modules[__name__]):  # the nodes do not have them
    ray.cloudpickle.register_pickle_by_value(module)


def fit(windows: tensorcache.Windows, folder: Path, num_workers: Any, **options: Any) -> None:
    """Train on windows, and record the attempts in ``folder / "steps"``.

    Args:
        windows: those of a dataset without items.
        folder: it must exist.
        num_workers: as that of ``ray.train.ScalingConfig``.
        options: ``kill``, ``wait`` and ``until`` of ``recorded_steps.read``.
    """
    (folder / "steps").mkdir(exist_ok=True)
    TorchTrainer(
        train,
        train_loop_config={"windows": windows, "folder": str(folder / "steps"), **options},
        scaling_config=ray.train.ScalingConfig(
            num_workers=num_workers,
            elastic_resize_monitor_interval_s=1,
            placement_strategy="SPREAD",
        ),
        run_config=ray.train.RunConfig(
            name="run",
            storage_path=str(folder),
            failure_config=ray.train.FailureConfig(max_failures=1),
            checkpoint_config=ray.train.CheckpointConfig(num_to_keep=2),
        ),
    ).fit()


def train(config: dict[str, Any]) -> None:
    """What each rank runs."""
    state = None
    if checkpoint := ray.train.get_checkpoint():
        with checkpoint.as_directory() as folder:
            state = torch.load(Path(folder, "loader.pt"))
    recorded_steps.read(**config, state=state, store=store)


def store(state: Mapping[str, Any]) -> None:
    """Report, and store a checkpoint, which rank 0 writes."""
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = None
        if ray.train.get_context().get_world_rank() == 0:
            torch.save(state, Path(folder, "loader.pt"))
            checkpoint = ray.train.Checkpoint.from_directory(folder)
        ray.train.report({}, checkpoint=checkpoint)


def stored_checkpoints(folder: Path) -> int:
    """How many checkpoints Ray has stored, so that another attempt may continue from the last one.

    Ray lists a checkpoint in this file some seconds after it has written the checkpoint.
    """
    state = folder / "run" / "checkpoint_manager_snapshot.json"
    try:
        return int(json.loads(state.read_text())["current_report_index"])
    except (FileNotFoundError, json.JSONDecodeError):  # Ray has not yet written it, or writes it
        return 0
