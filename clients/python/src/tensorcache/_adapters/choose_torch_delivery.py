"""How batches of a torch loader are delivered: from its options to a feed that makes tensors."""

from __future__ import annotations

from typing import Any

from .._errors import SpecError, show
from .._feed.auto_delivery import Chooser
from .._feed.feed import Feed
from .._feed.numpy_delivery import Deliveries
from .arranged_feed import feed_of
from .options import Settings


def torch_feed(
    given: Settings, torch_delivery: Any, rank: int, num_replicas: int
) -> tuple[Feed, Any]:
    """A feed that makes tensors, and what copies batches to a device; None if nothing does.

    Resident columns and devices have a delivery of their own. Else ``"auto"`` begins with slots,
    and tries the gather of this process too if the windows allow it.

    Args:
        given: the loader's options.
        torch_delivery: the module of that name, which imports torch.
        rank: the number of this trainer.
        num_replicas: how many trainers there are.
    """
    selection, device = given.selection, given.own["device"]
    options = given.feed_options(rank, num_replicas)
    deliveries: Deliveries = (
        torch_delivery.NAMED if selection is None else torch_delivery.deliveries(selection)
    )
    chooser = to_device = None
    if given.own["resident"]:
        from .torch_resident import resident_deliveries

        deliveries = resident_deliveries(selection, device)
    elif device is not None:
        from .torch_device import ToDevice

        to_device = ToDevice(selection, device)
        deliveries = to_device.deliveries
    elif given.delivery == "auto":
        options["delivery"] = "slot"
        chooser = Chooser(lambda mapped: torch_delivery.can_gather(mapped, selection))
    pin = torch_delivery.pinner() if given.own["pin_memory"] else None
    return feed_of(given, options, deliveries, chooser, pin), to_device


def device_and_delivery(
    device: Any, delivery: str, resident: bool, pin_memory: bool
) -> tuple[str | None, str]:
    """The device's name, None for the CPU's pageable memory, and the delivery that suits it."""
    import torch

    try:
        to = None if device is None else torch.device(device)
    except (RuntimeError, TypeError):
        raise SpecError(
            f"device: got {show(device)}, want a torch.device or the name of one",
            field="device",
            hint='"cuda", "cuda:1" and "cpu" are names; leave it out for the memory of the CPU',
        ) from None
    name = None if to is None or to.type == "cpu" else str(to)
    if name is not None and to is not None and to.type == "cuda" and not torch.cuda.is_available():
        raise SpecError(
            f'device: got "{name}", but torch finds no CUDA device',
            field="device",
            hint="leave it out for the memory of the CPU",
        )
    if name is not None and pin_memory:
        raise SpecError(
            f'pin_memory: got True with device="{name}", which pins by itself', field="pin_memory"
        )
    wanted = "starts" if resident else "slot"
    if (resident or name is not None) and delivery not in ("auto", wanted):
        why = "resident=True" if resident else f'device="{name}"'
        raise SpecError(
            f'delivery: got "{delivery}" with {why}, want "auto" or "{wanted}"', field="delivery"
        )
    if resident or name is not None:
        delivery = wanted
    return name, delivery
