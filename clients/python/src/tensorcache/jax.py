"""JAX: a loader of jax arrays.

On the CPU an array is the slot of shared memory itself, without a copy; the slot is filled again
only after JAX has dropped the array. For another device a slot is kept until it was copied there.
jax is imported by :func:`loader`, not before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._adapters.arranged_feed import feed_of
from ._adapters.loader import Loader as AnyLoader
from ._adapters.options import JAX_DEFAULTS, JaxOptions, LoaderOptions, Settings, format_of
from ._extras import required
from ._feed.feed import Feed
from ._feed.options import BatchOptions
from ._keywords import takes
from ._windows import Windows

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Loader", "loader"]


@takes(JAX_DEFAULTS, BatchOptions, LoaderOptions, JaxOptions)
def loader(windows: Windows, **options: Unpack[JaxOptions]) -> Loader:
    """A loader of jax arrays.

    Args:
        windows: what to load.
        **options: of the loader.

    Raises:
        SpecError: options contradict each other, or one cannot be; or windows have 64 bits without
            ``jax_enable_x64``.
    """
    form, device = format_of(options["format"], options["parts"]), options["device"]
    jax_delivery().check_device(device)  # first: if jax is not installed, that is the error
    made = Loader(Settings.of(windows, options, format=form, device=device))
    _ = made.feed  # refuses wrong options here, not in the loop
    return made


class Loader(AnyLoader):
    """Batches of jax arrays; each pass is one epoch, ``len`` counts this process's batches in it.

    Arrays may be kept: an array's memory is reused only after JAX has dropped it.
    """

    def find_share(self) -> tuple[int, int]:
        """This process's index and the number of processes."""
        import jax

        return jax.process_index(), jax.process_count()

    def make_feed(self, rank: int, num_replicas: int) -> Feed:
        """A feed that makes jax arrays."""
        given = self._settings
        deliveries = jax_delivery().deliveries(given.selection, given.own["device"])
        return feed_of(given, given.feed_options(rank, num_replicas), deliveries)


def jax_delivery() -> Any:
    """The module of JAX deliveries, which imports jax."""
    with required("jax"):
        from ._adapters import jax_delivery
    return jax_delivery
