"""NLinear on ETTh1, trained with numpy alone on windows that the tensorcache daemon serves.

NLinear (Zeng, Chen, Zhang, Xu: Are Transformers Effective for Time Series Forecasting?, AAAI 2023)
subtracts each series' last value, applies one linear map over time, and adds the value back.
This file implements the forward pass, the backward pass and Adam. The setup is the paper's: context
336, prediction 96, batch 32, scaled by the first 8,640 rows.

    python examples/nlinear_numpy.py

Exits with 1 when the test MSE is 0.385 or more; the paper has 0.374.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

import tensorcache

CONTEXT, PREDICTION, BATCH = 336, 96, 32
LENGTHS = (8640, 2880, 2880)  # rows: 12, 4 and 4 months
LEARNING_RATE, PATIENCE = 0.005, 3
PUBLISHED = {"MSE": 0.374, "MAE": 0.394}
LIMIT = 0.385
CSV = Path(__file__).parent / "data" / "ETTh1.csv"


class NLinear:
    """One map of 336 past values to 96 future ones, the same for every feature."""

    def __init__(self, rng: np.random.Generator) -> None:
        bound = CONTEXT**-0.5
        weight = rng.uniform(-bound, bound, (CONTEXT, PREDICTION)).astype(np.float32)
        bias = rng.uniform(-bound, bound, PREDICTION).astype(np.float32)
        self.parameters = [weight, bias]

    def rows(self, context: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return ``[B, C, F]`` as rows ``[B · F, C]`` minus their last value, and that value."""
        last = context[:, -1:, :]
        return (context - last).transpose(0, 2, 1).reshape(-1, CONTEXT), last

    def error(self, context: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Return prediction minus target, as rows ``[B · F, P]``."""
        rows, last = self.rows(context)
        weight, bias = self.parameters
        return rows @ weight + bias - (target - last).transpose(0, 2, 1).reshape(-1, PREDICTION)

    def gradient(self, context: np.ndarray, target: np.ndarray) -> tuple[float, list[np.ndarray]]:
        """Return the mean squared error and its gradient with respect to weight and bias."""
        rows, _ = self.rows(context)
        error = self.error(context, target)
        slope = error * (2 / error.size)
        return float(np.mean(error * error)), [rows.T @ slope, slope.sum(0)]


class Adam:
    """Adam (Kingma, Ba, ICLR 2015); it changes the parameters in place."""

    def __init__(self, parameters: list[np.ndarray]) -> None:
        self.parameters = parameters
        self.mean = [np.zeros_like(p) for p in parameters]
        self.square = [np.zeros_like(p) for p in parameters]
        self.steps = 0

    def step(self, gradients: list[np.ndarray], rate: float) -> None:
        """Make one update."""
        self.steps += 1
        rate = rate * (1 - 0.999**self.steps) ** 0.5 / (1 - 0.9**self.steps)
        for p, g, mean, square in zip(
            self.parameters, gradients, self.mean, self.square, strict=True
        ):
            mean += 0.1 * (g - mean)
            square += 0.001 * (g * g - square)
            p -= rate * mean / (np.sqrt(square) + 1e-8)


def train_epoch(model: NLinear, adam: Adam, feed: tensorcache.Feed, rate: float) -> float:
    """Train for one pass over the windows and return the mean of the batches' losses."""
    losses = []
    for batch in feed:
        loss, gradients = model.gradient(batch.context, batch.target)
        adam.step(gradients, rate)
        losses.append(loss)
    return float(np.mean(losses))


def evaluate(model: NLinear, feed: tensorcache.Feed) -> dict[str, float]:
    """Return the mean squared and absolute error over all windows of a feed."""
    squares = absolutes = count = 0.0
    for batch in feed:
        error = model.error(batch.context, batch.target)
        squares += float(np.sum(error * error, dtype=np.float64))
        absolutes += float(np.sum(np.abs(error), dtype=np.float64))
        count += error.size
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

    model = NLinear(np.random.default_rng(options.seed))
    adam = Adam(model.parameters)
    best, kept, bad = float("inf"), [], 0
    print("epoch  learning rate  train MSE  val MSE  seconds  waiting for data")
    with (
        train.feed(batch_size=BATCH, order="shuffle", seed=options.seed) as shuffled,
        val.feed(batch_size=BATCH) as validation,
        test.feed(batch_size=BATCH) as testing,
    ):
        for epoch in range(1, options.epochs + 1):
            rate = LEARNING_RATE * 0.5 ** max(0, epoch - 2)
            began, waited = (
                time.perf_counter(),
                shuffled.stats()["wait_s"] + validation.stats()["wait_s"],
            )
            loss = train_epoch(model, adam, shuffled, rate)
            score = evaluate(model, validation)["MSE"]
            seconds = time.perf_counter() - began
            share = (shuffled.stats()["wait_s"] + validation.stats()["wait_s"] - waited) / seconds
            print(
                f"{epoch:5d}  {rate:13.6f}  {loss:9.4f}  {score:7.4f}  {seconds:7.2f}  "
                f"{share:16.1%}",
                flush=True,
            )
            if score < best:
                best, kept, bad = score, [p.copy() for p in model.parameters], 0
            else:
                bad += 1
                if bad == PATIENCE:
                    break
        model.parameters = kept
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
