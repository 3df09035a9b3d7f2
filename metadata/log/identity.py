"""Whose a metadata directory is: one cluster, one node, one process at a time. Blocking.

`meta.properties` holds `version`, `cluster.id` and `node.id`, as Kafka's file of that name does.
`lock` is locked for as long as a process has the directory open; the lock dies with the process.
"""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from metadata.errors import MetadataIdentityError
from metadata.log.durable_files import Sync, create_whole

IDENTITY_FILE: Final = "meta.properties"
LOCK_FILE: Final = "lock"
IDENTITY_VERSION: Final = 1
FILE_BYTES_MAX: Final = 64 * 1024


class Identity(NamedTuple):
    """Whose a directory is."""

    cluster_id: str
    node_id: int


def lock_directory(directory: Path) -> int:
    """Lock the directory; return the descriptor that holds the lock.

    Raises:
        MetadataIdentityError: another process has it open.
    """
    descriptor = os.open(directory / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        msg = f"another process has the metadata directory {directory} open"
        raise MetadataIdentityError(msg) from error
    return descriptor


def check_identity(
    directory: Path,
    *,
    node_id: int,
    cluster_id: str,
    new_cluster_id: Callable[[], str],
    has_log: bool,
    sync: Sync,
) -> str:
    """Return the cluster id of the directory, writing the identity of a new one.

    Args:
        directory: of the metadata log.
        node_id: who opens it.
        cluster_id: the configured one; empty takes the directory's, or a new one.
        new_cluster_id: makes an id for a new cluster.
        has_log: whether there are files of a log, which an identity must go with.
        sync: makes a descriptor's file durable.

    Raises:
        MetadataIdentityError: the directory belongs to another cluster or node, or its identity
            is missing or cannot be read.
    """
    path = directory / IDENTITY_FILE
    if not path.exists():
        if has_log:
            msg = f"{directory} holds a metadata log, but no {IDENTITY_FILE} to say whose it is"
            raise MetadataIdentityError(msg)
        found = cluster_id or new_cluster_id()
        text = f"version={IDENTITY_VERSION}\ncluster.id={found}\nnode.id={node_id}\n"
        create_whole(path, text.encode(), sync)
        return found
    properties = _read(path)
    if properties.get("version") != str(IDENTITY_VERSION):
        msg = f"{path} has version {properties.get('version')}, not {IDENTITY_VERSION}"
        raise MetadataIdentityError(msg)
    if properties.get("node.id") != str(node_id):
        msg = f"{directory} belongs to node {properties.get('node.id')}, this is node {node_id}"
        raise MetadataIdentityError(msg)
    found = properties.get("cluster.id", "")
    if not found or (cluster_id and found != cluster_id):
        msg = f"{directory} belongs to cluster {found!r}, this node to {cluster_id!r}"
        raise MetadataIdentityError(msg)
    return found


def read_identity(directory: Path) -> Identity:
    """Say whose a directory is.

    Raises:
        MetadataIdentityError: its identity is missing or cannot be read.
    """
    path = directory / IDENTITY_FILE
    if not path.is_file():
        raise MetadataIdentityError(f"{directory} has no {IDENTITY_FILE}")
    properties = _read(path)
    if properties.get("version") != str(IDENTITY_VERSION):
        msg = f"{path} has version {properties.get('version')}, not {IDENTITY_VERSION}"
        raise MetadataIdentityError(msg)
    cluster_id, node_id = properties.get("cluster.id", ""), properties.get("node.id", "")
    if not cluster_id or not node_id.isascii() or not node_id.isdigit():
        raise MetadataIdentityError(f"{path} names no cluster or no node")
    return Identity(cluster_id, int(node_id))


def _read(path: Path) -> dict[str, str]:
    if path.stat().st_size > FILE_BYTES_MAX:
        raise MetadataIdentityError(f"{path} is not an identity file: it is too large")
    try:
        lines = path.read_bytes().decode().splitlines()
    except UnicodeDecodeError as error:
        raise MetadataIdentityError(f"{path} is not an identity file: {error}") from error
    pairs = (line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))
    return {key.strip(): value.strip() for key, value in pairs}
