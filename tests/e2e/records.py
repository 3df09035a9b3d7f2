"""What clients in other processes are given and give back, as JSON lines with bytes in base64."""

import base64
import json
from dataclasses import asdict, dataclass

Headers = tuple[tuple[str, bytes | None], ...]


@dataclass(frozen=True, slots=True)
class Record:
    """What a producer is asked to write."""

    value: bytes | None
    key: bytes | None = None
    headers: Headers = ()
    partition: int = 0
    timestamp_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Ack:
    """What a producer was told: an offset, or Kafka's error code."""

    partition: int
    offset: int
    error: int = 0


@dataclass(frozen=True, slots=True)
class Stored:
    """What a consumer read. Times are Unix milliseconds; type 0 is CreateTime, 1 LogAppendTime."""

    partition: int
    offset: int
    value: bytes | None
    key: bytes | None
    headers: Headers
    timestamp_ms: int
    timestamp_type: int | None = None  # None: this client does not tell

    @property
    def content(self) -> tuple[bytes | None, bytes | None, Headers]:
        """What the producer chose, without what the broker added."""
        return self.key, self.value, self.headers


def to_json(item: Record | Ack | Stored) -> str:
    """Encode one item as a line of JSON without its newline."""
    return json.dumps(_encode(asdict(item)))


def record_from_json(line: str) -> Record:
    """Decode a line that holds a `Record`."""
    return Record(**_decode(json.loads(line)))


def ack_from_json(line: str) -> Ack:
    """Decode a line that holds an `Ack`."""
    return Ack(**json.loads(line))


def stored_from_json(line: str) -> Stored:
    """Decode a line that holds a `Stored`."""
    return Stored(**_decode(json.loads(line)))


def _encode(fields: dict[str, object]) -> dict[str, object]:
    encoded = {**fields, "value": _to_text(fields.get("value")), "key": _to_text(fields.get("key"))}
    encoded["headers"] = [(name, _to_text(value)) for name, value in fields.get("headers", ())]
    return encoded if "value" in fields else fields


def _decode(fields: dict[str, object]) -> dict[str, object]:
    headers = tuple((name, _to_bytes(value)) for name, value in fields["headers"])
    value, key = _to_bytes(fields["value"]), _to_bytes(fields["key"])
    return {**fields, "headers": headers, "value": value, "key": key}


def _to_text(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()


def _to_bytes(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)
