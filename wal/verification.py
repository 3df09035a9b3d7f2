"""Says whether a log is sound: what recovery would say now, also while its owner writes.

A scan beside a writer is no picture of one moment: a block can be read before it is written, and
the block behind it, which knows that it was acknowledged, after. So a refusal counts when a second
scan refuses at the same place of the same life; a place that moves is only a writer at work.
"""

from dataclasses import dataclass
from enum import Enum

from wal.content import Kind
from wal.errors import WalCorruptError
from wal.layout import Superblock
from wal.offline import OfflineDevice
from wal.recovery import Scan, ScanSummary
from wal.superblock_store import require_log

ATTEMPTS_MAX = 8


class Soundness(Enum):
    """What came out."""

    SOUND = "sound"
    BLANK = "blank"
    DAMAGED = "damaged"
    IN_USE = "in use"


@dataclass(frozen=True, slots=True)
class Verification:
    """What the last scan met."""

    soundness: Soundness
    scans: int
    superblock: Superblock | None = None
    summary: ScanSummary | None = None
    error: WalCorruptError | None = None


def verify(path: str, *, attempts_max: int = ATTEMPTS_MAX) -> Verification:
    """Scan the log on `path` as recovery does; nothing is locked or written.

    Raises:
        WalDeviceError: it cannot be opened, or holds something else.
        OSError: it cannot be read.
    """
    refused_at: tuple[int, int] | None = None
    last: Verification | None = None
    for scans in range(1, attempts_max + 1):
        last = _scan(path, scans)
        if last.soundness is not Soundness.DAMAGED or last.superblock is None:
            return last
        assert last.error is not None
        place = (last.superblock.life_id, last.error.offset)
        if place == refused_at:
            return last
        refused_at = place
    assert last is not None
    return Verification(Soundness.IN_USE, attempts_max, last.superblock, last.summary, last.error)


def _scan(path: str, scans: int) -> Verification:
    with OfflineDevice.open(path) as device:
        content = device.content()
        if content.kind is Kind.BLANK:
            return Verification(Soundness.BLANK, scans)
        try:
            superblock = require_log(content, path)
        except WalCorruptError as error:
            return Verification(Soundness.DAMAGED, scans, error=error)
        scan = Scan(superblock, path=path)
        try:
            for _ in device.records(scan):
                pass
        except WalCorruptError as error:
            return Verification(Soundness.DAMAGED, scans, superblock, scan.summary, error)
        return Verification(Soundness.SOUND, scans, superblock, scan.summary)
