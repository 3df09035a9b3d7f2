"""Decisions about the small cluster-wide key-value store. Pure."""

from collections.abc import Iterable

from headrace.metadata.controller.brokers import require_broker
from headrace.metadata.controller.decision import Decision, Inputs
from headrace.metadata.errors import RefusedError
from headrace.metadata.image import MetadataImage
from headrace.metadata.records.cluster import KeyValueRecord, RemoveKeyValueRecord
from headrace.metadata.records.record import Record
from headrace.metadata.rpc.requests import PutKeyValues
from headrace.metadata.rpc.responses import Done
from headrace.protocol.errors import ErrorCode

MAX_KEYS = 10_000  # in the whole store
MAX_VALUE_BYTES = 64 * 1024


def put_key_values(request: PutKeyValues, image: MetadataImage, inputs: Inputs) -> Decision:
    """Set or remove keys, all or none; a value that is already set needs no record."""
    del inputs
    require_broker(image, request.node_id, request.node_epoch)
    return Decision(changes(request.items, image), Done())


def changes(items: Iterable[tuple[str, bytes | None]], image: MetadataImage) -> tuple[Record, ...]:
    """Return the records that set or remove keys.

    Raises:
        RefusedError: a value is too long, or there would be too many keys.
    """
    records: list[Record] = []
    result: dict[str, bytes | None] = {}
    for key, value in items:
        if value is not None and len(value) > MAX_VALUE_BYTES:
            raise RefusedError(
                ErrorCode.INVALID_REQUEST,
                f"the value of {key!r} has {len(value)} bytes, at most {MAX_VALUE_BYTES} are allowed",
            )
        result[key] = value
    added = 0
    for key, value in result.items():
        old = image.key_values.get(key)
        if value == old:
            continue
        added += (old is None) - (value is None)
        records.append(RemoveKeyValueRecord(key) if value is None else KeyValueRecord(key, value))
    if len(image.key_values) + added > MAX_KEYS:
        raise RefusedError(
            ErrorCode.POLICY_VIOLATION, f"the key-value store holds at most {MAX_KEYS} keys"
        )
    return tuple(records)
