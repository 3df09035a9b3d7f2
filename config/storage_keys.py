"""The table of storage keys: AutoMQ's `s3.*` names and our own `headrace.*` ones. Pure.

Nothing but data. Where AutoMQ has a key, its name and its URI syntax are kept; defaults are ours.
"""

import re
import shlex

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
MAX_REACH = (
    31  # the metadata take 64 entries of one broker, and each path counts as file and as device
)
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")


def _bucket(text: str) -> FieldValues:
    if "," in text:
        raise ValueError("names more than one bucket; one is supported")
    return {"storage.bucket_uri": parse_bucket(text)}


def _reach_problem(value: ConfigValue) -> str | None:
    assert isinstance(value, tuple)
    relative = [path for path in value if not path.startswith("/")]
    if relative:
        return f"must be absolute paths, as other brokers name them; {relative[0]!r} is none"
    return f"must not have more than {MAX_REACH} paths" if len(value) > MAX_REACH else None


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


def _fence_problem(value: ConfigValue) -> str | None:
    text = str(value)
    if text in ("none", "reservation"):
        return None
    try:
        words = shlex.split(text.removeprefix("command:")) if text.startswith("command:") else []
    except ValueError as error:
        return f"is not a command: {error}"
    is_program = bool(words) and words[0].startswith("/")
    return None if is_program else "must be none, reservation or command:/path/of/a/program"


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
        doc="Where the data is stored: s3://name with the options region, endpoint, pathStyle, "
        "checksum; "
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
        doc="Where the write-ahead log is: a block device or a file, with the options capacity "
        "(bytes), iops (at least 10), iobandwidth (bytes per second, at least 1 MiB) and iodepth "
        "(writes "
        "at once, 256 at most); the limits iops and iobandwidth are never exceeded. Or, for a "
        "machine "
        "without a disk, a bucket, with the options of s3.data.buckets, capacity, and "
        "batchInterval "
        "(ms), maxBytesInBatch and maxInflightUploadCount (16 at most).",
        example="0@file:///dev/nvme1n1?capacity=10737418240&iops=3000&iobandwidth=157286400",
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
        "Records are uploaded when they take this much memory: their bytes, and 512 for each "
        "batch. At most a third of s3.wal.cache.size and a third of the WAL's capacity are used. "
        "If not set, it is also at most a quarter of the WAL's capacity.",
        low=1 * MIB,
    ),
    ConfigKey(
        name="s3.wal.upload.interval.ms",
        type=ConfigType.LONG,
        field="storage.upload_interval_ms",
        valid=Between(100),
        doc="Records are uploaded after this time even if there are few.",
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
        "An upload of up to this is one request; a larger one has parts of at least this size, "
        "and no "
        "more than four where that is possible. Compaction writes parts of at most 32 MiB.",
        low=MIN_S3_PART_BYTES,
        high=5 * GIB,
    ),
    _bytes(
        "s3.stream.object.split.size",
        "storage.stream_split_bytes",
        "A stream with at least this much in an upload or compaction gets an object of its own.",
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
        doc="How long an object that nothing refers to stays in the bucket, for slow readers. It stays "
        "also until a snapshot of the metadata that has its destruction is in the bucket.",
    ),
)

HEADRACE_KEYS = (
    ConfigKey(
        name="headrace.admin.listener",
        type=ConfigType.STRING,
        fields=_admin_listener,
        default_text="127.0.0.1:9644",
        importance=Importance.HIGH,
        doc="Address of the HTTP endpoint for health and metrics. Port 0 picks a free port; none "
        "switches the endpoint off.",
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
        doc="How the WAL device is written: kernel AIO or a pool of threads; auto takes threads "
        "for writes of up to 64 KiB and AIO for larger ones.",
    ),
    ConfigKey(
        name="headrace.wal.io.timeout.ms",
        type=ConfigType.LONG,
        field="wal.io_timeout_ms",
        valid=Between(1000),
        importance=Importance.LOW,
        doc="A write to the device that takes longer has failed, and the node stops. If the WAL "
        "is in a bucket, a request that takes longer is repeated.",
    ),
    _bytes(
        "headrace.wal.window.bytes.max",
        "wal.max_window_bytes",
        "Maximum size of the sliding window of inflight writes. Recovery scans this much past "
        "the end, and keeps as much in memory after a gap.",
        low=1 * MIB,  # a write to the device, and the window that a log begins with
        high=512
        * MIB,  # a quarter of it, the largest batch, is a record of the WAL (`max_record_bytes`)
    ),
    ConfigKey(
        name="headrace.wal.accept.loss",
        type=ConfigType.STRING,
        field="wal.accept_loss_generation",
        valid=Matches(
            "the 16 hexadecimal digits in the error message of the start", _generation_id_problem
        ),
        importance=Importance.LOW,
        doc="Accepts permanently that a damaged or missing WAL has lost acknowledged records: a "
        "start that was refused recovers what is intact. The value names one generation of one "
        "WAL. That start ends the generation, so the setting has no effect later.",
        example="9f3c62d0a417be58",
    ),
    ConfigKey(
        name="headrace.wal.reach",
        type=ConfigType.LIST,
        field="wal.reach",
        valid=Matches("absolute paths, comma-separated", _reach_problem),
        importance=Importance.HIGH,
        doc="Directories and devices, as absolute paths, at which this broker reaches the WAL files and devices of "
        "other brokers under the same names: a volume that they share, or devices that are attached to "
        "several machines. It then takes over the partitions of a broker that has died. WALs in a "
        "bucket are always reached.",
        example="/wals",
    ),
    ConfigKey(
        name="headrace.wal.fence",
        type=ConfigType.STRING,
        field="wal.fence",
        valid=Matches("none, reservation or command:/path/of/a/program", _fence_problem),
        importance=Importance.LOW,
        doc="How a broker keeps others from writing to a WAL device that it takes: its own at the "
        "start, and that of a broker that has died. Leases do it alone as long as no machine is "
        "paused (none). A persistent reservation needs a whole NVMe or SCSI device that supports "
        "it (reservation). A command is called with path, epoch, id of this node and id of the "
        "node whose WAL it is, and ends with 0 once nobody else can write there (command:). A WAL "
        "in a bucket needs none of them.",
        example="command:/usr/local/bin/fence-wal",
    ),
    _bytes(
        "headrace.compaction.bytes.per.second",
        "storage.compaction_bytes_per_s",
        "Bytes that compaction may read from the bucket each second, and as many that it may "
        "write. Copies that the bucket makes itself do not count.",
        low=1 * MIB,
    ),
    ConfigKey(
        name="headrace.bucket.sweep.interval.minutes",
        type=ConfigType.INT,
        field="storage.sweep_interval_ms",
        scale=60_000,
        valid=Between(1),
        importance=Importance.LOW,
        doc="How often one broker lists the bucket and removes what no metadata refers to: "
        "objects that arrived late, and uploads that were never completed.",
    ),
    ConfigKey(
        name="headrace.admission.timeout.ms",
        type=ConfigType.LONG,
        field="storage.admission_timeout_ms",
        valid=Between(0),
        doc="How long a produce request waits for room in WAL and cache before it is refused.",
    ),
    _bytes(
        "headrace.checkpoint.interval.bytes",
        "log.checkpoint_interval_bytes",
        "Data of a partition between two checkpoints, at most: opening a partition reads at most this much. Small"
        " checkpoints follow each other after 2 MiB, larger ones after 256 times their size.",
        low=64 * KIB,
    ),
    ConfigKey(
        name="headrace.replication.factor.check",
        type=ConfigType.BOOLEAN,
        field="log.refuse_factors_above_brokers",
        importance=Importance.LOW,
        doc="What becomes of a topic with a higher replication factor than there are brokers. `true`: it is refused, "
        "as in Kafka. `false`: it is created with as many replicas as there are brokers.",
    ),
    ConfigKey(
        name="headrace.produce.validate.compressed",
        type=ConfigType.STRING,
        field="log.validate_compressed",
        valid=OneOf(("all", "header")),
        doc="What is checked of a compressed batch before it is stored. `all`: its records are "
        "decompressed and checked as those of other batches, as Kafka does. `header`: they are "
        "believed, which saves processor time and lets a faulty producer stop the consumers of a "
        "partition; records of several gzip members are not joined either, of which some clients "
        "read the first one only. Batches for a compacted topic, or one with another codec "
        "(`compression.type`), are always checked.",
    ),
    _bytes(
        "headrace.produce.max.decompressed.bytes",
        "log.max_decompressed_bytes",
        "What the records of one produced batch may decompress to; more is refused as MESSAGE_TOO_LARGE.",
        low=1 * MIB,
    ),
    ConfigKey(
        name="headrace.metadata.snapshot.publish.interval.ms",
        type=ConfigType.LONG,
        field="metadata.snapshot_publish_interval_ms",
        valid=Between(1_000),
        importance=Importance.LOW,
        doc="How often the leading controller puts a snapshot of the metadata into the bucket, "
        "if anything has changed. Later changes are lost if every controller loses its disk. While the "
        "deletion of objects waits for one, every 5 s at the most.",
    ),
)
