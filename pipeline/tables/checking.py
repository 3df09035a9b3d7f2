"""Checks a configuration against its catalog, its topics and its schemas, and changes nothing."""

from collections.abc import Mapping

from pyiceberg.exceptions import RESTError, ServiceUnavailableError, ValidationError
from pyiceberg.table import Table
from sqlalchemy.exc import SQLAlchemyError

from headrace.pipeline.tables.catalogs import (
    existing_table,
    misfit,
    new_metadata,
    open_catalog,
    unwritable,
)
from headrace.pipeline.tables.column_types import schema_of_shape
from headrace.pipeline.tables.commits import recreated
from headrace.pipeline.tables.configuration import PipelineConfig, TableConfig
from headrace.pipeline.tables.end_offsets import NoEndsError, missing_at_brokers, missing_topics
from headrace.pipeline.tables.registered_columns import RegisteredColumns
from headrace.pipeline.tables.shapes import Shape
from headrace.pipeline.tables.table_state import other_topic, table_state
from headrace.pipeline.tables.topic_ids import topic_ids
from headrace.pipeline.tables.trials import obstacle


def check_tables(config: PipelineConfig) -> tuple[list[dict[str, object]], list[str]]:
    """Say what each table is or will be, and what is wrong with them and around them."""
    rows: list[dict[str, object]] = []
    problems: list[str] = []
    known: dict[str, Table | None] = {}
    try:
        catalog = open_catalog(config.catalog)
        known = {it.name: existing_table(catalog, it.name) for it in config.tables}
    except (RESTError, ServiceUnavailableError, SQLAlchemyError, OSError) as error:
        problems.append(f"catalog {config.catalog.uri}: {error}")
    problems += _missing(config)
    ids = _topic_ids(config)
    registered = RegisteredColumns()
    for table in config.tables:
        found = known.get(table.name)
        if found is not None:
            other = other_topic(table_state(found.properties, table.topics).topic_ids, ids)
            problems += [f"table {table.name}: {recreated(other)}"] if other else []
        row, wrong = checked_table(table, found, registered)
        problems += [f"table {table.name}: {it}" for it in wrong]
        if row is not None:
            rows.append(row)
    return rows, problems


def _topic_ids(config: PipelineConfig) -> Mapping[str, str]:
    """The ids of all topics; none if no broker answers, which is reported separately."""
    topics = dict.fromkeys(it for table in config.tables for it in table.topics)
    try:
        return topic_ids(config.source, list(topics))
    except NoEndsError:
        return {}


def _missing(config: PipelineConfig) -> list[str]:
    """Topics that are not there, by the source, and by the brokers for dead letters."""
    source, dead = config.source, config.dead_letters.topic
    wanted = list(dict.fromkeys(topic for table in config.tables for topic in table.topics))
    problems: list[str] = []
    try:
        if dead and source.format == "kafka":
            wanted.append(dead)
        problems += [f"{_place(config)} has no topic {it}" for it in missing_topics(source, wanted)]
    except NoEndsError as error:
        problems.append(f"the topics are not known: {error}")
    if dead and source.format != "kafka":
        try:
            missing = missing_at_brokers(source, [dead])
            problems += [f"{source.bootstrap_servers} has no topic {it}" for it in missing]
        except NoEndsError as error:
            problems.append(f"the topic of dead letters is not known: {error}")
    return problems


def _place(config: PipelineConfig) -> str:
    return (
        config.source.bootstrap_servers
        if config.source.format == "kafka"
        else "the newest snapshot in the bucket"
    )


def checked_table(
    table: TableConfig, found: Table | None, registered: RegisteredColumns
) -> tuple[dict[str, object] | None, list[str]]:
    """A row on a table, and what is wrong with it; None where its columns are not known."""
    columns, problems = registered.columns(table)
    try:
        schema = new_metadata(table).schema()
    except ValueError as error:
        return None, [*problems, str(error)]
    stopped: object = None
    if found is not None:
        problem = misfit(found.schema(), table)
        if problem:
            problems.append(problem)
        why = obstacle(found.metadata)
        if why:
            problems.append(unwritable(found.metadata, why))
        schema = found.schema()
        stopped = table_state(found.properties, table.topics).stopped.get("reason")
    names = {it.name for it in schema.fields}
    new = {it: shape for it, shape in columns.items() if it not in names and shape is not None}
    if table.new_fields == "add":
        names |= new.keys()
    elif table.new_fields == "reject" and new:
        problems.append(f"its schemas have fields without a column: {', '.join(sorted(new))}")
    if len(names) > table.max_columns:
        problems.append(
            f"it would have {len(names)} columns, and max_columns is {table.max_columns}"
        )
    if found is not None and table.new_fields == "add":
        problems += _misfits(found, columns)
    row = _row(table, len(names), is_there=found is not None)
    return {**row, "stopped": stopped}, problems


def _misfits(found: Table, columns: Mapping[str, Shape]) -> list[str]:
    """Columns of a table that cannot take the fields of its newest schemas."""
    problems = []
    for name, shape in columns.items():
        try:
            # It is never committed.
            found.transaction().update_schema().union_by_name(schema_of_shape({name: shape}))
        except (ValueError, ValidationError) as error:
            problems.append(f"column {name} cannot take the newest schema: {error}")
    return problems


def _row(table: TableConfig, columns: int, *, is_there: bool) -> dict[str, object]:
    return {
        "table": table.name,
        "topics": list(table.topics),
        "format": table.format,
        "mode": table.mode,
        "columns": columns,
        "partition_by": list(table.partition_by),
        "exists": is_there,
    }
