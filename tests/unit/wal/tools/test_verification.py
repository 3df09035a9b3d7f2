"""Saying whether a log is sound, whatever its writer does."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from headrace.wal.errors import WalChangedError, WalDeviceError, WalForeignError
from headrace.wal.layout import RING_POSITION
from headrace.wal.port import RecoveredRecord
from headrace.wal.ring.reader import WalReader
from headrace.wal.tools import verification
from headrace.wal.tools.verification import MAX_ATTEMPTS, Soundness, Verification
from tests.unit.wal.log_files import graceful, image, two_blocks, written


def verify(path: str) -> Verification:
    return asyncio.run(verification.verify(path))


def damaged() -> bytearray:
    """The first record is gone, and the second block knows that it was acknowledged."""
    content = two_blocks()
    content[RING_POSITION + 56 + 24] ^= 1
    return content


def test_a_sound_log_is_counted_and_not_touched(tmp_path: Path) -> None:
    path = written(tmp_path / "wal", two_blocks())
    before = Path(path).stat()
    found = verify(path)
    assert (found.soundness, found.attempts) == (Soundness.SOUND, 1)
    assert found.summary is not None
    assert (found.summary.records, found.summary.blocks) == (3, 2)
    after = Path(path).stat()
    assert (before.st_mtime_ns, before.st_ctime_ns) == (after.st_mtime_ns, after.st_ctime_ns)
    assert Path(path).read_bytes() == two_blocks()


@pytest.mark.parametrize(
    ("content", "soundness"),
    [
        (bytes(1 << 20), Soundness.BLANK),
        (bytes(image(log=graceful())), Soundness.SOUND),
        (bytes(RING_POSITION) + bytes(two_blocks()[RING_POSITION:]), Soundness.DAMAGED),
    ],
)
def test_what_needs_no_scan(content: bytes, soundness: Soundness, tmp_path: Path) -> None:
    assert verify(written(tmp_path / "wal", content)).soundness is soundness


def test_damage_is_told_with_its_place(tmp_path: Path) -> None:
    found = verify(written(tmp_path / "wal", damaged()))
    assert found.soundness is Soundness.DAMAGED
    assert found.error is not None
    assert (found.error.offset, found.error.position) == (56, RING_POSITION + 56)


def test_what_is_no_log_is_refused(tmp_path: Path) -> None:
    content = bytearray(1 << 20)
    content[0x438:0x43A] = b"\x53\xef"
    with pytest.raises(WalForeignError, match="ext4"):
        verify(written(tmp_path / "wal", content))
    with pytest.raises(WalDeviceError, match="No such file"):
        verify(str(tmp_path / "missing"))


def written_meanwhile(times: int) -> Callable[[WalReader], AsyncIterator[RecoveredRecord]]:
    """Return a `recover` that meets a writer at work so many times."""
    left = times
    real = WalReader.recover

    async def recover(reader: WalReader) -> AsyncIterator[RecoveredRecord]:
        nonlocal left
        async for record in real(reader):
            yield record
        left -= 1
        if left >= 0:
            raise WalChangedError("is being written to")

    return recover


@pytest.mark.parametrize(
    ("times", "soundness", "attempts"),
    [
        (2, Soundness.SOUND, 3),
        (MAX_ATTEMPTS - 1, Soundness.SOUND, MAX_ATTEMPTS),
        (MAX_ATTEMPTS, Soundness.IN_USE, MAX_ATTEMPTS),
    ],
)
def test_a_writer_at_work_is_no_damage(
    times: int,
    soundness: Soundness,
    attempts: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(WalReader, "recover", written_meanwhile(times))
    found = verify(written(tmp_path / "wal", two_blocks()))
    assert (found.soundness, found.attempts) == (soundness, attempts)
