"""A small S3 server in this process that can be told to fail: one bucket, path style, no signatures checked."""

import re
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True)
class Answer:
    """What a request gets instead of its own answer."""

    status: int = 0  # 0: the connection is cut
    code: str = ""
    done: bool = False  # whether the request takes effect nevertheless
    body_cut_at: int | None = None  # of a GET: how much of its body is sent


SLOW_DOWN = Answer(503, "SlowDown")
INTERNAL_ERROR = Answer(500, "InternalError")
CUT = Answer()


@dataclass
class Bucket:
    """State of the server; faults are consumed by the requests that their `matches` accepts."""

    objects: dict[str, bytes] = field(default_factory=dict)
    uploads: dict[str, dict[int, bytes]] = field(default_factory=dict)
    faults: deque[tuple[Callable[[str, str], bool], Answer]] = field(default_factory=deque)
    undeletable: list[str] = field(default_factory=list)  # each fails once in a batch
    log: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def fail(self, method: str, *answers: Answer, query: str = "") -> None:
        """Give the next requests of that method, with that text in their query, these answers."""
        for answer in answers:
            self.faults.append((lambda m, q: m == method and query in q, answer))

    def fault_for(self, method: str, query: str) -> Answer | None:
        for item in self.faults:
            if item[0](method, query):
                self.faults.remove(item)
                return item[1]
        return None


class FaultServer:
    """Runs in a thread while entered."""

    def __init__(self) -> None:
        self.bucket = bucket = Bucket()

        class Handler(_Handler):
            state = bucket

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.endpoint = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    state: Bucket
    protocol_version = "HTTP/1.1"

    def do_PUT(self) -> None:
        self._serve(self._put)

    def do_GET(self) -> None:
        self._serve(self._get)

    def do_POST(self) -> None:
        self._serve(self._post)

    def do_DELETE(self) -> None:
        self._serve(self._delete)

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def _serve(self, act: Callable[[bytes], tuple[int, bytes, dict[str, str]]]) -> None:
        split = urlsplit(self.path)
        self.key = split.path.lstrip("/").partition("/")[2]
        self.query = {
            name: it[0] for name, it in parse_qs(split.query, keep_blank_values=True).items()
        }
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with self.state.lock:
            self.state.log.append(f"{self.command} {split.query}")
            fault = self.state.fault_for(self.command, split.query)
            answer = (
                act(body) if fault is None or fault.done or fault.body_cut_at is not None else None
            )
        if fault is None or fault.body_cut_at is not None:
            assert answer is not None
            self._answer(*answer, cut_at=fault.body_cut_at if fault else None)
        elif fault.status:
            text = f"<Error><Code>{fault.code}</Code><Message>as told</Message></Error>"
            self._answer(fault.status, text.encode(), {})
        else:
            self.close_connection = True
            self.connection.close()

    def _answer(
        self, status: int, body: bytes, headers: dict[str, str], cut_at: int | None = None
    ) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:cut_at])
        if cut_at is not None:
            self.close_connection = True

    def _put(self, body: bytes) -> tuple[int, bytes, dict[str, str]]:
        if "uploadId" in self.query:
            upload = self.state.uploads.get(self.query["uploadId"])
            if upload is None:
                return _error(404, "NoSuchUpload")
            upload[int(self.query["partNumber"])] = body
        else:
            self.state.objects[self.key] = body
        return 200, b"", {"ETag": '"etag"'}

    def _get(self, _: bytes) -> tuple[int, bytes, dict[str, str]]:
        content = self.state.objects.get(self.key)
        if content is None:
            return _error(404, "NoSuchKey")
        found = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        assert found is not None
        start, last = int(found[1]), min(int(found[2]), len(content) - 1)
        if start >= len(content):
            return _error(416, "InvalidRange")
        headers = {
            "Content-Range": f"bytes {start}-{last}/{len(content)}",
            "Last-Modified": "Wed, 01 Jan 2025 00:00:00 GMT",
            "ETag": '"etag"',
        }
        return 206, content[start : last + 1], headers

    def _post(self, body: bytes) -> tuple[int, bytes, dict[str, str]]:
        if "uploads" in self.query:
            upload_id = f"upload-{len(self.state.log)}"
            self.state.uploads[upload_id] = {}
            text = (
                f"<InitiateMultipartUploadResult><UploadId>{upload_id}</UploadId>"
                "</InitiateMultipartUploadResult>"
            )
            return 200, text.encode(), {}
        if "delete" in self.query:
            return 200, self._delete_all(re.findall("<Key>(.*?)</Key>", body.decode())), {}
        parts = self.state.uploads.pop(self.query["uploadId"], None)
        if parts is None:
            return _error(404, "NoSuchUpload")
        self.state.objects[self.key] = b"".join(parts[number] for number in sorted(parts))
        text = "<CompleteMultipartUploadResult><ETag>etag</ETag></CompleteMultipartUploadResult>"
        return 200, text.encode(), {}

    def _delete_all(self, keys: list[str]) -> bytes:
        result = ""
        for key in keys:
            if key in self.state.undeletable:
                self.state.undeletable.remove(key)
                result += f"<Error><Key>{key}</Key><Code>InternalError</Code><Message/></Error>"
            else:
                self.state.objects.pop(key, None)
                result += f"<Deleted><Key>{key}</Key></Deleted>"
        return f"<DeleteResult>{result}</DeleteResult>".encode()

    def _delete(self, _: bytes) -> tuple[int, bytes, dict[str, str]]:
        self.state.uploads.pop(self.query.get("uploadId", ""), None)
        return 204, b"", {}


def _error(status: int, code: str) -> tuple[int, bytes, dict[str, str]]:
    return status, f"<Error><Code>{code}</Code></Error>".encode(), {}
