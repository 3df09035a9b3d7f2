"""Which message class belongs to each request key, found in the modules that define them."""

from collections.abc import Iterator
from typing import Any, Final

from kafka.protocol import admin, consumer, metadata, producer, sasl


def _classes(kind: str) -> Iterator[tuple[int, Any]]:
    for module in (admin, consumer, metadata, producer, sasl):
        for name in module.__all__:
            member: Any = getattr(module, name)
            # The modules also export enums, constants and a raw SASL exchange, which is no message.
            if getattr(member, "type", None) == kind:
                yield member.API_KEY, member


# Classes without annotations: what is inside a message is checked when it is encoded or decoded.
REQUESTS: Final[dict[int, Any]] = dict(_classes("request"))
RESPONSES: Final[dict[int, Any]] = dict(_classes("response"))
