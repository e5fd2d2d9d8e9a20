"""Keras 3 with each backend in its own process; fit, evaluate and predict get our batches."""

from __future__ import annotations

import json
import pickle
from typing import Any

import numpy as np
import pytest

import tensorcache
from conftest import B, C, P, orders, run

PROGRAM = f"""
    import json, keras, numpy as np, sys, tensorcache
    data = tensorcache.connect().dataset("etth1")
    windows = data.windows(context_length={C}, prediction_length={P}, rows=(0, 1000))
    train, val = windows.where(rows=(0, 600)), windows.where(rows=(600, 1000))
    seen, validated = [], []

    def arrange(seen):
        def pair(batch):
            seen.append([batch.context.shape[0], *batch.start.tolist()])
            return batch.context.reshape(len(batch), -1), batch.target.reshape(len(batch), -1)
        return pair

    def passes(seen, length):
        passes = [seen[i : i + length] for i in range(0, len(seen), length)]
        return [[start for batch in batches for start in batch[1:]] for batches in passes]

    training = tensorcache.keras.dataset(
        train, batch_size={B}, shuffle=True, seed=4, arrange=arrange(seen)
    )
    validating = tensorcache.keras.dataset(val, batch_size={B}, arrange=arrange(validated))
    model = keras.Sequential([keras.layers.Dense({P} * 7)])
    model.compile("sgd" if keras.backend.backend() != "numpy" else None, "mse")

    # Keras reads a batch to build what it lacks; the pass then begins with the same batch.
    def look(seen):
        assert seen[0] == seen[1]
        del seen[0]
"""

PREDICT = """
    model.build((None, 24 * 7))
    predicted = model.predict(validating, verbose=0)
    loss = model.evaluate(validating, verbose=0)
    weight, bias = (np.asarray(variable) for variable in model.get_weights())
    sample = val[:]
    want = sample.context.reshape(len(val), -1) @ weight + bias
    np.testing.assert_allclose(predicted, want, rtol=1e-3, atol=1e-3)
    wanted = np.square(want - sample.target.reshape(len(val), -1)).mean()
    np.testing.assert_allclose(loss, wanted, rtol=1e-2)
    del validated[:]
"""

FIT = """
    model = keras.Sequential([keras.layers.Dense(6 * 7)])
    model.compile("sgd", "mse")
    n, m = len(training), len(validating)
    model.fit(training, epochs=3, validation_data=validating, verbose=0)
    look(seen)
    assert passes(validated, m) == [val[:].start.tolist()] * 3
    first = passes(seen, n)

    del seen[:]
    training.set_epoch(1)
    # Passes run over the epochs of Keras.
    model.fit(training, epochs=3, steps_per_epoch=n // 2 + 1, verbose=0)
    second = passes(seen, n)

    del seen[:]
    training.set_epoch(2)
    model.fit(training, epochs=1, steps_per_epoch=5, verbose=0)
    state = json.loads(json.dumps(training.state_dict()))
    training.close()
    again = tensorcache.keras.dataset(
        train, batch_size=32, shuffle=True, seed=4, arrange=arrange(seen)
    )
    again.load_state_dict(state)
    model = keras.models.clone_model(model)
    model.compile("sgd", "mse")
    later = len(seen)
    model.fit(again, epochs=1, verbose=0)  # n batches: it runs into the next epoch
    assert seen[later] == seen[later + 1]
    del seen[later]
    model.fit(again, epochs=1, verbose=0)
    print(json.dumps([first, second, passes(seen, len(seen))]))
"""


@pytest.mark.parametrize("backend", ["torch", "jax"])
def test_fit_sees_every_epoch_in_the_feeds_order(
    windows: tensorcache.Windows, backend: str
) -> None:
    first, second, (third,) = json.loads(run(PROGRAM + PREDICT + FIT, KERAS_BACKEND=backend))
    want = orders(windows.where(rows=(0, 600)), 5, seed=4)
    assert first == want[:3]
    assert second[0] == want[1]
    assert second[1] == want[2][: len(second[1])]
    assert third == [start for starts in want[2:] for start in starts][: len(third)]
    assert len(third) > 2 * len(want[0])


PASSES = """
    del seen[:]
    training = tensorcache.keras.dataset(
        train, batch_size=32, shuffle=True, seed=4, arrange=arrange(seen), batches_per_epoch=7
    )
    model = keras.Sequential([keras.layers.Dense(6 * 7)])
    model.compile("sgd", "mse")
    model.fit(training, epochs=2, verbose=0)
    look(seen)
    training.set_epoch(4)
    model.fit(training, initial_epoch=4, epochs=6, verbose=0)
    print(json.dumps(passes(seen, 7)))
"""


def test_epochs_of_n_batches(windows: tensorcache.Windows) -> None:
    seen = json.loads(run(PROGRAM + PASSES, KERAS_BACKEND="torch"))
    want = orders(windows.where(rows=(0, 600)), 6, seed=4, batches_per_epoch=7)
    assert seen == want[:2] + want[4:]


def test_predict_and_evaluate_with_numpy(windows: tensorcache.Windows) -> None:
    run(PROGRAM + PREDICT, KERAS_BACKEND="numpy")


def test_what_cannot_be_is_refused_at_once(
    windows: tensorcache.Windows, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KERAS_BACKEND", "numpy")
    with pytest.raises(tensorcache.SpecError, match="batch_size"):
        tensorcache.keras.dataset(windows, batch_size=0)
    no_function: Any = 5
    with pytest.raises(tensorcache.SpecError, match="arrange: got 5, want a function"):
        tensorcache.keras.dataset(windows, arrange=no_function)
    dataset = tensorcache.keras.dataset(windows, batch_size=B)
    context, target = dataset[0]
    np.testing.assert_array_equal(context, windows[:B].context)
    np.testing.assert_array_equal(target, windows[:B].target)
    asked = {"x": "context", "y": "target_observed"}
    with_parts = tensorcache.keras.dataset(windows, batch_size=B, parts=asked)
    assert list(with_parts[0]) == ["x", "y"]
    np.testing.assert_array_equal(with_parts[0]["x"], windows[B : 2 * B].context)
    with_parts.close()
    arranged = tensorcache.keras.dataset(
        windows, batch_size=B, parts=asked, arrange=lambda parts: (parts["x"], parts["y"])
    )
    np.testing.assert_array_equal(arranged[0][1], windows[:B].target_observed)
    arranged.close()
    nothing = tensorcache.keras.dataset(windows, batch_size=B, arrange=lambda batch: None)
    assert [nothing[number] for number in range(3)] == [None] * 3
    assert nothing.state_dict()["consumed"] == 3 * B
    nothing.close()
    # The copy is made in the middle of a pass, so it begins the next one.
    copy = pickle.loads(pickle.dumps(dataset))
    np.testing.assert_array_equal(copy[0][0], windows[:B].context)
    assert copy.state_dict()["epoch"] == 1
    copy.close()
    dataset.close()
