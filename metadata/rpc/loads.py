"""The traffic of partitions, as heartbeats report it. Fields are encoded in the order written here; only append."""

from typing import Final

import msgspec

from headrace.metadata.records.numbers import Count, Int64

# What a request costs a broker, beside its bytes. Derived from docs/performance.md: 16 KB at 16,292 requests/s take
# 61 us each, 1 MB at 736 requests/s 1,360 us each, so 41 us are spent on the request and 1.3 ns on each byte.
REQUEST_COST_BYTES: Final = 32 * 1024


class TrafficRates(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Averages over the balance's window, each second."""

    bytes_in: Int64 = 0
    bytes_out: Int64 = 0
    requests: Int64 = 0  # of producers and consumers, and of the groups that are coordinated there

    @property
    def cost(self) -> int:
        """Bytes/s that cost a broker as much."""
        return self.bytes_in + self.bytes_out + self.requests * REQUEST_COST_BYTES


class PartitionLoad(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The traffic of one partition that the sender leads."""

    stream_id: Int64  # its data stream
    rates: TrafficRates


class Loads(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The traffic of all partitions that the sender has open."""

    partitions: tuple[PartitionLoad, ...]  # those with the most
    others: Count  # how many there are beside them
    others_rates: TrafficRates  # of all of those together
