"""The lister that other tests judge by: it sees everything, uses nothing of ours, and tells every difference."""

import ast
import random
from pathlib import Path

import pytest

from headrace.metadata.rpc.requests import CommitStreamSetObject, CommittedStreamObject
from tests.integration import independent_bucket
from tests.integration.independent_bucket import committed_in, contents_of, differences
from tests.integration.s3_fault_server import FaultServer
from tests.unit.metadata.pure_controller import CLUSTER_ID, PureController, stream_range


@pytest.fixture
def server():
    with FaultServer() as server:
        yield server


def uri_of(server, prefix=""):
    return f"s3://bucket{prefix}?endpoint={server.endpoint}&accessKey=a&secretKey=b"


def test_nothing_of_the_storage_or_the_broker_is_used():
    tree = ast.parse(Path(independent_bucket.__file__).read_text())
    imported = {it.module for it in ast.walk(tree) if isinstance(it, ast.ImportFrom)}
    imported |= {
        name.name for it in ast.walk(tree) if isinstance(it, ast.Import) for name in it.names
    }
    ours = {it for it in imported if it.split(".")[0] in ("storage", "broker", "config", "wal")}
    assert ours == set()


def test_every_page_is_read_and_each_upload_seen(server):
    rng = random.Random(1)
    sizes = {f"p/{rng.getrandbits(8):02x}/c/{number}": number for number in range(25)}
    server.bucket.page_size = 4
    for key, size in sizes.items():
        server.bucket.store(key, bytes(size))
    server.bucket.store("other/00/c/1", b"not below the prefix")
    server.bucket.begin_upload("p/00/c/99")
    found = contents_of(uri_of(server, "/p"))
    assert found.objects == {key.removeprefix("p/"): size for key, size in sizes.items()}
    assert found.uploads == ["00/c/99"]
    assert len(contents_of(uri_of(server)).objects) == 26


def test_a_directory(tmp_path):
    (tmp_path / "0a/c").mkdir(parents=True)
    (tmp_path / "0a/c/7").write_bytes(b"1234")
    (tmp_path / ".tmp").mkdir()
    (tmp_path / ".tmp/being-written").write_bytes(b"12")
    found = contents_of(f"file://{tmp_path}")
    assert (found.objects, found.uploads) == ({"0a/c/7": 4}, [".tmp/being-written"])


@pytest.fixture
def controller():
    """Knows of a committed object (0), a prepared one (1), and no more."""
    controller = PureController()
    controller.register()
    stream_id = controller.opened_stream("orders")
    committed = CommittedStreamObject(controller.prepare(), 10, stream_range(stream_id, 0, 5))
    controller.do(CommitStreamSetObject(*controller.sender(), -1, 0, (), (committed,), ()))
    controller.prepare()
    return controller


@pytest.mark.parametrize(
    ("objects", "told"),
    [
        ({0: 10}, []),
        ({}, ["0 is lost"]),
        ({0: 9}, ["0 has 9 bytes, committed with 10"]),
        ({0: 10, 1: 4}, ["1 is left, PREPARED"]),
        ({0: 10, 7: 4}, ["7 is left, forgotten"]),
    ],
)
def test_each_difference_is_told(server, controller, objects, told):
    image = controller.image
    assert committed_in(image) == {0: 10}
    for object_id, size in objects.items():
        server.bucket.store(f"0f/{CLUSTER_ID}/{object_id}", bytes(size))
    server.bucket.store("0f/another-cluster/3", b"theirs")
    assert differences(contents_of(uri_of(server)), image, CLUSTER_ID) == told
