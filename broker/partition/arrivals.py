"""Partitions that a client has heard of before this broker serves them: who writes to one waits a moment.

Brokers apply the entry that makes a topic one after the other, and its leader then opens the partitions. A client that
asks another broker for the leader may be here before either is done. It is not refused as long as that may be so.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final, NamedTuple
from uuid import UUID

from headrace.broker.partition.opening_queue import PartitionKey
from headrace.metadata.follower.client import MetadataClient
from headrace.metadata.topic_names import is_valid_topic_name

MAX_UNKNOWN_MS: Final = 500  # brokers apply an entry within milliseconds of each other
MAX_OPENING_MS: Final = 2_000
# Of all clients. What does not fit is answered at once, and tried again by its client.
MAX_REQUESTS: Final = 256
MAX_REQUESTS_BYTES: Final = 64 * 1024 * 1024
MAX_WANTED: Final = 4_096  # all are looked at again, at once, whenever there is news
# What was waited for in vain is not waited for again for so long: its producer tries again at once, and each time holds
# up what it sends with it. Of what does not fit nothing is known.
IN_VAIN_S: Final = 5.0
MAX_IN_VAIN: Final = 4_096
NEW_EPOCH: Final = 0  # of a partition that no broker has led yet


class ExpectedPartition(NamedTuple):
    """A partition as a request names it: by the id of its topic, or by its name where there is no id."""

    topic: str
    topic_id: UUID | None
    number: int


class Arrivals:
    """All of one broker."""

    def __init__(
        self, client: MetadataClient, node_id: int, is_open: Callable[[PartitionKey], bool]
    ) -> None:
        self._client = client
        self._node_id = node_id
        self._is_open = is_open
        self._news = asyncio.Event()
        self._requests = 0
        self._requests_bytes = 0
        self._wanted = 0
        self._in_vain: dict[ExpectedPartition, int] = {}  # how long it was waited for, in ms

    def may_come(self, asked: ExpectedPartition) -> bool:
        """Whether a partition that is not served here may be in a moment."""
        return self._longest_ms(asked) > 0

    def news(self) -> None:
        """Have those who wait look again: topics have changed, or a partition is open."""
        if self._requests:
            self._news.set()
            self._news = asyncio.Event()

    async def settled(self, wanted: Sequence[ExpectedPartition], size_bytes: int) -> None:
        """Wait until each of these is served here, or will not be, or has been waited for for long enough.

        Args:
            wanted: at most `SLICE_PARTITIONS` of one request.
            size_bytes: what the request holds meanwhile.
        """
        if (
            self._requests >= MAX_REQUESTS
            or self._requests_bytes + size_bytes > MAX_REQUESTS_BYTES
            or self._wanted + len(wanted) > MAX_WANTED
        ):
            return
        self._requests += 1
        self._requests_bytes += size_bytes
        self._wanted += len(wanted)
        try:
            await self._settled(wanted)
        finally:
            self._requests -= 1
            self._requests_bytes -= size_bytes
            self._wanted -= len(wanted)

    async def _settled(self, wanted: Sequence[ExpectedPartition]) -> None:
        loop = asyncio.get_running_loop()
        began_s = loop.time()
        while True:
            until_s = began_s + max(map(self._longest_ms, wanted)) / 1000
            if until_s <= loop.time():
                for asked in wanted:
                    self._note_in_vain(asked)
                return
            with suppress(TimeoutError):
                async with asyncio.timeout_at(until_s):
                    await self._news.wait()

    def _note_in_vain(self, asked: ExpectedPartition) -> None:
        longest_ms = self._longest_ms(asked)
        if not longest_ms:
            return
        if asked not in self._in_vain:
            if len(self._in_vain) >= MAX_IN_VAIN:
                return
            loop = asyncio.get_running_loop()
            loop.call_later(IN_VAIN_S, self._in_vain.pop, asked, None)
        self._in_vain[asked] = longest_ms

    def _longest_ms(self, asked: ExpectedPartition) -> int:
        """How long a partition is waited for in all; 0: it is served here, or not about to be, or was so in vain."""
        longest_ms = self._may_take_ms(asked)
        return longest_ms if longest_ms > self._in_vain.get(asked, 0) else 0

    def _may_take_ms(self, asked: ExpectedPartition) -> int:
        image = self._client.image
        topic = (
            image.topic(asked.topic)
            if asked.topic_id is None
            else image.topic_by_id(asked.topic_id)
        )
        if asked.number < 0:
            return 0
        if topic is None or asked.number >= len(topic.partitions):
            is_name = asked.topic_id is not None or is_valid_topic_name(asked.topic)
            # Nobody else can have told of it where there is no other broker.
            return MAX_UNKNOWN_MS if is_name and len(image.brokers) > 1 else 0
        led = topic.partitions[asked.number]
        is_new = led.leader == self._node_id and led.leader_epoch == NEW_EPOCH
        is_open = self._is_open((topic.topic_id, asked.number))
        return MAX_OPENING_MS if is_new and not is_open else 0
