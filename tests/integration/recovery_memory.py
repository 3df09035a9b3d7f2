"""Makes a log with a gap and a window behind it, and tells what recovering it takes: `PATH make | recover`.

Nobody was told of the gap, so everything behind it is recovered; but that is known only at the end
of the log, and until then all of it must be kept. A program of its own: the peak of its memory is
what it prints.
"""

import asyncio
import sys
from dataclasses import replace
from pathlib import Path

from headrace.config.node import WalConfig
from headrace.storage.drain import MAX_SEGMENT_BYTES
from headrace.storage.ports import StreamMetadata
from headrace.storage.record_batch import decode_batch, encode_header
from headrace.storage.recovery_plan import RecoveryPlan
from headrace.wal.layout import RING_POSITION
from headrace.wal.ring.reader import WalReader
from tests.unit.wal.log_files import LOG, block

MIB = 1024 * 1024
PAYLOAD = bytes(16_000)
CONFIG = WalConfig(path="", capacity_bytes=256 * MIB)
LAST_LOG = replace(LOG, capacity_bytes=CONFIG.capacity_bytes, window_bytes=CONFIG.max_window_bytes)


def make(path: Path) -> int:
    """Write the log, its first block missing; return the number of records."""
    records = 0
    with path.open("wb") as file:
        file.truncate(CONFIG.capacity_bytes)
        for copy in (LAST_LOG, replace(LAST_LOG, sequence=LAST_LOG.sequence + 1)):
            file.seek(copy.slot_position)
            file.write(copy.encode())
        offset = 4096
        while True:
            bodies = [
                encode_header(1, 1, records + n, 1, len(PAYLOAD)) + PAYLOAD for n in range(65)
            ]
            memory = block(bodies, offset, log=LAST_LOG, confirmed=0)
            if offset + len(memory) > LAST_LOG.window_bytes:
                return records
            file.seek(RING_POSITION + offset)
            file.write(memory)
            records += len(bodies)
            offset += len(memory)


async def recover(path: Path) -> int:
    """Recover as a start does, but for the uploads; return the number of records."""
    reader = WalReader(replace(CONFIG, path=str(path)))
    await reader.start()
    plan = RecoveryPlan([StreamMetadata(1, 1, 0, 0)], max_segment_bytes=MAX_SEGMENT_BYTES)
    records = 0
    async for record in reader.recover():
        batch, _ = decode_batch(record.body, 0)
        plan.add(batch)
        records += 1
        if plan.segment_is_full:
            plan.cut()
    await reader.close()
    return records


def peak_bytes() -> int:
    """Of this process."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


if __name__ == "__main__":
    place = Path(sys.argv[1])
    count = make(place) if sys.argv[2] == "make" else asyncio.run(recover(place))
    print(count, peak_bytes())
