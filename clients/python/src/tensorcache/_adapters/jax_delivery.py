"""JAX arrays from descriptors.

On the CPU, ``jax.device_put`` of an aligned numpy array makes an array over the same memory, and
keeps the numpy array as long as it is in use; for other devices it keeps it until it is copied. The
numpy array keeps its slot: see :mod:`.._feed.ring`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from .._errors import SpecError, show
from .._feed import numpy_delivery
from .._feed.batch import PARTS, Array, Layout
from .._feed.numpy_delivery import Deliver, Deliveries
from .._feed.part_delivery import slot_parts
from .._feed.parts import Selection

if TYPE_CHECKING:
    from .._feed.ring import Ring

PLACES = ("item", "item_code", "start", "row", "time")
"""The parts that remain numpy arrays."""


def deliveries(selection: Selection | None, device: Any) -> Deliveries:
    """The deliveries of a loader's parts for its device or sharding.

    Args:
        selection: the parts; None is all of them by name.
        device: where arrays are put.
    """
    put = putter(device)

    def slot(ring: Ring, layout: Layout) -> Deliver:
        for name, part in layout.parts.items():
            if name not in PLACES and jax.dtypes.canonicalize_dtype(part.dtype) != part.dtype:
                chosen = None if selection is None else selection.chosen.get(name)
                of_part = chosen is not None and chosen.dtype is not None
                raise SpecError(
                    f"{chosen.name if chosen else name}: its dtype is {part.dtype}, which JAX "
                    "would cut to 32 bits",
                    field="parts" if of_part else "dtype",
                    hint=f'{"Part" if of_part else "data.windows"}(..., dtype="float32"), or '
                    'jax.config.update("jax_enable_x64", True)',
                )

        if selection is not None:
            names, pack, arrays = (
                selection.names,
                selection.pack,
                slot_parts(selection, ring, layout),
            )

            def packed(slot: int, rows: int, flags: int, row: int) -> Any:
                made = zip(names, arrays(slot, rows, flags, row), strict=True)
                return pack([np.array(a) if name in PLACES else put(a) for name, a in made])

            return packed

        batches = numpy_delivery.slot(ring, layout)

        def named(slot: int, rows: int, flags: int, row: int) -> dict[str, Any]:
            batch = batches(slot, rows, flags, row)
            parts = ((name, getattr(batch, name)) for name in PARTS)
            return {
                name: np.array(part) if name in PLACES else put(part)
                for name, part in parts
                if part is not None
            }

        return named

    return {"slot": slot}


def check_device(device: Any) -> None:
    """Refuse an object that arrays cannot be put on.

    Raises:
        SpecError: it is neither a device nor a sharding.
    """
    if not isinstance(device, (jax.Device, jax.sharding.Sharding, type(None))):
        raise SpecError(
            f"device: got {show(device)}, want a jax.Device or a jax.sharding.Sharding",
            field="device",
            hint='jax.devices("cpu")[0] is a device; leave it out for JAX\'s default',
        )


def putter(device: Any) -> Callable[[Array], jax.Array]:
    """A function that puts an array onto a device, or makes it a process's part of a global one."""
    if isinstance(device, jax.sharding.Sharding):
        return lambda array: jax.make_array_from_process_local_data(device, array)
    return lambda array: jax.device_put(array, device)
