"""Metrics of the broker's parts: counters that they keep anyway, read at each scrape."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from prometheus_client.core import HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from headrace.broker.adapters.write_ahead_log import NodeLog
from headrace.broker.network.listener import Listener
from headrace.broker.partition.registry import PartitionRegistry
from headrace.broker.telemetry.families import (
    counter,
    counter_by,
    counters,
    gauge,
    gauge_by,
    gauges,
)
from headrace.broker.telemetry.request_metrics import RequestMetrics
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.storage.engine import StorageEngine
from headrace.storage.errors import FailureKind
from headrace.storage.object_store.statistics import Operation, StoreStatistics
from headrace.wal.device.latencies import BUCKETS_NS, LatencyHistogram

NANOSECONDS = 1e-9
MILLISECONDS = 1e-3


@dataclass(eq=False, kw_only=True)
class NodeCollector(Collector):
    """Reads every part's statistics."""

    engine: StorageEngine
    wal: NodeLog
    store: StoreStatistics
    partitions: PartitionRegistry
    listener: Listener
    requests: RequestMetrics
    loop_clock_s: Callable[[], float]

    def collect(self) -> Iterator[Metric]:
        """Read everything."""
        yield from self._engine_metrics()
        yield from self._wal_metrics()
        yield from self._store_metrics()
        yield from self._broker_metrics()
        yield from self.requests.latencies.collect()

    def _engine_metrics(self) -> Iterator[Metric]:
        stats = self.engine.stats()
        yield from gauges(
            ("wal_capacity_bytes", "Size of the WAL's ring", stats.wal_capacity_bytes),
            ("wal_used_bytes", "Bytes of the ring that may not be reused", stats.wal_used_bytes),
            ("wal_resize_last_pause_seconds", "How long the last resize of the WAL blocked appends",
             stats.wal_resize_last_pause_ms * MILLISECONDS),
            ("log_cache_capacity_bytes", "LogCache's budget", stats.log_cache_capacity_bytes),
            ("log_cache_bytes", "Bytes charged to the LogCache", stats.log_cache_bytes),
            ("log_cache_unuploaded_bytes", "Bytes acknowledged and not yet committed to the bucket",
             stats.unuploaded_bytes),
            ("log_cache_oldest_unuploaded_age_seconds", "Age of the oldest record that is only in the WAL",
             stats.oldest_unuploaded_age_ms * MILLISECONDS),
            ("streams_open", "Streams that this node has open", stats.open_streams),
            ("appends_open", "Appends not yet acknowledged", stats.open_appends),
            ("admission_waiting", "Requests waiting for room in WAL or LogCache", stats.admission_waiting),
            ("uploads_in_flight", "Cache blocks being uploaded", stats.uploads_inflight),
        )  # fmt: skip
        yield from counters(
            ("wal_resizes", "Resizes of the WAL", stats.wal_resizes_total),
            ("log_cache_hits", "Reads served from the LogCache", stats.log_cache_hits_total),
            ("log_cache_misses", "Reads that went to the bucket", stats.log_cache_misses_total),
            ("appends_confirmed", "Appends acknowledged", stats.confirmed_total),
            ("appends_confirmed_bytes", "Bytes acknowledged", stats.confirmed_bytes_total),
            ("admission_refused", "Requests refused because there was no room in WAL or LogCache",
             stats.admission_refused_total),
            ("uploaded_blocks", "Cache blocks committed", stats.uploaded_blocks_total),
            ("uploaded_objects", "Objects committed", stats.uploaded_objects_total),
            ("uploaded_bytes", "Bytes committed", stats.uploaded_bytes_total),
            ("upload_retries", "Uploads tried again", stats.upload_retries_total),
            ("upload_expired", "Uploads repeated under new object ids because the prepared ids had expired",
             stats.upload_expired_total),
        )  # fmt: skip

    def _wal_metrics(self) -> Iterator[Metric]:
        wal = self.wal
        writes = wal.statistics
        queue = writes.queue()
        yield from counters(
            ("wal_writes", "Writes of the WAL", writes.writes_total),
            ("wal_written_bytes", "Bytes that the WAL wrote", writes.written_bytes_total),
            ("wal_superblock_writes", "Writes of the WAL's superblock: trims, windows, starts, resizes and shutdowns",
             writes.superblock_writes_total),
            ("wal_io_errors", "Writes that failed or timed out", writes.io_errors_total),
        )  # fmt: skip
        yield _histogram("wal_write_duration_seconds", "Time that writes took", writes.writes)
        yield _histogram(
            "wal_append_duration_seconds",
            "Time from an append (the first of its block) until it is durable",
            writes.appends,
        )
        kinds = ((kind, float(kind == writes.io())) for kind in ("aio", "threads", "both"))
        yield gauge_by("kind", "wal_io", "Whether the WAL is written by this kind of IO", kinds)
        yield from gauges(
            ("wal_queue_depth", "Writes that are inflight or waiting", queue.writes),
            ("wal_unflushed_bytes", "Bytes appended and not yet durable",
             max(0, wal.next_offset - wal.confirmed_offset)),
            ("wal_oldest_unflushed_age_seconds", "Age of the oldest append that is not yet durable",
             queue.oldest_age_ns * NANOSECONDS),
            ("wal_next_offset", "Logical offset of the next append", wal.next_offset),
            ("wal_confirmed_offset", "Logical offset that is durable", wal.confirmed_offset),
            ("wal_trim_offset", "Last logical offset released", wal.trim_offset),
        )  # fmt: skip

    def _store_metrics(self) -> Iterator[Metric]:
        store = self.store
        requests = (
            ("put", store.put_requests),
            ("get", store.get_requests),
            ("copy", store.copy_requests),
            ("delete", store.delete_requests),
            ("list", store.list_requests),
        )
        yield counter_by("operation", "object_store_requests", "Requests to the bucket", requests)
        yield counter("object_store_put_bytes", "Bytes put into the bucket", store.put_bytes)
        yield counter(
            "object_store_copied_bytes", "Bytes copied within the bucket", store.copied_bytes
        )
        yield counter("object_store_get_bytes", "Bytes read from the bucket", store.get_bytes)
        yield counter("object_store_retries", "Requests tried again", store.retries)
        yield counter("object_store_errors", "Requests that failed after all retries", store.errors)
        yield from self._store_failures()

    def _store_failures(self) -> Iterator[Metric]:
        now_s = self.loop_clock_s()
        yield counter_by(
            "kind",
            "object_store_failures",
            "Attempts that failed, including those that were retried, by kind",
            ((kind.value, self.store.failures[kind]) for kind in FailureKind),
        )
        since_s = {trouble.operation: trouble.since_s for trouble in self.store.troubles(now_s)}
        yield gauge_by(
            "operation",
            "object_store_failing_seconds",
            "For how long an operation has failed without a success; 0: it does not fail",
            ((operation.value, since_s.get(operation, 0.0)) for operation in Operation),
        )
        answered_ago_s = self.store.answered_ago_s(now_s)
        if answered_ago_s is not None:
            yield gauge(
                "object_store_answered_age_seconds",
                "Time since the last request to the bucket that succeeded",
                answered_ago_s,
            )

    def _broker_metrics(self) -> Iterator[Metric]:
        yield from gauges(
            ("connections", "Open client connections", self.listener.connection_count),
            ("partitions_open", "Partitions that this broker leads", len(self.partitions)),
            ("partitions_damaged", "Partitions with records that are known to be missing or damaged",
             len(self.partitions.damaged())),
        )  # fmt: skip
        yield from counters(
            ("connections_accepted", "Connections accepted", self.listener.connections_accepted),
            ("connections_refused", "Connections refused", self.listener.connections_refused),
        )  # fmt: skip
        counted = self.requests
        requests = ((ApiKey(key).name.lower(), it) for key, it in sorted(counted.requests.items()))
        yield counter_by("api", "requests", "Requests by API", requests)
        yield counter_by(
            "error",
            "produce_refused",
            "Batches refused, by error",
            _by_error(counted.produce_refused),
        )
        yield counter_by(
            "error",
            "cold_reads_failed",
            "Reads of partitions from the bucket that failed, by error",
            _by_error(counted.cold_reads_failed),
        )


def _by_error(counted: Mapping[int, int]) -> Iterator[tuple[str, int]]:
    return ((ErrorCode(code).name.lower(), count) for code, count in sorted(counted.items()))


def _histogram(name: str, text: str, counted: LatencyHistogram) -> HistogramMetricFamily:
    buckets, total = [], 0
    bounds = [str(bound / 1e9) for bound in BUCKETS_NS] + ["+Inf"]
    for bound, count in zip(bounds, counted.counts, strict=True):
        total += count
        buckets.append((bound, total))
    return HistogramMetricFamily(
        f"headrace_{name}", text, buckets=buckets, sum_value=counted.sum_ns * NANOSECONDS
    )
