"""One commit for each micro-batch: its data files, and how far the table has come in its topics.

The commit is refused when another came in between. What the table says is looked at again then, so two runs of one
micro-batch, in one process after the other or in two at once, add its rows once. So do two jobs whose micro-batches
end at different offsets: the one that comes second stops.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from pyiceberg.exceptions import CommitFailedException
from pyiceberg.manifest import DataFile
from pyiceberg.table import Table, TableProperties

from headrace.pipeline.tables.errors import TableError
from headrace.pipeline.tables.table_state import (
    STOPPED,
    Counts,
    Origin,
    TableState,
    changed_properties,
    offsets_text,
    other_topic,
    table_state,
)

MAX_ATTEMPTS: Final = 10  # against other writers of the table


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """What a micro-batch brings about."""

    origin: Origin
    known: Counts  # offsets that the table had when it was chosen what to add
    ends: Counts
    added: Sequence[DataFile]
    replaced: Sequence[DataFile] = ()  # of an upsert, chosen by what the table was
    is_upsert: bool = False
    bad: Counts
    now_ms: int
    checkpoint: int = 0
    ignored_fields: Mapping[str, str] = field(default_factory=dict)


def commit_batch(table: Table, commit: Commit) -> bool:
    """Commit a micro-batch, unless the table has it; return whether it did.

    Raises:
        TableError: other writers were faster each time, or have removed what is to be replaced, or another job has
            added records of the same topics.
    """
    topics = list(commit.ends)
    for _ in range(1 if commit.is_upsert else MAX_ATTEMPTS):
        state = table_state(table.properties, topics)
        _refuse_another_topic(table, state, commit)
        if state.includes(commit.ends):
            return False
        if any(state.offsets[it] != commit.known.get(it, {}) for it in topics):
            raise TableError(
                f"table {'.'.join(table.name())}: another job has added records of its topics at the same time; the "
                f"next run goes on here"
            )
        properties = changed_properties(
            state,
            commit.ends,
            commit.bad,
            commit.origin,
            commit.ignored_fields,
            commit.now_ms,
        )
        try:
            _commit(table, commit, properties)
        except CommitFailedException:
            table.refresh()
        else:
            return True
    raise TableError(
        f"table {'.'.join(table.name())}: other writers changed it at the same time; the next run goes on here"
    )


def _refuse_another_topic(table: Table, state: TableState, commit: Commit) -> None:
    """Refuse the commit of a job that read what the table no longer takes."""
    name = ".".join(table.name())
    other = other_topic(state.topic_ids, commit.origin.topic_ids)
    if other:
        raise TableError(f"table {name}: {recreated(other)}")
    if state.checkpoint != commit.checkpoint:
        raise TableError(
            f"table {name}: a topic was begun again while this job ran; start it again"
        )


def recreated(topic: str) -> str:
    """What is wrong when a topic is not what it was, and what to do."""
    return (
        f"topic {topic} was deleted and created again, and the table has records of the earlier one. To add those "
        f"of the new one, from its first record: `headrace pipeline mend FILE --topic {topic} --yes`. Or give it a "
        f"new table"
    )


def _commit(table: Table, commit: Commit, properties: dict[str, str]) -> None:
    summary = {
        "headrace.query-id": commit.origin.query_id,
        "headrace.batch-id": str(commit.origin.batch_id),
        "headrace.offsets": offsets_text(commit.ends),
    }
    with committing_once(table).transaction() as transaction:
        transaction.set_properties(properties)
        if STOPPED in table.properties:
            transaction.remove_properties(STOPPED)
        update = transaction.update_snapshot(snapshot_properties=summary)
        with update.overwrite() if commit.replaced else update.merge_append() as files:
            for it in commit.added:
                files.append_data_file(it)
            for it in commit.replaced:
                files.delete_data_file(it)
    table.refresh()


def committing_once(table: Table) -> Table:
    """The table, whose commits are tried once: pyiceberg would add the same files after another writer's commit."""
    properties = {**table.properties, TableProperties.COMMIT_NUM_RETRIES: "0"}
    metadata = table.metadata.model_copy(update={"properties": properties})
    return Table(table.name(), metadata, table.metadata_location, table.io, table.catalog)


def counted(places: Iterable[tuple[str, int]]) -> Counts:
    """How often each topic and partition is there."""
    found: dict[str, dict[int, int]] = {}
    for topic, partition in places:
        many = found.setdefault(topic, {})
        many[partition] = many.get(partition, 0) + 1
    return found
