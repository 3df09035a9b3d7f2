"""What a request is answered with, as the bytes that its client gets."""

from collections.abc import Callable
from typing import Any

from headrace.broker.network.reply import Activity
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ProtocolError
from headrace.protocol.messages import decode_response
from headrace.protocol.server_connection import Buffer


class FakeReply:
    """Takes the place of `Reply`: exactly one of its ends is reached, once."""

    def __init__(self) -> None:
        self.outcomes: list[str] = []
        self.frame = b""
        self.is_lost = False
        self.size_bytes = 100
        self.connection = Activity()
        self.throttle_ms = 0
        self.on_lost: Callable[[], None] = lambda: None
        self.observe: Callable[[float], None] = lambda _: None

    def lose(self) -> None:
        """The client leaves."""
        self.is_lost = self.connection.closed = True
        self.on_lost()

    @property
    def outcome(self) -> str | None:
        """How the request ended: `sent`, `nothing`, `closed` or `refused`; None while it is in service."""
        if not self.outcomes:
            return None
        (outcome,) = self.outcomes
        return outcome

    def send(self, buffers: list[Buffer]) -> None:
        self.outcomes.append("sent")
        self.frame = b"".join(buffers)

    def nothing(self) -> None:
        self.outcomes.append("nothing")

    def close(self) -> None:
        self.outcomes.append("closed")

    def refuse(self, error: ProtocolError) -> None:
        self.outcomes.append("refused")
        self.error = error

    def fail(self, error: Exception, api_key: int) -> None:
        del api_key
        self.outcomes.append("failed")
        self.failure = error

    def response(self, key: ApiKey, version: int, correlation_id: int = 7) -> Any:
        """The answer, decoded; it must be one whole frame."""
        assert self.outcomes == ["sent"]
        assert int.from_bytes(self.frame[:4], "big") == len(self.frame) - 4
        found, told = decode_response(key, version, memoryview(self.frame)[4:])
        assert found == correlation_id
        return told
