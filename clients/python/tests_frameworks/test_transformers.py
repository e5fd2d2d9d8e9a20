"""The Trainer of Transformers uses windows as datasets."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

import tensorcache
from conftest import B, C, P, orders

pytestmark = pytest.mark.filterwarnings(
    "ignore::UserWarning", "ignore::FutureWarning", "ignore::DeprecationWarning"
)

NAMES = {"context": "past_values", "target": "future_values", "start": "start"}


class Model(torch.nn.Module):
    """A model that records the windows of its training and evaluation."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(C, P)
        self.trained: list[int] = []
        self.evaluated: list[int] = []

    def forward(
        self, past_values: torch.Tensor, future_values: torch.Tensor, start: torch.Tensor
    ) -> dict[str, torch.Tensor]:
        (self.trained if self.training else self.evaluated).extend(start.tolist())
        predicted = self.layer(past_values.transpose(1, 2)).transpose(1, 2)
        return {
            "loss": torch.nn.functional.mse_loss(predicted, future_values),
            "predicted": predicted,
        }


def arguments(folder: Path, **options: Any) -> transformers.TrainingArguments:
    quiet = {
        "report_to": [],
        "use_cpu": True,
        "disable_tqdm": True,
        "save_strategy": "no",
        "logging_strategy": "no",
    }
    return transformers.TrainingArguments(
        output_dir=str(folder), per_device_train_batch_size=B, per_device_eval_batch_size=50,
        data_seed=8,
        label_names=["future_values"], **{**quiet, **options},
    )  # fmt: skip


def joined(epochs: list[list[int]]) -> list[int]:
    return list(itertools.chain.from_iterable(epochs))


def by_the_model(parts: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The parts with the names of the model."""
    return {NAMES[name]: part for name, part in parts.items() if name in NAMES}


WAYS: list[dict[str, Any]] = [
    {"names": NAMES},
    {"parts": {theirs: ours for ours, theirs in NAMES.items()}},
    {"arrange": by_the_model},
    {"parts": tuple(NAMES), "arrange": lambda parts: dict(zip(NAMES.values(), parts, strict=True))},
]


@pytest.mark.parametrize("accumulate", [1, 4])
@pytest.mark.parametrize("way", WAYS)
def test_train_evaluate_and_predict(
    windows: tensorcache.Windows, tmp_path: Path, accumulate: int, way: dict[str, Any]
) -> None:
    train, val = windows.split(fractions=(0.7, 0.3))
    model = Model()
    trainer = tensorcache.transformers.trainer_class(**way)(
        model=model, train_dataset=train, eval_dataset={"val": val},
        args=arguments(tmp_path, num_train_epochs=2, gradient_accumulation_steps=accumulate,
                       eval_strategy="epoch"),
    )  # fmt: skip
    done = trainer.train()
    assert model.trained == joined(orders(train, 2, seed=8))
    batches = math.ceil(len(train) / B)
    assert done.global_step == 2 * math.ceil(batches / accumulate)
    wanted = val[:].start.tolist()
    assert model.evaluated == 2 * wanted
    reply = trainer.predict(val)
    assert reply.predictions.shape == (len(val), P, 7)
    sample = val[:]
    torch.testing.assert_close(
        torch.from_numpy(reply.label_ids), torch.from_numpy(sample.target.copy())
    )
    want = model.layer(torch.from_numpy(sample.context.copy()).transpose(1, 2)).transpose(1, 2)
    torch.testing.assert_close(torch.from_numpy(reply.predictions), want.detach())


def stopped_and_resumed(
    kind: Any, windows: tensorcache.Windows, folder: Path, stop: int, epochs: int
) -> tuple[list[int], int]:
    """The starts of all windows of a training that stops and is resumed, and its last step."""
    saving = {
        "save_strategy": "steps",
        "save_steps": stop,
        "save_only_model": False,
        "num_train_epochs": epochs,
    }

    class Stop(transformers.TrainerCallback):
        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            control.should_training_stop = state.global_step == stop

    first, second = Model(), Model()
    kind(
        model=first, args=arguments(folder, **saving), train_dataset=windows, callbacks=[Stop()]
    ).train()
    trainer = kind(model=second, args=arguments(folder, **saving), train_dataset=windows)
    last = trainer.train(resume_from_checkpoint=True).global_step
    return first.trained + second.trained, last


@pytest.mark.parametrize(("stop", "way"), [(20, 0), (31, 1), (45, 2)])
def test_resuming_goes_on_at_the_next_batch(
    windows: tensorcache.Windows, tmp_path: Path, stop: int, way: int
) -> None:
    kind = tensorcache.transformers.trainer_class(**WAYS[way])
    trained, last = stopped_and_resumed(kind, windows, tmp_path, stop, 3)
    assert last == 93
    assert trained == joined(orders(windows, 3, seed=8))


@pytest.mark.parametrize("stop", [9, 12, 20])
def test_epochs_of_n_batches(windows: tensorcache.Windows, tmp_path: Path, stop: int) -> None:
    kind = tensorcache.transformers.trainer_class(names=NAMES, batches_per_epoch=12)
    trained, last = stopped_and_resumed(kind, windows, tmp_path, stop, 4)
    assert last == 48
    assert trained == joined(orders(windows, 4, seed=8, batches_per_epoch=12))


def test_what_cannot_be_is_refused_at_once() -> None:
    for options, words in (
        ({"base": int}, "base: got <class 'int'>, want transformers.Trainer or a subclass of it"),
        (
            {"names": {"contxt": "x"}},
            'names: got "contxt", want names for parts of a window: context, target',
        ),
        ({"names": "x"}, 'names: got "x", want names for parts of a window'),
        ({"names": NAMES, "parts": {"x": "context"}}, "names: got .* with parts=, want one of"),
        ({"names": NAMES, "arrange": by_the_model}, "names: got .* with arrange=, want one of"),
        ({"parts": ("context", "target")}, "parts: got .*, want a mapping: models take named"),
    ):
        with pytest.raises(tensorcache.SpecError, match=words):
            tensorcache.transformers.trainer_class(**options)


def test_a_model_of_the_library_and_other_datasets(
    windows: tensorcache.Windows, tmp_path: Path
) -> None:
    config = transformers.PatchTSTConfig(
        num_input_channels=7, context_length=C, prediction_length=P, patch_length=8, patch_stride=8,
        d_model=16,
        num_attention_heads=2, num_hidden_layers=1, ffn_dim=16,
    )  # fmt: skip
    kind = tensorcache.transformers.trainer_class()
    losses = []
    same = tensorcache.torch.dataset(windows, format="dict")
    named = [
        {"past_values": same[i]["context"], "future_values": same[i]["target"]} for i in range(64)
    ]
    for dataset, steps in ((windows, 10), (named, 2)):
        transformers.set_seed(1)
        model = transformers.PatchTSTForPrediction(config)
        args = arguments(tmp_path, max_steps=steps, learning_rate=1e-3)
        trainer = kind(model=model, args=args, train_dataset=dataset, eval_dataset=dataset)
        before = trainer.evaluate()["eval_loss"]
        trainer.train()
        losses.append((before, trainer.evaluate()["eval_loss"]))
    assert all(after < before for before, after in losses), losses


def test_a_tuple_is_refused(windows: tensorcache.Windows, tmp_path: Path) -> None:
    kind = tensorcache.transformers.trainer_class(format="tuple")
    trainer = kind(model=Model(), args=arguments(tmp_path), train_dataset=windows)
    with pytest.raises(tensorcache.SpecError, match="named parts"):
        trainer.get_train_dataloader()
