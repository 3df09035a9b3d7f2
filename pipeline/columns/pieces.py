"""Batches that have wanted rows, decompressed, some at a time. Pure.

A batch in the bucket has the base offset of its log: the broker writes it into the header before it appends. CRCs are
not looked at again, because that of the data block covers them.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from headrace.pipeline.columns.selection import Limits, WantedRows
from headrace.protocol.records.batch import HEADER_BYTES, BatchHeader, split_batches
from headrace.protocol.records.compression import decompress
from headrace.protocol.records.errors import CorruptBatchError, RecordsError

Buffer = bytes | bytearray | memoryview


class OpenedBatch(NamedTuple):
    """A header, and the records behind it as they are without compression."""

    header: BatchHeader
    records: Buffer


def wanted_batches(
    payloads: Iterable[Buffer], selection: WantedRows
) -> Iterator[tuple[BatchHeader, memoryview]]:
    """Yield each batch that may have wanted rows, as it is stored.

    Args:
        payloads: each is made of whole batches, as that of a StreamRecordBatch of a data block.
        selection: what is wanted.

    Raises:
        CorruptBatchError: the next bytes are not a whole batch.
    """
    for payload in payloads:
        for header, batch in split_batches(memoryview(payload)):
            if header.records_count < 0:
                raise located(
                    CorruptBatchError("negative number of records"), selection, header.base_offset
                )
            is_outside = (
                header.last_offset < selection.start_offset
                or header.base_offset >= selection.end_offset
            )
            if not (is_outside or header.is_control or selection.is_hidden(header)):
                yield header, batch


def opened_pieces(
    payloads: Iterable[Buffer], selection: WantedRows, limits: Limits
) -> Iterator[list[OpenedBatch]]:
    """Yield opened batches of about `limits.piece_bytes` in all, or of one larger batch.

    Raises:
        RecordsError: a batch cannot be read; its offset is in the message.
    """
    piece: list[OpenedBatch] = []
    size_bytes = 0
    for header, batch in wanted_batches(payloads, selection):
        try:
            records = decompress(header.codec, batch[HEADER_BYTES:], limits.max_batch_bytes)
        except RecordsError as error:
            raise located(error, selection, header.base_offset) from error
        if piece and size_bytes + len(records) > limits.piece_bytes:
            yield piece
            piece, size_bytes = [], 0
        piece.append(OpenedBatch(header, records))
        size_bytes += len(records)
    if piece:
        yield piece


def located(error: RecordsError, selection: WantedRows, base_offset: int) -> RecordsError:
    """Return the same error with the position of the batch in its message."""
    place = f"{selection.topic}-{selection.partition}, batch at offset {base_offset}"
    return type(error)(f"{place}: {error}")
