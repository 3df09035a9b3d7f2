"""A REST catalog in front of an SQL catalog: the part of Iceberg's REST specification that pipelines use."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from types import TracebackType
from typing import Any, Self

from pyiceberg.catalog.rest import CreateTableRequest, TableResponse
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import (
    CommitFailedException,
    NamespaceAlreadyExistsError,
    NoSuchNamespaceError,
    NoSuchTableError,
    TableAlreadyExistsError,
)
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC
from pyiceberg.table import CommitTableRequest, Table

STATUS = {
    NoSuchTableError: 404,
    NoSuchNamespaceError: 404,
    CommitFailedException: 409,
    NamespaceAlreadyExistsError: 409,
    TableAlreadyExistsError: 409,
}


class IcebergRestServer:
    """Serves one catalog on a free port; requests one after the other."""

    def __init__(self, catalog: SqlCatalog) -> None:
        self._catalog = catalog
        self._lock = Lock()
        self.lost_replies = 0  # so many commits are done and answered by 500
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.answer()

            def do_POST(self) -> None:
                self.answer()

            def answer(self) -> None:
                content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                path = self.path.partition("?")[0].strip("/").split("/")[1:]
                with server._lock:
                    status, body = server.answer(self.command, path, content)
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}"

    def __enter__(self) -> Self:
        Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._http.shutdown()
        self._http.server_close()

    def answer(self, method: str, path: list[str], content: bytes) -> tuple[int, bytes]:
        """Do what is asked."""
        try:
            return 200, self._done(method, path, content)
        except tuple(STATUS) as error:
            told = {
                "message": str(error),
                "type": type(error).__name__,
                "code": STATUS[type(error)],
            }
            return told["code"], json.dumps({"error": told}).encode()
        except ConnectionError as error:
            told = {"message": str(error), "type": "InternalServerError", "code": 500}
            return 500, json.dumps({"error": told}).encode()

    def _done(self, method: str, path: list[str], content: bytes) -> bytes:
        match method, path:
            case "GET", ["config"]:
                return b'{"defaults": {}, "overrides": {}}'
            case "POST", ["namespaces"]:
                namespace = json.loads(content)["namespace"]
                self._catalog.create_namespace(tuple(namespace))
                return json.dumps({"namespace": namespace, "properties": {}}).encode()
            case "GET", ["namespaces", namespace]:
                properties = self._catalog.load_namespace_properties(namespace)
                return json.dumps({"namespace": [namespace], "properties": properties}).encode()
            case "POST", ["namespaces", namespace, "tables"]:
                optional = {"location": None, "partition-spec": None, "write-order": None}
                asked = CreateTableRequest.model_validate({**optional, **json.loads(content)})
                table = self._catalog.create_table(
                    (namespace, asked.name),
                    asked.table_schema,
                    partition_spec=asked.partition_spec or UNPARTITIONED_PARTITION_SPEC,
                    properties=asked.properties,
                )
                return _told(table)
            case "GET", ["namespaces", namespace, "tables", name]:
                return _told(self._catalog.load_table((namespace, name)))
            case "POST", ["namespaces", namespace, "tables", name]:
                return self._commit((namespace, name), content)
        raise NoSuchTableError(f"{method} {path}")

    def _commit(self, name: tuple[str, str], content: bytes) -> bytes:
        asked = CommitTableRequest.model_validate_json(content)
        table = self._catalog.load_table(name)
        answer = self._catalog.commit_table(table, asked.requirements, asked.updates)
        if self.lost_replies:
            self.lost_replies -= 1
            raise ConnectionError("the reply is lost")
        return answer.model_dump_json(by_alias=True).encode()


def _told(table: Table) -> bytes:
    answer: Any = TableResponse(metadata_location=table.metadata_location, metadata=table.metadata)
    return bytes(answer.model_dump_json(by_alias=True).encode())
