"""Reads objects by their byte tables alone: shares no code with the writer or the readers of the product.

Whatever is not exactly as the tables of `headrace.storage.objects` say is an `AssertionError`.
"""

from typing import NamedTuple

from crc32c import crc32c

FOOTER_BYTES = 48
ENTRY_BYTES = 36
BLOCK_HEADER_BYTES = 14
BATCH_HEADER_BYTES = 33


class AuditedBatch(NamedTuple):
    """One StreamRecordBatch."""

    stream_id: int
    epoch: int
    base_offset: int
    count: int
    payload: bytes

    @property
    def end_offset(self) -> int:
        return self.base_offset + self.count


class AuditedBlock(NamedTuple):
    """A data block, and what the index says of it."""

    stream_id: int
    start_offset: int
    end_offset: int
    size_bytes: int
    batches: tuple[AuditedBatch, ...]


def audit_object(content: bytes, max_block_bytes: int | None = None) -> list[AuditedBlock]:
    """Check every byte of an object; return its blocks in order.

    With `max_block_bytes`, no block of several batches may be larger.
    """
    footer = content[-FOOTER_BYTES:]
    assert len(footer) == FOOTER_BYTES
    assert footer[40:] == b"headrace"
    assert _unsigned(footer, 36, 4) == crc32c(footer[:36]), "checksum of the footer"
    assert _unsigned(footer, 16, 2) == 1, "version"
    assert footer[18:36] == bytes(18), "reserved"
    position, length = _signed(footer, 0, 8), _signed(footer, 8, 4)
    assert position > 0
    assert length > 0
    assert length % ENTRY_BYTES == 0
    assert position + length + FOOTER_BYTES == len(content), "nothing but blocks, index, footer"
    index = content[position : position + length]
    assert _unsigned(footer, 12, 4) == crc32c(index), "checksum of the index"
    blocks = []
    at, last = 0, (-1, 0)
    for entry in range(0, length, ENTRY_BYTES):
        block = _audit_block(content, index[entry : entry + ENTRY_BYTES], at)
        assert (block.stream_id, block.start_offset) >= last, "streams and offsets in order"
        last = (block.stream_id, block.end_offset)
        at += block.size_bytes
        if max_block_bytes is not None and len(block.batches) > 1:
            assert block.size_bytes <= max_block_bytes, "size of a block"
        blocks.append(block)
    assert at == position, "the blocks fill what is before the index"
    return blocks


def _audit_block(content: bytes, entry: bytes, at: int) -> AuditedBlock:
    stream_id, start = _signed(entry, 0, 8), _signed(entry, 8, 8)
    delta, count = _signed(entry, 16, 4), _signed(entry, 20, 4)
    position, size = _signed(entry, 24, 8), _signed(entry, 32, 4)
    assert stream_id >= 0
    assert start >= 0
    assert delta > 0
    assert position == at, "blocks lie side by side"
    block = content[position : position + size]
    assert len(block) == size
    header, data = block[:BLOCK_HEADER_BYTES], block[BLOCK_HEADER_BYTES:]
    assert header[:2] == b"\x5a\x00"
    assert _signed(header, 2, 4) == count, "batches of the block"
    assert _signed(header, 6, 4) == len(data), "length of the block"
    assert _unsigned(header, 10, 4) == crc32c(header[:10], crc32c(data)), "checksum of the block"
    batches = _batches(data)
    assert len(batches) == count
    expected = start
    for batch in batches:
        assert batch.stream_id == stream_id, "one stream only"
        assert batch.base_offset == expected, "without gap or repetition"
        expected = batch.end_offset
    assert expected == start + delta, "the index says where the block ends"
    return AuditedBlock(stream_id, start, start + delta, size, batches)


def _batches(data: bytes) -> tuple[AuditedBatch, ...]:
    batches = []
    at = 0
    while at < len(data):
        assert data[at] == 0x22
        stream_id, epoch = _signed(data, at + 1, 8), _signed(data, at + 9, 8)
        base, count = _signed(data, at + 17, 8), _signed(data, at + 25, 4)
        length = _signed(data, at + 29, 4)
        assert count > 0
        assert length >= 0
        at += BATCH_HEADER_BYTES + length
        assert at <= len(data), "the batch ends with its block"
        batches.append(AuditedBatch(stream_id, epoch, base, count, data[at - length : at]))
    return tuple(batches)


def _signed(content: bytes, at: int, width: int) -> int:
    return int.from_bytes(content[at : at + width], "big", signed=True)


def _unsigned(content: bytes, at: int, width: int) -> int:
    return int.from_bytes(content[at : at + width], "big")
