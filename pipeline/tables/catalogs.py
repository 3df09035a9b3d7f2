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
from pyiceberg.types import NestedField
from sqlalchemy.exc import IntegrityError

from headrace.pipeline.tables.column_types import column_fields, shape_fields
from headrace.pipeline.tables.configuration import RECORD_COLUMNS, CatalogConfig, TableConfig
from headrace.pipeline.tables.errors import TableError
from headrace.pipeline.tables.partitioning import partition_spec
from headrace.pipeline.tables.shapes import Shape, for_new_columns, merged_fields, shape_of
from headrace.pipeline.tables.values import is_fitted

MAX_SAMPLES: Final = 10_000
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


def _create(catalog: Catalog, table: TableConfig) -> Table:
    try:
        schema = table_schema(table)
        spec = partition_spec(table.partition_by, schema)
    except ValueError as error:
        raise TableError(f"table {table.name}: {error}") from error
    try:
        catalog.create_namespace_if_not_exists(table.namespace)
    except IntegrityError:  # of an SQL catalog: another query or job was faster
        if not catalog.namespace_exists(table.namespace):
            raise
    try:
        return catalog.create_table(
            table.name, schema, partition_spec=spec, properties=dict(_PROPERTIES)
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
            for it in shape_fields(samples_shape(table.samples), ids)
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
