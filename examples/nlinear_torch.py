"""NLinear on ETTh1, trained with PyTorch on windows that the tensorcache daemon serves.

The model and setup are those of nlinear_numpy.py (Zeng, Chen, Zhang, Xu: Are Transformers Effective
for Time Series Forecasting?, AAAI 2023), with ``tensorcache.torch.loader`` in place of a
``DataLoader``.

    python examples/nlinear_torch.py

Exits with 1 when the test MSE is 0.385 or more; the paper has 0.374.
"""

from __future__ import annotations

import argparse
import copy
import sys
import time
from pathlib import Path

import torch

import tensorcache

CONTEXT, PREDICTION, BATCH = 336, 96, 32
LENGTHS = (8640, 2880, 2880)  # rows: 12, 4 and 4 months
LEARNING_RATE, PATIENCE = 0.005, 3
PUBLISHED = {"MSE": 0.374, "MAE": 0.394}
LIMIT = 0.385
CSV = Path(__file__).parent / "data" / "ETTh1.csv"


class NLinear(torch.nn.Module):
    """One map of 336 past values to 96 future ones, the same for every feature."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(CONTEXT, PREDICTION)

    def forward(self, context: torch.Tensor) -> torch.Tensor:
        """Map ``[B, C, F]`` to ``[B, P, F]``, relative to the last value."""
        last = context[:, -1:, :]
        return self.linear((context - last).transpose(1, 2)).transpose(1, 2) + last


def train_epoch(model: NLinear, adam: torch.optim.Adam, loader: tensorcache.torch.Loader) -> float:
    """Train for one pass over the windows and return the mean of the batches' losses."""
    model.train()
    losses = []
    for context, target in loader:
        adam.zero_grad()
        loss = torch.nn.functional.mse_loss(model(context), target)
        loss.backward()
        adam.step()
        losses.append(loss.item())
    return sum(losses) / len(losses)


@torch.no_grad()
def evaluate(model: NLinear, loader: tensorcache.torch.Loader) -> dict[str, float]:
    """Return the mean squared and absolute error over all windows of a loader."""
    model.eval()
    squares = absolutes = count = 0.0
    for context, target in loader:
        error = model(context) - target
        squares += error.square().sum(dtype=torch.float64).item()
        absolutes += error.abs().sum(dtype=torch.float64).item()
        count += error.numel()
    return {"MSE": squares / count, "MAE": absolutes / count}


def main() -> int:
    """Load, train, test, and print the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--epochs", type=int, default=10, help="at most so many (10)")
    parser.add_argument("--seed", type=int, default=0, help="of the weights and the order (0)")
    options = parser.parse_args()

    cache = tensorcache.connect()
    data = cache.load("etth1", CSV, time="date", scale="standard", fit_rows=(0, LENGTHS[0]))
    windows = data.windows(context_length=CONTEXT, prediction_length=PREDICTION)
    parts = windows.split(lengths=LENGTHS)
    train, val, test = parts
    print(
        f"ETTh1: {len(data):,} rows of {len(windows.features['context'])} features, generation "
        f"{data.generation}"
    )
    print("windows: " + ", ".join(f"{name} {len(part):,}" for name, part in parts.items()) + "\n")

    torch.manual_seed(options.seed)
    model = NLinear()
    adam = torch.optim.Adam(model.parameters(), LEARNING_RATE)
    schedule = torch.optim.lr_scheduler.LambdaLR(adam, lambda epoch: 0.5 ** max(0, epoch - 1))
    best, kept, bad = float("inf"), {}, 0
    print("epoch  learning rate  train MSE  val MSE  seconds  waiting for data")
    with (
        tensorcache.torch.loader(
            train, batch_size=BATCH, shuffle=True, seed=options.seed
        ) as shuffled,
        tensorcache.torch.loader(val, batch_size=BATCH) as validation,
        tensorcache.torch.loader(test, batch_size=BATCH) as testing,
    ):
        for epoch in range(1, options.epochs + 1):
            rate = adam.param_groups[0]["lr"]
            began, waited = (
                time.perf_counter(),
                shuffled.stats()["wait_s"] + validation.stats()["wait_s"],
            )
            loss = train_epoch(model, adam, shuffled)
            score = evaluate(model, validation)["MSE"]
            seconds = time.perf_counter() - began
            share = (shuffled.stats()["wait_s"] + validation.stats()["wait_s"] - waited) / seconds
            print(
                f"{epoch:5d}  {rate:13.6f}  {loss:9.4f}  {score:7.4f}  {seconds:7.2f}  "
                f"{share:16.1%}",
                flush=True,
            )
            schedule.step()
            if score < best:
                best, kept, bad = score, copy.deepcopy(model.state_dict()), 0
            else:
                bad += 1
                if bad == PATIENCE:
                    break
        model.load_state_dict(kept)
        scores = evaluate(model, testing)

    print("\ntest        MSE    MAE")
    print(f"this run  {scores['MSE']:.3f}  {scores['MAE']:.3f}")
    print(
        f"published {PUBLISHED['MSE']:.3f}  {PUBLISHED['MAE']:.3f}  (NLinear, AAAI 2023, table 2)"
    )
    if scores["MSE"] >= LIMIT:
        print(f"the test MSE is {scores['MSE']:.4f}, want less than {LIMIT}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
