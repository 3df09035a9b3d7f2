"""What `headrace dev` sets before file, environment and command line have their say. Pure.

Small enough for a laptop, quick enough for a first try.
"""

from typing import NamedTuple

MIB = 1024 * 1024


class Preset(NamedTuple):
    """A key, its value for development, and why it differs from the default."""

    key: str
    value: str
    why: str


DEV_PRESETS = (
    Preset(
        "s3.wal.path",
        f"0@file://wal?capacity={1024 * MIB}",
        "half the disk space, enough for minutes of traffic",
    ),
    Preset(
        "s3.wal.cache.size", str(128 * MIB), "memory; records are uploaded when a third is used"
    ),
    Preset("s3.block.cache.size", str(64 * MIB), "memory"),
    Preset("s3.stream.set.object.compaction.cache.size", str(64 * MIB), "memory"),
    Preset("headrace.wal.window.bytes.max", str(64 * MIB), "memory of inflight writes"),
    Preset("s3.wal.upload.interval.ms", "10000", "objects appear in the bucket soon"),
    Preset("offsets.topic.num.partitions", "5", "each partition opens two streams at the start"),
    Preset("group.initial.rebalance.delay.ms", "0", "a first consumer gets records immediately"),
    Preset(
        "headrace.replication.factor.check", "false", "programs ask for the replicas of production"
    ),
    Preset("headrace.log.level", "WARNING", "the terminal stays readable"),
)
