"""Reads the TOML of a pipeline, and reports all that is wrong with it at once. Pure."""

import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from headrace.config.problems import ConfigError, Problem
from headrace.config.suggest import nearest
from headrace.pipeline.tables.configuration import (
    JSON,
    KEY,
    RECORD_COLUMNS,
    RESERVED,
    UPSERT,
    CatalogConfig,
    DeadLetterConfig,
    MaintenanceConfig,
    PipelineConfig,
    SourceConfig,
    TableConfig,
    TriggerConfig,
)
from headrace.pipeline.tables.configuration_keys import (
    PIPELINE,
    REQUIRED,
    SECTIONS,
    TABLE,
    FormError,
    PipelineKey,
)

_TABLES: Final = "tables"
_MAX_TABLES: Final = 500  # each is a query with threads of its own


def read_configuration(text: str, *, source: str, stem: str) -> PipelineConfig:
    """Read a configuration.

    Args:
        text: TOML.
        source: how problems name it, such as the file's name.
        stem: the pipeline's name, where the text gives none.

    Raises:
        ConfigError: something is wrong; it has all the problems.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError([Problem(f"it is no TOML: {error}", source=source)]) from error
    reader = _ConfigurationReader(source)
    config = reader.read(document, stem)
    if config is None or reader.problems:
        raise ConfigError(reader.problems)
    return config


class _ConfigurationReader:
    def __init__(self, source: str) -> None:
        self._source = source
        self.problems: list[Problem] = []

    def read(self, document: Mapping[str, Any], stem: str) -> PipelineConfig | None:
        """Read all of it; None where something is wrong."""
        top = {it: document[it] for it in document if it not in (*SECTIONS, _TABLES)}
        own = self._values("", top, PIPELINE, others=(*SECTIONS, _TABLES))
        found = {
            name: self._values(name, self._section(document, name), keys)
            for name, keys in SECTIONS.items()
        }
        tables = self._tables(document.get(_TABLES))
        if self.problems:
            return None
        config = PipelineConfig(
            name=own["name"] or stem,
            checkpoint=own["checkpoint"],
            source=SourceConfig(**found["source"]),
            trigger=TriggerConfig(**found["trigger"]),
            catalog=CatalogConfig(**found["catalog"]),
            dead_letters=DeadLetterConfig(**found["dead_letters"]),
            maintenance=_maintenance(found["maintenance"]),
            tables=tuple(tables),
        )
        self._check(config)
        return config

    def _section(self, document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
        section = document.get(name, {})
        if not isinstance(section, dict):
            self._wrong(name, f"it is a section: [{name}]")
            return {}
        return section

    def _tables(self, found: object) -> list[TableConfig]:
        if not isinstance(found, list) or not found or len(found) > _MAX_TABLES:
            self._wrong(_TABLES, f"at least one [[{_TABLES}]] is needed, {_MAX_TABLES} at most")
            return []
        tables = []
        for number, it in enumerate(found, 1):
            place = f"{_TABLES}[{number}]"
            values = self._values(place, it if isinstance(it, dict) else {}, TABLE)
            if len(values) == len(TABLE):
                values["required"] = frozenset(values["required"])
                values["target_file_bytes"] = values.pop("target_file_size")
                values["key"] = values["key"] or (KEY if values["mode"] == UPSERT else "")
                table = TableConfig(**values)
                self._check_table(place, table)
                tables.append(table)
        return tables

    def _values(
        self,
        place: str,
        given: Mapping[str, Any],
        keys: Mapping[str, PipelineKey],
        others: Sequence[str] = (),
    ) -> dict[str, Any]:
        for name in given:
            if name not in keys:
                near = nearest(name, (*keys, *others))
                meant = f"is {near} meant?" if near else f"known are {', '.join(keys)}"
                self._wrong(_joined(place, name), f"there is no such key: {meant}")
        values: dict[str, Any] = {}
        for name, key in keys.items():
            if name not in given:
                if key.default is REQUIRED:
                    self._wrong(_joined(place, name), f"it is missing. {key.doc}")
                else:
                    values[name] = key.without_value()
                continue
            try:
                value = key.read(given[name])
            except FormError as error:
                self._wrong(_joined(place, name), f"it must be {error}", str(given[name]))
                continue
            if key.default is REQUIRED and not value:
                self._wrong(_joined(place, name), f"it is empty. {key.doc}")
                continue
            values[name] = value
        return values

    def _check(self, config: PipelineConfig) -> None:
        """What must go together."""
        source = config.source
        if source.format == "kafka" and not source.bootstrap_servers:
            self._wrong("source.bootstrap_servers", "format `kafka` needs it: HOST:PORT,...")
        if source.format == "headrace" and not source.bucket:
            self._wrong("source.bucket", "format `headrace` needs it, as the brokers have it")
        if config.dead_letters.topic and not source.bootstrap_servers:
            self._wrong(
                "source.bootstrap_servers", "dead letters go through a broker: HOST:PORT,..."
            )
        if config.catalog.type == "sql" and not config.catalog.warehouse:
            self._wrong(
                "catalog.warehouse",
                "an SQL catalog needs it: file:///DIRECTORY or s3://BUCKET/PREFIX",
            )
        names = [it.name for it in config.tables]
        for name in sorted({it for it in names if names.count(it) > 1}):
            self._wrong(_TABLES, f"two tables have the name {name}")
        for number, table in enumerate(config.tables, 1):
            if config.dead_letters.topic in table.topics:
                place = f"{_TABLES}[{number}].topics"
                self._wrong(place, "the topic of dead letters would be read into a table")

    def _check_table(self, place: str, table: TableConfig) -> None:
        if table.format != JSON and not table.registry:
            self._wrong(f"{place}.registry", f"format {table.format} needs the URL of a registry")
        if table.format == JSON and table.registry:
            self._wrong(
                f"{place}.registry", "format json has no registry: use json_schema, or leave it out"
            )
        if table.subjects and not table.registry:
            self._wrong(f"{place}.subjects", "subjects are those of a registry, which is missing")
        if table.columns and table.samples:
            self._wrong(f"{place}.samples", "columns are given already: leave one of them out")
        if table.mode == UPSERT and table.deduplicate_by:
            self._wrong(f"{place}.deduplicate_by", "mode upsert keeps one row for a key anyway")
        given = [bool(it) for it in (table.deduplicate_by, table.event_time, table.watermark)]
        if any(given) and not all(given):
            self._wrong(
                f"{place}.deduplicate_by",
                "it goes together with event_time and watermark, all three or none",
            )
        taken = {
            *(RECORD_COLUMNS if table.record_columns else ()),
            *([table.key] if table.key else ()),
        }
        for name in sorted(RESERVED & table.columns.keys()):
            self._wrong(f"{place}.columns.{name}", "Iceberg has this name for itself: take another")
        for name in sorted(taken & table.columns.keys()):
            self._wrong(f"{place}.columns.{name}", "the pipeline fills this column: leave it out")

    def _wrong(self, key: str, message: str, value: str | None = None) -> None:
        self.problems.append(Problem(message, key=key, value=value, source=self._source))


def _maintenance(values: Mapping[str, int]) -> MaintenanceConfig:
    return MaintenanceConfig(
        interval_ms=values["interval"],
        expire_snapshots_after_ms=values["expire_snapshots_after"],
        min_snapshots=values["min_snapshots"],
        compact_below_bytes=values["compact_below"],
        compact_from_files=values["compact_from_files"],
        max_compacted_bytes=values["max_compacted"],
        remove_orphans_after_ms=values["remove_orphans_after"],
    )


def _joined(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name
