"""Frees in steps what a change takes out of the metadata.

A topic of 50,000 partitions has as many objects of its own and 100,000 streams. With the image before its deletion
they would be freed in one turn of the event loop, and by the last user of that image: a snapshot that is being
written, or a request that waits. So a list keeps them beyond that, and is emptied some at a time.
"""

import asyncio
import sys
from typing import Final

from headrace.metadata.image import MetadataImage
from headrace.steps import Steps
from headrace.turns import Work, turns_of

STEP_PARTS: Final = 2_000  # less than two milliseconds; fewer are freed with their image
LOOK_AGAIN_S: Final = 0.25  # while something still uses them
MAX_LOOKS: Final = 40  # in vain; then others that use them must free them, perhaps all at once

Parts = list[object]


def parts_gone(old: MetadataImage, new: MetadataImage) -> Steps[Parts]:
    """Collect, in steps, the partitions and streams that the new image lacks, if they are many."""
    gone: Parts = []
    if len(old.streams) - len(new.streams) < STEP_PARTS:
        return gone
    for number, (topic_id, topic) in enumerate(old.topics.items(), start=1):
        if topic_id not in new.topics:
            gone += topic.partitions
        if number % STEP_PARTS == 0:
            yield
    for number, (stream_id, stream) in enumerate(old.streams.items(), start=1):
        if stream_id not in new.streams:
            gone.append(stream)
        if number % STEP_PARTS == 0:
            yield
    return gone


class PartsFreeing:
    """Keeps parts that are gone while anything else uses them; then frees some in each turn of the loop.

    It keeps no more than the images before would have kept.
    """

    def __init__(self) -> None:
        self._parts: Parts = []
        self._looks = 0  # in vain

    def __len__(self) -> int:
        return len(self._parts)

    async def collect(self, old: MetadataImage, new: MetadataImage) -> None:
        """Take over what the new image lacks; to be called before it replaces the old one."""
        gone = await turns_of(Work.METADATA).run(parts_gone(old, new))
        if gone and not self._parts:
            self._looks = 0
            turns_of(Work.UPKEEP).call_later(self._step)
        self._parts += gone

    def _step(self) -> None:
        parts = self._parts
        if self._looks < MAX_LOOKS and sys.getrefcount(parts[-1]) > _UNUSED:
            self._looks += 1
            asyncio.get_running_loop().call_later(LOOK_AGAIN_S, self._step)
            return
        del parts[-STEP_PARTS:]
        if parts:
            turns_of(Work.UPKEEP).call_later(self._step)


def _unused() -> int:
    """The count of references to an object that only a list has."""
    only: Parts = [object()]
    return sys.getrefcount(only[-1])


_UNUSED: Final = _unused()
