"""Metrics of the BlockCache: blocks found in memory, read from the bucket, and damaged. Plain counters."""

from collections.abc import Iterator

from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from headrace.broker.telemetry.families import counters, gauge
from headrace.storage.cache.data_blocks import DataBlockStatistics
from headrace.storage.cache.index_cache import IndexCacheStatistics


class BlockCacheCollector(Collector):
    """Shows the statistics of data blocks and of indexes."""

    def __init__(self, blocks: DataBlockStatistics, indexes: IndexCacheStatistics) -> None:
        self._blocks = blocks
        self._indexes = indexes

    def collect(self) -> Iterator[Metric]:
        """Read everything."""
        blocks, indexes = self._blocks, self._indexes
        yield gauge("block_cache_bytes", "Bytes of data blocks in the cache", blocks.cached_bytes)
        yield gauge("block_cache_loading_bytes", "Bytes being read", blocks.loading_bytes)
        yield gauge(
            "block_cache_index_bytes", "Bytes of indexes in the cache", indexes.cached_bytes
        )
        yield from counters(
            ("hits", "Blocks that were in the cache", blocks.hits),
            ("misses", "Blocks that were not in the cache", blocks.misses),
            ("requests", "Requests that read blocks", blocks.requests),
            ("read_bytes", "Bytes read by these requests", blocks.read_bytes),
            ("read_ahead_blocks", "Blocks read ahead", blocks.read_ahead_blocks),
            ("evicted_blocks", "Blocks evicted to make room", blocks.evicted_blocks),
            ("wasted_blocks", "Blocks read ahead and evicted unread", blocks.wasted_blocks),
            ("corrupt_blocks", "Reads of blocks that did not match their checksum or index", blocks.corrupt_blocks),
            ("index_hits", "Indexes of objects that were in the cache", indexes.hits),
            ("index_misses", "Indexes of objects that were not in the cache", indexes.misses),
            ("corrupt_indexes", "Indexes that did not match their checksums when read twice", indexes.corrupt),
            prefix="block_cache_",
        )  # fmt: skip
