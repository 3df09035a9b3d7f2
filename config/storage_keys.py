"""The table of storage keys: AutoMQ's `s3.*` names and our own `headrace.*` ones.

Nothing but data. Where AutoMQ has a key, its name and its URI syntax are kept; defaults are ours.
"""

import re

from headrace.config.definition import (
    Between,
    ConfigKey,
    ConfigType,
    ConfigValue,
    FieldValues,
    Importance,
    Matches,
    OneOf,
)
from headrace.config.relations import MIN_S3_PART_BYTES
from headrace.config.uris import parse_bucket, parse_wal_location, split_address

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")


def _bucket(text: str) -> FieldValues:
    if "," in text:
        raise ValueError("names more than one bucket; one is supported")
    return {"storage.bucket_uri": parse_bucket(text)}


def _wal_location(text: str) -> FieldValues:
    place = parse_wal_location(text)
    values = {
        "wal.path": place.path,
        "wal.capacity_bytes": place.capacity_bytes,
        "wal.max_iops": place.max_iops,
        "wal.max_bandwidth_bytes": place.max_bandwidth_bytes,
        "wal.io_depth": place.io_depth,
        "wal.batch_interval_ms": place.batch_interval_ms,
        "wal.batch_bytes": place.batch_bytes,
    }
    return {path: value for path, value in values.items() if value is not None}


def _generation_id_problem(value: ConfigValue) -> str | None:
    is_generation_id = re.fullmatch("([0-9a-f]{16})?", str(value)) is not None
    return None if is_generation_id else "must be 16 hexadecimal digits in lower case, or empty"


def _admin_listener(text: str) -> FieldValues:
    if text.strip() in ("", "none"):
        return {"telemetry.admin_port": -1}
    host, port = split_address(text.strip())
    return {"telemetry.admin_host": host, "telemetry.admin_port": port}


def _bytes(
    name: str,
    field: str,
    doc: str,
    *,
    low: int = 1,
    high: int | None = None,
    importance: Importance = Importance.LOW,
) -> ConfigKey:
    return ConfigKey(
        name=name,
        type=ConfigType.LONG,
        field=field,
        valid=Between(low, high),
        importance=importance,
        doc=doc,
    )


S3_KEYS = (
    ConfigKey(
        name="s3.data.buckets",
        type=ConfigType.STRING,
        fields=_bucket,
        default_text="0@file://bucket",
        importance=Importance.HIGH,
        doc="Where the data is: s3://name with the options region, endpoint, pathStyle, checksum; "
        "file:///absolute/directory (or file://relative/one, below log.dirs); mem:// for tests. "
        "Credentials come from the usual AWS variables, profiles and roles, never from here.",
        example="0@s3://my-bucket?region=eu-central-1",
    ),
    ConfigKey(
        name="s3.wal.path",
        type=ConfigType.STRING,
        fields=_wal_location,
        default_text="0@file://wal?capacity=2147483648&iodepth=8",
        importance=Importance.HIGH,
        doc="Where the write-ahead log lies: a block device or a file, with the options capacity "
        "(bytes), iops (at least 10), iobandwidth (bytes per second, at least 1 MiB) and iodepth (writes "
        "at once, 256 at most); what iops and iobandwidth allow is never exceeded. Or, for a machine "
        "without a disk, a bucket, with the options of s3.data.buckets, capacity, and batchInterval "
        "(ms), maxBytesInBatch and maxInflightUploadCount (16 at most).",
        example="0@file:///dev/nvme1n1?capacity=10737418240&iops=3000&iobandwidth=157286400",
    ),
    ConfigKey(
        name="s3.wal.accept.loss",
        type=ConfigType.STRING,
        field="wal.accept_loss_generation",
        valid=Matches("the 16 hexadecimal digits that the refusal names", _generation_id_problem),
        importance=Importance.LOW,
        doc="Accepts for good that a damaged or missing WAL has lost acknowledged records: a start that was "
        "refused recovers what is intact. It names one generation of one WAL, which that start ends, so it "
        "has no effect later on.",
        example="9f3c62d0a417be58",
    ),
    _bytes(
        "s3.wal.cache.size",
        "storage.log_cache_bytes",
        "Memory for records that are in the WAL and not yet in the bucket; hot reads come from it.",
        low=8 * MIB,
        importance=Importance.HIGH,
    ),
    _bytes(
        "s3.wal.upload.threshold",
        "storage.upload_threshold_bytes",
        "Memory after which records are uploaded: their bytes, and 512 for each batch. No more than "
        "a third of s3.wal.cache.size counts, nor than a third of the WAL's capacity. Left out, it "
        "also fits a quarter of the latter.",
        low=1 * MIB,
    ),
    ConfigKey(
        name="s3.wal.upload.interval.ms",
        type=ConfigType.LONG,
        field="storage.upload_interval_ms",
        valid=Between(100),
        doc="Time after which records are uploaded even when there are few.",
    ),
    _bytes(
        "s3.block.cache.size",
        "storage.block_cache_bytes",
        "Memory for blocks read back from the bucket.",
        low=4 * MIB,
        importance=Importance.HIGH,
    ),
    _bytes(
        "s3.object.block.size",
        "storage.object_block_bytes",
        "Size of a data block inside an object: the unit of a read from the bucket.",
        low=4 * KIB,
        high=64 * MIB,
    ),
    _bytes(
        "s3.object.part.size",
        "storage.object_part_bytes",
        "An upload of up to this is one request; a larger one has parts of at least this size, and no "
        "more than four where that is possible. Compaction writes parts of at most 32 MiB.",
        low=MIN_S3_PART_BYTES,
        high=5 * GIB,
    ),
    _bytes(
        "s3.stream.object.split.size",
        "storage.stream_split_bytes",
        "A stream with more than this in an upload or compaction gets an object of its own.",
        low=64 * KIB,
    ),
    ConfigKey(
        name="s3.stream.set.object.compaction.interval.minutes",
        type=ConfigType.INT,
        field="storage.stream_set_object_compaction_interval_ms",
        scale=60_000,
        valid=Between(1),
        doc="How often Stream Set Objects are compacted.",
    ),
    _bytes(
        "s3.stream.set.object.compaction.cache.size",
        "storage.compaction_memory_bytes",
        "Memory that a compaction may use.",
        low=2 * MIN_S3_PART_BYTES,
    ),
    ConfigKey(
        name="s3.object.delete.retention.minutes",
        type=ConfigType.LONG,
        field="storage.object_delete_retention_ms",
        scale=60_000,
        valid=Between(0),
        doc="How long an object that nothing refers to stays in the bucket, for slow readers.",
    ),
)

HEADRACE_KEYS = (
    ConfigKey(
        name="headrace.admin.listener",
        type=ConfigType.STRING,
        fields=_admin_listener,
        default_text="127.0.0.1:9644",
        importance=Importance.HIGH,
        doc="Address of the HTTP endpoint for health, metrics and the console; port 0 is a free "
        "one, none switches it off.",
        example="0.0.0.0:9644",
    ),
    ConfigKey(
        name="headrace.log.level",
        type=ConfigType.STRING,
        field="telemetry.log_level",
        valid=OneOf(LOG_LEVELS),
        doc="Least severe level that is logged.",
    ),
    ConfigKey(
        name="headrace.log.format",
        type=ConfigType.STRING,
        field="telemetry.log_format",
        valid=OneOf(("auto", "text", "json")),
        doc="Form of log lines; auto is text on a terminal and JSON elsewhere.",
    ),
    ConfigKey(
        name="headrace.uvloop",
        type=ConfigType.BOOLEAN,
        field="uvloop",
        importance=Importance.LOW,
        doc="Whether to run on uvloop where it is installed; otherwise on asyncio's own loop.",
    ),
    ConfigKey(
        name="headrace.wal.io.mode",
        type=ConfigType.STRING,
        field="wal.io",
        valid=OneOf(("auto", "aio", "threads")),
        doc="How the WAL device is written: kernel AIO or a pool of threads; auto is the faster "
        "that works.",
    ),
    ConfigKey(
        name="headrace.wal.io.threads",
        type=ConfigType.INT,
        field="wal.io_threads",
        valid=Between(1, 64),
        importance=Importance.LOW,
        doc="Threads of the pool.",
    ),
    ConfigKey(
        name="headrace.wal.io.timeout.ms",
        type=ConfigType.LONG,
        field="wal.io_timeout_ms",
        valid=Between(1000),
        importance=Importance.LOW,
        doc="A device write that takes longer counts as failed, and the node stops. A request to "
        "the bucket of a WAL made of objects that takes longer is made again.",
    ),
    _bytes(
        "headrace.wal.block.bytes",
        "wal.block_bytes",
        "Size at which a group of appends is written; one larger record is written whole.",
        low=4 * KIB,
        high=16 * MIB,
    ),
    _bytes(
        "headrace.wal.record.bytes.max",
        "wal.max_record_bytes",
        "Largest record in the WAL.",
        low=64 * KIB,
        high=1 * GIB,
    ),
    _bytes(
        "headrace.wal.window.bytes.initial",
        "wal.window_bytes_initial",
        "Sliding window of writes under way, at first.",
        low=4 * KIB,
    ),
    _bytes(
        "headrace.wal.window.bytes.max",
        "wal.max_window_bytes",
        "Sliding window of writes under way, at most; recovery scans this much past the end, and keeps "
        "so much in memory behind a gap.",
        low=4 * KIB,
    ),
    ConfigKey(
        name="headrace.upload.concurrency",
        type=ConfigType.INT,
        field="storage.upload_concurrency",
        valid=Between(1, 64),
        importance=Importance.LOW,
        doc="Uploads of objects under way at once.",
    ),
    _bytes(
        "headrace.upload.bytes.max",
        "storage.max_upload_bytes",
        "Bytes of objects that are uploaded at once; a larger object goes alone.",
        low=1 * MIB,
    ),
    ConfigKey(
        name="headrace.read.requests.max",
        type=ConfigType.INT,
        field="storage.max_read_requests",
        valid=Between(1, 1024),
        importance=Importance.LOW,
        doc="Requests to the bucket that consumers wait for, at once; half as many may read ahead "
        "besides. Neither takes anything from uploads or compaction.",
    ),
    _bytes(
        "headrace.read.bytes.max",
        "storage.max_read_bytes",
        "Bytes that these requests may have under way, and as many those that read ahead. A quarter "
        "of s3.block.cache.size is the limit where that is less.",
        low=1 * MIB,
    ),
    ConfigKey(
        name="headrace.compaction.requests.max",
        type=ConfigType.INT,
        field="storage.max_compaction_requests",
        valid=Between(1, 64),
        importance=Importance.LOW,
        doc="Requests to the bucket that compaction may have under way, beside the one or two "
        "objects that it writes. They take nothing from cold reads or uploads.",
    ),
    _bytes(
        "headrace.compaction.request.bytes.max",
        "storage.max_compaction_request_bytes",
        "Bytes that these requests may have under way.",
        low=1 * MIB,
    ),
    _bytes(
        "headrace.compaction.bytes.per.second",
        "storage.compaction_bytes_per_s",
        "What compaction reads from the bucket, and as much that it writes, each second at most. "
        "What the bucket copies by itself does not count.",
        low=1 * MIB,
    ),
    ConfigKey(
        name="headrace.bucket.sweep.interval.minutes",
        type=ConfigType.INT,
        field="storage.sweep_interval_ms",
        scale=60_000,
        valid=Between(1),
        importance=Importance.LOW,
        doc="How often one broker lists the bucket and removes what nobody knows any more: puts that "
        "arrived late, and uploads that were never completed.",
    ),
    _bytes(
        "headrace.read.ahead.bytes.max",
        "storage.max_read_ahead_bytes",
        "How far a sequential reader is read ahead from the bucket, at most.",
        low=1 * MIB,
    ),
    ConfigKey(
        name="headrace.admission.timeout.ms",
        type=ConfigType.LONG,
        field="storage.admission_timeout_ms",
        valid=Between(0),
        doc="How long a produce request waits for room in WAL and cache before it is refused.",
    ),
    ConfigKey(
        name="headrace.object.prepare.ttl.ms",
        type=ConfigType.LONG,
        field="storage.object_prepare_ttl_ms",
        valid=Between(60_000, 24 * 3_600_000),  # more is refused by the controller
        importance=Importance.LOW,
        doc="How long an upload may take before its objects count as abandoned.",
    ),
    _bytes(
        "headrace.checkpoint.interval.bytes",
        "log.checkpoint_interval_bytes",
        "Data of a partition between two checkpoints: opening a partition reads this much at most.",
        low=64 * KIB,
    ),
    ConfigKey(
        name="headrace.produce.inflight.requests.max",
        type=ConfigType.INT,
        field="network.max_produce_inflight_requests",
        valid=Between(1),
        importance=Importance.LOW,
        doc="Produce requests of one connection whose writes may be under way.",
    ),
    _bytes(
        "headrace.produce.inflight.bytes.max",
        "network.max_produce_inflight_bytes",
        "Their bytes; past it the connection is not read.",
    ),
    _bytes(
        "headrace.network.receive.buffer.bytes",
        "network.receive_buffer_bytes",
        "Buffer into which a connection is read.",
        low=4 * KIB,
        high=16 * MIB,
    ),
)
