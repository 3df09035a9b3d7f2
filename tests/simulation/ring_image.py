"""A ring of 16 pages that is made by hand, block by block, and walked over."""

from dataclasses import dataclass

from headrace.wal.framing import (
    BLOCK_HEADER_BYTES,
    RECORD_HEADER_BYTES,
    BlockHeader,
    checksum_seed,
    write_block_header,
    write_record,
)
from headrace.wal.layout import PAGE_BYTES, RING_POSITION, Ring, ShutdownType, Superblock
from headrace.wal.ring.recovery import Scan, ScanSummary

PAGES = 16
RING_BYTES = PAGES * PAGE_BYTES
GENERATION = 42
HEAD = 3 * RING_BYTES  # the third lap
SUPERBLOCK = Superblock(
    sequence=10,
    generation_id=GENERATION,
    capacity_bytes=RING_POSITION + RING_BYTES,
    trim_offset=HEAD - 1,
    head_offset=HEAD,
    confirmed_offset=HEAD,
    window_bytes=4 * PAGE_BYTES,
    shutdown=ShutdownType.UNGRACEFUL,
    node_id=1,
    node_epoch=1,
    cluster_id="c",
)


@dataclass
class Image:
    """A ring that blocks are put into."""

    memory: bytearray

    @classmethod
    def blank(cls) -> "Image":
        return cls(bytearray(RING_BYTES))

    def put(
        self,
        offset: int,
        *bodies: bytes,
        previous_end: int | None = None,
        confirmed: int = HEAD,
        generation: int = GENERATION,
        sequence: int = 10,
    ) -> int:
        """Write a block; return where the next one would begin."""
        size = BLOCK_HEADER_BYTES + sum(RECORD_HEADER_BYTES + len(body) for body in bodies)
        at = offset % RING_BYTES
        view = memoryview(self.memory)[at:]
        place = BLOCK_HEADER_BYTES
        for body in bodies:
            write_record(view, place, body[:1], body[1:], offset + place, checksum_seed(generation))
            place += RECORD_HEADER_BYTES + len(body)
        header = BlockHeader(
            length=size,
            generation_id=generation,
            offset=offset,
            previous_end=offset if previous_end is None else previous_end,
            confirmed_offset=confirmed,
            superblock_sequence=sequence,
            records=len(bodies),
        )
        write_block_header(view, header)
        return offset + -(-size // PAGE_BYTES) * PAGE_BYTES

    def damage(self, offset: int, size_bytes: int = 1) -> None:
        """Change bytes that lie in one lap."""
        at = offset % RING_BYTES
        for place in range(at, at + size_bytes):
            self.memory[place] ^= 0xFF


def scan(
    image: Image,
    superblock: Superblock = SUPERBLOCK,
    step_bytes: int = RING_BYTES,
    *,
    accept_loss: bool = False,
) -> tuple[list[bytes], ScanSummary]:
    """Walk an image; return the bodies."""
    ring = Ring(RING_BYTES)
    walk = Scan(superblock, path="image", accept_loss=accept_loss)
    bodies = []
    while (wanted := walk.wants()) is not None:
        offset, min_size = wanted
        at = offset % RING_BYTES
        size = min(max(step_bytes, min_size), ring.distance_to_end(offset))
        records = walk.feed(memoryview(bytes(image.memory[at : at + size])))
        for record in records:
            assert record.end_offset == record.offset + RECORD_HEADER_BYTES + len(record.body)
        bodies += [bytes(record.body) for record in records]
    assert walk.summary.records == len(bodies)
    return bodies, walk.summary
