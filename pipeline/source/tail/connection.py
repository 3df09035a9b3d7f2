"""A connection to a broker: one request at a time, with a bound on time and on the size of an answer."""

import socket
from typing import Any, Final

from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ProtocolError
from headrace.protocol.frames import SIZE_BYTES, frame, parse_frame_size
from headrace.protocol.headers import (
    RequestHeader,
    encode_request_header,
    parse_response_header,
)
from headrace.protocol.message_class import KafkaMessage
from headrace.protocol.primitives import Reader

CONNECT_TIMEOUT_S: Final = 10.0
ANSWER_TIMEOUT_S: Final = 60.0  # of one wait for bytes: what is asked for may be cold
# The largest batch that is decoded, and room for what is around it.
MAX_ANSWER_BYTES: Final = (256 + 16) << 20
MAX_ELEMENTS: Final = 1 << 20  # of the arrays of an answer together
_CLIENT_ID: Final = "headrace-spark"


class BrokerConnection:
    """Speaks to one address; it is of no use any more once it has raised."""

    def __init__(self, host: str, port: int) -> None:
        """Connect.

        Raises:
            OSError: the address cannot be reached within CONNECT_TIMEOUT_S.
        """
        self._socket = socket.create_connection((host, port), CONNECT_TIMEOUT_S)
        self._socket.settimeout(ANSWER_TIMEOUT_S)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._correlation_id = 0

    def ask(self, api_key: ApiKey, version: int, body: bytes) -> memoryview:
        """Send a request and return the body of the answer.

        Raises:
            OSError: the connection is broken, or nothing came for ANSWER_TIMEOUT_S.
            ProtocolError: the answer is none, or larger than MAX_ANSWER_BYTES.
        """
        self._correlation_id += 1
        header = RequestHeader(api_key, version, self._correlation_id, _CLIENT_ID)
        self._socket.sendall(frame(encode_request_header(header) + body))
        size = parse_frame_size(self._receive(SIZE_BYTES), 0, MAX_ANSWER_BYTES)
        answer = self._receive(size)
        correlation_id, position = parse_response_header(api_key, version, answer)
        if correlation_id != self._correlation_id:
            raise ProtocolError(f"answer {correlation_id} to request {self._correlation_id}")
        return answer[position:]

    def ask_for(self, answer: type[KafkaMessage], request: KafkaMessage, version: int) -> Any:
        """Send a request and decode the answer; errors as of `ask`."""
        body = bytearray()
        request.WRITE[version - request.MIN_VERSION](body, request)
        payload = self.ask(ApiKey(request.API_KEY), version, bytes(body))
        try:
            return answer.READ[version - answer.MIN_VERSION](Reader(payload, MAX_ELEMENTS))
        except UnicodeDecodeError as cause:
            raise ProtocolError(f"malformed {answer.__name__}") from cause

    def close(self) -> None:
        """Close it; harmless when it is closed."""
        self._socket.close()

    def _receive(self, size: int) -> memoryview:
        view = memoryview(bytearray(size))
        filled = 0
        while filled < size:
            count = self._socket.recv_into(view[filled:])
            if not count:
                raise ConnectionError("the broker closed the connection")
            filled += count
        return view
