"""Runs of tasks on the records of one micro-batch, until what they have written can be committed.

Records are the same in each run. Columns that they lack are added between runs, and rows that no file can have become
bad records in the next one. Files of earlier runs are in no snapshot; `maintenance` removes them.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

import msgspec
from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import CommitFailedException
from pyiceberg.manifest import DataFile
from pyiceberg.table import Table

from headrace.pipeline.tables.configuration import TableConfig
from headrace.pipeline.tables.data_files import Place, TableFiles, decode_data_file
from headrace.pipeline.tables.errors import TableError
from headrace.pipeline.tables.evolution import evolution
from headrace.pipeline.tables.rows import BadRecord, Refusals, decode_shape
from headrace.pipeline.tables.shapes import Shape, merged_fields
from headrace.pipeline.tables.write_task import (
    BAD,
    FILE,
    IGNORED,
    KEYS,
    LACKING,
    REFUSED,
    UNKEPT,
    WriteTask,
)

MAX_EVOLUTIONS: Final = 3  # runs after which columns are added; then records that lack some are bad
MAX_RUNS: Final = 6


@dataclass(slots=True)
class Written:
    """What the tasks of a micro-batch reported."""

    files: list[DataFile] = field(default_factory=list)
    replaced: list[DataFile] = field(default_factory=list)  # of an upsert
    bad: list[BadRecord] = field(default_factory=list)
    is_bad_cut: bool = False  # there are bad records that no task has reported
    lacking: dict[str, Shape] = field(default_factory=dict)
    refused: dict[Place, str] = field(default_factory=dict)
    refused_keys: dict[object, str] = field(default_factory=dict)  # of those rows, in an upsert
    ignored: dict[str, str] = field(default_factory=dict)
    keys: list[bytes] = field(default_factory=list)
    topic_ids: Mapping[str, str] = field(default_factory=dict)


def collected(told: Iterable[tuple[str, bytes]]) -> Written:
    """Merge the reports of tasks."""
    found = Written()
    for kind, body in told:
        if kind == FILE:
            found.files.append(decode_data_file(body))
        elif kind == BAD:
            found.bad.append(msgspec.msgpack.decode(body, type=BadRecord))
        elif kind == UNKEPT:
            found.is_bad_cut = True
        elif kind == KEYS:
            found.keys.append(bytes(body))
        elif kind == REFUSED:
            place, reason, key = msgspec.msgpack.decode(body)
            found.refused[tuple(place)] = reason
            if key is not None:
                found.refused_keys[key] = reason
        elif kind == IGNORED:
            found.ignored.update(msgspec.msgpack.decode(body))
        elif kind == LACKING:
            found.lacking = merged_fields(found.lacking, decode_shape(bytes(body).decode()))
    found.bad.sort(key=lambda it: (it.topic, it.partition, it.offset))
    return found


def written_by_runs(
    table: Table,
    config: TableConfig,
    catalog: Catalog,
    max_bad: int,
    run: Callable[[WriteTask], Written],
) -> tuple[Table, Written]:
    """Let tasks write; return the table as it is then, and what they have written.

    Raises:
        TableError: there are more bad records than are allowed, or more rows than that cannot be written, or there is
            no end.
    """
    fields: dict[str, str] = {}
    places: dict[Place, str] = {}
    keys: dict[object, str] = {}
    for number in range(MAX_RUNS):
        # Of a refused key the next run has an older row. In the last run, it has none.
        no_keys = keys if number == MAX_RUNS - 1 else {}
        refusals = Refusals(fields, places, no_keys, may_add=number < MAX_EVOLUTIONS)
        written = run(WriteTask(config, TableFiles.of(table), max_bad, refusals))
        places.update(written.refused)
        keys.update(written.refused_keys)
        if len(written.refused) > max_bad:
            break
        if not written.lacking and not written.refused:
            _refuse_many_bad(config.name, written, max_bad)
            return table, written
        if written.lacking:
            table, refused = _evolved(table, config, catalog, written.lacking)
            fields.update(refused)
    raise TableError(_many_unwritable(config.name, places))


def _evolved(
    table: Table, config: TableConfig, catalog: Catalog, lacking: Mapping[str, Shape]
) -> tuple[Table, dict[str, str]]:
    """Add columns, and widen some; return the table as it is then, and columns that it cannot have."""
    found = evolution(table, config, lacking)
    try:
        if found.transaction is not None:
            found.transaction.commit_transaction()
    except CommitFailedException:
        pass  # another writer was faster: what it left is looked at next
    return catalog.load_table(config.name), found.refused


def _refuse_many_bad(name: str, written: Written, max_bad: int) -> None:
    if len(written.bad) <= max_bad and not written.is_bad_cut:
        return
    it = written.bad[0]
    many = (
        f"more than {len(written.bad) - 1} bad records in one micro-batch"
        if len(written.bad) > max_bad
        else f"{len(written.bad)} bad records in one micro-batch, and more than a task keeps in memory"
    )
    raise TableError(
        f"table {name}: {many}. The first is {it.topic}-{it.partition}, offset {it.offset}: {it.reason}. Is it the "
        f"right schema? If so, raise max_per_batch of [dead_letters]"
    )


def _many_unwritable(name: str, places: Mapping[Place, str]) -> str:
    (topic, partition, offset), why = next(iter(places.items()))
    return (
        f"table {name}: {len(places)} rows or more of one micro-batch cannot be written. The first is of "
        f"{topic}-{partition}, offset {offset}: {why}"
    )
