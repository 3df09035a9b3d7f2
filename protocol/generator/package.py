"""All files of the generated package, from the tables. Pure."""

from collections.abc import Mapping
from typing import Final

from headrace.protocol.api_versions import VERSIONS
from headrace.protocol.generator.descriptions import Description, parse_description
from headrace.protocol.generator.modules import module_text, modules, package_text
from headrace.protocol.generator.tables import format_table, parse_table

CLIENTS: Final = "clients"
# The table of each jar: what clients and brokers send, and the records of each coordinator.
TABLES: Final = (CLIENTS, "group_coordinator", "transaction_coordinator", "share_coordinator")


def table(descriptions: Mapping[str, str]) -> str:
    """Return the table of a jar's descriptions, given by their paths."""
    found = (parse_description(text) for _, text in sorted(descriptions.items()))
    return format_table(it for it in found if it is not None)


def is_wanted(name: str, description: Description) -> bool:
    """Whether a message of a table has a class: those of the APIs that are spoken, and all records."""
    return name != CLIENTS or description.key in VERSIONS


def package(tables: Mapping[str, str]) -> dict[str, str]:
    """Return the files of the package, by their names."""
    files: dict[str, str] = {}
    names: dict[str, list[str]] = {}
    for name, text in tables.items():
        wanted = [it for it in parse_table(text) if is_wanted(name, it)]
        for module, descriptions in modules(wanted, name).items():
            files[f"{module}.py"] = module_text(descriptions)
            names[module] = [it.name for it in descriptions]
    files["__init__.py"] = package_text(names)
    return files
