"""Lightning's Trainer over the torch loader.

An epoch has every window once, training resumes exactly, and processes share an epoch.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import lightning.pytorch as lightning
import pytest
import torch
from lightning.pytorch.callbacks import ModelCheckpoint

import tensorcache
from daemon import wait_until

C, P, B = 24, 6, 32

pytestmark = pytest.mark.filterwarnings(
    "ignore::UserWarning", "ignore::FutureWarning", "ignore::DeprecationWarning"
)


@pytest.fixture(scope="module")
def windows(etth1: tensorcache.Dataset) -> tensorcache.Windows:
    """971 windows: 31 batches of 32, the last of 11."""
    return etth1.windows(context_length=C, prediction_length=P, rows=(0, 1000))


class Model(lightning.LightningModule):
    """Records which windows it saw: one list per epoch, and one for each other stage."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(C, P)
        self.seen: dict[int, list[int]] = {}
        self.others: dict[str, list[int]] = {"val": [], "test": []}

    def loss(self, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        predicted = self.layer(batch["context"].transpose(1, 2)).transpose(1, 2)
        return torch.nn.functional.mse_loss(predicted, batch["target"])

    def training_step(self, batch: dict[str, torch.Tensor], number: int) -> torch.Tensor:
        self.seen.setdefault(self.current_epoch, []).extend(batch["start"].tolist())
        return self.loss(batch)

    def validation_step(self, batch: dict[str, torch.Tensor], number: int) -> None:
        self.others["val"] += batch["start"].tolist()

    def test_step(self, batch: dict[str, torch.Tensor], number: int) -> None:
        self.others["test"] += batch["start"].tolist()

    def predict_step(self, batch: dict[str, torch.Tensor], number: int) -> torch.Tensor:
        return batch["start"].clone()

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), lr=1e-4)


def trainer(**options: Any) -> lightning.Trainer:
    quiet = {
        "logger": False,
        "enable_progress_bar": False,
        "enable_model_summary": False,
        "accelerator": "cpu",
    }
    return lightning.Trainer(**{"enable_checkpointing": False, **quiet, **options})


def orders(windows: tensorcache.Windows, epochs: int, **options: Any) -> list[list[int]]:
    with windows.feed(batch_size=B, order="shuffle", **options) as feed:
        return [[start for batch in feed for start in batch.start.tolist()] for _ in range(epochs)]


def test_fit_with_the_loader_as_it_is(windows: tensorcache.Windows) -> None:
    model = Model()
    with tensorcache.torch.loader(
        windows, batch_size=B, shuffle=True, seed=2, format="dict"
    ) as loader:
        trainer(max_epochs=3).fit(model, loader)
        assert list(model.seen.values()) == orders(windows, 3, seed=2)
        assert loader.state_dict()["epoch"] == 3


@pytest.mark.parametrize(
    ("stop", "n"), [(20, None), (31, None), (45, None), (20, 24), (24, 24), (40, 24)]
)
def test_a_checkpoint_goes_on_at_the_next_batch(
    windows: tensorcache.Windows, tmp_path: Path, stop: int, n: int | None
) -> None:
    """The checkpoint is in the middle of an epoch, at its end, or in the middle of the next."""
    order: dict[str, Any] = {"seed": 7, "batches_per_epoch": n}
    options: dict[str, Any] = {"batch_size": B, "shuffle": True, "format": "dict", **order}
    first, second = Model(), Model()
    saves = ModelCheckpoint(tmp_path, every_n_train_steps=stop, save_top_k=-1, filename="at")
    with tensorcache.torch.loader(windows, **options) as loader:
        trainer(max_steps=stop, callbacks=[saves], enable_checkpointing=True).fit(first, loader)
    with tensorcache.torch.loader(windows, **options) as loader:
        trainer(max_epochs=3).fit(
            second, loader, ckpt_path=tmp_path / "at.ckpt", weights_only=False
        )
    both = {epoch: first.seen.get(epoch, []) + second.seen.get(epoch, []) for epoch in range(3)}
    assert list(both.values()) == orders(windows, 3, **order)
    assert sum(len(starts) for starts in first.seen.values()) == stop * B - (31 * B - 971) * (
        stop >= 31
    )


@pytest.mark.parametrize("n", [None, 7])
def test_the_data_module_serves_all_stages(windows: tensorcache.Windows, n: int | None) -> None:
    train, val, test = windows.split(lengths=(600, 200, 200))
    module = tensorcache.lightning.datamodule(
        train,
        val=val,
        test=test,
        predict=test,
        batch_size=B,
        seed=3,
        format="dict",
        eval_batch_size=50,
        batches_per_epoch=n,
    )
    model = Model()
    fitting = trainer(max_epochs=2, num_sanity_val_steps=1)
    fitting.fit(model, datamodule=module)
    assert list(model.seen.values()) == orders(train, 2, seed=3, batches_per_epoch=n)
    wanted = {part: windows[:].start.tolist() for part, windows in (("val", val), ("test", test))}
    assert model.others["val"] == wanted["val"][:50] + 2 * wanted["val"]
    fitting.test(model, datamodule=module)
    assert model.others["test"] == wanted["test"]
    assert torch.cat(fitting.predict(model, datamodule=module)).tolist() == wanted["test"]  # type: ignore[arg-type]
    wait_until(lambda: not tensorcache.connect().feeds(), "feeds are left open")


def for_the_model(parts: tuple[torch.Tensor, ...]) -> dict[str, torch.Tensor]:
    """The parts by the names that the model reads."""
    return dict(zip(("context", "target", "start"), parts, strict=True))


@pytest.mark.parametrize(
    "form",
    [
        {"parts": {"context": "context", "target": "target", "start": "start"}},
        {"parts": ("context", "target", "start"), "arrange": for_the_model},
    ],
)
def test_a_data_module_of_parts(windows: tensorcache.Windows, form: dict[str, Any]) -> None:
    train, val = windows.split(lengths=(600, None))
    module = tensorcache.lightning.datamodule(train, val=val, batch_size=B, seed=3, **form)
    model = Model()
    trainer(max_epochs=2, num_sanity_val_steps=0).fit(model, datamodule=module)
    assert list(model.seen.values()) == orders(train, 2, seed=3)
    assert model.others["val"] == 2 * val[:].start.tolist()


def test_a_data_module_refuses_wrong_functions_at_once(windows: tensorcache.Windows) -> None:
    with pytest.raises(tensorcache.SpecError, match="arrange: got 3"):
        tensorcache.lightning.datamodule(windows, batch_size=B, arrange=3)
    module = tensorcache.lightning.datamodule(windows, batch_size=B, arrange=lambda pair: pair)
    with pytest.raises(tensorcache.SpecError, match="cannot be pickled"):
        pickle.dumps(module)


def test_the_data_module_warns_of_workers_once(windows: tensorcache.Windows) -> None:
    with pytest.warns(UserWarning, match="num_workers=4 is ignored") as caught:
        module = tensorcache.lightning.datamodule(
            windows, val=windows, batch_size=50, num_workers=4, format="dict"
        )
    assert [warning.filename for warning in caught] == [__file__]
    trainer(max_epochs=1).fit(Model(), datamodule=module)  # warnings are errors


def test_a_data_module_of_one_part(windows: tensorcache.Windows) -> None:
    module = tensorcache.lightning.datamodule(
        windows, batch_size=B, order="sequential", format="dict"
    )
    model = Model()
    fitting = trainer(max_epochs=1)
    fitting.fit(model, datamodule=module)
    assert model.seen[0] == list(range(971))
    with pytest.raises(tensorcache.SpecError, match="test: the data module has no such windows"):
        fitting.test(model, datamodule=module)
    module = tensorcache.lightning.datamodule(val=windows, batch_size=B, eval_batch_size=0)
    with pytest.raises(
        tensorcache.SpecError, match="batch_size: got 0, want a whole number from 1"
    ):
        module.val_dataloader()


@pytest.mark.parametrize("whole", [True, False])
def test_overfitting_sees_the_same_batches_in_every_epoch(
    windows: tensorcache.Windows, whole: bool
) -> None:
    model, options = Model(), {"batch_size": B, "format": "dict"}
    fitting = trainer(max_epochs=3, overfit_batches=2)
    if whole:
        module = tensorcache.lightning.datamodule(
            windows, val=windows, batches_per_epoch=5, **options
        )
        fitting.fit(model, datamodule=module)
    else:
        with tensorcache.torch.loader(windows, **options) as loader:
            fitting.fit(model, loader)
    assert list(model.seen.values()) == 3 * [list(range(2 * B))]


DISTRIBUTED = f"""if True:
    import json, os, pathlib, sys, warnings
    warnings.simplefilter("ignore")
    import tensorcache
    from test_lightning import Model, trainer
    windows = tensorcache.connect().dataset("etth1").windows(
        context_length={C}, prediction_length={P}, rows=(0, 1000))
    train, val, _ = windows.split(lengths=(600, 200, 200))
    model, options = Model(), dict(batch_size={B}, format="dict", seed=3)
    fitting = trainer(max_epochs=2, strategy="ddp", devices=2, num_sanity_val_steps=0)
    loader = tensorcache.torch.loader
    loaders = [loader(train, shuffle=True, **options), loader(val, **options)]
    fitting.fit(model, *loaders)
    said = json.dumps([model.seen, model.others["val"]])
    pathlib.Path(sys.argv[1], f"rank{{fitting.global_rank}}.json").write_text(said)
"""


def test_processes_share_an_epoch(windows: tensorcache.Windows, tmp_path: Path) -> None:
    """The loaders exist before Lightning starts the second process and joins the two."""
    script = tmp_path / "train.py"
    script.write_text(DISTRIBUTED)
    environment = {
        name: value for name, value in os.environ.items() if name not in ("RANK", "WORLD_SIZE")
    }
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path)], capture_output=True, text=True, check=False,
        env={**environment, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    ranks = [json.loads((tmp_path / f"rank{rank}.json").read_text()) for rank in range(2)]
    train, val, _ = windows.split(lengths=(600, 200, 200))
    for rank, (seen, validated) in enumerate(ranks):
        assert list(seen.values()) == orders(train, 2, seed=3, rank=rank, num_replicas=2)
        assert len(validated) % B == 0
    for epoch in ("0", "1"):
        assert {start for seen, _ in ranks for start in seen[epoch]} == set(train[:].start.tolist())
    assert {start for _, validated in ranks for start in validated} == set(val[:].start.tolist())
