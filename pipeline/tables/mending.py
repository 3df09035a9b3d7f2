"""Mends tables that a pipeline cannot go on with, and says what it does to them.

- A column that no data file can have keeps every file from being written. It has no values, so it is dropped.
- A topic that was deleted and created again is read from its first record, into the table that it had before. Its
  offsets there begin again, and so does the checkpoint. Rows of the earlier topic stay.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import ValidationError
from pyiceberg.table import Table, Transaction

from headrace.pipeline.tables.catalogs import existing_table
from headrace.pipeline.tables.configuration import PipelineConfig, TableConfig
from headrace.pipeline.tables.errors import TableError
from headrace.pipeline.tables.field_names import droppable_paths
from headrace.pipeline.tables.table_state import Counts, begun_again, table_state
from headrace.pipeline.tables.trials import obstacle

DROP: Final = "drop column"
AGAIN: Final = "begin topic again"
Column = tuple[tuple[str, ...], str]  # path, and why it cannot stay


@dataclass(frozen=True, slots=True)
class TopicsNow:
    """What the source reports of topics now."""

    topic_ids: Mapping[str, str]
    ends: Counts


def mended(
    config: PipelineConfig, catalog: Catalog, topic: str, found: TopicsNow, *, is_sure: bool
) -> Iterator[dict[str, object]]:
    """Mend the tables of a configuration; print each change, also in a dry run.

    Args:
        config: of the pipeline.
        catalog: where the tables are.
        topic: that is begun again; empty for none.
        found: what the source has of it.
        is_sure: whether to change anything.

    Raises:
        TableError: something cannot be mended so; the message says why.
    """
    if topic and not any(topic in it.topics for it in config.tables):
        raise TableError(f"no table of the configuration has the topic {topic}")
    if topic and not found.ends.get(topic):
        raise TableError(f"there is no topic {topic}")
    others = 0
    for it in config.tables:
        table = existing_table(catalog, it.name)
        if table is None:
            continue
        yield from _without_columns(it, table, is_sure=is_sure)
        if topic in it.topics and _is_another(table, topic, found):
            others += 1
            yield _with_topic(it, table, topic, found, is_sure=is_sure)
    if topic and not others:
        raise TableError(
            f"no table has records of an earlier topic {topic}: those of this one would be added once more"
        )


def _without_columns(
    config: TableConfig, table: Table, *, is_sure: bool
) -> Iterator[dict[str, object]]:
    columns = droppable_paths(table.schema().as_struct())
    transaction, why = _staged(table, columns)
    if why:
        raise TableError(f"table {config.name}: no data file can be written for it: {why}")
    if is_sure and columns:
        transaction.commit_transaction()
    for path, reason in columns:
        yield _row(config, DROP, ".".join(path), reason, is_done=is_sure)


def _staged(table: Table, columns: Sequence[Column]) -> tuple[Transaction, str]:
    """A transaction that drops columns, and why no file can be written even then."""
    transaction = table.transaction()
    try:
        with transaction.update_schema(allow_incompatible_changes=True) as update:
            for path, _ in columns:
                update.delete_column(path)
    except (ValueError, ValidationError) as error:
        return transaction, str(error)
    return transaction, obstacle(transaction.table_metadata)


def _is_another(table: Table, topic: str, found: TopicsNow) -> bool:
    """Whether a topic is not the one that the table has records of, by its id, or by its end."""
    state = table_state(table.properties, [topic])
    known, now = state.topic_ids.get(topic, ""), found.topic_ids.get(topic, "")
    if known and now:
        return known != now
    ends = found.ends[topic]
    return any(ends.get(it, 0) < offset for it, offset in state.offsets[topic].items())


def _with_topic(
    config: TableConfig, table: Table, topic: str, found: TopicsNow, *, is_sure: bool
) -> dict[str, object]:
    state = table_state(table.properties, config.topics)
    known, now = state.topic_ids.get(topic, ""), found.topic_ids.get(topic, "")
    changed, removed = begun_again(state, topic, now)
    if is_sure:
        with table.transaction() as transaction:
            transaction.set_properties(changed)
            transaction.remove_properties(*(it for it in removed if it in table.properties))
    reason = f"its id is {now or 'not known'}, and that of the earlier one {known or 'was not'}"
    return _row(config, AGAIN, topic, reason, is_done=is_sure)


def _row(
    config: TableConfig, what: str, name: str, why: str, *, is_done: bool
) -> dict[str, object]:
    return {"table": config.name, "what": what, "name": name, "why": why, "done": is_done}
