"""New columns of a table: committed once a data file that has them was written and read in memory."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pyiceberg.table import Table, Transaction
from pyiceberg.types import StructType

from headrace.pipeline.tables.catalogs import own_columns
from headrace.pipeline.tables.column_types import additions, schema_of_shape
from headrace.pipeline.tables.configuration import TableConfig
from headrace.pipeline.tables.errors import NOT_OF_A_RECORD, BadRecordError, told
from headrace.pipeline.tables.field_names import field_names, too_many
from headrace.pipeline.tables.shapes import Shape
from headrace.pipeline.tables.trials import obstacle


@dataclass(slots=True)
class Evolution:
    """What a table is to be given: a transaction that is not committed, and columns that it cannot have, with why."""

    transaction: Transaction | None = None
    refused: dict[str, str] = field(default_factory=dict)


def evolution(table: Table, config: TableConfig, lacking: Mapping[str, Shape]) -> Evolution:
    """Add as many of the lacking columns as can be written, and as there is room for.

    What there is no room for is left to the next run: then its records say so themselves.
    """
    found = Evolution()
    wanted = _with_room(table, config, _admitted(table, config, lacking, found))
    _add(table, list(wanted.items()), {}, found)
    return found


def _admitted(
    table: Table, config: TableConfig, lacking: Mapping[str, Shape], found: Evolution
) -> dict[str, Shape]:
    """Columns whose names readers can distinguish: within one task that is checked there, across tasks here."""
    own = frozenset(own_columns(config))
    names = field_names(config, table.metadata, own)
    struct = StructType(*(it for it in table.schema().fields if it.name not in own))
    kept: dict[str, Shape] = {}
    for name, shape in lacking.items():
        try:
            admitted, _ = names.admitted({**kept, name: shape})
        except BadRecordError as error:
            found.refused[name] = str(error)
        else:
            kept = admitted
    return additions(struct, kept)


def _with_room(table: Table, config: TableConfig, more: Mapping[str, Shape]) -> dict[str, Shape]:
    columns = {it.name for it in table.schema().fields}
    fields = len(table.schema().column_names)
    kept: dict[str, Shape] = {}
    for name, shape in more.items():
        if not too_many(columns, fields, {**kept, name: shape}, config.max_columns):
            kept[name] = shape
    return kept


def _add(
    table: Table, wanted: Sequence[tuple[str, Shape]], base: dict[str, Shape], found: Evolution
) -> None:
    """Add columns to what has been proven; where that fails, halves of them, down to those that are the reason."""
    if not wanted:
        return
    transaction = table.transaction()
    try:
        with transaction.update_schema() as update:
            update.union_by_name(schema_of_shape({**base, **dict(wanted)}))
        why = obstacle(transaction.table_metadata)
    except NOT_OF_A_RECORD:
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, these columns cannot be added
        why = told(error)
    if not why:
        base.update(wanted)
        found.transaction = transaction
    elif len(wanted) == 1:
        found.refused[wanted[0][0]] = f"the table cannot have it as a column: {why}"
    else:
        half = len(wanted) // 2
        _add(table, wanted[:half], base, found)
        _add(table, wanted[half:], base, found)
