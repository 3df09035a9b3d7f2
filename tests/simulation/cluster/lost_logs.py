"""What may be missing after the accepted losses of brokers' logs, and nothing else may. Pure."""

from headrace.metadata.image import MetadataImage
from tests.simulation.cluster.records import Place

_OFFSETS_TOPIC = "__consumer_offsets"


class LostLogs:
    """What may be missing after the accepted losses of logs: their records that were not in the bucket."""

    def __init__(self) -> None:
        self._cut: dict[tuple[Place, int], list[tuple[int, float]]] = {}
        self._places: set[Place] = set()
        self._has_lost_offsets = False

    def expect(self, image: MetadataImage, node_id: int) -> None:
        """Note that the loss of a broker's log is about to be accepted."""
        for place, _ in _led(image, node_id):
            self._places.add(place)
            self._has_lost_offsets |= place[0] == _OFFSETS_TOPIC

    def lose(self, image: MetadataImage, node_id: int, now_s: float) -> None:
        """Note a loss: of each partition of a broker, what is beyond the end of its stream in the bucket."""
        self.expect(image, node_id)
        for place, stream_id in _led(image, node_id):
            end = image.streams[stream_id].end_offset
            self.lose_records(place, node_id, end, now_s)

    def lose_records(self, place: Place, node_id: int, end: int, now_s: float) -> None:
        """Note that a broker's records of a partition are lost from an offset on."""
        self._cut.setdefault((place, node_id), []).append((end, now_s))

    def may_miss(self, place: Place, node_id: int, offset: int, told_s: float) -> bool:
        """Whether a record may be missing that a broker has acknowledged or given out at an offset at a moment."""
        cuts = self._cut.get((place, node_id), ())
        return any(offset >= end and told_s <= lost_s for end, lost_s in cuts)

    def has_lost(self, place: Place) -> bool:
        """Whether a partition may have lost records."""
        return place in self._places

    def may_misplace(self, place: Place) -> bool:
        """Whether a group's offset of a partition may be lost, or lie beyond its end."""
        return self._has_lost_offsets or place in self._places


def _led(image: MetadataImage, node_id: int) -> list[tuple[Place, int]]:
    """The partitions that a broker leads, with their streams."""
    return [
        ((topic.name, it.partition), it.data_stream_id)
        for topic in image.topics.values()
        for it in topic.partitions
        if it.leader == node_id
    ]
