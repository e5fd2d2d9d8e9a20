"""`inverse` of values in every shape that windows and batches have, against a naive inverse."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import tensorcache
from cases import cases, note_seed

Floats = npt.NDArray[np.float64]

WIDTHS = {"a": 1, "b": 1, "wide": 2}


class NoReadingError(ValueError):
    """Values, items and initial values do not fit each other in a reading of the shapes."""


@dataclass
class Steps:
    """What a load did to columns, with the shift and scale of ``[items, features]``."""

    log1p: list[str]
    diff: list[str]
    shift: dict[str, Floats] = field(default_factory=dict)
    scale: dict[str, Floats] = field(default_factory=dict)
    first: dict[str, Floats] = field(default_factory=dict)

    def undo(self, names: list[str], values: Floats, codes: Any, initial: Any) -> Floats:
        """The inverse of values ``[B, P, F]`` with codes ``[B, P]`` and initial ``[B, F]``."""
        columns = [(name, f) for name in names for f in range(WIDTHS[name])]
        result = np.empty(values.shape)
        for b, p, i in np.ndindex(values.shape):
            name, f = columns[i]
            code = codes[b, p]
            x = values[b, p, i] * self.scale[name][code, f] + self.shift[name][code, f]
            if name in self.diff:
                x = self.sum_up(name, f, x, result[b, :p, i], codes[b, : p + 1],
                                None if initial is None else initial[b, i])  # fmt: skip
            result[b, p, i] = x
        for i, (name, _) in enumerate(columns):
            if name in self.log1p:
                result[..., i] = np.expm1(result[..., i])
        return result

    def sum_up(self, name: str, f: int, x: float, before: Floats, codes: Any, start: Any) -> float:
        """A difference added to the value of the row before, or the first value of an item."""
        if start is not None:
            if len(set(codes)) > 1:
                raise NoReadingError
            if not len(before):
                return x + float(np.log1p(start) if name in self.log1p else start)
        elif not len(before) or codes[-1] != codes[-2]:
            if not np.isnan(x):
                raise NoReadingError
            return float(self.first[name][codes[-1], f])
        return x + float(before[-1])


def make(cache: tensorcache.Cache, data: st.DataObject) -> tuple[tensorcache.Dataset, Steps]:
    """A dataset of random steps, and what they are."""
    ids = data.draw(st.permutations(range(data.draw(st.integers(1, 3)))))
    rows = [data.draw(st.integers(4, 6)) for _ in ids]
    generator = np.random.default_rng(sum(rows))
    some = st.lists(st.sampled_from([*WIDTHS]), unique=True)
    steps = Steps(data.draw(some), data.draw(some))
    scaled, per = data.draw(some.filter(bool)), data.draw(st.sampled_from(["column", "item"]))
    note(f"{steps}, scaled {scaled} per {per}, items {ids} of {rows} rows")
    sent: dict[str, Any] = {"id": np.repeat(ids, rows)}
    for name, width in WIDTHS.items():
        column = generator.uniform(1, 100, (sum(rows), width))
        sent[name] = column if width > 1 else column[:, 0]
        parts = np.split(np.log1p(column) if name in steps.log1p else column, np.cumsum(rows)[:-1])
        steps.first[name] = np.stack([part[0] for part in parts])
        if name in steps.diff:
            parts = [np.diff(part, axis=0) for part in parts]
        fit = parts if per == "item" else [np.concatenate(parts)] * len(parts)
        neutral = np.zeros((len(parts), width))
        mean, std = (np.stack([getattr(p, f)(axis=0) for p in fit]) for f in ("mean", "std"))
        steps.shift[name] = mean if name in scaled else neutral
        steps.scale[name] = std if name in scaled else neutral + 1
    loaded = cache.put(
        "shapes", sent, item_id="id", dtype="float64", log1p=steps.log1p, diff=steps.diff,
        scale=dict.fromkeys(scaled, "standard"), scale_per=per,
    )  # fmt: skip
    return loaded, steps


@dataclass
class Call:
    """What is given to `inverse`: columns, values, codes along the first axis or one, initial."""

    names: list[str]
    single: bool
    values: Floats
    codes: list[int] | int
    initial: Floats | None

    @property
    def features(self) -> int:
        return sum(WIDTHS[name] for name in self.names)

    @property
    def optional(self) -> bool:
        """Whether values may lack the axis of features."""
        return self.single and self.features == 1

    def readings(self, summed: bool) -> list[Floats]:
        """The values as ``[..., P, F]``, in each way to read their shape."""
        values = self.values
        if not summed:  # every value by itself
            return [(values[..., None] if self.optional else values)[..., None, :]]
        if not self.optional or values.ndim > 2:
            return [values]
        rows = [values] if values.ndim == 2 and values.shape[1] == 1 else []
        return [*rows, values[..., None]]

    def undo(self, steps: Steps, cube: Floats) -> Floats | None:
        """The naive inverse of one reading; None if it does not fit."""
        windows, rows = cube.shape[:-2], cube.shape[-2]
        codes = np.asarray(self.codes)
        codes = codes.reshape(codes.shape + (1,) * (cube.ndim - 1 - codes.ndim) * codes.ndim)
        initial = None
        try:
            codes = np.broadcast_to(codes, cube.shape[:-1]).reshape(-1, rows)
            if self.initial is not None and set(steps.diff) & set(self.names):
                initial = self.spread(self.initial, windows)
            undone = steps.undo(
                self.names, cube.reshape(-1, *cube.shape[-2:]), codes,
                None if initial is None else initial.reshape(-1, self.features),
            )  # fmt: skip
        except NoReadingError:
            return None
        return undone.reshape(self.values.shape)

    def spread(self, initial: Floats, windows: tuple[int, ...]) -> Floats:
        """The initial values as ``[..., F]``."""
        if initial.ndim == 0 or initial.shape == (self.features,):
            return np.broadcast_to(initial, (*windows, self.features))
        if self.features == 1 and initial.shape == windows:
            return initial[..., None]
        if initial.shape == (*windows, self.features):
            return initial
        if initial.shape == (1, 1) and windows:
            return np.broadcast_to(initial, (*windows, self.features))
        raise NoReadingError


def draw_call(data: st.DataObject, steps: Steps, items: int) -> Call:
    names = data.draw(st.lists(st.sampled_from([*WIDTHS]), min_size=1, unique=True))
    single = data.draw(st.booleans())
    call = Call(names[:1] if single else names, single, np.zeros(0), 0, None)
    some = st.integers(1, 3)
    windows = tuple(data.draw(st.lists(some, max_size=2)))
    shape = (*windows, data.draw(some), call.features)
    values = np.random.default_rng(sum(shape)).normal(size=shape)
    drops = call.optional and len(windows) < 2 and data.draw(st.booleans())
    if data.draw(st.booleans()):
        first = shape[0]
        code = st.integers(0, items - 1)
        call.codes = data.draw(st.lists(code, min_size=first, max_size=first))
    else:
        call.codes = data.draw(st.integers(0, items - 1))
    if data.draw(st.booleans()):
        starts = [(), (call.features,), (*windows, call.features)]
        starts += [windows, (1, 1)] if call.features == 1 else []
        start = data.draw(st.sampled_from(starts))
        call.initial = np.random.default_rng(len(start)).uniform(1, 9, start)
    else:
        differ = np.repeat([name in steps.diff for name in call.names],
                           [WIDTHS[name] for name in call.names])  # fmt: skip
        begins = [0]
        if not windows and isinstance(call.codes, list):
            begins += (np.flatnonzero(np.diff(call.codes)) + 1).tolist()
        for row in begins:
            values[..., row, differ] = np.nan
    call.values = values[..., 0] if drops else values
    return call


@given(data=st.data())
@cases(0.3)
def test_values_are_undone_in_every_shape(cache: tensorcache.Cache, data: st.DataObject) -> None:
    note_seed()
    loaded, steps = make(cache, data)
    with loaded:
        for _ in range(3):
            call = draw_call(data, steps, len(loaded.items))
            note(f"{call}, shape {call.values.shape}")
            check(loaded, steps, call, data.draw(st.booleans()))


def check(loaded: tensorcache.Dataset, steps: Steps, call: Call, by_value: bool) -> None:
    """The inverse is that of the only reading that fits; what may be rows or windows is refused."""
    if by_value and isinstance(call.codes, int):
        how = {"item": loaded.items[call.codes]}
    else:
        how = {"item": loaded.items[np.asarray(call.codes)]} if by_value else {
            "item_code": call.codes}  # fmt: skip
    columns = call.names[0] if call.single else call.names
    readings = call.readings(bool(set(steps.diff) & set(call.names)))
    several = isinstance(call.codes, list) and len(set(call.codes)) > 1
    windows = call.initial is not None and (call.initial.size != 1 or several)
    if len(readings) > 1 and len(call.values) > 1 and not windows:
        with pytest.raises(tensorcache.SpecError, match="rows of one window, or"):
            loaded.inverse(columns, call.values, initial=call.initial, **how)
        return
    want = call.undo(steps, readings[-1])
    if want is None:
        with pytest.raises(tensorcache.SpecError):
            loaded.inverse(columns, call.values, initial=call.initial, **how)
        return
    got = loaded.inverse(columns, call.values, initial=call.initial, **how)
    np.testing.assert_allclose(got, want, rtol=1e-8, atol=1e-8)


def test_stored_windows_come_back(cache: tensorcache.Cache) -> None:
    y = np.arange(1.0, 41) ** 1.5
    columns = {"id": np.repeat([1, 0], 20), "y": y, "z": y[::-1]}
    data = cache.put(
        "stored", columns, item_id="id", dtype="float64", log1p=["y"], diff=["y", "z"],
        scale="standard", scale_per="item",
    )  # fmt: skip
    plain = cache.put("original", columns, item_id="id", dtype="float64")
    shape = {"context_length": 4, "prediction_length": 3, "columns": ["y", "z"], "dtype": None}
    want = plain.windows(**shape, rows=(1, None))
    windows = data.windows(**shape)
    assert len(windows) == len(want)
    with windows.feed(batch_size=5, order="shuffle") as feed:
        for batch in feed:
            rows = plain.items.row_offset[batch.item_code] + batch.start
            original = np.stack([np.stack([y, y[::-1]], 1)[row : row + 7] for row in rows])
            last = original[:, 3]
            got = data.inverse(["y", "z"], batch.target, item=batch.item, initial=last)
            np.testing.assert_allclose(got, original[:, 4:], rtol=1e-9)
            for values in (batch.target[..., 1], batch.target[..., 1:]):
                got = data.inverse("z", values, item_code=batch.item_code, initial=last[:, 1])
                np.testing.assert_allclose(got.squeeze(), original[:, 4:, 1].squeeze(), rtol=1e-9)
            got = data.inverse(
                ["y"], batch.target[0, :, :1], item=batch.item[0], initial=last[0, 0]
            )
            np.testing.assert_allclose(got, original[0, 4:, :1], rtol=1e-9)


class NeedsGrad:
    """Refuses to become an array as a tensor of torch does that requires grad."""

    def __array__(self, *_: Any, **__: Any) -> Floats:
        raise RuntimeError("call detach")


def test_shapes_that_do_not_fit_or_mean_two_things(cache: tensorcache.Cache) -> None:
    y = np.arange(1.0, 13)
    data = cache.put(
        "refused", {"id": [1] * 6 + [2] * 6, "y": y, "z": y, "w": np.stack([y, y], 1), "p": y},
        item_id="id", dtype="float64", diff=["y", "z", "w"],
    )  # fmt: skip
    five, one = np.ones((5, 1)), np.zeros((2, 3))
    lone = r"\[5, 1\] means 5 rows of one window, or 5 windows of one"
    wrong: list[tuple[Any, Any, dict[str, Any], str]] = [
        ("y", five, {"initial": 1.0}, lone),
        ("y", five, {"initial": [[1.0]]}, lone),
        ("y", 0 * five, {"initial": 1.0}, lone),
        ("y", five, {"item": 1}, lone),
        ("y", five, {"initial": np.ones(3)}, r"got shape \[3\], want one number or shape \[5, 1\]"),
        (
            "y",
            five[:, 0],
            {"initial": np.ones(5)},
            r"windows of one row give values of shape \[B, 1",
        ),
        (["y", "z"], np.ones((5, 2)), {"initial": np.ones((5, 2))}, r"give values of shape \[B, 1"),
        ("y", np.ones((2, 2, 3, 1)), {"initial": [[1.0], [2.0]]}, "can be broadcast in two ways"),
        ("y", five, {"initial": [1.0]}, r'hint: give \["y"\] in place of "y" for rows of one'),
        ("y", np.r_[np.nan, 1:5][:, None], {"item": 1}, lone),
        ("y", five[0, 0], {"initial": 1.0}, "want an axis of rows to sum differences"),
        (["y", "z"], five[:2, 0], {"initial": 1.0}, "want an axis of rows to sum differences"),
        ("w", five[:2, 0], {"item_code": [0, 1]}, "item_code: got 2 items for one row of 2"),
        ("w", five[:2, 0], {"item": [1, 2]}, "^item: got 2 items for one row of 2 features"),
        (["y"], one, {"initial": 1.0}, r'last axis of 1, .* "y"\nhint: values\[..., i:i'),
        ("y", one[None], {"initial": 1.0}, r'axis of 1, .* "y"\nhint: values\[..., i:i \+ 1\]'),
        ("w", one, {"initial": 1.0}, r"got shape \[2, 3\], want a last axis of 2"),
        ("y", one, {"initial": np.zeros(3)}, r"shape \[3\], want one number or shape \[2, 1\] or"),
        (
            "y",
            one,
            {"initial": one},
            r"shape \[2, 3\], want one number or shape \[2, 1\] or \[2",
        ),
        ("y", one[0], {"initial": np.zeros(3)}, r"shape \[3\], want one number or shape \[1\]\n"),
        (
            "y",
            one[0],
            {"initial": 1.0, "item_code": [0, 0, 1]},
            "got an initial value for rows of several items",
        ),
        ("y", one, {}, "item: column"),
        ("y", one, {"item": 1}, "initial: column"),
        ("y", one, {"item": 1, "initial": "x"}, "initial: got <U1, want numbers"),
        ([], one, {}, "columns: got no name"),
        ("y", NeedsGrad(), {"initial": 1.0}, "values: want numbers: call detach"),
    ]
    for columns, values, how, message in wrong:
        with pytest.raises(tensorcache.SpecError, match=message):
            data.inverse(columns, values, **how)
    np.testing.assert_array_equal(data.inverse(["y"], five, initial=1)[:, 0], [2, 3, 4, 5, 6])
    for windows in (five, five[..., None]):
        got = data.inverse("y", windows, initial=np.arange(5.0))
        np.testing.assert_array_equal(got.ravel(), np.arange(1.0, 6))
    got = data.inverse("y", five[:2], initial=3.0, item_code=[0, 1])
    np.testing.assert_array_equal(got, [[4], [4]])
    for initial in (np.zeros((4, 2)), np.zeros(2), np.zeros((1, 2)), np.zeros((4, 1, 1))):
        got = data.inverse("y", np.ones((4, 2, 3, 1)), initial=initial)
        np.testing.assert_array_equal(got[3, 1, :, 0], [1, 2, 3])
    for shape in ((), (2,), (2, 1), (2, 3, 4, 5)):
        assert data.inverse("p", np.ones(shape)).shape == shape
