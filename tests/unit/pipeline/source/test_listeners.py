"""Metadata by HTTP: the first node that answers, and what is wrong with the others."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from headrace.pipeline.source.errors import OptionError, SourceError
from headrace.pipeline.source.listeners import ListenerMetadata
from tests.environment.ports import free_port
from tests.unit.pipeline.source.stored_topics import CLUSTER, StoredTopics


class Node(ThreadingHTTPServer):
    """Answers as `headrace.broker.admin.snapshot_http` does."""

    body, tag, status = b"", "", 200

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[tuple[str, str | None]] = []

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Node

    def do_GET(self) -> None:
        node, wanted = self.server, self.headers.get("If-None-Match")
        node.asked.append((self.path, wanted))
        status = 304 if node.status == 200 and wanted == node.tag else node.status
        self.send_response(status)
        self.send_header("ETag", node.tag)
        self.end_headers()
        if status == 200:
            self.wfile.write(node.body)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def node() -> Iterator[Node]:
    bucket = StoredTopics()
    bucket.publish({1: [(0, 0, 10)]})
    with Node() as server:
        server.body = bucket.newest_snapshot()
        server.tag = '"1-1"'
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_the_first_node_that_answers_is_believed(node: Node) -> None:
    dead = f"127.0.0.1:{free_port()}"
    metadata = ListenerMetadata((dead, node.address), "")
    found = metadata.newest(None)
    assert (found.cluster_id, found.index, found.term) == (CLUSTER, 1, 1)
    assert found.time_ms > 1_700_000_000_000
    assert metadata.newest(found) is found
    assert node.asked == [("/metadata/snapshot", None), ("/metadata/snapshot", '"1-1"')]


def test_newer_metadata_are_taken(node: Node) -> None:
    older = ListenerMetadata((node.address,), CLUSTER).newest(None)
    bucket = StoredTopics()
    bucket.publish({1: [(0, 0, 10)]})
    bucket.publish({1: [(0, 0, 20)]})
    node.body, node.tag = bucket.newest_snapshot(), '"2-1"'
    assert ListenerMetadata((node.address,), CLUSTER).newest(older).index == 2


@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [(503, b"", "HTTP Error 503"), (200, b"<html>", "ends too early, after 6 bytes")],
)
def test_nodes_that_do_not_tell(node: Node, status: int, body: bytes, reason: str) -> None:
    node.status, node.body = status, body
    with pytest.raises(SourceError, match=f"no admin listener gives the metadata.*({reason})"):
        ListenerMetadata((node.address,), "").newest(None)


def test_a_node_of_another_cluster_is_refused(node: Node) -> None:
    with pytest.raises(OptionError, match="is a node of cluster unit, not other"):
        ListenerMetadata((node.address,), "other").newest(None)
