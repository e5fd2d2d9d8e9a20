"""Windows of a dataset and splits of them."""

from __future__ import annotations

import warnings
from collections.abc import ItemsView, Iterator, KeysView, Sequence, ValuesView
from typing import TYPE_CHECKING, Any

from . import _checks
from ._checks import RowBounds, Time, TimeBounds
from ._data.sample import Sample
from ._data.texts import in_range
from ._errors import NotFoundError, near
from ._feed.auto_delivery import Chooser
from ._feed.feed import Feed
from ._feed.options import (
    FEED_DEFAULTS,
    BatchOptions,
    FeedOptions,
    feed_options,
    sampler_options,
)
from ._feed.orders import traits
from ._feed.part_delivery import deliveries
from ._feed.parts import selection_of
from ._feed.weights import Weights
from ._feed.weights import weights as item_weights
from ._index import leakage
from ._index.backtest import empty_fold, folds_of
from ._index.cuts import split_request, where_cut
from ._index.index import WindowIndex, counts_of
from ._keywords import takes
from ._repr.views import split_html, windows_html
from ._warnings import warn

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Windows(WindowIndex):
    """The windows of a dataset that a spec admits; immutable, picklable, cheap to cut further.

    ``len(windows)`` counts them. ``windows[i]`` is one of them as a :class:`Sample`, with
    ``context`` of shape ``[context_length, features]`` and ``target`` of shape ``[overlap +
    prediction_length, features]``. The client copies it out of the mapped columns, without the
    daemon: it is yours to change. Slices and lists of numbers give several windows along a leading
    axis.

    Attributes:
        dataset: the dataset that they are of.
        positions: the places where a window could start; windows and rejections add up to it.
        rejected: positions that are no window, by the first reason that applies.
        features: for each part (context, target, known, static) the names of its features.
        dtype: the dtype of the parts; None is as stored.
    """

    def plan(
        self,
        *,
        batch_size: int | None = None,
        order: str = "sequential",
        seed: int = 0,
        rank: int = 0,
        num_replicas: int = 1,
        tail: str | None = None,
        weights: Weights | None = None,
        min_items: int | None = None,
        channels_first: bool = False,
    ) -> dict[str, Any]:
        """What would be served: counts, rejections, first and last window, the gather's path.

        With ``batch_size`` also ``batches``, ``last_batch``, ``batch_bytes`` and ``ranks``. In an
        order of groups, None is a batch size too: whole groups, and ``groups`` counts the groups,
        with a warning if most are small. The keys are those of ``tensorcache plan --json``.
        Warns if ``dtype`` does not hold the values of a column; so does the first batch, once.
        """
        more: dict[str, Any] = {"channels_first": _checks.flag("channels_first", channels_first)}
        if batch_size is not None or traits(order).groups:
            given = None if weights is None else item_weights(weights, self.dataset.items)
            more["options"] = sampler_options(
                batch_size, order, seed, rank, num_replicas, tail, given, min_items
            )
        plan: dict[str, Any] = self.dataset._post("plan", self._spec, self._cuts, **more)
        if warning := plan.get("groups", {}).get("warning"):
            warnings.warn(warning, stacklevel=2)
        warn(plan)
        return plan

    def where(
        self,
        *,
        rows: RowBounds | None = None,
        time: TimeBounds | None = None,
        items: Any = None,
        context_before_split: bool = True,
    ) -> Windows:
        """The windows whose prediction rows are all inside the bounds.

        Args:
            rows: rows of each item.
            time: times; those without a zone are in the zone of the time column.
            items: an item's value, such as ``windows[0].item``, or several: a list, or an array of
                NumPy, torch, JAX or pandas, such as ``batch.item``. A whole number is a value and
                not a code; ``data.items[codes]`` has the values of codes.
            context_before_split: lets a window's context begin before the bound.
        """
        if items is not None and self.dataset.items._is_value(items):
            items = [items]
        cut = where_cut(rows, time, items, context_before_split)
        return Windows(self.dataset, self._spec, (*self._cuts, cut))

    def split(
        self,
        *,
        lengths: Sequence[int | None] | None = None,
        fractions: Sequence[float | None] | None = None,
        at_times: Sequence[Time] | None = None,
        items: Sequence[Any] | None = None,
        purge: int = 0,
        context_before_split: bool = True,
        names: Sequence[str] | None = None,
    ) -> Split:
        """Cut into parts by the place of the prediction rows; no prediction row is in two parts.

        Args:
            lengths: rows of each part per item, from its start; None takes the rest.
            fractions: shares of each item's rows; a part given as None, else the last, takes the
                rest.
            at_times: k bounds for k + 1 parts; those without a zone are in the zone of the time
                column.
            items: lists of items, or shares of them (by a fixed hash of the item).
            purge: rows left out before each later part.
            context_before_split: lets a window's context begin before its part.
            names: the parts' names; None is train, val, test and so on.

        Returns:
            The parts in order; they unpack, and can be had by number and by name.

        Raises:
            SpecError: a value is out of range, or a part has no window; the message names the part
                and counts the reasons for its rejected positions.
            NotFoundError: ``items`` names an item that does not exist.

        Warns:
            LeakageWarning: what ``check_leakage()`` raises.
            UserWarning: ``lengths`` are more rows than the longest item has.
        """
        split = split_request(
            lengths, fractions, at_times, items, purge, context_before_split, names
        )
        reply = self.dataset._post("plan", self._spec, self._cuts, split=split)
        parts = {}
        for part in reply["splits"]:
            counts = counts_of({**part, "features": reply["features"]})
            parts[str(part["name"])] = Windows(
                self.dataset, self._spec, (*self._cuts, part["cut"]), counts
            )
        made = Split(parts)
        about_split = [w for w in reply.get("warnings", ()) if w["field"] in split]
        warn({"warnings": about_split})
        leakage.warn(self, made._later(), stacklevel=3)
        return made

    def latest(self) -> Windows:
        """For each item the one window whose context ends at its last row with a target value.

        Forecast from these windows. Their ``target`` is None, and ``known`` has the rows after the
        context too. The daemon computes those after an item's end, if all known columns are
        calendar columns. The windows cannot be cut further.

        Raises:
            SpecError: ``known_columns`` lack rows after an item's last target value, or its times
                have no regular step; the message names the item.
        """
        return Windows(self.dataset, self._spec, (*self._cuts, {"latest": True}))

    def backtest(
        self, *, folds: int, horizon: int, step: int | None = None, train_rows: int | None = None
    ) -> list[Split]:
        """Rolling-origin evaluation: for each fold its train and test windows.

            for train, test in windows.backtest(folds=5, horizon=96, step=96): ...

        Test k has the windows whose prediction rows lie in the ``horizon`` rows that end (folds - 1
        - k) * ``step`` rows before each item's end; train k has those whose prediction rows lie
        before them.

        Args:
            folds: how many.
            horizon: rows of each item that a fold tests.
            step: rows between the ends of neighbouring folds; None is ``horizon``: tests that
                touch.
            train_rows: train on the last so many rows before the test; None on all (expanding).

        Returns:
            The folds, the earliest first; each unpacks into train and test.

        Raises:
            SpecError: a number cannot be, or a fold has no windows; the message counts what they
                were lost to.
        """
        made = []
        bounds = folds_of(self, folds, horizon, step, train_rows)
        for k, (trained, tested) in enumerate(bounds):
            fold = {"train": self.where(rows=trained), "test": self.where(rows=tested)}
            for name, part in fold.items():
                if not len(part):
                    what = f"{name} of fold {k} (of {folds}, numbered from 0)"
                    raise empty_fold(self, what, part)
            made.append(Split(fold))
        tests = ((f"test of fold {k}", fold["test"]) for k, fold in enumerate(made))
        leakage.warn(self, tests, stacklevel=3)
        return made

    def check_leakage(self) -> None:
        """Check that no step of the load was fitted on prediction rows of these windows.

        Use it on test windows.

        Raises:
            LeakageError: one was; the message names the columns, items and rows.
        """
        leakage.check(self, [("these windows", self)])

    def plot(self, index: int, *, ax: Any = None) -> Any:
        """Draw window ``index`` over its item's values.

        The plot marks context, gap, prediction rows, padding and missing values. It needs
        matplotlib (``pip install tensorcache[plot]``).

        Args:
            index: the window's number.
            ax: the matplotlib axes to draw on; None makes a figure.

        Returns:
            The axes.
        """
        from ._index.plot import plot_window

        return plot_window(self, index, ax)

    def plot_splits(self, *, items: Sequence[Any] | None = None, ax: Any = None) -> Any:
        """Draw for each item where the windows are, and which positions are rejected and why.

        ``windows.split(...).plot()`` draws the parts of a split. Needs matplotlib (``pip install
        tensorcache[plot]``).

        Args:
            items: item values to draw; None draws the first few.
            ax: the matplotlib axes to draw on; None makes a figure.

        Returns:
            The axes.
        """
        from ._index.plot import plot_parts

        return plot_parts({"windows": self}, items, ax)

    def __getitems__(self, indices: Sequence[int]) -> list[Sample]:
        """The windows of a batch, for torch's ``DataLoader``, which cannot collate them itself."""
        from ._adapters.torch_collate import refuse_samples

        refuse_samples()
        return [self[index] for index in indices]

    @takes(FEED_DEFAULTS, BatchOptions, FeedOptions)
    def feed(self, *, batch_size: int | None, **options: Unpack[FeedOptions]) -> Feed:
        """A stream of batches for one trainer, prepared ahead by the daemon.

        Args:
            batch_size: the number of windows in a batch; None makes each batch a whole group, in an
                order of groups.
            **options: of the feed.

        Raises:
            SpecError: an option cannot be; ``field`` names it.
            ResourceError: the memory does not suffice for 3 slots.
        """
        weights, delivery, order = options["weights"], options["delivery"], options["order"]
        selection = None
        if (parts := options["parts"]) is not None:
            selection = selection_of(parts, self, order, delivery, options["mask"])
        sampler = sampler_options(
            batch_size,
            order,
            options["seed"],
            options["rank"],
            options["num_replicas"],
            options["tail"],
            None if weights is None else item_weights(weights, self.dataset.items),
            options["min_items"],
        )
        return Feed(
            self,
            feed_options(
                sampler,
                delivery,
                options["slots"],
                options["channels_first"],
                options["mask"],
                selection,
            ),
            deliveries(selection, _checks.flag("writable", options["writable"])),
            chooser=Chooser() if delivery == "auto" else None,
            reconnect=self.dataset._reconnect(options["reconnect"]),
            selection=selection,
            batches_per_epoch=options["batches_per_epoch"],
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return Windows, (self.dataset, self._spec, self._cuts, None, True)

    def __repr__(self) -> str:
        counted = [] if self._known_counts is None else [f"{len(self):,}"]
        fields = (f"{field} {value}" for field, value in self._spec.items())
        return f"<Windows of {self.dataset._label()}: {', '.join([*counted, *fields])}>"

    def _repr_html_(self) -> str:
        return windows_html(self)


class Split:
    """The parts of a split, in order and by name.

    ``train, val, test = windows.split(...)`` unpacks them; ``split[1]`` and ``split["val"]`` are
    the same part. ``keys()``, ``values()`` and ``items()`` are those of a dict; iteration is over
    the parts, not over their names.
    """

    def __init__(self, parts: dict[str, Windows]) -> None:
        self._parts = parts

    def __len__(self) -> int:
        return len(self._parts)

    def __iter__(self) -> Iterator[Windows]:
        return iter(self._parts.values())

    def __getitem__(self, key: int | str) -> Windows:
        if not isinstance(key, str):
            return list(self._parts.values())[in_range(key, len(self._parts))]
        if key not in self._parts:
            raise NotFoundError(
                f'no part is named "{key}"{near(key, self._parts)}',
                type="part_not_found",
                hint=f"the parts: {', '.join(self._parts)}",
            )
        return self._parts[key]

    def keys(self) -> KeysView[str]:
        """The parts' names, in order."""
        return self._parts.keys()

    def values(self) -> ValuesView[Windows]:
        """The parts, in order."""
        return self._parts.values()

    def items(self) -> ItemsView[str, Windows]:
        """Names and parts, in order."""
        return self._parts.items()

    def check_leakage(self) -> None:
        """Check that no step of the load was fitted on prediction rows of any part but the first.

        ``split`` and ``backtest`` warn about the same.

        Raises:
            LeakageError: one was; the message names the columns, the parts and their rows.
        """
        leakage.check(self[0], self._later())

    def plot(self, *, items: Sequence[Any] | None = None, ax: Any = None) -> Any:
        """Draw each part's prediction and context rows, and the positions in no part and why.

        Needs matplotlib (``pip install tensorcache[plot]``).

        Args:
            items: item values to draw; None draws the first few.
            ax: the matplotlib axes to draw on; None makes a figure.

        Returns:
            The axes.
        """
        from ._index.plot import plot_parts

        return plot_parts(self._parts, items, ax)

    def _later(self) -> list[tuple[str, Windows]]:
        return list(self._parts.items())[1:]

    def __repr__(self) -> str:
        return (
            f"<Split {', '.join(f'{name}: {len(part):,}' for name, part in self._parts.items())}>"
        )

    def _repr_html_(self) -> str:
        return split_html(self._parts)
