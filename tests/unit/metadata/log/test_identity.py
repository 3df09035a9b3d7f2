import os

import pytest

from metadata.errors import MetadataIdentityError
from metadata.log.identity import IDENTITY_FILE, check_identity, lock_directory


def check(directory, *, node_id=1, cluster_id="", has_log=False):
    return check_identity(
        directory,
        node_id=node_id,
        cluster_id=cluster_id,
        new_cluster_id=lambda: "new",
        has_log=has_log,
        sync=os.fsync,
    )


def test_a_new_directory_gets_an_identity(tmp_path):
    assert check(tmp_path) == "new"
    assert (tmp_path / IDENTITY_FILE).read_text() == "version=1\ncluster.id=new\nnode.id=1\n"
    assert check(tmp_path) == "new"
    assert check(tmp_path, cluster_id="new") == "new"


def test_a_configured_cluster_id_is_taken(tmp_path):
    assert check(tmp_path, cluster_id="mine") == "mine"


@pytest.mark.parametrize("other", [{"node_id": 2}, {"cluster_id": "other"}])
def test_somebody_elses_directory_is_refused(tmp_path, other):
    check(tmp_path)

    with pytest.raises(MetadataIdentityError):
        check(tmp_path, **other)


def test_a_log_without_identity_is_refused(tmp_path):
    with pytest.raises(MetadataIdentityError):
        check(tmp_path, has_log=True)
    assert not (tmp_path / IDENTITY_FILE).exists()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"version=2\ncluster.id=new\nnode.id=1\n",
        b"version=1\nnode.id=1\n",
        b"version=1\ncluster.id=new\n",
        b"\xff\xfe",
        b"#" * 70_000,
    ],
)
def test_an_identity_that_cannot_be_read_is_refused(tmp_path, content):
    (tmp_path / IDENTITY_FILE).write_bytes(content)

    with pytest.raises(MetadataIdentityError):
        check(tmp_path)


def test_comments_and_blanks_are_allowed(tmp_path):
    text = "# Kafka writes dates here\n\nversion = 1\ncluster.id=new\nnode.id=1\n"
    (tmp_path / IDENTITY_FILE).write_text(text)

    assert check(tmp_path) == "new"


def test_a_directory_is_opened_once_at_a_time(tmp_path):
    first = lock_directory(tmp_path)
    with pytest.raises(MetadataIdentityError):
        lock_directory(tmp_path)
    os.close(first)

    os.close(lock_directory(tmp_path))
