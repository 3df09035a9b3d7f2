"""Where partitions end for a read, and which transactions before that are aborted: what the driver finds out.

| options | a partition ends |
|---|---|
| | where the bucket's committed part does |
| `kafka.isolation.level=read_committed` | there, or at the first record of a transaction without a marker before it |
| `tail=broker` | at the high watermark of its leader |
| both | at the last stable offset of its leader |

The headers of all batches that are read under `read_committed` are read by the driver beforehand: each once in a query.
"""

from collections.abc import Iterable, Mapping
from typing import Final
from uuid import UUID

from headrace.pipeline.source.blocks import each_batch
from headrace.pipeline.source.bucket import Bucket
from headrace.pipeline.source.catalog import Catalog, TopicPartition
from headrace.pipeline.source.errors import SourceError
from headrace.pipeline.source.offsets import Offsets, stored_partition
from headrace.pipeline.source.options import SourceOptions
from headrace.pipeline.source.plan import WantedRange
from headrace.pipeline.source.tail.brokers import (
    LATEST_TIMESTAMP,
    BrokerAccess,
    Brokers,
    Clock,
)
from headrace.pipeline.source.tail.fetching import TailPart, TailReader
from headrace.pipeline.source.times import find_by_timestamp
from headrace.pipeline.source.transactions import AbortedRange, TransactionScan
from headrace.protocol.records.batch import split_batches
from headrace.protocol.records.errors import RecordsError

ASKED_INTERVAL_S: Final = 0.1  # Spark asks a stream for its end every 10 ms while there is none


class PartitionEnds:
    """Finds ends and aborted transactions, for one batch or one query."""

    def __init__(self, bucket: Bucket, options: SourceOptions, clock: Clock | None = None) -> None:
        self._bucket = bucket
        self._options = options
        self._clock = clock or Clock()
        self._scans: dict[TopicPartition, tuple[int, TransactionScan]] = {}  # and the stream's id
        self._brokers: Brokers | None = None
        # Answers of brokers by topics, and when they were asked.
        self._latest: dict[TopicPartition, int] = {}
        self._latest_ids: dict[str, UUID] = {}
        self._asked_s = 0.0

    def access(self, catalog: Catalog) -> BrokerAccess:
        """How tasks reach the brokers."""
        options = self._options
        return BrokerAccess(options.tail_brokers, catalog.cluster_id, options.is_read_committed)

    def of(self, catalog: Catalog) -> "CatalogLookup":
        """Look things up by these metadata."""
        return CatalogLookup(self, catalog)

    def ends(self, catalog: Catalog, names: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """See `Lookup.ends`.

        Raises:
            ObjectGoneError, SourceError: as of `aborted`.
        """
        found = {it: stored_partition(catalog, it).end_offset for it in names}
        if not (found and self._options.tail_brokers):
            return found
        latest = self._from_brokers(catalog, found)
        if not self._options.is_read_committed:
            return {it: max(end, latest.get(it, end)) for it, end in found.items()}
        # Topics that the brokers do not know are read as far as the bucket has them.
        unknown = {it: end for it, end in found.items() if it not in latest}
        stable = {
            it: self._scanned(catalog, it, 0, end).last_stable_offset for it, end in unknown.items()
        }
        return stable | {it: latest[it] for it in found if it in latest}

    def decided(
        self, catalog: Catalog, begins: Offsets, ends: Offsets
    ) -> dict[TopicPartition, int]:
        """See `Lookup.decided`.

        Raises:
            ObjectGoneError: newer metadata are needed.
            SourceError: the bucket cannot be read.
        """
        # What ends at the last stable offset of a leader is decided.
        if not self._options.is_read_committed or self._options.tail_brokers:
            return dict(ends)
        return {
            it: min(end, self._scanned(catalog, it, begins[it], end).last_stable_offset)
            for it, end in ends.items()
        }

    def aborted(self, catalog: Catalog, wanted: WantedRange) -> tuple[AbortedRange, ...]:
        """The aborted transactions of a range that is read, as far as the bucket has it.

        Raises:
            ObjectGoneError: newer metadata are needed.
            SourceError: the bucket cannot be read, or the brokers do not answer.
        """
        if not self._options.is_read_committed:
            return ()
        scan = self._scanned(catalog, wanted.name, wanted.start_offset, wanted.end_offset)
        scan.forget(wanted.start_offset)
        if self._options.tail_brokers:
            self._decide(catalog, wanted, scan)
        return scan.aborted(wanted.start_offset, wanted.end_offset)

    def by_timestamp(self, catalog: Catalog, name: TopicPartition, timestamp_ms: int) -> int | None:
        """See `Lookup.by_timestamp`; errors as of `aborted`."""
        stored = stored_partition(catalog, name)
        found = find_by_timestamp(self._bucket, catalog, stored, timestamp_ms)
        if found is None and self._options.tail_brokers:
            asked = self._asked(catalog, {name: timestamp_ms})
            found = offset if (offset := asked.get(name, -1)) >= 0 else None
        return found

    def close(self) -> None:
        """Close connections to brokers; they are opened again when they are needed."""
        if self._brokers is not None:
            self._brokers.close()

    def _from_brokers(
        self, catalog: Catalog, names: Mapping[TopicPartition, int]
    ) -> dict[TopicPartition, int]:
        """Ends as the leaders report them; asked for once in ASKED_INTERVAL_S."""
        now_s, topic_ids = self._clock.monotonic_s(), _topic_ids(catalog, names)
        is_old = now_s - self._asked_s >= ASKED_INTERVAL_S
        if is_old or topic_ids != self._latest_ids or not self._latest.keys() >= names.keys():
            self._latest = self._asked(catalog, dict.fromkeys(names, LATEST_TIMESTAMP))
            self._latest_ids, self._asked_s = topic_ids, now_s
        return self._latest

    def _asked(
        self, catalog: Catalog, wanted: Mapping[TopicPartition, int], *, to_end: bool = False
    ) -> dict[TopicPartition, int]:
        if self._brokers is None:
            self._brokers = Brokers(self.access(catalog), self._clock)
        is_read_committed = self._options.is_read_committed and not to_end
        topic_ids = _topic_ids(catalog, wanted)
        return self._brokers.offsets(wanted, topic_ids, is_read_committed=is_read_committed)

    def _scanned(
        self, catalog: Catalog, name: TopicPartition, begin: int, end: int
    ) -> TransactionScan:
        """The transactions from an offset on, up to where those before `end` are decided, as far as the bucket goes."""
        stored = stored_partition(catalog, name)
        begin = max(begin, stored.start_offset)
        stream_id, scan = self._scans.get(name, (-1, TransactionScan(begin)))
        is_other = stream_id != stored.data_stream_id or begin < scan.start_offset
        if is_other or scan.end_offset < stored.start_offset:  # markers may be gone
            scan = TransactionScan(begin)
            self._scans[name] = stored.data_stream_id, scan
        if scan.last_stable_offset >= end or scan.end_offset >= stored.end_offset:
            return scan
        for found in catalog.ranges(stored.data_stream_id, scan.end_offset, stored.end_offset):
            for batch in each_batch(self._bucket, found):
                _add(scan, batch.payload, name)
                if scan.last_stable_offset >= end:
                    return scan
        return scan

    def _decide(self, catalog: Catalog, wanted: WantedRange, scan: TransactionScan) -> None:
        """Read on in the tail, until transactions that are wanted of the bucket have their markers."""
        bucket_end = min(stored_partition(catalog, wanted.name).end_offset, wanted.end_offset)
        if scan.last_stable_offset >= bucket_end:
            return
        name = wanted.name
        high_watermark = self._asked(catalog, {name: LATEST_TIMESTAMP}, to_end=True).get(name, 0)
        topic_id = UUID(catalog.topic_id(name.topic))
        part = TailPart(name, topic_id, scan.end_offset, high_watermark)
        reader = TailReader(self.access(catalog), fails_on_loss=True, clock=self._clock)
        try:
            for _, fetched in reader.fetched(part, is_read_committed=False):
                _add(scan, fetched.records, name)
                if scan.last_stable_offset >= bucket_end:
                    return
        finally:
            reader.close()
        raise SourceError(
            f"{name.topic}-{name.partition} has an open transaction at offset {scan.last_stable_offset}, which its "
            f"leader does not know: it reported the last stable offset {wanted.end_offset}"
        )


class CatalogLookup:
    """See `headrace.pipeline.source.offsets.Lookup`; errors as of `PartitionEnds`."""

    def __init__(self, found: PartitionEnds, catalog: Catalog) -> None:
        self._found = found
        self._catalog = catalog

    def by_timestamp(self, name: TopicPartition, timestamp_ms: int) -> int | None:
        """See `Lookup.by_timestamp`."""
        return self._found.by_timestamp(self._catalog, name, timestamp_ms)

    def ends(self, names: Iterable[TopicPartition]) -> Offsets:
        """See `Lookup.ends`."""
        return self._found.ends(self._catalog, names)

    def decided(self, begins: Offsets, ends: Offsets) -> Offsets:
        """See `Lookup.decided`."""
        return self._found.decided(self._catalog, begins, ends)


def _topic_ids(catalog: Catalog, names: Iterable[TopicPartition]) -> dict[str, UUID]:
    return {topic: UUID(catalog.topic_id(topic)) for topic in {it.topic for it in names}}


def _add(scan: TransactionScan, payload: memoryview, name: TopicPartition) -> None:
    try:
        for header, batch in split_batches(payload):
            scan.add(header, batch)
    except RecordsError as error:
        raise SourceError(f"{name.topic}-{name.partition}: {error}") from error
