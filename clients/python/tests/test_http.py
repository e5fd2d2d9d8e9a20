"""Requests over the control socket that the daemon does not read to their end."""

from __future__ import annotations

import numpy as np
import pytest

import tensorcache


def test_a_request_that_is_too_large_is_told_so(cache: tensorcache.Cache) -> None:
    windows = cache.put("a", {"id": ["u"] * 9, "x": np.arange(9.0)}, item_id="id").windows(context_length=1)
    with pytest.raises(tensorcache.TensorcacheError, match="the body is over 16777216 bytes") as caught:
        windows.where(items=["x" * 1000] * 20_000)
    assert caught.value.type == "too_large"
