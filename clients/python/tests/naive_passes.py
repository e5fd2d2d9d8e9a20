"""Passes of n batches, by walking the sequence of all epochs batch by batch."""

from __future__ import annotations

from naive_orders import Order

Place = tuple[int, int]


def epoch_of(order: Order, epoch: int, consumed: int = 0) -> list[list[tuple[list[int], Place]]]:
    """Each rank's batches from a place to the end of the epoch, with the place after each."""
    return [
        [
            (numbers, (epoch, after) if step < len(batches) - 1 else (epoch + 1, 0))
            for step, (numbers, after) in enumerate(batches)
        ]
        for batches in order.deal(epoch, consumed)
    ]


def pass_of(
    order: Order, n: int, epoch: int, consumed: int = 0
) -> list[list[tuple[list[int], Place]]]:
    """Each rank's batches from a place to the end of the pass, with the place after each."""
    if not order.deal(epoch, consumed)[0]:
        epoch, consumed = epoch + 1, 0
    end = end_of(order, n, (epoch, consumed))
    ranks: list[list[tuple[list[int], Place]]] = [[] for _ in range(order.num_replicas)]
    while (epoch, consumed) < end:
        for step in zip(*epoch_of(order, epoch, consumed), strict=True):
            for rank, batch in zip(ranks, step, strict=True):
                rank.append(batch)
            if step[0][1] >= end:
                return ranks
        epoch, consumed = epoch + 1, 0
    return ranks


def end_of(order: Order, n: int, place: Place) -> Place:
    """The first place after this one where a pass begins."""
    epoch = place[0]
    number = epoch * len(order.deal(epoch)[0])  # all epochs have so many batches
    while True:
        begin = 0
        for _, after in order.deal(epoch)[0]:
            if number % n == 0 and (epoch, begin) > place:
                return epoch, begin
            number, begin = number + 1, after
        epoch += 1
