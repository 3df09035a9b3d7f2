"""How many connections a node has open, in all and from one address. Pure.

The keys are Kafka's: `max.connections`, `max.connections.per.ip` and `max.connections.per.ip.overrides`.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Final

# For files, the bucket, other nodes and the controllers' own listener; of few descriptors, half.
RESERVED_DESCRIPTORS: Final = 1_024


def connections_possible(max_connections: int, descriptors: int) -> int:
    """Return how many connections may be open, so that enough descriptors are left for everything else."""
    return min(max_connections, descriptors - min(RESERVED_DESCRIPTORS, descriptors // 2))


class ConnectionBounds:
    """Counts open connections."""

    def __init__(self, max_total: int, max_per_ip: int, overrides: Mapping[str, int]) -> None:
        """Begin without connections.

        Args:
            max_total: connections of the node.
            max_per_ip: connections from one address.
            overrides: the same for certain addresses.
        """
        self._max_total = max_total
        self._max_per_ip = max_per_ip
        self._overrides = overrides
        self._open: Counter[str] = Counter()
        self._total = 0

    def change(self, max_total: int, max_per_ip: int) -> None:
        """Change the bounds of connections to come; those that are open stay."""
        self._max_total = max_total
        self._max_per_ip = max_per_ip

    def opened(self, address: str) -> bool:
        """Count a new connection; False when there are too many."""
        max_of_address = self._overrides.get(address, self._max_per_ip)
        if self._total >= self._max_total or self._open.get(address, 0) >= max_of_address:
            return False
        self._open[address] += 1
        self._total += 1
        return True

    def closed(self, address: str) -> None:
        """Count out a connection that was counted."""
        self._total -= 1
        self._open[address] -= 1
        if not self._open[address]:
            del self._open[address]
