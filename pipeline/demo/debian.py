"""Debian's package index as JSON documents: about 60,000 real records, some 50 MB.

One document per package, the index's fields in lower case with underscores:

    | field          | type    | null | meaning                              |
    |----------------|---------|------|--------------------------------------|
    | package        | string  | no   | name                                 |
    | section        | string  | no   | such as games, or contrib/games      |
    | installed_size | integer | yes  | KiB, estimated by the maintainers    |
    | size           | integer | yes  | bytes of the package file            |
    | ...            | string  | yes  | every other field, unchanged         |
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

from headrace.pipeline.demo.progress import DemoError

_NUMBERS = frozenset({"installed_size", "size"})
_PACKAGES_EXPECTED = 1_000  # with empty package lists apt knows only the installed packages


def parse_index(lines: Iterable[str]) -> Iterator[dict[str, str | int]]:
    """Parse paragraphs of `Field: value` lines; a line that begins with a space continues a value."""
    document: dict[str, str | int] = {}
    name = ""
    for line in lines:
        text = line.rstrip("\n")
        if not text:
            if document:
                yield document
            document, name = {}, ""
        elif text[0].isspace():
            document[name] = f"{document[name]}\n{text.strip()}"
        else:
            field, _, value = text.partition(":")
            name = field.lower().replace("-", "_")
            value = value.strip()
            document[name] = int(value) if name in _NUMBERS and value.isdecimal() else value
    if document:
        yield document


def write_package_index(path: Path) -> int:
    """Write apt's package index as JSON lines, and return the number of documents.

    Raises:
        DemoError: apt is not installed, or its package lists are empty and cannot be updated.
    """
    if shutil.which("apt-cache") is None:
        msg = "this machine has no apt"
        raise DemoError(msg)
    count = _dump(path)
    if count < _PACKAGES_EXPECTED:
        _update_lists()
        count = _dump(path)
    return count


def _dump(path: Path) -> int:
    count = 0
    with (
        path.open("w") as output,
        subprocess.Popen(["apt-cache", "dumpavail"], stdout=subprocess.PIPE, text=True) as apt,
    ):
        assert apt.stdout is not None
        for document in parse_index(apt.stdout):
            output.write(json.dumps(document, ensure_ascii=False))
            output.write("\n")
            count += 1
    return count


def _update_lists() -> None:
    if os.geteuid() != 0:
        msg = "apt's package lists are empty; run:  sudo apt-get update"
        raise DemoError(msg)
    ran = subprocess.run(
        ["apt-get", "update", "-q"],
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode != 0:
        msg = f"apt-get update failed:\n{ran.stderr.strip()}"
        raise DemoError(msg)
