"""Upserts without Spark: how many tasks there are, which files one of them reads, and the newest rows of a task."""

import pickle
import random
from pathlib import Path
from typing import Any
from unittest.mock import Mock, call

import pyarrow as pa
import pytest

from headrace.pipeline.tables import data_files, newest_rows
from headrace.pipeline.tables.data_files import TableFiles, decode_data_file
from headrace.pipeline.tables.merging import ChangedKeys, RewriteTask, rewrite_groups
from headrace.pipeline.tables.micro_batch import upsert_tasks
from headrace.pipeline.tables.queries import choose_shuffle_partitions
from headrace.pipeline.tables.table_state import TableState
from headrace.pipeline.tables.write_task import BAD, KEYS
from headrace.pipeline.tables.writing import MAX_RUNS
from tests.unit.pipeline.tables.table_scene import TableScene, records


@pytest.mark.parametrize(
    ("count", "most", "is_partitioned", "tasks"),
    [
        (0, 8, False, 1),
        (300, 8, False, 1),
        (250_000, 8, False, 3),
        (250_000, 2, False, 2),
        (250_000, 8, True, 1),
        (10**9, 8, True, 8),
    ],
)
def test_tasks_of_an_upsert(count: int, most: int, *, is_partitioned: bool, tasks: int) -> None:
    assert upsert_tasks(count, most, is_partitioned=is_partitioned) == tasks


def test_how_many_records_a_micro_batch_has() -> None:
    state = TableState(offsets={"t": {0: 10}})
    assert state.count_until({"t": {0: 15, 1: 7}}, {"t": {0: 12, 1: 4}}) == 6
    assert state.count_until({"t": {0: 15}}, None) == 5
    assert state.count_until({"t": {0: 5}}, None) == 0


def test_small_files_of_a_partition_become_one_and_others_stay(tmp_path: Path) -> None:
    more = "columns = { n = 'int' }\nmode = 'upsert'\nkey = 'id'\npartition_by = ['n']\n"
    scene = TableScene(tmp_path, more)
    for number in range(6):
        values = [{"n": number % 2, "run": number}] * 2
        keys = [b"a%d" % number, b"b%d" % number]
        scene.commit(scene.run(records(values, keys=keys, start=2 * number)).told, 2 * number + 2)
    scans = list(scene.catalog.load_table("shop.orders").scan().plan_files())
    groups = rewrite_groups(scans)
    assert sorted(map(len, groups)) == [3, 3]
    changed = scene.told(records([{"n": 0}, None], keys=[b"a0", b"b2"], start=12))
    keys = ChangedKeys("id", [body for kind, body in changed if kind == KEYS])
    batch = pa.record_batch(
        [pa.array([0, 1]), pa.array([pickle.dumps(it) for it in groups])], names=["number", "body"]
    )
    task = RewriteTask(TableFiles.of(scene.catalog.load_table("shop.orders")), keys)
    told = [row for it in task([batch]) for row in it.to_pylist()]
    replaced = [groups[it["number"]][it["place"]].file for it in told if it["body"] is None]
    new = [decode_data_file(it["body"]) for it in told if it["body"] is not None]
    assert (len(replaced), len(new)) == (2, 1)  # the files of runs 0 and 2, in one partition
    assert sum(it.record_count for it in new) == 2


def test_the_newest_rows_of_a_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when those that were replaced are dropped on the way."""
    monkeypatch.setattr(newest_rows, "_MIN_ROWS", 20)
    random_ = random.Random(5)
    scene = TableScene(tmp_path, "columns = { n = 'int' }\nmode = 'upsert'\nkey = 'id'\n")
    expected: dict[str, int] = {}
    batches = []
    for number in range(30):
        keys = [b"k%d" % random_.randrange(15) for _ in range(10)]
        values = [None if random_.random() < 0.2 else {"n": random_.randrange(1000)} for _ in keys]
        batches.append(records(values, keys=keys, start=number * 10))
        for key, value in zip(keys, values, strict=True):
            expected.pop(key.decode(), None)
            if value is not None:
                expected[key.decode()] = value["n"]
    scene.commit(scene.run(*batches).told, 300)
    assert {it["id"]: it["n"] for it in scene.rows()} == expected


def test_an_upsert_of_bad_records_alone_looks_at_no_file(tmp_path: Path) -> None:
    scene = TableScene(tmp_path, "columns = { n = 'int' }\nmode = 'upsert'\nkey = 'id'\n")
    told = scene.told(records([b"{", {"n": 1}], keys=[b"a", None]))
    assert [kind for kind, _ in told] == [BAD, BAD]


@pytest.mark.parametrize("versions", [1, 3, 12])
def test_many_versions_of_a_key_that_no_file_can_have_stop_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, versions: int
) -> None:
    """An older one takes the place of each in the next run, and there are so many runs."""
    scene = TableScene(tmp_path, "columns = { n = 'int' }\nmode = 'upsert'\nkey = 'id'\n")
    written = data_files._dataframe_to_data_files

    def writing(metadata: Any, rows: pa.Table, io: Any) -> Any:
        if any(it >= 100 for it in rows.column("n").to_pylist()):
            raise LookupError("odd")
        return written(metadata, rows, io)

    monkeypatch.setattr(data_files, "_dataframe_to_data_files", writing)
    values = [{"n": 1}, {"n": 2}, *({"n": 100 + it} for it in range(versions)), {"n": 3}]
    keys = [b"a", b"b", *[b"a"] * versions, b"c"]
    told = scene.run(records(values, keys=keys)).told
    assert scene.commit(told, len(values))
    is_kept = versions < MAX_RUNS - 1
    expected = {"b": 2, "c": 3, **({"a": 1} if is_kept else {})}
    assert {it["id"]: it["n"] for it in scene.rows()} == expected
    assert [kind for kind, _ in told].count(BAD) == versions + (not is_kept)


@pytest.mark.parametrize(("is_chosen", "number"), [(False, "3"), (True, None)])
def test_shuffles_have_as_many_tasks_as_cores_unless_somebody_chose(
    is_chosen: bool, number: str | None
) -> None:
    session = Mock()
    session.sparkContext.getConf().contains.return_value = is_chosen
    session.sparkContext.defaultParallelism = 3
    choose_shuffle_partitions(session)
    name = "spark.sql.shuffle.partitions"
    session.sparkContext.getConf().contains.assert_called_with(name)
    assert session.conf.set.mock_calls == ([] if number is None else [call(name, number)])
