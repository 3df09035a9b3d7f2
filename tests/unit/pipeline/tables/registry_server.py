"""A schema registry with the part of Confluent's REST interface that readers use."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import TracebackType
from typing import Any, Self
from urllib.parse import unquote


class RegistryServer:
    """Serves schemas from memory, on a free port."""

    def __init__(self) -> None:
        self._schemas: list[dict[str, Any]] = []
        self._subjects: dict[tuple[str, int], int] = {}
        self.asked: list[str] = []
        self.fails = 0  # so many requests are answered by 500
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.asked.append(self.path)
                if server.fails:
                    server.fails -= 1
                    self.send_error(500)
                    return
                found = server.find(self.path)
                body = json.dumps(found or {"error_code": 40403}).encode()
                self.send_response(200 if found else 404)
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

    def register(self, subject: str, text: str, kind: str = "AVRO", references: Any = ()) -> int:
        """Add a schema as the newest version of a subject, and return its id."""
        self._schemas.append({"schema": text, "schemaType": kind, "references": list(references)})
        if kind == "AVRO":
            del self._schemas[-1]["schemaType"]  # as Confluent's does
        version = 1 + sum(name == subject for name, _ in self._subjects)
        self._subjects[subject, version] = len(self._schemas)
        return len(self._schemas)

    def find(self, path: str) -> dict[str, Any] | None:
        """What a path names."""
        match [unquote(it) for it in path.strip("/").split("/")]:
            case ["schemas", "ids", number] if 0 < int(number) <= len(self._schemas):
                return self._schemas[int(number) - 1]
            case ["subjects", subject, "versions", version]:
                newest = sum(name == subject for name, _ in self._subjects)
                wanted = newest if version == "latest" else int(version)
                number = self._subjects.get((subject, wanted))
                return None if number is None else {"id": number, **self._schemas[number - 1]}
        return None


def framed(schema_id: int, payload: bytes) -> bytes:
    """A value with the header of a registry."""
    return b"\0" + schema_id.to_bytes(4, "big") + payload
