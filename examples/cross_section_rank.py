"""A linear model that ranks stocks of one month by the next month's return, with numpy alone.

Every batch has the windows of one month, of all stocks that have one: the loss compares the scores
of these stocks with each other. It is that of ListNet (Cao, Qin, Liu, Tsai, Li: Learning to Rank:
From Pairwise Approach to Listwise Approach, ICML 2007). After training, the example prints how well
the scores of the last months are ordered, as the mean of their Spearman correlations with the
returns.

    python examples/cross_section_rank.py
    python examples/cross_section_rank.py stocks.csv

The file has columns symbol, date and price. Without one, prices are made up, whose returns go on
for a while. Exits with 1 if the loss of training did not fall.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

import tensorcache

CONTEXT = 6  # months that the model sees
LEAST = 3  # stocks of a month, else it is left out
LEARNING_RATE = 0.05
TRAINED = 0.8  # share of the months
# Differences of log(1 + price), which are about the returns.
RETURNS = {"item_id": "symbol", "time": "date", "log1p": ["price"], "diff": ["price"]}
DATE = "%b %d %Y"  # as in "Jan 1 2000"


def made_up(rng: np.random.Generator, stocks: int = 24, months: int = 240) -> dict[str, np.ndarray]:
    """Return prices of stocks that begin in different months, and whose returns go on."""
    columns: dict[str, list[np.ndarray]] = {"symbol": [], "date": [], "price": []}
    for stock in range(stocks):
        first = int(rng.integers(0, months // 2))
        drift = np.zeros(months - first)
        for month in range(1, len(drift)):
            drift[month] = 0.9 * drift[month - 1] + rng.normal(0, 0.02)
        returns = drift + rng.normal(0, 0.04, len(drift))
        columns["symbol"].append(np.full(len(drift), f"S{stock:02d}"))
        columns["date"].append(np.arange(first, months).astype("M8[M]").astype("M8[D]"))
        columns["price"].append(100 * np.exp(np.cumsum(returns)))
    return {name: np.concatenate(parts) for name, parts in columns.items()}


def softmax(scores: np.ndarray) -> np.ndarray:
    """Return the probability of each score to be the best one."""
    powers = np.exp(scores - scores.max())
    return powers / powers.sum()


def standardized(values: np.ndarray) -> np.ndarray:
    """Return values ``[B, ...]`` with mean 0 and spread 1 among the stocks of a month."""
    spread = values.std(axis=0)
    return (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1)


def of_batch(batch: tensorcache.Batch) -> tuple[np.ndarray, np.ndarray]:
    """Return inputs ``[B, CONTEXT]`` and returns ``[B]`` of a batch."""
    assert batch.target is not None
    return standardized(batch.context[:, :, 0].astype(np.float64)), batch.target[:, 0, 0]


def loss_and_slope(
    weights: np.ndarray, inputs: np.ndarray, returns: np.ndarray
) -> tuple[float, np.ndarray]:
    """Return ListNet's loss of one month, and its gradient with respect to the weights."""
    wanted, given = softmax(standardized(returns)), softmax(inputs @ weights)
    return float(-(wanted * np.log(given)).sum()), inputs.T @ (given - wanted)


def ranks(values: np.ndarray) -> np.ndarray:
    """Return the place of each value in ascending order."""
    return np.argsort(np.argsort(values)).astype(np.float64)


def evaluate(weights: np.ndarray, feed: tensorcache.Feed) -> tuple[float, float]:
    """Return the mean loss of the months, and the mean Spearman correlation."""
    losses, correlations = [], []
    for batch in feed:
        inputs, returns = of_batch(batch)
        losses.append(loss_and_slope(weights, inputs, returns)[0])
        correlations.append(np.corrcoef(ranks(inputs @ weights), ranks(returns))[0, 1])
    return float(np.mean(losses)), float(np.mean(correlations))


def main() -> int:
    """Train, then rank the months that were not trained on."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("file", type=Path, nargs="?", help="a CSV file of symbol, date and price")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    cache = tensorcache.connect()
    if given.file is None:
        prices = made_up(np.random.default_rng(given.seed))
        data = cache.put("made-up-stocks", prices, **RETURNS)
    else:
        data = cache.load("stocks", given.file, time_format=DATE, **RETURNS)
    windows = data.windows(context_length=CONTEXT, prediction_length=1)
    months = np.unique(data["date"])
    train, test = windows.split(at_times=[months[int(TRAINED * len(months))]])
    groups = train.plan(order="cross_section", min_items=LEAST)["groups"]
    print(
        f"{len(train)} windows in {groups['groups']} months of {groups['least']} to "
        f"{groups['greatest']} stocks; {groups['dropped']} months are left out"
    )
    whole = {"batch_size": None, "min_items": LEAST}  # batches are whole months
    weights = np.zeros(CONTEXT)
    with (
        train.feed(order="cross_section", seed=given.seed, **whole) as training,
        train.feed(order="cross_section_sequential", **whole) as trained,
        test.feed(order="cross_section_sequential", **whole) as tested,
    ):
        before, _ = evaluate(weights, trained)
        for epoch in range(given.epochs):
            for batch in training:
                _, slope = loss_and_slope(weights, *of_batch(batch))
                weights -= LEARNING_RATE / (1 + epoch) * slope
        after, _ = evaluate(weights, trained)
        _, correlation = evaluate(weights, tested)
        print(f"loss of {len(trained)} months: {before:.4f} before training, {after:.4f} after")
        print(f"rank correlation in {len(tested)} later months: {correlation:.3f}")
    return 0 if after < before else 1


if __name__ == "__main__":
    sys.exit(main())
