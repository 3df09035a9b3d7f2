"""Reports whether a log is sound: what recovery would find now, also while its owner writes."""

from dataclasses import dataclass
from enum import Enum

from headrace.config.node import WalConfig
from headrace.wal.errors import WalChangedError, WalCorruptError
from headrace.wal.layout import Superblock
from headrace.wal.ring.content import Kind
from headrace.wal.ring.reader import WalReader
from headrace.wal.ring.recovery import ScanSummary
from headrace.wal.tools.inspection import OfflineDevice

MAX_ATTEMPTS = 8


class Soundness(Enum):
    """The result of a verification."""

    SOUND = "sound"
    BLANK = "blank"
    DAMAGED = "damaged"
    IN_USE = "in use"


@dataclass(frozen=True, slots=True)
class Verification:
    """What the last scan found."""

    soundness: Soundness
    attempts: int
    superblock: Superblock | None = None
    summary: ScanSummary | None = None
    error: WalCorruptError | None = None


async def verify(path: str, *, max_attempts: int = MAX_ATTEMPTS) -> Verification:
    """Scan the log on `path` as recovery by another node does; nothing is locked or written.

    A scan that finds an active writer (`WalChangedError`) is repeated, at most `max_attempts` times.

    Raises:
        WalDeviceError: it cannot be opened, or holds something else.
        OSError: it cannot be read.
    """
    with OfflineDevice.open(path) as device:
        if device.content().kind is Kind.BLANK:
            return Verification(Soundness.BLANK, attempts=0)
    attempt = 1
    while True:
        found = await _scan(path, attempt)
        if found.soundness is not Soundness.IN_USE or attempt == max_attempts:
            return found
        attempt += 1


async def _scan(path: str, attempt: int) -> Verification:
    reader = WalReader(WalConfig(path=path))
    try:
        await reader.start()
    except WalCorruptError as error:
        return Verification(Soundness.DAMAGED, attempt, error=error)
    refusal = None
    soundness = Soundness.SOUND
    try:
        async for _ in reader.recover():
            pass
    except WalChangedError:
        soundness = Soundness.IN_USE
    except WalCorruptError as error:
        soundness, refusal = Soundness.DAMAGED, error
    finally:
        await reader.close()
    return Verification(soundness, attempt, reader.superblock, reader.summary, refusal)
