"""Opens the catalog and the table of a configuration; creates the table where there is none."""

import itertools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.exceptions import NoSuchTableError, TableAlreadyExistsError
from pyiceberg.schema import Schema
from pyiceberg.table import Table, TableProperties
from pyiceberg.table.metadata import TableMetadata, new_table_metadata
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER
from pyiceberg.types import NestedField, StructType
from sqlalchemy.exc import IntegrityError

from headrace.pipeline.tables.column_types import column_fields, shape_fields
from headrace.pipeline.tables.configuration import (
    RECORD_COLUMNS,
    RESERVED,
    CatalogConfig,
    TableConfig,
)
from headrace.pipeline.tables.errors import BadRecordError, TableError
from headrace.pipeline.tables.field_names import FieldNames, unusable_paths
from headrace.pipeline.tables.partitioning import partition_spec
from headrace.pipeline.tables.shapes import Shape, for_new_columns, merged_fields, shape_of
from headrace.pipeline.tables.trials import obstacle
from headrace.pipeline.tables.values import is_fitted

MAX_SAMPLES: Final = 10_000
_MAX_TOLD: Final = 10  # columns in a message
_MAX_METADATA_FILES: Final = 20  # each commit makes one; older ones are removed with it
# Of a new table. Its owner may change them.
_PROPERTIES: Final[Mapping[str, str]] = {
    TableProperties.METADATA_DELETE_AFTER_COMMIT_ENABLED: "true",
    TableProperties.METADATA_PREVIOUS_VERSIONS_MAX: str(_MAX_METADATA_FILES),
    TableProperties.MANIFEST_MERGE_ENABLED: "true",
}


def open_catalog(config: CatalogConfig) -> Catalog:
    """Open the catalog."""
    return load_catalog(config.name, **config.properties())


def open_table(catalog: Catalog, table: TableConfig) -> Table:
    """Open a table, or create it.

    Raises:
        TableError: there is a table of that name with other columns, or it cannot be created so.
    """
    try:
        found = catalog.load_table(table.name)
    except NoSuchTableError:
        found = _create(catalog, table)
    problem = misfit(found.schema(), table)
    if problem:
        raise TableError(f"table {table.name}: {problem}")
    return found


def existing_table(catalog: Catalog, name: str) -> Table | None:
    """Open a table if it is there."""
    try:
        return catalog.load_table(name)
    except NoSuchTableError:
        return None


def refuse_unwritable(name: str, metadata: TableMetadata) -> None:
    """Refuse a table for which no data file can be written.

    Raises:
        TableError: it is one; the message says why, and what to do.
    """
    why = obstacle(metadata)
    if why:
        raise TableError(f"table {name}: {unwritable(metadata, why)}")


def unwritable(metadata: TableMetadata, why: str) -> str:
    """What is wrong with a table for which no data file can be written."""
    columns = unusable_paths(metadata.schema().as_struct())
    if not columns:
        return f"no data file can be written for it: {why}"
    named = ", ".join(f"`{'.'.join(path)}` ({reason})" for path, reason in columns[:_MAX_TOLD])
    return f"no data file can be written with its column {named}: `headrace pipeline mend FILE` drops it"


def new_metadata(table: TableConfig) -> TableMetadata:
    """What a new table has, before a catalog knows of it.

    Raises:
        ValueError: the configuration is no table, or no data file could be written for it; the message says why.
    """
    schema = table_schema(table)
    spec = partition_spec(table.partition_by, schema)
    location = f"memory://{table.name}"
    metadata = new_table_metadata(schema, spec, UNSORTED_SORT_ORDER, location, dict(_PROPERTIES))
    why = obstacle(metadata)
    if why:
        raise ValueError(f"no data file could be written for it: {why}")
    return metadata


def _create(catalog: Catalog, table: TableConfig) -> Table:
    try:
        metadata = new_metadata(table)
    except ValueError as error:
        raise TableError(f"table {table.name}: {error}") from error
    try:
        catalog.create_namespace_if_not_exists(table.namespace)
    except IntegrityError:  # of an SQL catalog: another query or job was faster
        if not catalog.namespace_exists(table.namespace):
            raise
    try:
        return catalog.create_table(
            table.name,
            metadata.schema(),
            partition_spec=metadata.spec(),
            properties=dict(_PROPERTIES),
        )
    except TableAlreadyExistsError:  # another query or job was faster
        return catalog.load_table(table.name)


def table_schema(table: TableConfig) -> Schema:
    """The columns that a new table has.

    Raises:
        ValueError: a text is no type, or samples cannot be read; the message says which.
    """
    ids = itertools.count(1)
    given = column_fields(table.columns, ids, table.required)
    if table.samples:
        given = [
            NestedField(it.field_id, it.name, it.field_type, required=it.name in table.required)
            for it in shape_fields(_told_apart(samples_shape(table.samples), table), ids)
        ]
    names = {it.name for it in given}
    lacking = sorted(table.required - names)
    if lacking:
        raise ValueError(f"required: there is no column {lacking[0]} in `columns` or `samples`")
    own = own_columns(table)
    taken = [it for it in own if it in names]
    if taken:
        raise ValueError(f"the pipeline fills the column {taken[0]} itself: leave it out")
    return Schema(*given, *column_fields(own, ids))


def _told_apart(shape: dict[str, Shape], table: TableConfig) -> dict[str, Shape]:
    """Columns of samples, by the rule for new fields of records.

    Raises:
        ValueError: one has no name.
    """
    names = FieldNames(StructType(), dict.fromkeys(RESERVED, ""), table.similar_names)
    try:
        return names.admitted(shape)[0]
    except BadRecordError as error:
        raise ValueError(f"samples: {error}") from error


def own_columns(table: TableConfig) -> dict[str, str]:
    """Columns that the pipeline fills from the record, and their types."""
    columns = dict(RECORD_COLUMNS) if table.record_columns else {}
    if table.key:
        columns[table.key] = table.key_type
    return columns


def samples_shape(path: str) -> dict[str, Shape]:
    """Infer columns from a file of JSON documents, one a line.

    Raises:
        ValueError: it cannot be read, or has no document.
    """
    fields: dict[str, Shape] = {}
    try:
        with Path(path).open() as lines:
            for line in itertools.islice(filter(str.strip, lines), MAX_SAMPLES):
                shape = shape_of(json.loads(line), with_times=True)
                fields = merged_fields(fields, shape if isinstance(shape, dict) else {})
    except OSError as error:
        raise ValueError(f"samples: {path}: {error.strerror}") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"samples: {path} has a line that is no JSON: {error}") from error
    if not fields:
        raise ValueError(f"samples: {path} has no document with fields")
    widened = for_new_columns(fields)
    return widened if isinstance(widened, dict) else {}


def misfit(schema: Schema, table: TableConfig) -> str:
    """What of a table that is there does not fit the configuration; empty if it fits."""
    columns = {it.name: it for it in schema.fields}
    for name, text in own_columns(table).items():
        if name not in columns or str(columns[name].field_type) != text:
            return f"it has no column {name} of type {text}, which this pipeline fills"
    for it in schema.fields:
        if not is_fitted(it):
            return f"column {it.name} has the type {it.field_type}, which a pipeline cannot fill"
    for name in table.columns:
        if name not in columns:
            return f"it has no column {name}, which `columns` names: add it, or take it out there"
    return ""
