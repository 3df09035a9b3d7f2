"""Producer ids for idempotent producers, taken from blocks that the controller hands out."""

import asyncio

from headrace.metadata.follower.client import MetadataClient


class ProducerIds:
    """Gives out each id of a block once; a restart loses the rest of the block, never repeats an id."""

    def __init__(self, client: MetadataClient) -> None:
        self._client = client
        self._block: range = range(0)
        self._refill = asyncio.Lock()

    async def next_id(self) -> int:
        """Return an id that was never given out before.

        Raises:
            MetadataError: the block is used up and the controller does not answer with another.
        """
        async with self._refill:
            if not self._block:
                self._block = await self._client.allocate_producer_ids()
            producer_id = self._block[0]
            self._block = self._block[1:]
            return producer_id
