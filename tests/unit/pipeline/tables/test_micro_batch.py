"""What the driver does with a micro-batch, without Spark: its checkpoint and its tasks are stood in for."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from headrace.pipeline.tables import micro_batch
from headrace.pipeline.tables.dead_letters import Letter
from headrace.pipeline.tables.end_offsets import NoEndsError
from headrace.pipeline.tables.errors import TableError
from headrace.pipeline.tables.identities import TopicIdentities
from headrace.pipeline.tables.micro_batch import MicroBatches
from headrace.pipeline.tables.source_offsets import BatchRange
from headrace.pipeline.tables.write_task import WriteTask
from headrace.pipeline.tables.writing import Written, collected
from tests.unit.pipeline.tables.table_scene import TableScene, records

COLUMNS = "columns = { id = 'long' }\n"


class Letters:
    """Where bad records go."""

    def __init__(self) -> None:
        self.keys: list[str] = []

    def write(self, letters: Sequence[Letter], since_ms: int | None) -> None:
        del since_ms
        self.keys += [it.key for it in letters]


class Driver:
    """Micro-batches of a table, whose brokers tell ids one after the other; None is no answer."""

    def __init__(self, scene: TableScene, *ids: Mapping[str, str] | None) -> None:
        self._scene = scene
        self._ids = list(ids)
        self.letters = Letters()
        identities = TopicIdentities("shop.orders", ("orders",), self._ask, lambda _: None)
        self.batches = MicroBatches(
            scene.config, scene.configured, scene.catalog, self.letters, lambda: 1, identities
        )
        self.batches.begin()

    def _ask(self, topics: Sequence[str]) -> Mapping[str, str]:
        answer = self._ids.pop(0)
        if answer is None:
            raise NoEndsError("nobody is there")
        return answer

    def take(
        self, values: Sequence[Any], start: int, end: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A micro-batch from an offset to another one."""
        checkpoint = Mock()
        starts = {"orders": {0: start}} if start else None
        checkpoint.batch_range.return_value = BatchRange(starts, {"orders": {0: end}})
        checkpoint.query_id.return_value = "query"
        batch = records(values, start=start)

        def run(_: object, task: WriteTask) -> Written:
            return collected((r["kind"], r["body"]) for it in task([batch]) for r in it.to_pylist())

        monkeypatch.setattr(micro_batch, "QueryCheckpoint", lambda *_: checkpoint)
        monkeypatch.setattr(micro_batch, "run_tasks", run)
        self.batches(Mock(), 0)


def test_a_topic_that_was_created_again_and_has_not_come_so_far_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With failOnDataLoss=false Spark goes on in it, below what the table has."""
    scene = TableScene(tmp_path, COLUMNS)
    driver = Driver(scene, {"orders": "old"}, {"orders": "old"}, {"orders": "new"})
    driver.take([{"id": 1}, {"id": 2}], 0, 2, monkeypatch)
    with pytest.raises(TableError, match="topic orders was deleted and created again"):
        driver.take([{"id": 3}], 0, 1, monkeypatch)
    assert len(scene.rows()) == 2


def test_a_letter_has_the_same_key_though_nobody_tells_ids_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = TableScene(tmp_path, COLUMNS)
    first = Driver(scene, {"orders": "old"}, {"orders": "old"})
    first.take([{"id": 1}, b"{"], 0, 2, monkeypatch)
    assert first.letters.keys == ["orders-0-1-old"]
    again = Driver(scene, None)
    again.take([b"{"], 2, 3, monkeypatch)
    assert again.letters.keys == ["orders-0-2-old"]
