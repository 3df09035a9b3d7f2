"""Readers of whole partitions."""

import asyncio

from tests.simulation.cluster import wire
from tests.simulation.cluster.clients import PAUSE_AFTER_ERROR_S, Client
from tests.simulation.cluster.records import Place, RecordId, record_of
from tests.simulation.cluster.wire import LOST

READ_S = 5.0


class Reader(Client):
    """Reads whole partitions."""

    async def read(self, place: Place) -> tuple[int, list[tuple[int, RecordId]]]:
        """Return (start, records with their offsets) of a partition, however often it takes."""
        start = offset = -1
        records: list[tuple[int, RecordId]] = []
        while True:
            node_id = -1
            try:
                node_id, connection = await self.leader(place)
                is_first = start < 0
                if is_first:
                    code, start = await wire.earliest(connection, *place)
                    offset = start
                    found = wire.Fetched(code, -1, [])
                else:
                    found = await wire.fetch(connection, *place, offset, within_s=READ_S)
            except LOST:
                self.drop(node_id)
                self.forget(place)
                await asyncio.sleep(PAUSE_AFTER_ERROR_S)
                continue
            if found.code and is_first:
                self.forget(place)  # ListOffsets does not wait for a partition that moves
                await asyncio.sleep(PAUSE_AFTER_ERROR_S)
            elif found.code:
                self.refused("read", found.code, place)
                await asyncio.sleep(PAUSE_AFTER_ERROR_S)
            elif found.records:
                records += [(it, record_of(value)) for it, value in found.records]
                offset = found.records[-1][0] + 1
            elif offset >= found.high_watermark >= 0:  # else it takes longer than a fetch waits
                return start, records
