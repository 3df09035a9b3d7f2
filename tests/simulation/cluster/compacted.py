"""A compacted topic: its producer, its reader, and the judgement of what can be read in the end.

Who reads a partition from its start knows of each key the newest record that was acknowledged, or a newer one of which
nobody was told. If that is a tombstone, it may be gone, and with it everything that it hides.
"""

import asyncio
from dataclasses import dataclass
from typing import Any, Final

from headrace.protocol.records.record import BatchOptions, Record, encode_batch
from tests.simulation.cluster import wire
from tests.simulation.cluster.bucket import wall_clock_ms
from tests.simulation.cluster.clients import PAUSE_AFTER_ERROR_S, Client
from tests.simulation.cluster.producers import OnceProducer
from tests.simulation.cluster.readers import READ_S
from tests.simulation.cluster.records import Place
from tests.simulation.cluster.wire import LOST

COMPACTED: Final = "compacted"
CONFIGS: Final = {
    "cleanup.policy": "compact",
    "segment.ms": "200",
    "min.cleanable.dirty.ratio": "0.1",
    "delete.retention.ms": "500",
}
KEYS: Final = 6
TOMBSTONES: Final = 0.2  # of the records this share
_RECORDS: Final = (1, 2, 5)  # of a batch


@dataclass(slots=True)
class Keyed:
    """One record on its way."""

    place: Place
    key: bytes
    value: bytes | None
    offset: int | None = None  # if it was acknowledged
    is_refused: bool = False


class KeyedProducer(OnceProducer):
    """Sends each record once, and keeps what it was answered."""

    def __init__(self, *arguments: Any, record_bytes: int) -> None:
        super().__init__(*arguments)
        self._record_bytes = record_bytes
        self.sent: list[Keyed] = []

    async def _send(self, place: Place) -> bool:
        node_id, connection = await self.leader(place)
        now_ms = wall_clock_ms(asyncio.get_running_loop().time())
        made = [self._made(place) for _ in range(self.rng.choice(_RECORDS))]
        self.sent += made
        records = [Record(it, now_ms, found.key, found.value) for it, found in enumerate(made)]
        batch = bytes(encode_batch(records, BatchOptions()))
        base = await self._base_offset(place, node_id, connection, batch, "keyed produce")
        if base is None:
            return False
        for offset, found in enumerate(made, start=base):
            found.offset = offset
        return True

    def _made(self, place: Place) -> Keyed:
        key, number = b"%d" % self.rng.randrange(KEYS), len(self.sent)
        if self.rng.random() < TOMBSTONES:
            return Keyed(place, key, None)
        return Keyed(place, key, b"%d/" % number + b"." * self._record_bytes)


class KeyedReader(Client):
    """Reads whole partitions, past gaps and batches without records."""

    async def read(self, place: Place) -> list[Record]:
        """Return the records of a partition, however often it takes."""
        offset = 0
        records: list[Record] = []
        while True:
            node_id = -1
            try:
                node_id, connection = await self.leader(place)
                found = await wire.fetch_batches(connection, *place, offset, within_s=READ_S)
            except LOST:
                self.drop(node_id)
                self.forget(place)
                await asyncio.sleep(PAUSE_AFTER_ERROR_S)
                continue
            if found.code:
                self.refused("read", found.code, place)
                await asyncio.sleep(PAUSE_AFTER_ERROR_S)
            elif found.end_offset > offset:
                records += [it for it in found.records if it.offset >= offset]
                offset = found.end_offset
            elif offset >= found.high_watermark >= 0:
                return records


def judge(sent: list[Keyed], place: Place, read: list[Record]) -> list[str]:
    """Return what is wrong with the records of a partition."""
    wrong = []
    offsets = [it.offset for it in read]
    if offsets != sorted(set(offsets)):
        wrong.append(f"{place}: offsets {offsets} are not in order")
    known = {it.offset: it for it in sent if it.place == place and it.offset is not None}
    values = {(it.key, it.value) for it in sent if it.place == place}
    for it in read:
        was = known.get(it.offset)
        if (it.key, it.value) not in values or (was and (was.key, was.value) != (it.key, it.value)):
            wrong.append(f"{place}: at {it.offset} is what nobody has sent there")
    newest = {it.key: it.offset for it in read}
    for key in {it.key for it in known.values()}:
        last = max(offset for offset, it in known.items() if it.key == key)
        in_doubt = any(
            it.offset is None and it.value is None and (it.place, it.key) == (place, key)
            for it in sent
        )
        found = newest.get(key)
        if found is None:
            if known[last].value is not None and not in_doubt:
                wrong.append(f"{place}: nothing of key {key!r}, last acknowledged at {last}")
        elif found < last:
            wrong.append(f"{place}: key {key!r} is that of {found}, not of {last}")
    return wrong
