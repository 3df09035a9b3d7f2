"""A small S3 server in this process that can be told to fail: one bucket, path style, no signatures checked.

What it can be told, and what happened in truth, is in `s3_fault_bucket`.
"""

import base64
import hashlib
import re
import select
import socket
import struct
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple, Self
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape, unescape

from tests.integration.s3_fault_bucket import (
    ACCESS_DENIED,
    CUT,
    CUT_AFTER,
    INTERNAL_ERROR,
    OK_WITH_ERROR,
    RESET,
    SILENT,
    SILENT_AFTER,
    SILENT_LATE,
    SLOW_DOWN,
    TOKEN_EXPIRED,
    Answer,
    Bucket,
    Request,
    etag_of,
    flip,
    range_of,
)

__all__ = [
    "ACCESS_DENIED", "CUT", "CUT_AFTER", "INTERNAL_ERROR", "OK_WITH_ERROR", "RESET", "SILENT", "SILENT_AFTER",
    "SILENT_LATE", "SLOW_DOWN", "TOKEN_EXPIRED", "Answer", "Bucket", "FaultServer",
]  # fmt: skip

MAX_CLOCK_SKEW_S = 15 * 60
_CHECKSUMS = {"x-amz-checksum-sha256": hashlib.sha256, "content-md5": hashlib.md5}
_LAST_MODIFIED = "Wed, 01 Jan 2025 00:00:00 GMT"
_LAST_MODIFIED_ISO = "2025-01-01T00:00:00.000Z"


class _Reply(NamedTuple):
    status: int
    body: bytes = b""
    headers: dict[str, str] = {}  # noqa: RUF012 - never changed
    content_length: int | None = None  # of an answer to HEAD


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def shutdown_request(self, request: socket.socket) -> None:
        """Close at once: what lingers for no time at all is then a reset."""
        self.close_request(request)

    def handle_error(self, *_: object) -> None:
        """Say nothing: clients go away, that is what they are tested for."""


class FaultServer:
    """Runs in a thread while entered. `stop` and `start` make an outage in which nobody listens."""

    def __init__(self) -> None:
        self.bucket = Bucket()
        self._port = 0
        self.start()
        self.endpoint = f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        """Listen, on the same port as before."""
        self._ended = ended = threading.Event()
        bucket = self.bucket

        class Handler(_Handler):
            state = bucket
            over = ended

        self._server = _Server(("127.0.0.1", self._port), Handler)
        self._port = self._server.server_port
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.01,), daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Close every connection and listen no more."""
        self._ended.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if not self._ended.is_set():
            self.stop()


class _Handler(BaseHTTPRequestHandler):
    state: Bucket
    over: threading.Event
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # head and body leave together

    def do_PUT(self) -> None:
        self._serve(self._put)

    def do_GET(self) -> None:
        self._serve(self._get)

    def do_HEAD(self) -> None:
        self._serve(self._head)

    def do_POST(self) -> None:
        self._serve(self._post)

    def do_DELETE(self) -> None:
        self._serve(self._delete)

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def handle_expect_100(self) -> bool:
        """Answer before the body comes: the client waits for it."""
        super().handle_expect_100()
        self.wfile.flush()
        return True

    def handle_one_request(self) -> None:
        """Wait for a request, or for the server's end."""
        while not select.select([self.connection], [], [], 0.02)[0]:
            if self.over.is_set():
                self.close_connection = True
                return
        super().handle_one_request()

    def _serve(self, act: Callable[[bytes], _Reply]) -> None:
        split = urlsplit(self.path)
        self.key = unquote(split.path).lstrip("/").partition("/")[2]
        self.query = {
            name: it[0] for name, it in parse_qs(split.query, keep_blank_values=True).items()
        }
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        reply: _Reply | None = self._refusal(body)
        with self.state.lock:
            self.state.log.append(f"{self.command} {split.query}")
            headers = {name.lower(): value for name, value in self.headers.items()}
            self.state.requests.append(Request(self.command, self.key, split.query, headers))
            fault = self.state.fault_for(self.command, self.key, split.query)
            if reply is not None:
                fault = None
            elif fault is not None and fault.late:
                self.state.postpone(lambda: act(body))
            elif fault is None or fault.done or fault.keeps_answer:
                reply = act(body)
        self._respond(fault, reply)

    def _respond(self, fault: Answer | None, reply: _Reply | None) -> None:
        if fault is None:
            assert reply is not None
            self._send(reply)
        elif fault.silent:
            self._wait_for_leave()
        elif fault.keeps_answer:
            assert reply is not None
            self._send_damaged(fault, reply)
        elif fault.status:
            content = f"<Error><Code>{fault.code}</Code><Message>as told</Message></Error>".encode()
            location = {"Location": self.path} if fault.redirect else {}
            self._send(_Reply(fault.status, fault.body or content, location))
        else:
            self._cut(reset=fault.reset)

    def _refusal(self, body: bytes) -> _Reply | None:
        """What the request itself is refused for."""
        date = self.headers.get("x-amz-date")
        if date is not None:
            asked_s = time.mktime(time.strptime(date, "%Y%m%dT%H%M%SZ")) - time.timezone
            if abs(asked_s - time.time() - self.state.clock_offset_s) > MAX_CLOCK_SKEW_S:
                return _error(403, "RequestTimeTooSkewed")
        scope = re.search(r"Credential=[^/]+/\d+/([^/]+)/", self.headers.get("Authorization", ""))
        if self.state.region and scope is not None and scope[1] != self.state.region:
            return _error(400, "AuthorizationHeaderMalformed")
        for name, algorithm in _CHECKSUMS.items():
            claimed = self.headers.get(name)
            if claimed and claimed != base64.b64encode(algorithm(body).digest()).decode():
                return _error(400, "BadDigest")
        return None

    def _send(self, reply: _Reply) -> None:
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        length = len(reply.body) if reply.content_length is None else reply.content_length
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(reply.body)

    def _send_damaged(self, fault: Answer, reply: _Reply) -> None:
        content = reply.body[: len(reply.body) - fault.short_by]
        if fault.rewritten is not None:
            content = re.sub(*fault.rewritten, content)
        if fault.flipped_bit is not None and content:
            content = flip(content, fault.flipped_bit)
        headers = dict(reply.headers)
        if fault.etag is not None:
            headers["ETag"] = fault.etag
        if fault.header is not None:
            headers |= [fault.header]
        if fault.short_by and "Content-Range" in headers:
            start, total = re.fullmatch(r"bytes (\d+)-\d+/(\d+)", headers["Content-Range"]).groups()
            headers["Content-Range"] = f"bytes {start}-{int(start) + len(content) - 1}/{total}"
        self.over.wait(fault.delay_ms / 1000)
        if fault.body_cut_at is not None:
            self._send(_Reply(reply.status, content[: fault.body_cut_at], headers, len(content)))
            self._cut()
            return
        step = -(-len(content) // fault.pieces) or 1
        self._send(_Reply(reply.status, content[:step], headers, len(content)))
        for at in range(step, len(content), step):
            self.wfile.flush()
            self.over.wait(fault.piece_delay_ms / 1000)
            self.wfile.write(content[at : at + step])

    def _cut(self, *, reset: bool = False) -> None:
        self.wfile.flush()
        self.close_connection = True
        if reset:
            at_once = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)

    def _wait_for_leave(self) -> None:
        """Answer nothing until the client has closed its side, or the server ends."""
        self.close_connection = True
        while not self.over.is_set():
            if select.select([self.connection], [], [], 0.02)[0]:
                return

    def _put(self, body: bytes) -> _Reply:
        state = self.state
        if not self.key:
            return _Reply(200)  # the bucket itself
        if "uploadId" in self.query:
            return self._put_part(body)
        refusal = self._condition_refusal()
        if refusal is not None:
            return refusal
        state.store(self.key, body)
        return _Reply(200, headers={"ETag": etag_of(body)})

    def _condition_refusal(self) -> _Reply | None:
        """What a request that makes an object is refused for."""
        if self.headers.get("If-None-Match") != "*" or self.state.conditions == "ignored":
            return None
        if self.state.conditions == "refused":
            return _error(501, "NotImplemented")
        exists = self.key in self.state.objects
        return _error(412, "PreconditionFailed") if exists else None

    def _put_part(self, body: bytes) -> _Reply:
        parts = self.state.uploads.get(self.query["uploadId"])
        if parts is None:
            return _error(404, "NoSuchUpload")
        source = self.headers.get("x-amz-copy-source")
        number = int(self.query["partNumber"])
        if source is None:
            parts[number] = body
            return _Reply(200, headers={"ETag": etag_of(body)})
        content = self.state.objects.get(unquote(source).lstrip("/").partition("/")[2])
        if content is None:
            return _error(404, "NoSuchKey")
        chosen = range_of(self.headers.get("x-amz-copy-source-range"), len(content))
        if chosen is None:
            return _error(400, "InvalidRange")
        parts[number] = content[chosen[0] : chosen[1]]
        etag = escape(etag_of(parts[number]))
        text = f"<ETag>{etag}</ETag><LastModified>{_LAST_MODIFIED_ISO}</LastModified>"
        return _xml("CopyPartResult", text)

    def _head(self, body: bytes) -> _Reply:
        if not self.key:
            return _Reply(200)
        found = self._get(body)
        return _Reply(found.status, b"", found.headers, len(found.body))

    def _get(self, _: bytes) -> _Reply:
        if not self.key:
            return self._list_uploads() if "uploads" in self.query else self._list()
        content = self.state.objects.get(self.key)
        if content is None:
            return _error(404, "NoSuchKey")
        chosen = range_of(self.headers.get("Range"), len(content))
        if chosen is None:
            return _error(416, "InvalidRange")
        start, end = chosen
        headers = {"Last-Modified": _LAST_MODIFIED, "ETag": etag_of(content)}
        if "Range" not in self.headers:
            return _Reply(200, content, headers)
        headers["Content-Range"] = f"bytes {start}-{end - 1}/{len(content)}"
        return _Reply(206, content[start:end], headers)

    def _list(self) -> _Reply:
        prefix, after = self.query.get("prefix", ""), self.query.get("continuation-token", "")
        keys = sorted(key for key in self.state.objects if key.startswith(prefix) and key > after)
        size = min(self.state.page_size, int(self.query.get("max-keys", 1000)))
        entries = "".join(
            f"<Contents><Key>{escape(key)}</Key><Size>{len(self.state.objects[key])}</Size>"
            f"<LastModified>{_LAST_MODIFIED_ISO}</LastModified>"
            f"<ETag>{escape(etag_of(self.state.objects[key]))}</ETag></Contents>"
            for key in keys[:size]
        )
        more = len(keys) > size
        state = f"<IsTruncated>{str(more).lower()}</IsTruncated>"
        if more:
            state += f"<NextContinuationToken>{escape(keys[size - 1])}</NextContinuationToken>"
        return _xml("ListBucketResult", state + entries)

    def _list_uploads(self) -> _Reply:
        prefix = self.query.get("prefix", "")
        after = (self.query.get("key-marker", ""), self.query.get("upload-id-marker", "~"))
        found = sorted((key, it) for it, key in self.state.upload_keys.items())
        found = [it for it in found if it > after and it[0].startswith(prefix)]
        entries = "".join(
            f"<Upload><Key>{escape(key)}</Key><UploadId>{upload_id}</UploadId>"
            f"<Initiated>{_LAST_MODIFIED_ISO}</Initiated></Upload>"
            for key, upload_id in found[: self.state.page_size]
        )
        more = len(found) > self.state.page_size
        state = f"<IsTruncated>{str(more).lower()}</IsTruncated>"
        if more:
            key, upload_id = found[self.state.page_size - 1]
            state += f"<NextKeyMarker>{escape(key)}</NextKeyMarker>"
            state += f"<NextUploadIdMarker>{upload_id}</NextUploadIdMarker>"
        return _xml("ListMultipartUploadsResult", state + entries)

    def _post(self, body: bytes) -> _Reply:
        text = body.decode()
        if "uploads" in self.query:
            upload_id = self.state.begin_upload(self.key)
            return _xml("InitiateMultipartUploadResult", f"<UploadId>{upload_id}</UploadId>")
        if "delete" in self.query:
            return self._delete_all(
                [unescape(key) for key in re.findall("<Key>(.*?)</Key>", text)],
                quiet="<Quiet>true</Quiet>" in text,
            )
        refusal = self._condition_refusal()
        if refusal is not None:
            return refusal
        numbers = map(int, re.findall("<PartNumber>(.*?)</PartNumber>", text))
        etags = re.findall("<ETag>(.*?)</ETag>", text)
        wanted = [
            (number, f'"{unescape(etag, {"&quot;": chr(34)}).strip(chr(34))}"')
            for number, etag in zip(numbers, etags, strict=True)
        ]
        code = self.state.complete(self.query["uploadId"], wanted)
        if code:
            return _error(404 if code == "NoSuchUpload" else 400, code)
        return _xml("CompleteMultipartUploadResult", "<ETag>etag</ETag>")

    def _delete_all(self, keys: list[str], *, quiet: bool) -> _Reply:
        result = ""
        for key in keys:
            if self.state.keeps(key):
                error = "<Code>InternalError</Code><Message/>"
                result += f"<Error><Key>{escape(key)}</Key>{error}</Error>"
            else:
                self.state.remove(key)
                result += "" if quiet else f"<Deleted><Key>{escape(key)}</Key></Deleted>"
        return _xml("DeleteResult", result)

    def _delete(self, _: bytes) -> _Reply:
        if "uploadId" in self.query:
            self.state.abort(self.query["uploadId"])
        else:
            self.state.remove(self.key)
        return _Reply(204)


def _xml(root: str, content: str) -> _Reply:
    return _Reply(200, f"<?xml version='1.0'?>\n<{root}>{content}</{root}>".encode())


def _error(status: int, code: str) -> _Reply:
    return _Reply(status, f"<Error><Code>{code}</Code></Error>".encode())
