"""The judges of the metadata log find what they look for, and nothing else."""

from uuid import UUID

import msgspec
import pytest

from headrace.metadata.image import MetadataImage
from headrace.metadata.images.brokers import BrokerImage, BrokerState
from headrace.metadata.images.logs import LogImage, LogState
from headrace.metadata.images.streams import StreamImage
from headrace.metadata.images.topics import PartitionImage, TopicImage
from headrace.metadata.levels import METADATA_FEATURE, encode_at_level
from headrace.metadata.records.brokers import FenceBrokerRecord, FenceReason
from headrace.metadata.records.logs import LogMedium
from headrace.metadata.records.record import MetadataRecord
from headrace.metadata.records.streams import StreamState
from headrace.metadata.records.topics import PartitionMoveEndedRecord
from headrace.persistent_map import PersistentMap
from tests.simulation.cluster.entries import Step
from tests.simulation.cluster.entry_judges import DrainedLogs, above_level, replaced_alive

FENCED = FenceBrokerRecord(1, 7, FenceReason.SESSION_EXPIRED)
MOVE_ENDED = PartitionMoveEndedRecord(UUID(int=1), 0, 1)


def step(payload: bytes, *records: MetadataRecord, level: int) -> Step:
    image = MetadataImage(features=PersistentMap({METADATA_FEATURE: level}))
    return Step(image, image, payload, records)


def at_level(record: MetadataRecord, *, written: int, cluster: int) -> list[str]:
    payload = encode_at_level((record,), written)
    return list(above_level(step(payload, record, level=cluster)))


def test_what_is_written_above_the_level_of_the_cluster_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(FenceBrokerRecord, "LATER_FIELDS", {"timestamp_ms": 3})
    assert at_level(MOVE_ENDED, written=3, cluster=2) == [
        "PartitionMoveEndedRecord is written at level 2"
    ]
    assert at_level(FENCED, written=3, cluster=2) == [
        "FenceBrokerRecord has 4 fields, 3 at level 2"
    ]
    assert at_level(FENCED, written=2, cluster=2) == []
    assert at_level(MOVE_ENDED, written=3, cluster=3) == []


def broker(epoch: int, *, state: BrokerState = BrokerState.ACTIVE, lock: str = "") -> BrokerImage:
    locks = (lock,) if lock else ()
    incarnation = UUID(int=epoch)
    return BrokerImage(1, epoch, incarnation, (), "", state, 0, None, 9_000, locks)


def registered(old: BrokerImage, new: BrokerImage) -> list[str]:
    before, after = (MetadataImage(brokers=PersistentMap({1: it})) for it in (old, new))
    return list(replaced_alive(Step(before, after, b"", ())))


@pytest.mark.parametrize("locks", [("", ""), ("a", "b")])
def test_who_takes_the_place_of_a_living_process_is_found(locks: tuple[str, str]) -> None:
    old, new = broker(5, lock=locks[0]), broker(9, lock=locks[1])
    assert registered(old, new) == ["broker 1 is registered at 9: its epoch 5 had not ended"]
    assert registered(broker(5, state=BrokerState.EXPIRED, lock=locks[0]), new) == []
    assert registered(broker(5, lock="b"), broker(9, lock="b")) == []


def drained(end: int, *, told: int, has_lost: bool = False) -> list[str]:
    """A log becomes drained; its owner has acknowledged its partition up to `told`."""
    topic = TopicImage(UUID(int=3), "t", (PartitionImage(0, 1, 2, 10, 11),))
    stream = StreamImage(10, topic.topic_id, 0, 2, 1, StreamState.CLOSED, 0, end, (), ())
    log = LogImage(1, 1, 5, "g", LogMedium.DEVICE, (), 0, state=LogState.DRAINING)
    old = MetadataImage(
        topics=PersistentMap({topic.topic_id: topic}),
        streams=PersistentMap({10: stream}),
        logs=PersistentMap({1: log}),
    )
    ended = msgspec.structs.replace(log, state=LogState.DRAINED)
    new = msgspec.structs.replace(old, logs=PersistentMap({1: ended}))
    judge = DrainedLogs(lambda _place, node_id: told if node_id == 1 else 99, lambda _: has_lost)
    return list(judge.wrong(Step(old, new, b"", ())))


def test_a_log_that_is_drained_before_all_is_in_the_bucket_is_found() -> None:
    assert drained(4, told=5) == ["log of 1 is drained: ('t', 0) up to 4 of 5"]
    assert drained(5, told=5) == []
    assert drained(4, told=5, has_lost=True) == []
