"""Keyword options that several functions share: signatures, documentation, unknown names."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import tensorcache

FUNCTIONS = [
    tensorcache.Cache.load,
    tensorcache.Cache.put,
    tensorcache.Windows.feed,
    tensorcache.torch.loader,
    tensorcache.jax.loader,
    tensorcache.keras.dataset,
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f"{f.__module__}.{f.__qualname__}")
def test_every_option_is_in_the_signature_and_documented_once(
    function: Callable[..., Any],
) -> None:
    parameters = inspect.signature(function).parameters.values()
    options = [p for p in parameters if p.kind is p.KEYWORD_ONLY]
    assert len(options) > 10
    documented = inspect.getdoc(function) or ""
    assert "**options" not in documented
    for option in options:
        assert documented.count(f"\n    {option.name}: ") == 1
        assert option.annotation is not inspect.Parameter.empty


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f"{f.__module__}.{f.__qualname__}")
def test_an_unknown_option_is_a_type_error_that_names_it(function: Callable[..., Any]) -> None:
    with pytest.raises(TypeError, match=r"\(\) got an unexpected keyword argument 'batchsize'"):
        function(None, None, batchsize=1)


def test_the_batch_size_of_a_feed_is_required(etth1: tensorcache.Dataset) -> None:
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'batch_size'"):
        etth1.windows(context_length=4).feed()  # type: ignore[call-arg]
