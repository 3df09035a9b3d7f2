"""The files of a table: those that snapshots name, and those that are there."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import urlparse

from pyarrow.fs import FileSelector, FileSystem, FileType
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Snapshot

from headrace.pipeline.tables.errors import TableError


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file below a table's location."""

    path: str  # as metadata write it
    modified_ms: int


def named_files(table: Table, snapshots: Iterable[Snapshot]) -> set[str]:
    """Files that snapshots need: manifest lists, manifests, data files and files of deletes."""
    found: set[str] = set()
    manifests: set[str] = set()
    for snapshot in snapshots:
        found.add(snapshot.manifest_list)
        for manifest in snapshot.manifests(table.io):
            if manifest.manifest_path in manifests:
                continue
            manifests.add(manifest.manifest_path)
            entries = manifest.fetch_manifest_entry(table.io, discard_deleted=True)
            found.update(it.data_file.file_path for it in entries)
    return found | manifests


def metadata_files(table: Table) -> set[str]:
    """The metadata file of a table, those before it that it knows, and statistics."""
    metadata = table.metadata
    return {
        table.metadata_location,
        *(it.metadata_file for it in metadata.metadata_log),
        *(it.statistics_path for it in metadata.statistics),
    }


def stored_files(table: Table) -> Iterator[StoredFile]:
    """All files below the location of a table.

    Raises:
        TableError: the table's files cannot be listed, since other than pyarrow's file systems are used.
    """
    if not isinstance(table.io, PyArrowFileIO):
        raise TableError(
            f"files of {table.location()} cannot be listed by {type(table.io).__name__}"
        )
    location = table.location().rstrip("/")
    scheme, netloc, path = PyArrowFileIO.parse_location(location)
    system: FileSystem = table.io.fs_by_scheme(scheme, netloc)
    prefix = location.removesuffix(_below(location, path))
    for it in system.get_file_info(FileSelector(path, allow_not_found=True, recursive=True)):
        if it.type == FileType.File:
            yield StoredFile(f"{prefix}{it.path}", int(it.mtime.timestamp() * 1000))


def _below(location: str, path: str) -> str:
    """The part of a location that a file system knows: `s3://b/x` is `b/x` to it, `file:///x` is `/x`."""
    return path if location.endswith(path) else urlparse(location).path
