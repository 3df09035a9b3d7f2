"""The parts of a node as the metrics endpoint sees them, each number a different one."""

from dataclasses import fields
from types import SimpleNamespace
from typing import Any

from headrace.broker.collectors.node_metrics import NodeCollector
from headrace.broker.telemetry.request_metrics import RequestMetrics
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.storage.errors import FailureKind
from headrace.storage.object_store.statistics import Operation, StoreStatistics
from headrace.storage.stats import EngineStats
from headrace.wal.device.latencies import WriteQueue
from headrace.wal.device.submissions import WriteStatistics


class FakeEngine:
    """Its statistics are numbered from `first` on in the order of their fields."""

    def __init__(self) -> None:
        self.first = 1_000
        self.asked = 0

    def stats(self) -> EngineStats:
        self.asked += 1
        names = [field.name for field in fields(EngineStats)]
        values: dict[str, Any] = {name: self.first + it for it, name in enumerate(names)}
        return EngineStats(**values | {"failed": False})


class FakePartitions:
    """Eleven, of which two are damaged."""

    def __len__(self) -> int:
        return 11

    def damaged(self) -> list[object]:
        return [object(), object()]


def node_collector(engine: FakeEngine | None = None) -> NodeCollector:
    """A collector over parts that have counted something."""
    store = StoreStatistics()
    store.put_requests, store.get_requests, store.put_bytes = 3, 4, 5_000
    store.answered(Operation.GET, 21.0)
    for at_s in (60.0, 80.0):
        store.failed(Operation.PUT, at_s, FailureKind.THROTTLED, "503")
    requests = RequestMetrics(lambda: 0.0)
    requests.requests[ApiKey.METADATA] = 6
    requests.produce_refused[ErrorCode.CORRUPT_MESSAGE] = 7
    requests.cold_reads_failed[ErrorCode.KAFKA_STORAGE_ERROR] = 8
    writes = WriteStatistics(superblock_writes_total=15, io_errors_total=16)
    for _ in range(7):
        writes.written(1_000, 400_000)
    writes.written(2_000, 60_000_000_000)
    writes.appends.observe(250_000, count=17)
    writes.io = lambda: "threads"
    writes.queue = lambda: WriteQueue(writes=18, oldest_age_ns=1_900_000_000)
    parts: dict[str, Any] = {
        "engine": engine or FakeEngine(),
        "wal": SimpleNamespace(
            statistics=writes,
            next_offset=30,
            confirmed_offset=19,
            trim_offset=10,
        ),
        "store": store,
        "partitions": FakePartitions(),
        "listener": SimpleNamespace(
            connection_count=12, connections_accepted=13, connections_refused=14
        ),
        "requests": requests,
        "loop_clock_s": lambda: 100.0,
    }
    return NodeCollector(**parts)
