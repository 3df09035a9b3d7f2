"""BlockCacheCollector: every statistic of the cache, each under a name of its own."""

from dataclasses import fields

from prometheus_client import CollectorRegistry, generate_latest

from headrace.broker.collectors.block_cache_metrics import BlockCacheCollector
from headrace.storage.cache.data_blocks import DataBlockStatistics
from headrace.storage.cache.index_cache import IndexCacheStatistics


def test_every_statistic_is_shown_once() -> None:
    blocks, indexes = DataBlockStatistics(), IndexCacheStatistics()
    values = iter(range(1, 100))
    for statistics in (blocks, indexes):
        for field in fields(statistics):
            setattr(statistics, field.name, next(values))
    registry = CollectorRegistry()
    registry.register(BlockCacheCollector(blocks, indexes))
    shown = {
        name.removeprefix("headrace_block_cache_"): float(value)
        for name, value in (
            line.rsplit(" ", 1)
            for line in generate_latest(registry).decode().splitlines()
            if not line.startswith("#")
        )
    }
    assert shown == {
        "bytes": blocks.cached_bytes,
        "loading_bytes": blocks.loading_bytes,
        "index_bytes": indexes.cached_bytes,
        "hits_total": blocks.hits,
        "misses_total": blocks.misses,
        "requests_total": blocks.requests,
        "read_bytes_total": blocks.read_bytes,
        "read_ahead_blocks_total": blocks.read_ahead_blocks,
        "evicted_blocks_total": blocks.evicted_blocks,
        "wasted_blocks_total": blocks.wasted_blocks,
        "corrupt_blocks_total": blocks.corrupt_blocks,
        "index_hits_total": indexes.hits,
        "index_misses_total": indexes.misses,
        "corrupt_indexes_total": indexes.corrupt,
    }
    assert len(set(shown.values())) == len(fields(blocks)) + len(fields(indexes))
