"""Records about logs, the WALs of the brokers. Fields are encoded in this order; only append."""

from enum import IntEnum

import msgspec

from headrace.metadata.records.numbers import ShortText, Text
from headrace.metadata.records.record import MetadataRecord


class LogMedium(IntEnum):
    """What a log lies on."""

    UNKNOWN = 0  # its owner has not registered it yet
    DEVICE = 1
    FILE = 2
    BUCKET = 3


class LogReach(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Logs that a broker can open: those on this medium whose location is `prefix` or below it."""

    medium: LogMedium
    prefix: ShortText  # empty: every path


class LogRecord(MetadataRecord, frozen=True, tag=50):
    """A log begins a generation, or gets another location; its owner uses it."""

    log_id: int
    owner: int  # node id
    epoch: int  # registration of the owner that began the generation
    generation: ShortText
    medium: LogMedium
    places: tuple[Text, ...]  # as other brokers reach it
    uploaded_offset: int  # everything below it in this generation is in the bucket; -1: not known


class LogUploadedRecord(MetadataRecord, frozen=True, tag=51):
    """Everything below this offset of the log is in the bucket."""

    log_id: int
    uploaded_offset: int


class LogEmptiedRecord(MetadataRecord, frozen=True, tag=52):
    """The owner has shut the log down; nothing in it is needed."""

    log_id: int


class LogAssignedRecord(MetadataRecord, frozen=True, tag=53):
    """This registration of a broker drains the log, instead of the one before."""

    log_id: int
    drain_epoch: int  # index of this entry
    node_id: int
    node_epoch: int
    assigned_ms: int  # wall clock of the leading controller


class LogReleasedRecord(MetadataRecord, frozen=True, tag=54):
    """Ends a drain before its end."""

    log_id: int
    drain_epoch: int


class LogRefusedRecord(MetadataRecord, frozen=True, tag=55):
    """This registration of a broker could not read the log."""

    log_id: int
    node_id: int
    node_epoch: int
    reason: str
    refused_ms: int


class LogDrainedRecord(MetadataRecord, frozen=True, tag=56):
    """Everything in the log is in the bucket, and its streams are closed."""

    log_id: int
    position: int  # up to which it was read; -1: it was empty


class LogLostRecord(MetadataRecord, frozen=True, tag=57):
    """An operator accepts the loss of the log, or of what is damaged in it."""

    log_id: int
    damaged_only: bool


class RemoveLogRecord(MetadataRecord, frozen=True, tag=58):
    """Removes the log of a broker that is unregistered."""

    log_id: int


class BrokerReachRecord(MetadataRecord, frozen=True, tag=59):
    """Which logs of other brokers this registration can drain; none before."""

    node_id: int
    epoch: int
    reach: tuple[LogReach, ...]
