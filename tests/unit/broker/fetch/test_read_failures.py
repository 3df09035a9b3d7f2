"""ReadFailures: what could not be read from the bucket is named, but not again and again."""

import logging
from types import SimpleNamespace
from typing import Any

import pytest

from headrace.broker.fetch.read_failures import MAX_LINES, REPEAT_S, ReadFailures
from headrace.broker.telemetry.request_metrics import RequestMetrics
from headrace.protocol.errors import ErrorCode
from headrace.storage.errors import (
    CorruptObjectError,
    FencedError,
    ObjectNotFoundError,
    ObjectStoreError,
    OffsetOutOfRangeError,
    StorageError,
)

DAMAGED = CorruptObjectError("object 3, block at 100: checksum")


class Scene:
    def __init__(self, caplog: pytest.LogCaptureFixture) -> None:
        self.now_s = 1_000.0
        self.metrics = RequestMetrics(lambda: self.now_s)
        self.failures = ReadFailures(self.metrics)
        self._log = caplog

    def note(self, error: StorageError, topic: str = "t", index: int = 0) -> None:
        partition: Any = SimpleNamespace(topic=topic, index=index)
        self.failures.note(partition, 7, error)

    def said(self) -> list[logging.LogRecord]:
        records = list(self._log.records)
        self._log.clear()
        return records


@pytest.fixture
def scene(caplog: pytest.LogCaptureFixture) -> Scene:
    return Scene(caplog)


@pytest.mark.parametrize("error", [DAMAGED, ObjectNotFoundError("cluster/3")])
def test_damage_is_named_with_its_place(scene: Scene, error: StorageError) -> None:
    scene.note(error, index=5)
    (line,) = scene.said()
    assert line.levelno == logging.ERROR
    fields: Any = line
    assert (fields.topic, fields.partition, fields.offset) == ("t", 5, 7)
    assert fields.reason == f"{type(error).__name__}: {error}"


def test_the_same_is_said_once_a_minute_and_counted_each_time(scene: Scene) -> None:
    for _ in range(5):
        scene.note(DAMAGED)
        scene.now_s += 1
    assert len(scene.said()) == 1
    scene.note(DAMAGED, index=1)
    scene.note(ObjectNotFoundError("gone"))
    assert len(scene.said()) == 2, "other partitions and other errors are news"
    scene.now_s += REPEAT_S
    scene.note(DAMAGED)
    assert len(scene.said()) == 1
    assert scene.metrics.cold_reads_failed == {
        ErrorCode.CORRUPT_MESSAGE: 7,
        ErrorCode.KAFKA_STORAGE_ERROR: 1,
    }


def test_so_many_lines_at_most(scene: Scene) -> None:
    for index in range(MAX_LINES + 3):
        scene.note(DAMAGED, index=index)
        scene.note(DAMAGED, index=index)
    assert len(scene.said()) == MAX_LINES
    scene.now_s += REPEAT_S
    scene.note(DAMAGED)
    rest, line = scene.said()
    assert rest.__dict__["partitions"] == 3
    assert line.levelno == logging.ERROR


def test_a_bucket_that_does_not_answer_is_said_once_for_all(scene: Scene) -> None:
    for index in range(5):
        scene.note(ObjectStoreError("503"), index=index)
    (line,) = scene.said()
    assert line.levelno == logging.WARNING
    assert scene.metrics.cold_reads_failed == {ErrorCode.KAFKA_STORAGE_ERROR: 5}


@pytest.mark.parametrize("error", [FencedError("moved"), OffsetOutOfRangeError("trimmed")])
def test_a_partition_that_moves_or_is_trimmed_is_no_failure(
    scene: Scene, error: StorageError
) -> None:
    scene.note(error)
    assert scene.said() == []
    assert not scene.metrics.cold_reads_failed
