"""The table of `bench.storage_requests`: requests and prices by phase. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.s3_requests import (
    GIB,
    MIB,
    PUBLISHED_GET_PER_GB,
    PUBLISHED_PUT_PER_GB,
    Tally,
)
from headrace.storage.audit.cost import Prices

HEADING = ("streams", "phase", "GiB", "PUT/GiB", "GET/GiB", "$/GiB")
SUM = "sum"


@dataclass(frozen=True)
class PhaseCost:
    """The cost of one phase per GiB."""

    gib: float
    puts: float
    gets: float
    price: float


def phase_cost(tally: Tally, size_bytes: int, prices: Prices) -> PhaseCost:
    """Compute the cost of a phase that processed `size_bytes`."""
    gib = size_bytes / GIB
    return PhaseCost(gib, tally.puts / gib, tally.gets / gib, tally.price(prices) / gib)


def summed(costs: Mapping[str, PhaseCost], gib: float) -> PhaseCost:
    """The sum of all phases for a GiB that is ingested, compacted and read once from the bucket."""
    found = costs.values()
    return PhaseCost(
        gib,
        sum(it.puts for it in found),
        sum(it.gets for it in found),
        sum(it.price for it in found),
    )


def phase_lines(streams: int, costs: Mapping[str, PhaseCost], gib: float) -> list[Sequence[str]]:
    """The lines for one number of streams: one for each phase, then their sum."""
    return [
        (
            f"{streams:,}",
            phase,
            f"{it.gib:.2f}",
            f"{it.puts:,.2f}",
            f"{it.gets:,.2f}",
            f"{it.price:.6f}",
        )
        for phase, it in (costs | {SUM: summed(costs, gib)}).items()
    ]


def published_line(prices: Prices) -> Sequence[str]:
    """AutoMQ's published figures for all of its requests."""
    price = PUBLISHED_PUT_PER_GB / 1000 * prices.put_per_1000
    price += PUBLISHED_GET_PER_GB / 1000 * prices.get_per_1000
    puts, gets = f"{PUBLISHED_PUT_PER_GB:.2f}", f"{PUBLISHED_GET_PER_GB:.2f}"
    return "AutoMQ", "all, per GB", "", puts, gets, f"{price:.6f}"


def aligned(lines: Sequence[Sequence[str]], *, left: Sequence[int] = ()) -> list[str]:
    """Align cells in columns as wide as their widest cell, two spaces apart.

    Args:
        lines: all with the same number of cells.
        left: columns of text; the others are numbers, aligned to the right.
    """
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if at in left else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]


def described(tally: Tally) -> list[str]:
    """Number and average size of each operation."""
    found = []
    for operation, count in sorted(tally.requests.items()):
        mean = tally.mean_bytes(operation)
        size = f" of {mean / MIB:.1f} MiB" if mean >= MIB else f" of {mean / 1024:.0f} KiB"
        found.append(f"{count:,} {operation}{size if mean else ''}")
    return found or ["none"]
