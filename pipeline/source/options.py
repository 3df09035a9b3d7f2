"""Options of `format("headrace")`: those of Spark's Kafka source by its names, and ours beside them. Pure.

Source: KafkaSourceProvider.scala of Apache Spark 4.0, for names, precedence and defaults.
"""

import difflib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from headrace.pipeline.columns.selection import COLUMNS, HEADERS
from headrace.pipeline.source.catalog import TopicPartition
from headrace.pipeline.source.errors import OptionError
from headrace.pipeline.source.plan import MAX_PARTITION_BYTES

EARLIEST: Final = -2
LATEST: Final = -1

_KNOWN: Final = (
    "adminListener",
    "assign",
    "bucket",
    "cluster",
    "columns",
    "endingOffsets",
    "endingOffsetsByTimestamp",
    "endingTimestamp",
    "failOnDataLoss",
    "includeHeaders",
    "kafka.bootstrap.servers",
    "kafka.isolation.level",
    "maxBytesPerTrigger",
    "maxOffsetsPerTrigger",
    "maxPartitionBytes",
    "metadata",
    "minPartitions",
    "startingOffsets",
    "startingOffsetsByTimestamp",
    "startingOffsetsByTimestampStrategy",
    "startingTimestamp",
    "subscribe",
    "subscribePattern",
    "tail",
)
_BY_FOLDED_NAME: Final = {it.lower(): it for it in _KNOWN}
# Options of Kafka's consumer: those that are not known here have no use.
_CONSUMER_PREFIX: Final = "kafka."
_NEAR: Final = 0.9  # an option of the consumer that looks so much like one of ours is a mistake
_SECURITY: Final = "kafka.security.protocol"
# Of the Kafka source, for what a read from the bucket has not: consumers and groups.
_WITHOUT_EFFECT: Final = frozenset(
    {
        "fetchoffset.numretries",
        "fetchoffset.retryintervalms",
        "groupidprefix",
        "kafkaconsumer.polltimeoutms",
    }
)
_SUFFIXES: Final = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_ADDRESS: Final = re.compile(r"[^\s/@?#]+:\d{1,5}")
_SIZE: Final = re.compile(r"(\d+)([kmg]?)b?")


@dataclass(frozen=True, slots=True)
class Bound:
    """Where a read begins or ends: one of the fields, by partition where it is a mapping."""

    offset: int | None = None  # EARLIEST or LATEST
    offsets: Mapping[TopicPartition, int] | None = None  # EARLIEST and LATEST among them
    timestamp_ms: int | None = None
    timestamps_ms: Mapping[TopicPartition, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """Options that were read and checked."""

    bucket: str
    cluster: str
    subscribe: tuple[str, ...]
    subscribe_pattern: str
    assign: tuple[TopicPartition, ...]
    starting: Bound
    ending: Bound
    latest_without_match: bool  # startingOffsetsByTimestampStrategy
    min_partitions: int
    max_partition_bytes: int
    fails_on_loss: bool
    columns: tuple[str, ...]
    max_offsets_per_trigger: int | None  # of a stream, as the next
    max_bytes_per_trigger: int | None
    admin_listeners: tuple[str, ...]  # that give the metadata; none: the bucket does
    tail_brokers: tuple[str, ...]  # that give what the bucket has not; none: no broker is asked
    is_read_committed: bool


def wanted_columns(options: Mapping[str, str]) -> tuple[str, ...]:
    """Names of the columns; errors as of `read_options`."""
    return _columns(_canonical(options))


def read_options(options: Mapping[str, str], *, is_stream: bool = False) -> SourceOptions:
    """Read the options of a batch or of a stream.

    Raises:
        OptionError: one is unknown, missing or meaningless; the message names it.
    """
    values = _canonical(options)
    if not values.get("bucket"):
        raise OptionError(
            "option bucket is missing: s3://NAME?endpoint=... or file:///DIRECTORY, as the brokers have it"
        )
    topics = [name for name in ("subscribe", "subscribePattern", "assign") if values.get(name)]
    if len(topics) != 1:
        raise OptionError(
            "exactly one of the options subscribe, subscribePattern and assign says what is read"
        )
    if is_stream:
        _refuse_end(values)
    strategy = values.get("startingOffsetsByTimestampStrategy", "error").lower()
    if strategy not in ("error", "latest"):
        raise OptionError("option startingOffsetsByTimestampStrategy is error or latest")
    return SourceOptions(
        bucket=values["bucket"],
        cluster=values.get("cluster", ""),
        subscribe=tuple(it.strip() for it in values.get("subscribe", "").split(",") if it.strip()),
        subscribe_pattern=values.get("subscribePattern", ""),
        assign=_assigned(values.get("assign", "")),
        starting=_starting(values, is_stream=is_stream),
        ending=_bound(values, "ending", LATEST, refused=EARLIEST),
        latest_without_match=strategy == "latest",
        min_partitions=_positive("minPartitions", values.get("minPartitions", "1")),
        max_partition_bytes=_limit(values, "maxPartitionBytes", _size) or MAX_PARTITION_BYTES,
        fails_on_loss=_flag("failOnDataLoss", values.get("failOnDataLoss", "true")),
        columns=_columns(values),
        max_offsets_per_trigger=_limit(values, "maxOffsetsPerTrigger", _positive),
        max_bytes_per_trigger=_limit(values, "maxBytesPerTrigger", _size),
        admin_listeners=_admin_listeners(values),
        tail_brokers=_tail_brokers(values, options),
        is_read_committed=_is_read_committed(values),
    )


def _refuse_end(values: Mapping[str, str]) -> None:
    for name in ("endingTimestamp", "endingOffsetsByTimestamp", "endingOffsets"):
        if name in values:
            raise OptionError(f"option {name} is for batches: a stream has no end")


def _admin_listeners(values: Mapping[str, str]) -> tuple[str, ...]:
    kind = values.get("metadata", "bucket").lower()
    if kind not in ("bucket", "broker"):
        raise OptionError("option metadata is bucket or broker")
    addresses = _addresses("adminListener", values)
    if bool(addresses) != (kind == "broker"):
        raise OptionError(
            "metadata=broker needs the option adminListener, and it alone does: HOST:PORT,... of nodes, as their "
            "headrace.admin.listener"
        )
    return addresses


def _tail_brokers(values: Mapping[str, str], options: Mapping[str, str]) -> tuple[str, ...]:
    kind = values.get("tail", "none").lower()
    if kind not in ("none", "broker"):
        raise OptionError("option tail is none or broker")
    if kind == "none":
        return ()  # the addresses that a job for Spark's Kafka source has are of no use
    addresses = _addresses("kafka.bootstrap.servers", values)
    if not addresses:
        raise OptionError("tail=broker needs the option kafka.bootstrap.servers: HOST:PORT,...")
    protocol = {name.lower(): value for name, value in options.items()}.get(_SECURITY, "PLAINTEXT")
    if protocol.upper() != "PLAINTEXT":
        raise OptionError(
            f"option {_SECURITY}: tail=broker speaks PLAINTEXT, and not {protocol}; tail=none asks no broker"
        )
    return addresses


def _is_read_committed(values: Mapping[str, str]) -> bool:
    name = "kafka.isolation.level"
    level = values.get(name, "read_uncommitted").lower()
    if level not in ("read_uncommitted", "read_committed"):
        raise OptionError(f"option {name} is read_uncommitted or read_committed, not {level!r}")
    return level == "read_committed"


def _addresses(name: str, values: Mapping[str, str]) -> tuple[str, ...]:
    found = tuple(it.strip() for it in values.get(name, "").split(",") if it.strip())
    wrong = [it for it in found if not _ADDRESS.fullmatch(it)]
    if wrong:
        raise OptionError(f"option {name} is HOST:PORT,..., and not {wrong[0]!r}")
    return found


def _starting(values: Mapping[str, str], *, is_stream: bool) -> Bound:
    if is_stream:
        return _bound(values, "starting", LATEST, refused=None)
    return _bound(values, "starting", EARLIEST, refused=LATEST)


def _limit(values: Mapping[str, str], name: str, read: Callable[[str, str], int]) -> int | None:
    text = values.get(name)
    return None if text is None else read(name, text)


def _canonical(options: Mapping[str, str]) -> dict[str, str]:
    values: dict[str, str] = {}
    for name, value in options.items():
        folded = name.lower()
        known = _BY_FOLDED_NAME.get(folded)
        if known is None:
            is_foreign = folded.startswith(_CONSUMER_PREFIX) or folded in _WITHOUT_EFFECT
            cutoff = _NEAR if is_foreign else 0.6
            near = difflib.get_close_matches(folded, _BY_FOLDED_NAME, n=1, cutoff=cutoff)
            if is_foreign and not near:
                continue
            meant = (
                f": is {_BY_FOLDED_NAME[near[0]]} meant?"
                if near
                else f"; known: {', '.join(_KNOWN)}"
            )
            raise OptionError(f"unknown option {name}{meant}")
        values[known] = value
    return values


def _columns(values: Mapping[str, str]) -> tuple[str, ...]:
    with_headers = _flag("includeHeaders", values.get("includeHeaders", "false"))
    every = (*COLUMNS, HEADERS) if with_headers else COLUMNS
    text = values.get("columns")
    if text is None:
        return every
    names = tuple(it.strip() for it in text.split(",") if it.strip())
    unknown = [it for it in names if it not in (*COLUMNS, HEADERS)]
    if unknown or not names or len(set(names)) < len(names):
        raise OptionError(
            f"option columns names some of {', '.join((*COLUMNS, HEADERS))}, once each, not {text!r}"
        )
    return names


def _bound(values: Mapping[str, str], which: str, default: int, *, refused: int | None) -> Bound:
    """The first of startingTimestamp, startingOffsetsByTimestamp and startingOffsets that is there; so for an end."""
    timestamp = values.get(f"{which}Timestamp")
    if timestamp is not None:
        return Bound(timestamp_ms=_number(f"{which}Timestamp", timestamp))
    by_timestamp = values.get(f"{which}OffsetsByTimestamp")
    if by_timestamp is not None:
        return Bound(timestamps_ms=_numbers(f"{which}OffsetsByTimestamp", by_timestamp))
    name = f"{which}Offsets"
    text = values.get(name, "").strip()
    if not text:
        return Bound(offset=default)
    word = {"earliest": EARLIEST, "latest": LATEST}.get(text.lower())
    if word is not None:
        if word == refused:
            raise OptionError(f"option {name} of a batch cannot be {text.lower()}")
        return Bound(offset=word)
    offsets = _numbers(name, text)
    for partition, offset in offsets.items():
        if offset < EARLIEST or offset == refused:
            raise OptionError(
                f"option {name}: {offset} means nothing for {partition.topic}-{partition.partition}"
            )
    return Bound(offsets=offsets)


def _numbers(name: str, text: str) -> dict[TopicPartition, int]:
    found = _json(name, text)
    try:
        return {
            TopicPartition(topic, int(partition)): _whole(number)
            for topic, partitions in found.items()
            for partition, number in partitions.items()
        }
    except (AttributeError, TypeError, ValueError) as error:
        raise OptionError(
            f'option {name} looks like {{"topic": {{"0": 23}}}}, not {text!r}'
        ) from error


def _assigned(text: str) -> tuple[TopicPartition, ...]:
    if not text:
        return ()
    try:
        return tuple(
            TopicPartition(topic, _whole(it))
            for topic, many in _json("assign", text).items()
            for it in many
        )
    except (AttributeError, TypeError, ValueError) as error:
        raise OptionError(f'option assign looks like {{"topic": [0, 1]}}, not {text!r}') from error


def _json(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise OptionError(f"option {name} is no JSON: {error}") from error


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(value)
    return value


def _number(name: str, text: str) -> int:
    try:
        found = int(text)
    except ValueError as error:
        raise OptionError(f"option {name} is a number, not {text!r}") from error
    return found


def _positive(name: str, text: str) -> int:
    found = _number(name, text)
    if found < 1:
        raise OptionError(f"option {name} is at least 1, not {found}")
    return found


def _flag(name: str, text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise OptionError(f"option {name} is true or false, not {text!r}")
    return text.lower() == "true"


def _size(name: str, text: str) -> int:
    match = _SIZE.fullmatch(text.strip().lower())
    if match is None or not int(match[1]):
        raise OptionError(
            f"option {name} is a number of bytes, such as 134217728 or 128m, not {text!r}"
        )
    return int(match[1]) * _SUFFIXES.get(match[2], 1)
