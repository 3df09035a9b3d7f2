"""What a bucket costs: storage by the month, requests by the gibibyte ingested. Pure.

Prices are arguments. The defaults are those of Amazon S3 Standard in us-east-1 at the time of
writing (https://aws.amazon.com/s3/pricing/); a "GB" there is 2**30 bytes. Deletions are free.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

GIB: Final = 1 << 30
FREE_OPERATIONS: Final = frozenset({"delete", "abort"})
GET_OPERATIONS: Final = frozenset({"get", "head"})


@dataclass(frozen=True, slots=True)
class Prices:
    """In dollars, or in the currency of the arguments."""

    put_per_1000: float = 0.005  # PUT, COPY, POST and LIST
    get_per_1000: float = 0.0004  # GET and everything else
    gb_month: float = 0.023


@dataclass(frozen=True, slots=True)
class RequestCost:
    """Requests of one operation, and their price."""

    operation: str
    requests: int
    per_gib: float  # requests for each GiB ingested; 0 when nothing was
    price: float
    price_per_gib: float


def storage_price(stored_bytes: int, prices: Prices) -> float:
    """Return what these bytes cost in a month."""
    return stored_bytes / GIB * prices.gb_month


def request_price(operation: str, requests: int, prices: Prices) -> float:
    """Return what these requests cost; an unknown operation is charged as a PUT."""
    if operation in FREE_OPERATIONS:
        return 0.0
    each = prices.get_per_1000 if operation in GET_OPERATIONS else prices.put_per_1000
    return requests / 1000 * each


def request_costs(
    requests: Mapping[str, int], ingested_bytes: int, prices: Prices
) -> list[RequestCost]:
    """Price requests by operation.

    Args:
        requests: operation -> how many.
        ingested_bytes: what producers sent meanwhile.
        prices: of a thousand requests.
    """
    gib = ingested_bytes / GIB
    costs = []
    for operation, count in sorted(requests.items()):
        price = request_price(operation, count, prices)
        costs.append(
            RequestCost(
                operation,
                count,
                count / gib if gib else 0.0,
                price,
                price / gib if gib else 0.0,
            )
        )
    return costs
