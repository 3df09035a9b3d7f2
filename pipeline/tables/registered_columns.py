"""Columns that the newest schemas of a registry give to a table, before a record has come."""

from collections.abc import Mapping
from typing import Final

from headrace.pipeline.tables.configuration import JSON, TableConfig
from headrace.pipeline.tables.errors import BadRecordError, TableError
from headrace.pipeline.tables.shapes import Shape, for_new_columns, merged_fields

_MISSING: Final = (
    "the registry {} has no subject {}: register its schema, or name other subjects by `subjects`"
)


class RegisteredColumns:
    """Asks registries; one that does not answer is not asked again."""

    def __init__(self) -> None:
        self._silent: dict[str, str] = {}

    def columns(self, table: TableConfig) -> tuple[Mapping[str, Shape], list[str]]:
        """The columns of a table's subjects, and what is wrong with these."""
        columns: dict[str, Shape] = {}
        problems: list[str] = []
        if table.format == JSON:
            return columns, problems
        from headrace.pipeline.tables.registry import SchemaRegistry  # noqa: PLC0415
        from headrace.pipeline.tables.registry_formats import format_schema  # noqa: PLC0415 - an extra of its own

        registry = SchemaRegistry(table.registry)
        for subject in table.subjects or [f"{it}-value" for it in table.topics]:
            if table.registry in self._silent:
                problems.append(self._silent[table.registry])
                break
            try:
                found = registry.latest(subject)
                if found is None:
                    problems.append(_MISSING.format(registry.url, subject))
                    continue
                shape = format_schema(found, table, "its newest schema").shape({})
                columns = merged_fields(columns, shape)
            except TableError as error:
                self._silent[table.registry] = str(error)
                problems.append(str(error))
                break
            except BadRecordError as error:
                problems.append(f"subject {subject}: {error}")
        widened = for_new_columns(columns)
        return (widened if isinstance(widened, dict) else {}), problems
