"""Apache Kafka's own codecs of messages, in a Java process that is asked for one message after the other."""

from __future__ import annotations

import json
from types import TracebackType
from typing import Any, Final, Self

from py4j.java_gateway import JavaGateway

from tests.environment.java_gateway import java_gateway
from tests.environment.message_jars import message_jars

_PACKAGES: Final = {
    "clients": "org.apache.kafka.common.message",
    "group_coordinator": "org.apache.kafka.coordinator.group.generated",
    "transaction_coordinator": "org.apache.kafka.coordinator.transaction.generated",
    "share_coordinator": "org.apache.kafka.coordinator.share.generated",
}


class MessageJudge:
    """Writes messages as Apache Kafka does; use it with `with`."""

    def __init__(self) -> None:
        self._gateway: JavaGateway | None = None
        self._converters: dict[str, tuple[Any, bool]] = {}

    def __enter__(self) -> Self:
        """Start the process."""
        self._gateway = java_gateway(message_jars())
        jvm: Any = self._gateway.jvm
        self._json = jvm.com.fasterxml.jackson.databind.ObjectMapper()
        self._util = jvm.org.apache.kafka.common.protocol.MessageUtil
        self._jvm = jvm
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the process."""
        if self._gateway is not None:
            self._gateway.shutdown()

    def encode(self, table: str, name: str, version: int, values: dict[str, Any]) -> bytes:
        """Return the bytes of a message of this table, given as JSON."""
        converter = self._converters.get(name)
        if converter is None:
            found = self._jvm
            for part in f"{_PACKAGES[table]}.{self._class(table, name)}JsonConverter".split("."):
                found = getattr(found, part)
            converter = self._converters[name] = found
        message = converter.read(self._json.readTree(json.dumps(values)), version)
        written = self._util.toByteBufferAccessor(message, version)
        return bytes(written.buffer().array())

    def _class(self, table: str, name: str) -> str:
        is_data = table == "clients" and name.endswith(("Request", "Response", "Header"))
        return f"{name}Data" if is_data else name
