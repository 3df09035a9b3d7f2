"""Writes the tables and the generated package: `python -m headrace.protocol.generator [DIRECTORY]`.

The directory has the jars of Apache Kafka; without one the package is made from the tables that are there.
"""

import sys
import zipfile
from pathlib import Path

from headrace.protocol.generator.package import TABLES, package, table

HERE = Path(__file__).resolve().parent
TABLES_DIRECTORY = HERE / "tables"
PACKAGE_DIRECTORY = HERE.parent / "generated"


def tables_of(jars: Path) -> dict[str, str]:
    """Read the tables out of the jars in a directory."""
    found = {}
    for name in TABLES:
        (jar,) = jars.glob(f"kafka-{name.replace('_', '-')}-[0-9]*.jar")
        with zipfile.ZipFile(jar) as opened:
            paths = [it for it in opened.namelist() if it.startswith("common/message/")]
            paths = [it for it in paths if it.endswith(".json")]
            found[name] = table({it: opened.read(it).decode() for it in paths})
    return found


def committed_tables() -> dict[str, str]:
    """Read the tables that lie beside this module."""
    return {name: (TABLES_DIRECTORY / f"{name}.txt").read_text() for name in TABLES}


def main() -> None:
    """Write what has changed."""
    if len(sys.argv) > 1:
        for name, text in tables_of(Path(sys.argv[1])).items():
            (TABLES_DIRECTORY / f"{name}.txt").write_text(text)
    files = package(committed_tables())
    for path in PACKAGE_DIRECTORY.glob("*.py"):
        if path.name not in files:
            path.unlink()
    for name, text in files.items():
        (PACKAGE_DIRECTORY / name).write_text(text)


if __name__ == "__main__":
    main()
