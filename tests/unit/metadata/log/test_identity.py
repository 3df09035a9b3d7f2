from uuid import UUID

import pytest

from headrace.metadata.errors import MetadataIdentityError
from headrace.metadata.log.identity import (
    IDENTITY_FILE,
    Identity,
    find_identity,
    lock_directory,
    write_identity,
)
from headrace.metadata.log.os_directory import OsDirectory

DIRECTORY = UUID("6f2f7a36-5f5d-4b33-9f0a-0d6a5f0f4c11")
OURS = Identity("ours", 1, DIRECTORY)


def found(directory, *, node_id=1, cluster_id=""):
    return find_identity(OsDirectory(directory), node_id=node_id, cluster_id=cluster_id)


def test_a_new_directory_has_no_identity_until_it_is_written(tmp_path):
    assert found(tmp_path) is None
    write_identity(OsDirectory(tmp_path), OURS)

    assert (tmp_path / IDENTITY_FILE).read_text() == (
        f"version=2\ncluster.id=ours\nnode.id=1\ndirectory.id={DIRECTORY}\n"
    )
    assert found(tmp_path) == found(tmp_path, cluster_id="ours") == OURS


def test_a_cluster_that_is_not_known_yet(tmp_path):
    write_identity(OsDirectory(tmp_path), OURS._replace(cluster_id=""))

    assert "cluster.id" not in (tmp_path / IDENTITY_FILE).read_text()
    assert found(tmp_path, cluster_id="any") == Identity("", 1, DIRECTORY)


@pytest.mark.parametrize("other", [{"node_id": 2}, {"cluster_id": "other"}])
def test_somebody_elses_directory_is_refused(tmp_path, other):
    write_identity(OsDirectory(tmp_path), OURS)

    with pytest.raises(MetadataIdentityError):
        found(tmp_path, **other)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"version=3\ncluster.id=new\nnode.id=1\n",
        b"version=1\ncluster.id=new\nnode.id=1\n",
        b"version=2\ncluster.id=new\n",
        b"version=2\ncluster.id=new\nnode.id=1\n",
        b"version=2\ncluster.id=new\nnode.id=1\ndirectory.id=17\n",
        b"\xff\xfe",
        b"#" * 70_000,
    ],
)
def test_an_identity_that_cannot_be_read_is_refused(tmp_path, content):
    (tmp_path / IDENTITY_FILE).write_bytes(content)

    with pytest.raises(MetadataIdentityError):
        found(tmp_path)


def test_comments_and_blanks_are_allowed(tmp_path):
    text = f"# Kafka writes dates here\n\nversion = 2\nnode.id=1\ndirectory.id= {DIRECTORY}\n"
    (tmp_path / IDENTITY_FILE).write_text(text)

    assert found(tmp_path) == Identity("", 1, DIRECTORY)


def test_a_directory_is_opened_once_at_a_time(tmp_path):
    first = lock_directory(OsDirectory(tmp_path))
    with pytest.raises(MetadataIdentityError):
        lock_directory(OsDirectory(tmp_path))
    first.close()

    lock_directory(OsDirectory(tmp_path)).close()
