"""Checks a configuration against its catalog and its schemas, and changes nothing."""

from pyiceberg.exceptions import ServiceUnavailableError
from pyiceberg.table import Table
from sqlalchemy.exc import SQLAlchemyError

from headrace.pipeline.tables.catalogs import existing_table, misfit, open_catalog, table_schema
from headrace.pipeline.tables.configuration import PipelineConfig, TableConfig
from headrace.pipeline.tables.partitioning import partition_spec


def check_tables(config: PipelineConfig) -> tuple[list[dict[str, object]], list[str]]:
    """Say what each table is or will be, and what is wrong with them."""
    rows: list[dict[str, object]] = []
    problems: list[str] = []
    known: dict[str, Table | None] = {}
    try:
        catalog = open_catalog(config.catalog)
        known = {it.name: existing_table(catalog, it.name) for it in config.tables}
    except (ServiceUnavailableError, SQLAlchemyError, OSError) as error:
        problems.append(f"catalog {config.catalog.uri}: {error}")
    for table in config.tables:
        try:
            schema = table_schema(table)
            partition_spec(table.partition_by, schema)
        except ValueError as error:
            problems.append(f"table {table.name}: {error}")
            continue
        found = known.get(table.name)
        problem = "" if found is None else misfit(found.schema(), table)
        if problem:
            problems.append(f"table {table.name}: {problem}")
        rows.append(_row(table, len(schema.fields), is_there=found is not None))
    return rows, problems


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
