"""How far tables are behind their topics, by what the tables say themselves."""

from collections.abc import Iterator

from pyiceberg.catalog import Catalog

from headrace.pipeline.tables.catalogs import existing_table
from headrace.pipeline.tables.configuration import PipelineConfig, TableConfig
from headrace.pipeline.tables.table_state import Counts, TableState, table_state


def status_rows(
    config: PipelineConfig, catalog: Catalog, ends: Counts
) -> Iterator[dict[str, object]]:
    """A row for each partition of a topic: what the table has, and what it lacks.

    Args:
        config: of the pipeline.
        catalog: where the tables are.
        ends: of the topics; those that are not in it have no lag that is known.
    """
    for table in config.tables:
        found = existing_table(catalog, table.name)
        state = TableState() if found is None else table_state(found.properties, table.topics)
        for topic in table.topics:
            yield from _rows(table, topic, state, ends)


def _rows(
    table: TableConfig, topic: str, state: TableState, ends: Counts
) -> Iterator[dict[str, object]]:
    known, told = state.offsets.get(topic, {}), ends.get(topic, {})
    partitions: list[int | None] = [*sorted(known.keys() | told.keys())]
    for partition in partitions or [None]:
        offset = known.get(partition) if partition is not None else None
        end = told.get(partition) if partition is not None else None
        yield {
            "table": table.name,
            "topic": topic,
            "partition": partition,
            "committed_offset": offset,
            "end_offset": end,
            "lag": None if end is None else max(0, end - (offset or 0)),
            "dead_letters": state.dead_letters.get(topic, {}).get(partition or 0, 0),
            "committed_at_ms": state.committed_at_ms.get(topic),
            "ignored_fields": sorted(state.ignored_fields),
            "stopped": state.stopped.get("reason"),
        }
