"""Which partitions take records: all do but for moments where nothing is wrong, and none is left frozen at the end."""

import asyncio
from typing import Final
from uuid import UUID

from headrace.metadata.image import MetadataImage
from tests.simulation.cluster import inspection
from tests.simulation.cluster.cluster import Cluster

MAX_GAP_S: Final = (
    1.0  # where there are no faults, a move takes 0.2 s, and more beside a slow bucket:
)
REQUESTS: Final = 5  # to it
LEFT_S: Final = 20.0  # when all is calm: moves end, or are taken back after 10 s

_Key = tuple[UUID, int]


class Gaps:
    """Since when partitions take no records, by the looks at them."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._max_s = MAX_GAP_S + REQUESTS * cluster.nature.weather.delay_s[1]
        # Of the partitions that have taken records once.
        self._since_s: dict[_Key, float | None] = {}

    def look(self) -> list[str]:
        """Return what has taken none for too long, each gap once."""
        if self._cluster.nature.faults or not self._cluster.nature.is_calm:
            return []
        now_s, image = self._cluster.loop.time(), inspection.newest_image(self._cluster)
        taking = _taking(self._cluster)
        known = set() if image is None else {*_partitions_of(image)}
        self._since_s = {key: it for key, it in self._since_s.items() if key in known}
        found = []
        for key in known:
            if key in taking:
                self._since_s[key] = None
            elif key in self._since_s:
                since_s = self._since_s[key]
                if since_s is None:
                    self._since_s[key] = now_s
                elif now_s > since_s + self._max_s:
                    found.append(f"{key} takes no records since {since_s:.2f} s")
                    self._since_s[key] = float("inf")
        return found


async def left_frozen(cluster: Cluster) -> list[str]:
    """Wait until every partition takes records, and none moves; return what does not, and what moves for ever."""
    until_s = cluster.loop.time() + LEFT_S
    while True:
        image = inspection.newest_image(cluster)
        assert image is not None
        left = {*_partitions_of(image)} - _taking(cluster)
        if not left and not image.moves:
            return []
        if cluster.loop.time() > until_s:
            moving = [f"{it} is still moving" for it in image.moves]
            return [f"{it} takes no records" for it in sorted(left)] + moving
        await asyncio.sleep(inspection.LOOK_S)


def _taking(cluster: Cluster) -> set[_Key]:
    return {key for host in cluster.brokers for key in inspection.served(host, frozen_too=False)}


def _partitions_of(image: MetadataImage) -> list[_Key]:
    return [
        (topic.topic_id, it.partition) for topic in image.topics.values() for it in topic.partitions
    ]
