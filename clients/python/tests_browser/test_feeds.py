"""The rates of a feed, whenever its states arrive."""

from __future__ import annotations

import pytest
from dashboard import Dashboard

# States of a steady feed of 100 batches a second, which arrive milliseconds or seconds apart.
RATES = """async seed => {
  const { RateMeter, leastInterval } = await import("/assets/rates.js");
  const random = () => ((seed = (seed * 48271) % 2147483647) / 2147483647);
  const meter = new RateMeter();
  const rates = [];
  let seconds = 0;
  for (let i = 0; i < 2000; i++) {
    seconds += i % 2 ? 0.001 + 0.02 * random() : 2 * random();
    const batches = Math.floor(100 * seconds);
    const waits = { wait_data_s: seconds / 4, pass_s: seconds, wait_trainer_s: seconds / 2 };
    const r = meter.add({ seconds, batches, served_windows: 8 * batches, ...waits });
    if (r) rates.push(r);
  }
  return { rates, leastInterval, seconds };
}"""


@pytest.mark.parametrize("seed", [1, 2])
def test_a_steady_feed_has_a_steady_rate(dashboard: Dashboard, seed: int) -> None:
    found = dashboard.go().evaluate(RATES, seed)
    rates, least = found["rates"], found["leastInterval"]
    assert len(rates) > found["seconds"] / (least + 2.1)
    for r in rates:
        assert abs(r["batches"] - 100) <= 1.001 / least, r
        assert abs(r["windows"] - 800) <= 8.001 / least, r
        assert r["trainer"] == pytest.approx(0.25)
        assert r["daemon"] == pytest.approx(0.5)
