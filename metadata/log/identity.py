"""The owner of a metadata directory: one cluster, one node, one process at a time. Blocking.

`meta.properties` holds `version`, `cluster.id`, `node.id` and `directory.id`, as Kafka's file of that
name does. A node that joins a cluster does not know the cluster's id at first. The directory id is
random and created with the directory.

`old-copy` is there once the other controllers have reported that the directory was put back from an older
copy of itself; it says why.

`lock` is locked while a process has the directory open; the kernel releases the lock when the
process ends.
"""

from typing import Final, NamedTuple
from uuid import UUID

from headrace.metadata.errors import MetadataIdentityError
from headrace.metadata.log.directory import Directory, File
from headrace.metadata.log.durable_files import create_whole, read_file

IDENTITY_FILE: Final = "meta.properties"
LOCK_FILE: Final = "lock"
OLD_COPY_FILE: Final = "old-copy"  # why the directory must not be used
IDENTITY_VERSION: Final = 2
MAX_FILE_BYTES: Final = 64 * 1024


class Identity(NamedTuple):
    """The owner of a directory."""

    cluster_id: str  # empty: not known yet
    node_id: int
    directory_id: UUID


def lock_directory(directory: Directory) -> File:
    """Lock the directory; return the file that holds the lock while it is open.

    Raises:
        MetadataIdentityError: another process has it open.
    """
    try:
        return directory.lock(LOCK_FILE)
    except BlockingIOError as error:
        msg = f"another process has the metadata directory {directory.path} open: stop it first"
        raise MetadataIdentityError(msg) from error


def find_identity(directory: Directory, *, node_id: int, cluster_id: str) -> Identity | None:
    """Read the owner of a directory, and check that it is this node.

    Args:
        directory: of the metadata log.
        node_id: of the node that opens it.
        cluster_id: of its cluster; empty: any.

    Returns:
        None: the directory has no identity.

    Raises:
        MetadataIdentityError: the directory belongs to another cluster or node, or its identity
            cannot be read.
    """
    if not directory.has(IDENTITY_FILE):
        return None
    found = read_identity(directory)
    if found.node_id != node_id:
        msg = f"{directory.path} belongs to node {found.node_id}, this is node {node_id}"
        raise MetadataIdentityError(msg)
    if cluster_id and found.cluster_id and found.cluster_id != cluster_id:
        msg = f"{directory.path} belongs to cluster {found.cluster_id}, this node to {cluster_id}"
        raise MetadataIdentityError(msg)
    return found


def condemn(directory: Directory, reason: str) -> None:
    """Record durably that the directory is an old copy of itself: it cannot be opened any more.

    A supervisor starts its process again, and each start is counted: others would take it for a later one.
    """
    create_whole(directory, OLD_COPY_FILE, reason.encode())


def refuse_old_copy(directory: Directory) -> None:
    """Check that the directory is not known to be an old copy.

    Raises:
        MetadataIdentityError: it is.
    """
    if directory.has(OLD_COPY_FILE):
        reason = read_file(directory, OLD_COPY_FILE, MAX_FILE_BYTES).decode(errors="replace")
        raise MetadataIdentityError(
            f"the metadata directory {directory.path} is an old copy: {reason}. What this controller "
            "acknowledged since is missing, so it must not take part. Replace this controller as "
            "after the loss of its disk: docs/operations.md"
        )


def write_identity(directory: Directory, identity: Identity) -> None:
    """Write or replace the identity; it is durable on return."""
    lines = [f"version={IDENTITY_VERSION}"]
    if identity.cluster_id:
        lines.append(f"cluster.id={identity.cluster_id}")
    lines += [f"node.id={identity.node_id}", f"directory.id={identity.directory_id}", ""]
    create_whole(directory, IDENTITY_FILE, "\n".join(lines).encode())


def read_identity(directory: Directory) -> Identity:
    """Read the owner of a directory.

    Raises:
        MetadataIdentityError: its identity is missing or cannot be read.
    """
    path = directory.path / IDENTITY_FILE
    if not directory.has(IDENTITY_FILE):
        raise MetadataIdentityError(
            f"{directory.path} has no {IDENTITY_FILE}: it is not a metadata directory"
        )
    properties = _read(directory)
    version, cluster_id = properties.get("version"), properties.get("cluster.id", "")
    node_id = properties.get("node.id", "")
    if version != str(IDENTITY_VERSION):
        msg = f"{path} has version {version}, this version can read {IDENTITY_VERSION}"
        raise MetadataIdentityError(msg)
    if not node_id.isascii() or not node_id.isdigit():
        raise MetadataIdentityError(f"{path} has no node.id")
    try:
        directory_id = UUID(properties.get("directory.id", ""))
    except ValueError:
        raise MetadataIdentityError(f"{path} has no valid directory.id") from None
    return Identity(cluster_id, int(node_id), directory_id)


def _read(directory: Directory) -> dict[str, str]:
    path = directory.path / IDENTITY_FILE
    data = read_file(directory, IDENTITY_FILE, MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise MetadataIdentityError(f"{path} is not an identity file: it is too large")
    try:
        lines = data.decode().splitlines()
    except UnicodeDecodeError as error:
        raise MetadataIdentityError(f"{path} is not an identity file: {error}") from error
    pairs = (line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))
    return {key.strip(): value.strip() for key, value in pairs}
