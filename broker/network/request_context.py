"""What a handler gets about a request besides its fields."""

import asyncio
from collections.abc import Callable, Coroutine, Generator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

from headrace.broker.network.client import Client
from headrace.protocol.acl import Access
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.headers import RequestHeader
from headrace.protocol.message_class import KafkaMessage
from headrace.turns import Turns


class RestOfRequest(Protocol):
    """What of a request goes on as a task, when its first turn is over; a coroutine, as a rule."""

    def __await__(self) -> Generator[Any, None, None]:
        """Do it."""
        ...

    def close(self) -> None:
        """Give it up before it has begun."""
        ...


@dataclass(slots=True)  # frozen would take a microsecond more for each request
class RequestContext:
    """Its header, who sent it, and the share of the loop's turns."""

    header: RequestHeader
    client: Client
    # A handler that goes through many things pauses after each few of them.
    turns: Turns = field(compare=False)

    @property
    def version(self) -> int:
        """Version of the API that the client speaks."""
        return self.header.api_version

    @property
    def client_id(self) -> str:
        """The client id of the request; empty when there is none."""
        return self.header.client_id or ""


T = TypeVar("T")
Later: TypeAlias = Coroutine[Any, Any, T]  # what gives it, and may wait
Done: TypeAlias = asyncio.Future[Any]  # of what a short answer waits for
Make: TypeAlias = Callable[[Done], KafkaMessage]


class ShortAnswer(NamedTuple):
    """An answer that is made, and encoded, at once when what it waits for is done: it is short."""

    waits_for: Done
    make: Make  # may raise what `waits_for` raises


class Handler(Protocol):
    """Serves one API key with a response of that key's class in `headrace.protocol.messages`."""

    @property
    def api_key(self) -> ApiKey:
        """The key that is served."""
        ...

    @property
    def requires(self) -> tuple[Access, ...]:
        """What an authoriser has to allow: all of it."""
        ...

    def handle(self, context: RequestContext, request: Any) -> Any:
        """Answer one request: at once if that takes some microseconds, else by a coroutine, or a `ShortAnswer`."""
        ...
