"""What a pipeline's configuration says, once it has been read and checked. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

JSON: Final = "json"
FORMATS: Final = (JSON, "avro", "protobuf", "json_schema")
SOURCES: Final = ("kafka", "headrace")
CATALOGS: Final = ("sql", "rest")
APPEND: Final = "append"
UPSERT: Final = "upsert"
MODES: Final = (APPEND, UPSERT)
NEW_FIELDS: Final = ("add", "ignore", "reject")
SIMILAR_NAMES: Final = ("ignore", "add", "reject")
KEY_TYPES: Final = ("string", "long", "binary")
# Columns that say which record a row comes from.
TOPIC, PARTITION, OFFSET, TIMESTAMP = (
    "kafka_topic",
    "kafka_partition",
    "kafka_offset",
    "kafka_timestamp",
)
RECORD_COLUMNS: Final[Mapping[str, str]] = {
    TOPIC: "string",
    PARTITION: "int",
    OFFSET: "long",
    TIMESTAMP: "timestamptz",
}
KEY: Final = "kafka_key"
# Names that Iceberg has for itself: Spark reads no table that has one of them as a column.
RESERVED: Final = frozenset(
    {
        "_file",
        "_pos",
        "_deleted",
        "_spec_id",
        "_partition",
        "_row_id",
        "_last_updated_sequence_number",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceConfig:
    """Where records come from."""

    format: str
    bootstrap_servers: str
    bucket: str
    starting_offsets: str
    max_offsets_per_trigger: int
    options: Mapping[str, str]
    client: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerConfig:
    """When a micro-batch begins; `interval` is as Spark writes it, and empty for one run of what is there."""

    interval: str
    once: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogConfig:
    """The Iceberg catalog, as pyiceberg opens it."""

    name: str
    type: str
    uri: str
    warehouse: str
    options: Mapping[str, str]

    def properties(self) -> dict[str, str]:
        """What pyiceberg is given."""
        own = {"type": self.type, "uri": self.uri, "warehouse": self.warehouse}
        return {**self.options, **{name: value for name, value in own.items() if value}}


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetterConfig:
    """Where bad records go; without a topic, the first one stops its table."""

    topic: str
    max_per_batch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceConfig:
    """How tables are kept tidy, between micro-batches."""

    interval_ms: int
    expire_snapshots_after_ms: int
    min_snapshots: int
    compact_below_bytes: int  # data files smaller than this are merged
    compact_from_files: int  # once there are so many in a partition of the table
    max_compacted_bytes: int  # at one time
    remove_orphans_after_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TableConfig:
    """One table, and the topics that go into it."""

    name: str
    topics: tuple[str, ...]
    format: str
    registry: str
    subjects: tuple[str, ...]  # that a check asks for; empty: TOPIC-value
    message: str  # of Protobuf; empty: as the record's message indexes say
    columns: Mapping[str, str] = field(default_factory=dict)
    samples: str
    required: frozenset[str]
    partition_by: tuple[str, ...]
    new_fields: str
    similar_names: str
    max_columns: int
    mode: str
    key: str  # column of the records' key
    key_type: str
    record_columns: bool
    event_time: str
    watermark: str  # as Spark writes it
    deduplicate_by: tuple[str, ...]
    target_file_bytes: int

    @property
    def namespace(self) -> str:
        """The part of the name before the last dot."""
        return self.name.rpartition(".")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineConfig:
    """A whole configuration."""

    name: str
    checkpoint: str
    source: SourceConfig
    trigger: TriggerConfig
    catalog: CatalogConfig
    dead_letters: DeadLetterConfig
    maintenance: MaintenanceConfig
    tables: tuple[TableConfig, ...]

    def checkpoint_of(self, table: TableConfig, number: int = 0) -> str:
        """Where the query of a table keeps its checkpoint; with another number once a topic was begun again."""
        return f"{self.checkpoint.rstrip('/')}/{table.name}{f'@{number}' if number else ''}"
