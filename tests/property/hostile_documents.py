"""Documents that nobody would write by intention: hostile values of all types, odd names, and broken bytes."""

import io
import json
import random
from collections.abc import Callable
from typing import Any

import fastavro
from google.protobuf import message_factory
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message

from headrace.pipeline.tables.protobuf_format import compiled
from headrace.pipeline.tables.registry import RegisteredSchema

TYPES = {
    "id": "long", "n": "int", "at": "timestamptz", "ts": "timestamp", "dt": "date", "price": "decimal(9, 2)",
    "large": "decimal(38, 6)", "d": "double", "f": "float", "s": "string", "b": "binary", "flag": "boolean",
    "m": "map<string, long>", "tags": "list<string>", "user": "struct<name: string, age: int>",
}  # fmt: skip
NAMES = [
    *TYPES, "", " ", "a.b", "a", "a-b", "a_x2Db", "ID", "At", "kafka_offset", "KAFKA_TOPIC", "_file", "_POS", "at_day",
    "element", "tags.element", "m.key", "user.name", "x\0y", '"', "größe", "🙂", "9", "_9", "²", "٣", "\n", "x" * 300,
    "k", "key", "value", "__proto__", "İ", "ß", "SS", "\ud7ff", "\U0010ffff", "$id", "`", "'", "/", "\\", "%s", "{}",
]  # fmt: skip
TEXTS = [
    "", "a", "1", "-0", "1e999999999", "1e-999999999", "sNaN", "Infinity", "0.005", "1_0", "٣", "x" * 5000, "\0",
    "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2026-01-31T12:00:00Z", "2026-01-31T12:00:00",
    "2026-01-31", "0000-00-00", "9999-12-31T24:00:00Z", "2026-W01", "aGk=", "====", "\U0010ffff" * 20,
    "aaaaaaaaaaaaaaa\ud7ff\ud7ff", "../..", "true", "null", "9" * 400, "\u202e", "é",
]  # fmt: skip
NUMBERS = [
    0, 1, -1, 2**31 - 1, 2**31, -(2**31) - 1, 2**53 + 1, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 2**64, 10**400,
    0.1, -0.0, 1e308, 5e-324, 3.5e38, 1e22, 1_767_225_600_000, 999_999_999_999_999_999, -62_135_596_800_001,
]  # fmt: skip
RAW = [
    b"", b"{", b"null", b"[1]", b'"x"', b"\xff", b"\xef\xbb\xbf{}", b'{"s":"\\ud800"}', b'{"\\udfff":1}', b'{"d":NaN}',
    b'{"d":1e999}', b'{"id":' + b"9" * 5000 + b"}", b'{"n":' + b"[" * 3000 + b"]" * 3000 + b"}", b'{"id":1,"id":"x"}',
    b'{"e":' + b'{"a":' * 100 + b"1" + b"}" * 101, b"\x00\x00\x00\x00\x01{}", '{"id":1}'.encode("utf-16"),
]  # fmt: skip
AVRO_FIELDS: dict[str, tuple[Any, Any]] = {  # as it is read, and as it is written
    "id": ("long", "long"),
    "at": ({"type": "long", "logicalType": "timestamp-millis"}, "long"),
    "us": ({"type": "long", "logicalType": "timestamp-micros"}, "long"),
    "ts": ({"type": "long", "logicalType": "local-timestamp-millis"}, "long"),
    "dt": ({"type": "int", "logicalType": "date"}, "int"),
    "clock": ({"type": "int", "logicalType": "time-millis"}, "int"),
    "tick": ({"type": "long", "logicalType": "time-micros"}, "long"),
    "price": ({"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}, "bytes"),
    "large": ({"type": "bytes", "logicalType": "decimal", "precision": 38, "scale": 0}, "bytes"),
    "uuid": ({"type": "string", "logicalType": "uuid"}, "string"),
    "m": ({"type": "map", "values": "double"}, {"type": "map", "values": "double"}),
    "tags": ({"type": "array", "items": ["null", "string"]}, {"type": "array", "items": ["null", "string"]}),
    "ID": (["null", "long"], ["null", "long"]),
    "raw": ("bytes", "bytes"),
}  # fmt: skip
PROTO = """
syntax = "proto3";
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
message Order {
  enum Kind { NONE = 0; BIG = 1; }
  int64 id = 1; Kind kind = 2; google.protobuf.Timestamp at = 3; repeated string tags = 4;
  map<string, double> sizes = 5; Order inner = 6; optional string note = 7; bytes raw = 8; uint64 large = 9;
  float f = 10; map<int64, Order> by_number = 11; google.protobuf.Int64Value wrapped = 12; string Note = 13;
  fixed32 kafka_offset = 14; repeated Order many = 15;
}
"""


class HostileDocuments:
    """Makes documents, by a seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        pick = self._random.choice
        self._values: list[Callable[[int], object]] = [
            lambda _: pick(TEXTS),
            lambda _: pick(NUMBERS),
            lambda _: pick([True, False, None]),
            self._list,
            self.document,
        ]
        pool = DescriptorPool()
        for it in compiled(RegisteredSchema("PROTOBUF", PROTO, ())).file:
            pool.Add(it)
        self._order = message_factory.GetMessageClass(pool.FindMessageTypeByName("Order"))

    def document(self, depth: int = 0) -> dict[str, object]:
        """An object with a few fields."""
        pick, count = self._random.choice, self._random.randrange(5)
        return {pick(NAMES): self._value(depth + 1) for _ in range(count)}

    def json(self) -> bytes:
        """A JSON document, or what should be one."""
        draw = self._random.random()
        if draw < 0.05:
            return self._random.choice(RAW)
        if draw < 0.06:
            return json.dumps(
                {f"f{it}": it for it in range(self._random.choice([50, 1500]))}
            ).encode()
        document = self.document() if draw < 0.5 else {**self._good(), **self.document()}
        return self._damaged(
            json.dumps(document, ensure_ascii=False).encode(errors="surrogatepass")
        )

    def schemas(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """An Avro schema to read by, and one to write by: the same bytes, with values that no logical type allows."""
        names = self._random.sample(list(AVRO_FIELDS), 7)
        read, written = (
            {"type": "record", "name": "R", "fields": [{"name": it, "type": AVRO_FIELDS[it][side]} for it in names]}
            for side in (0, 1)
        )  # fmt: skip
        return read, written

    def avro(self, written: dict[str, Any]) -> bytes:
        """A value of a schema."""
        stream = io.BytesIO()
        document = {it["name"]: self._avro_value(it["type"]) for it in written["fields"]}
        fastavro.schemaless_writer(stream, written, document)
        return self._damaged(stream.getvalue())

    def protobuf(self) -> bytes:
        """A message, behind the index of the first one."""
        return b"\0" + self._damaged(self._message(0).SerializeToString())

    def key(self) -> bytes | None:
        """A key of a record."""
        keys = [
            None,
            b"",
            b"1",
            b"-7",
            b"9" * 30,
            b"\xff\xfe",
            "\ud7ff".encode("utf-8", "surrogatepass") * 20,
        ]
        return self._random.choice([*keys, *(b"%d" % it for it in range(40))])

    def time_us(self) -> int:
        """A timestamp of a record."""
        usual = 1_764_000_000_000_000
        return self._random.choice([usual] * 50 + [-1000, 884_541_340_800_000_000, -(2**62), 2**62])

    def _good(self) -> dict[str, object]:
        return {
            "id": self._random.randrange(1 << 40),
            "s": "good",
            "price": "1.25",
            "at": "2026-01-31T12:00:00Z",
        }

    def _value(self, depth: int) -> object:
        return self._random.choice(self._values[:3] if depth > 3 else self._values)(depth)

    def _list(self, depth: int) -> list[object]:
        return [self._value(depth + 1) for _ in range(self._random.randrange(4))]

    def _damaged(self, content: bytes) -> bytes:
        if self._random.random() > 0.05 or not content:
            return content
        place = self._random.randrange(len(content))
        return self._random.choice(
            [
                content[:place],
                content + b"\0",
                content[:place] + b"\xfe" + content[place + 1 :],
                content[place:],
            ]
        )

    def _avro_value(self, kind: Any) -> object:
        pick = self._random.choice
        if isinstance(kind, list):
            return pick([None, self._avro_value(kind[1])])
        if isinstance(kind, dict):
            if kind["type"] == "map":
                return {pick(["", "a", "A", "a.b", "\0"]): pick([0.5, float("nan"), float("-inf")])}
            return [self._avro_value(kind["items"]) for _ in range(self._random.randrange(3))]
        if kind == "bytes":
            return pick([b"", b"\x7f" * 2, b"\xff" * 20, b"\x80" + b"\0" * 15, b"\x01"])
        if kind == "string":
            return pick(["", "x", "00000000-0000-0000-0000-000000000000", "\ud7ff" * 20])
        limit = 2**31 - 1 if kind == "int" else 2**63 - 1
        return pick([0, 1, -1, 20_000, limit, -limit - 1])

    def _message(self, depth: int) -> Message:
        pick, found = self._random.choice, self._order()
        found.id, found.kind = pick([0, -(2**63), 2**63 - 1]), pick([0, 1, 77])
        found.large, found.f = pick([0, 2**64 - 1]), pick([0.5, float("nan"), float("inf"), 3e38])
        found.raw = pick([b"", b"\xff"])
        if pick([True, False]):
            found.at.seconds, found.at.nanos = (
                pick([0, 2**63 - 1, -(2**62), 253_402_300_800]),
                pick([0, -1, 2**31 - 1]),
            )
        found.tags.extend(pick([[], ["", "\ud7ff" * 20], ["\0"]]))
        found.sizes[pick(["", "a", "A"])] = pick([0.5, float("nan")])
        if depth < pick([0, 0, 1, 3, 40]):
            for it in (found.inner, found.many.add(), found.by_number[pick([0, -1])]):
                it.CopyFrom(self._message(depth + 1 if depth < 3 else 99))
        found.wrapped.value = pick([0, -1])
        found.note, found.Note = pick(TEXTS[:5]), pick(["", "N"])
        return found
