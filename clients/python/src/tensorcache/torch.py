"""PyTorch: a loader whose tensors reuse memory, and a map-style dataset.

``tensorcache.torch.loader(train, batch_size=32, shuffle=True)`` takes the place of a
``DataLoader``, without workers, collation or pickling: the daemon prepares the batches.
``tensorcache.torch.dataset(train)`` is for a ``DataLoader``. torch is imported by these two
functions, not before.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal

from ._adapters.arrange import arrange_of
from ._adapters.choose_torch_delivery import device_and_delivery, torch_feed
from ._adapters.loader import Loader as AnyLoader
from ._adapters.options import (
    TORCH_DEFAULTS,
    LoaderOptions,
    Settings,
    TorchOptions,
    check_items,
    check_windows,
    format_of,
    warn_of_workers,
)
from ._adapters.same_content import compare_ranks
from ._checks import flag
from ._errors import SpecError, show
from ._extras import required
from ._feed.feed import Feed
from ._feed.options import BatchOptions
from ._feed.orders import traits
from ._feed.parts import Parts, selection_of
from ._keywords import takes
from ._windows import Windows

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Loader", "dataset", "loader"]


@takes(TORCH_DEFAULTS, BatchOptions, LoaderOptions, TorchOptions)
def loader(windows: Windows, **options: Unpack[TorchOptions]) -> Loader:
    """A loader of torch tensors.

    Args:
        windows: what to load.
        **options: of the loader.

    Raises:
        SpecError: options contradict each other, or one cannot be.
        ResourceError: the columns do not fit on the device.

    Warns:
        UserWarning: ``num_workers`` is not 0, and is ignored.
    """
    form = format_of(options["format"], options["parts"])
    warn_of_workers(options["num_workers"])
    torch_delivery()  # if torch is not installed, that is the error
    resident = flag("resident", options["resident"])
    pin_memory = flag("pin_memory", options["pin_memory"])
    device, delivery = device_and_delivery(
        options["device"], options["delivery"], resident, pin_memory
    )
    seed = seed_of(options["seed"], options["generator"])
    own = {"format": form, "device": device, "resident": resident, "pin_memory": pin_memory}
    resolved = {**options, "seed": seed, "delivery": delivery}
    settings = Settings.of(windows, resolved, **own)
    check_items(windows, settings.selection)
    made = Loader(settings)
    _ = made.feed  # refuses wrong options here, not in the loop
    return made


class Loader(AnyLoader):
    """Batches of torch tensors; each pass is one epoch, ``len`` counts this rank's batches in it.

    Tensors are writable, except with ``delivery="view"``. Their memory is reused once nothing
    refers to it, so tensors may be kept, or copied with ``clone()``. Attributes and methods are
    those that trainers read from a ``DataLoader``: ``dataset``, ``sampler``, ``batch_sampler``
    (None), ``batch_size``, ``drop_last``, ``num_workers``, ``pin_memory``, and ``state_dict`` and
    ``load_state_dict`` as in torchdata's StatefulDataLoader. It can be pickled, and used after a
    fork: see :class:`tensorcache._adapters.loader.Loader`.
    """

    batch_sampler: Any = None
    num_workers = 0
    prefetch_factor = None
    persistent_workers = False
    _pinned: Any = None

    @property
    def sampler(self) -> Any:
        """The loader itself, for its ``set_epoch``; in sequential order a ``SequentialSampler``.

        Lightning's ``overfit_batches`` needs a ``SequentialSampler``, because it uses the same
        batches in every epoch.
        """
        if not traits(self._settings.order).ascending:
            return self
        from ._adapters.torch_dataset import InOrderSampler

        return InOrderSampler(self)

    @property
    def pin_memory(self) -> bool:
        """Whether batches are copied into pinned memory."""
        return bool(self._settings.own["pin_memory"])

    def __iter__(self) -> Iterator[Any]:
        """A pass: one epoch, or ``batches_per_epoch`` batches."""
        compare_ranks(self._settings.windows.dataset, self.share())
        return super().__iter__()

    def find_share(self) -> tuple[int, int]:
        """The rank and number of trainers that torch knows."""
        return share()

    def make_feed(self, rank: int, num_replicas: int) -> Feed:
        """A feed that makes tensors."""
        feed, self._pinned = torch_feed(self._settings, torch_delivery(), rank, num_replicas)
        return feed

    def stats(self) -> dict[str, Any]:
        """What the feed did so far; see :meth:`Feed.stats`.

        With ``device`` also ``pinned``: "yes", or the reason why not.
        """
        return {
            **super().stats(),
            **({} if self._pinned is None else {"pinned": self._pinned.pinned}),
        }


def dataset(
    windows: Windows,
    *,
    format: Literal["tuple", "dict"] | None = None,  # noqa: A002
    parts: Parts | None = None,
    arrange: Callable[[Any], Any] | None = None,
) -> Any:
    """A map-style ``torch.utils.data.Dataset`` of windows, for a ``DataLoader``.

    ``dataset[i]`` is ``(context, target)`` of window i, or ``(context,)``, or the parts by name,
    without those that a sample makes on first access. They are tensors of their own, cut out of the
    mapped columns in the calling process. The dataset can be pickled, so workers may be started in
    any way. A ``DataLoader`` asks for a whole batch at once; with ``collate_fn=dataset.collate`` it
    gets the batch as it was cut, instead of taking it apart and stacking it again.

    Args:
        windows: the windows to load.
        format: ``"tuple"`` or ``"dict"``; None is a tuple.
        parts: the parts of a window, as for :meth:`Windows.feed`.
        arrange: a function that turns the tensors into what ``dataset[i]`` returns. It gets one
            window, or several along a leading axis for a list of numbers and for
            ``dataset.collate``. To pickle the dataset, define it at the top of a module.

    Raises:
        SpecError: ``windows`` are no windows, or the format is another one, or parts or ``arrange``
            cannot be.
    """
    form = format_of(format, parts)
    check_windows(windows)
    torch_delivery()
    from ._adapters.torch_dataset import WindowDataset

    selection = None
    if parts is not None:
        selection = selection_of(parts, windows, "", "", mask=False)
        check_items(windows, selection)
        # The daemon refuses dtypes that lose values.
        windows.dataset._post("plan", windows._spec, windows._cuts, parts=selection.request())
    return WindowDataset(windows, form, selection, arrange_of(arrange))


def torch_delivery() -> Any:
    """The module of torch deliveries, which imports torch."""
    with required("torch"):
        from ._adapters import torch_delivery
    return torch_delivery


def seed_of(seed: int, generator: Any) -> int:
    """The seed, or that of the generator."""
    if generator is None:
        return seed
    import torch

    if not isinstance(generator, torch.Generator):
        raise SpecError(
            f"generator: got {show(generator)}, want a torch.Generator",
            field="generator",
            hint="seed= takes a number",
        )
    if seed != 0:
        raise SpecError(f"generator: got one with seed={seed}, want one of them", field="generator")
    return int(generator.initial_seed())


def share() -> tuple[int, int]:
    """This process's rank and the number of trainers.

    They are those of ``torch.distributed``, else of the environment, else 0 of 1.

    Raises:
        SpecError: the process is a worker of a ``DataLoader``, each of which would load everything.
    """
    import torch.distributed as dist

    workers = sys.modules.get("torch.utils.data")
    if workers is not None and workers.get_worker_info() is not None:
        raise SpecError(
            "a loader has no place in a DataLoader's worker: each would load everything",
            field="num_workers",
            hint="iterate the loader itself, or give the DataLoader torch.dataset(windows)",
        )
    if dist.is_available() and dist.is_initialized():
        return dist.get_rank(), dist.get_world_size()
    if os.environ.get("RANK", "").isdigit() and os.environ.get("WORLD_SIZE", "").isdigit():
        return int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    return 0, 1
