"""What else a device may hold: the marks of file systems, volume managers and partition tables. Pure.

A mark is looked for at one position, or at each multiple of a step in a range; negative
positions count from the end of the device. Marks are looked for in this order, so the weakest, two
bytes that boot sectors share, is the last.

Sources: the on-disk formats' own descriptions, as util-linux' libblkid has collected them.
"""

from typing import NamedTuple

from headrace.wal.layout import align_down

_KIB = 1024


class Mark(NamedTuple):
    """Bytes that identify what a device holds."""

    name: str
    magic: bytes
    first: int  # position, from the end if negative
    last: int  # inclusive
    step: int = 512


class Found(NamedTuple):
    """A mark that was found."""

    name: str
    position: int


def _at(name: str, position: int, magic: bytes) -> Mark:
    return Mark(name, magic, position, position)


_UBERBLOCK = 0x00BAB10C

MARKS = (
    _at("an ext2, ext3 or ext4 file system", 0x438, b"\x53\xef"),
    _at("an XFS file system", 0, b"XFSB"),
    _at("a Btrfs file system", 64 * _KIB + 0x40, b"_BHRfS_M"),
    _at("an F2FS file system", 0x400, b"\x10\x20\xf5\xf2"),
    *(
        # Its position depends on the page size of the machine that made it.
        _at("swap space", page_bytes - 10, magic)
        for page_bytes in (4 * _KIB, 8 * _KIB, 16 * _KIB, 32 * _KIB, 64 * _KIB)
        for magic in (b"SWAPSPACE2", b"SWAP-SPACE")
    ),
    Mark("an LVM2 physical volume", b"LABELONE", 0, 3 * 512),
    _at("a LUKS encrypted volume", 0, b"LUKS\xba\xbe"),
    _at("a member of an md array", 0, b"\xfc\x4e\x2b\xa9"),  # 1.1
    _at("a member of an md array", 4 * _KIB, b"\xfc\x4e\x2b\xa9"),  # 1.2
    Mark("a member of an md array", b"\xfc\x4e\x2b\xa9", -128 * _KIB, -8 * _KIB, 4 * _KIB),
    _at("a bcache device", 4 * _KIB + 0x18, bytes.fromhex("c68573f64e1a45ca8265f57f48ba6d81")),
    _at("a Ceph BlueStore device", 0, b"bluestore block device"),
    _at("an NTFS file system", 3, b"NTFS    "),
    _at("an exFAT file system", 3, b"EXFAT   "),
    _at("a FAT file system", 82, b"FAT32   "),
    *(_at("a FAT file system", 54, magic) for magic in (b"FAT12   ", b"FAT16   ", b"FAT     ")),
    # Four labels of 256 KiB, two at either end; uberblocks fill the second half of each.
    *(
        Mark("a ZFS pool", _UBERBLOCK.to_bytes(8, order), first, first + 127 * _KIB, _KIB)
        for first in (128 * _KIB, 384 * _KIB, -384 * _KIB, -128 * _KIB)
        for order in ("little", "big")
    ),
    _at("a GPT partition table", 512, b"EFI PART"),
    _at("a GPT partition table", 4 * _KIB, b"EFI PART"),  # sectors of 4096 bytes
    Mark("a GPT partition table", b"EFI PART", -4 * _KIB, -512),
    _at("an MBR partition table or boot sector", 510, b"\x55\xaa"),
)


def identify(head: memoryview, tail: memoryview, size_bytes: int) -> Found | None:
    """Return the first mark that is found; None when there is none.

    Args:
        head: the device's first bytes; marks beyond them are not looked for.
        tail: its last whole pages, which may overlap.
        size_bytes: of the device.
    """
    tail_position = align_down(size_bytes) - len(tail)
    for mark in MARKS:
        view, start = (head, 0) if mark.first >= 0 else (tail, tail_position)
        origin = 0 if mark.first >= 0 else size_bytes
        first = -(-(origin + mark.first) // mark.step) * mark.step
        positions = (
            (mark.first,)
            if mark.first == mark.last
            else range(first, origin + mark.last + 1, mark.step)
        )
        for position in positions:
            at = position - start
            if at >= 0 and view[at : at + len(mark.magic)] == mark.magic:
                return Found(mark.name, position)
    return None
