"""Clients of kafka-python that are not stopped by bytes that are no UTF-8.

A broker stores whatever a producer puts into a header's key and a member into its metadata.
kafka-python takes both for text and gives up; everything behind such a record would be out of reach.
So records are read by our own decoder, which keeps such bytes.
"""

import struct
from collections.abc import Iterator
from typing import Any

from kafka import KafkaAdminClient
from kafka.errors import CorruptRecordError
from kafka.protocol.consumer.metadata import ConsumerProtocolAssignment
from kafka.record import memory_records
from kafka.record.default_records import ControlRecord, DefaultRecord, DefaultRecordBatch

from headrace.protocol.records.batch import parse_header
from headrace.protocol.records.errors import RecordsError
from headrace.protocol.records.record import RecordReader

MAX_DECOMPRESSED_BYTES = 256 * 1024 * 1024  # of one batch
UNREADABLE = (
    ValueError,
    IndexError,
    TypeError,
    struct.error,
)  # what kafka-python raises at garbage


class HeaderKey(str):
    """A header's key that is no UTF-8: lone surrogates stand for its bytes, which `encode` gives back."""

    __slots__ = ()

    def encode(self, encoding: str = "utf-8", errors: str = "surrogateescape") -> bytes:
        """Give the bytes as they are in the record."""
        del encoding, errors
        return super().encode(errors="surrogateescape")


def header_key(key: bytes) -> str:
    """Read a header's key without losing anything."""
    try:
        return key.decode()
    except UnicodeDecodeError:
        return HeaderKey(key.decode(errors="surrogateescape"))


class LosslessBatch(DefaultRecordBatch):  # type: ignore[misc]  # kafka-python is not typed
    """A batch whose records our decoder reads."""

    def __iter__(self) -> Iterator[Any]:
        """Give the records.

        Raises:
            CorruptRecordError: they cannot be read.
        """
        data = memoryview(self._buffer)
        try:
            header = parse_header(data)
            for since, number, key, value, headers in RecordReader(
                data, header, MAX_DECOMPRESSED_BYTES, header_key
            ):
                made = ControlRecord if self.is_control_batch else DefaultRecord
                yield made(
                    len(key or b"") + len(value or b""),
                    header.base_offset + number,
                    self.max_timestamp if self.timestamp_type else self.first_timestamp + since,
                    self.timestamp_type,
                    key,
                    value,
                    list(headers),
                )
        except RecordsError as error:
            raise CorruptRecordError(str(error)) from error

    def __next__(self) -> Any:
        """Give the first record: of a control batch, which has no other."""
        return next(iter(self))


def read_all_records() -> None:
    """Let the consumers of this process read records with our decoder."""
    memory_records.DefaultRecordBatch = LosslessBatch


class Admin(KafkaAdminClient):  # type: ignore[misc]  # kafka-python is not typed
    """An admin client that describes groups whose members' bytes it cannot parse, too."""

    def _describe_groups_process_response(self, response: Any) -> Any:
        for group in response.groups:
            for member in group.members:
                member.member_metadata = b""  # the commands do not show it
                try:
                    ConsumerProtocolAssignment.decode(member.member_assignment)
                except UNREADABLE:
                    member.member_assignment = b""
        return super()._describe_groups_process_response(response)
