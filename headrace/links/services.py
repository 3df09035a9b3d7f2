"""What a node serves to others: a user of links makes one service for its kind, and gives it to the listener."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from headrace.invariants import require
from headrace.links.framing import Hello
from headrace.links.kinds import MAX_REQUEST_BYTES, LinkKind


class AcceptedLink(Protocol):
    """A link that was accepted, as a service sees it."""

    @property
    def client(self) -> str:
        """The address of the dialling end, for logs."""
        ...

    @property
    def hello(self) -> Hello | None:
        """Its hello, once it was accepted."""
        ...

    def close(self) -> None:
        """Drop the link at once."""
        ...


class Service:
    """Accepts links of a kind: all of them. Subclasses may refuse some."""

    def __init__(self, kind: LinkKind) -> None:
        self.kind = kind

    def refusal(self, hello: Hello) -> str:
        """Why a link is refused, for the log; empty: it is not."""
        del hello
        return ""

    def opened(self, link: AcceptedLink, hello: Hello) -> None:
        """A link was accepted."""

    def closed(self, link: AcceptedLink) -> None:
        """A link that was accepted has ended."""


class RequestService(Service):
    """Answers the requests of a kind."""

    def __init__(self, kind: LinkKind, handle: Callable[[bytes], Awaitable[bytes]]) -> None:
        """Create the service.

        Args:
            kind: with bounds of answers and of requests being served.
            handle: answers a payload; it raises only for a bug, which ends the link.
        """
        require(kind.max_body_bytes <= MAX_REQUEST_BYTES, "the largest request can be completed")
        require(kind.max_answer_bytes, "requests are answered")
        require(kind.max_inflight, "a request may be served")
        super().__init__(kind)
        self.handle = handle


class MessageService(Service):
    """Takes the messages of a kind."""

    def received(self, hello: Hello, body: bytes) -> None:
        """Take a message; neither waits nor raises anything else.

        Raises:
            LinkFormatError: it cannot be read, or the sender may not send it; the link ends.
        """
        raise NotImplementedError
