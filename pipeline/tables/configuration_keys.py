"""The keys of a pipeline's configuration: their meaning, form and default. Pure."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from headrace.pipeline.tables.configuration import (
    APPEND,
    CATALOGS,
    FORMATS,
    JSON,
    KEY_TYPES,
    MODES,
    NEW_FIELDS,
    SIMILAR_NAMES,
    SOURCES,
)
from headrace.pipeline.tables.quantities import duration_ms, size_bytes

REQUIRED: Final = object()
_MAX_NUMBER: Final = 10**12
_TOPIC: Final = re.compile(r"[A-Za-z0-9._-]{1,249}")
_TABLE: Final = re.compile(r"\w+(\.\w+)+")
_DURATION: Final = "a duration, such as `10 minutes`"
_SIZE: Final = "a size, such as `64 MiB`"


class FormError(ValueError):
    """A value does not have the form of its key; the message says which form that is."""


@dataclass(frozen=True, slots=True)
class PipelineKey:
    """A key: how its value is read, what it is without one (as it would be written), and what it means."""

    read: Callable[[Any], Any]
    default: Any
    doc: str

    def without_value(self) -> Any:
        """What it is without a value; what is empty is read as it is."""
        return self.read(self.default) if self.default else self.default


def text(value: Any) -> str:
    """Read a text."""
    if not isinstance(value, str):
        raise FormError("a text in quotes")
    return value.strip()


def texts(value: Any) -> tuple[str, ...]:
    """Read a list of texts."""
    if not isinstance(value, list) or not all(isinstance(it, str) for it in value):
        raise FormError('a list of texts, such as ["a", "b"]')
    return tuple(it.strip() for it in value)


def text_map(value: Any) -> dict[str, str]:
    """Read a table of texts; numbers and booleans are taken as their texts."""
    if not isinstance(value, dict) or not all(
        isinstance(it, str | int | float) for it in value.values()
    ):
        raise FormError('names and texts, such as { "a" = "b" }')
    return {name: _told(it) for name, it in value.items()}


def _told(value: str | float) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def flag(value: Any) -> bool:
    """Read true or false."""
    if not isinstance(value, bool):
        raise FormError("true or false")
    return value


def number(value: Any) -> int:
    """Read a number of at least one."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _MAX_NUMBER:
        raise FormError("a whole number, at least 1")
    return value


def duration(value: Any) -> int:
    """Read a duration in milliseconds."""
    try:
        return duration_ms(text(value))
    except ValueError as error:
        raise FormError(_DURATION) from error


def spark_duration(value: Any) -> str:
    """Check a duration that Spark gets, and return it as Spark reads it."""
    return f"{duration(value)} milliseconds"


def size(value: Any) -> int:
    """Read a size in bytes."""
    try:
        found = size_bytes(text(value))
    except ValueError as error:
        raise FormError(_SIZE) from error
    if not found:
        raise FormError(_SIZE)
    return found


def one_of(*allowed: str) -> Callable[[Any], str]:
    """Read one of some words."""

    def read(value: Any) -> str:
        if value not in allowed:
            raise FormError(f"one of {', '.join(allowed)}")
        return str(value)

    return read


def topic(value: Any) -> str:
    """Read the name of a topic."""
    if not _TOPIC.fullmatch(text(value)):
        raise FormError("the name of a topic")
    return text(value)


def topics(value: Any) -> tuple[str, ...]:
    """Read names of topics."""
    found = texts(value)
    if not found or not all(map(_TOPIC.fullmatch, found)) or len(set(found)) < len(found):
        raise FormError("a list of names of topics, each once")
    return found


def table_name(value: Any) -> str:
    """Read the name of a table."""
    if not _TABLE.fullmatch(text(value)):
        raise FormError("NAMESPACE.TABLE, such as `shop.orders`")
    return text(value)


PIPELINE: Final[Mapping[str, PipelineKey]] = {
    "name": PipelineKey(text, "", "Name of the pipeline; without it, that of the file."),
    "checkpoint": PipelineKey(
        text, REQUIRED, "Directory or URI of Spark's checkpoints, which all workers reach."
    ),
}
SOURCE: Final[Mapping[str, PipelineKey]] = {
    "format": PipelineKey(
        one_of(*SOURCES), "kafka", "`kafka` reads from brokers, `headrace` from the bucket."
    ),
    "bootstrap_servers": PipelineKey(
        text, "", "Brokers, HOST:PORT,...; for `kafka`, and for dead letters."
    ),
    "bucket": PipelineKey(text, "", "The bucket, as the brokers have it; for `headrace`."),
    "starting_offsets": PipelineKey(
        one_of("earliest", "latest"), "earliest", "Where a topic is begun that has no checkpoint."
    ),
    "max_offsets_per_trigger": PipelineKey(
        number, 1_000_000, "Records of a micro-batch, about; bounds memory and the size of files."
    ),
    "options": PipelineKey(text_map, {}, "Other options of Spark's source, by their own names."),
    "client": PipelineKey(
        text_map, {}, "Settings of librdkafka, such as TLS; for dead letters and `status`."
    ),
}
TRIGGER: Final[Mapping[str, PipelineKey]] = {
    "interval": PipelineKey(
        spark_duration, "1 minute", "Time between micro-batches, and so between commits."
    ),
    "once": PipelineKey(flag, default=False, doc="Read what is there, and end; for a scheduler."),
}
CATALOG: Final[Mapping[str, PipelineKey]] = {
    "name": PipelineKey(
        text, "headrace", "Name of the catalog; tables of an SQL catalog go by it."
    ),
    "type": PipelineKey(one_of(*CATALOGS), "sql", "`sql` (a database), or `rest` (a server)."),
    "uri": PipelineKey(text, REQUIRED, "`sqlite:////DIRECTORY/catalog.db`, or `http://HOST:PORT`."),
    "warehouse": PipelineKey(
        text, "", "Where tables lie: `file:///DIRECTORY` or `s3://BUCKET/PREFIX`; for `sql`."
    ),
    "options": PipelineKey(text_map, {}, "Other properties of pyiceberg, such as `s3.endpoint`."),
}
DEAD_LETTERS: Final[Mapping[str, PipelineKey]] = {
    "topic": PipelineKey(topic, "", "Topic of bad records; without it, one stops its table."),
    "max_per_batch": PipelineKey(
        number, 10_000, "Bad records of a micro-batch; with more, the table stops."
    ),
}
MAINTENANCE: Final[Mapping[str, PipelineKey]] = {
    "interval": PipelineKey(duration, "1 hour", "Time between two rounds, at least."),
    "expire_snapshots_after": PipelineKey(
        duration, "5 days", "Age from which snapshots, and files of them alone, are removed."
    ),
    "min_snapshots": PipelineKey(number, 10, "Snapshots that are kept, whatever their age."),
    "compact_below": PipelineKey(size, "32 MiB", "Data files below this size are merged."),
    "compact_from_files": PipelineKey(
        number, 16, "Merge once a partition of the table has so many of them."
    ),
    "max_compacted": PipelineKey(size, "1 GiB", "Bytes that a round rewrites, at most."),
    "remove_orphans_after": PipelineKey(
        duration, "1 day", "Age from which files that no snapshot names are removed."
    ),
}
TABLE: Final[Mapping[str, PipelineKey]] = {
    "name": PipelineKey(table_name, REQUIRED, "NAMESPACE.TABLE; it is created."),
    "topics": PipelineKey(topics, REQUIRED, "Topics that go into it."),
    "format": PipelineKey(one_of(*FORMATS), JSON, f"Of the values: {', '.join(FORMATS)}."),
    "registry": PipelineKey(text, "", "URL of a schema registry; for all formats but `json`."),
    "subjects": PipelineKey(
        texts, (), "Subjects whose newest schemas `check` reads; without it, TOPIC-value."
    ),
    "message": PipelineKey(
        text, "", "Full name of the Protobuf message; without it, as the record says."
    ),
    "columns": PipelineKey(text_map, {}, 'Columns and their types, such as `id = "long"`.'),
    "samples": PipelineKey(
        text, "", "A file of JSON documents, one a line, from which columns are inferred."
    ),
    "required": PipelineKey(texts, (), "Columns that no row may lack."),
    "partition_by": PipelineKey(
        texts, (), 'Columns or transforms, such as `["day(at)", "bucket(16, id)"]`.'
    ),
    "new_fields": PipelineKey(
        one_of(*NEW_FIELDS), "add", "Fields without a column: `add` one, `ignore`, or `reject`."
    ),
    "similar_names": PipelineKey(
        one_of(*SIMILAR_NAMES),
        "ignore",
        "New fields whose names readers cannot tell from a column's: `ignore`, `reject`, or `add` by case.",
    ),
    "max_columns": PipelineKey(number, 1_000, "Columns that the table may come to have."),
    "mode": PipelineKey(
        one_of(*MODES), APPEND, "`append`, or `upsert` by the key of records, for compacted topics."
    ),
    "key": PipelineKey(text, "", "Column for the key of records; `kafka_key` with `upsert`."),
    "key_type": PipelineKey(one_of(*KEY_TYPES), "string", f"Its type: {', '.join(KEY_TYPES)}."),
    "record_columns": PipelineKey(
        flag,
        default=True,
        doc="Whether rows say where they come from: `kafka_topic`, `kafka_partition` and so on.",
    ),
    "event_time": PipelineKey(text, "", "Column with the time of the event; for `deduplicate_by`."),
    "watermark": PipelineKey(
        spark_duration, "", "How much later a copy may come, by event time; for `deduplicate_by`."
    ),
    "deduplicate_by": PipelineKey(texts, (), "Columns that copies of an event have in common."),
    "target_file_size": PipelineKey(
        size, "128 MiB", "Size of data files, about, before compression."
    ),
}
SECTIONS: Final[Mapping[str, Mapping[str, PipelineKey]]] = {
    "source": SOURCE,
    "trigger": TRIGGER,
    "catalog": CATALOG,
    "dead_letters": DEAD_LETTERS,
    "maintenance": MAINTENANCE,
}
