"""An export that dies anywhere: what readers see then, and after the next run. Tasks run in this process."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow.parquet as pq
import pytest

from headrace.pipeline.jobs import export, export_task, exporting
from headrace.pipeline.jobs.exporting import ExportRun, newest_manifest
from headrace.pipeline.jobs.target import DirectoryTarget, Target, TargetError, open_target
from headrace.pipeline.jobs.told import JobError, Told
from headrace.pipeline.source.errors import DataLossError, OptionError
from headrace.protocol.records.record import BatchOptions, Record, encode_batch
from headrace.storage.record_batch import StreamRecordBatch
from tests.unit.pipeline.source import stored_topics
from tests.unit.pipeline.source.stored_topics import START_MS, TOPIC, TOPIC_ID, StoredTopics

HOUR_MS = 3_600_000
PER_BATCH = 5
FIRST = {1: [(0, 0, 60), (2, 0, 60)], 2: [(0, 60, 120)], 3: [(2, 60, 100)]}
SECOND = {**FIRST, 4: [(0, 120, 150), (2, 100, 160)]}
Place = tuple[int, int]  # partition, offset
_COLUMNS = ["partition", "offset", "timestamp"]


def time_of(offset: int) -> int:
    """An hour a record, and each seventh is a day late."""
    return START_MS + HOUR_MS * offset - (24 * HOUR_MS if offset % 7 == 0 else 0)


def batches_of_days(stream_id: int, start: int, end: int) -> list[StreamRecordBatch]:
    found = []
    for base in range(start, end, PER_BATCH):
        offsets = range(base, min(base + PER_BATCH, end))
        records = [Record(it, time_of(it), b"k", str(it).encode(), ()) for it in offsets]
        payload = memoryview(encode_batch(records, BatchOptions()))
        found.append(StreamRecordBatch(stream_id, 1, base, len(offsets), payload))
    return found


class InProcess:
    """See `headrace.pipeline.jobs.running.Runner`; each task is run twice, as Spark may."""

    parallelism = 1

    def run(self, act: Callable[[Any], Any], tasks: Any, told: Told, label: str) -> list[Any]:
        del told, label
        return [[act(task), act(task)][1] for task, _ in tasks]


class DiedError(BaseException):
    """The process is gone."""


class MortalTarget(DirectoryTarget):
    """Dies at the n-th call that changes something, before anything is changed."""

    def __init__(self, path: Path, lives: int) -> None:
        super().__init__(path)
        self.lives = lives

    def _spend(self) -> None:
        self.lives -= 1
        if self.lives <= 0:
            raise DiedError

    def finish(self, key: str, file: BinaryIO) -> int:
        self._spend()
        return super().finish(key, file)

    def create(self, key: str, data: bytes) -> bool:
        self._spend()
        return super().create(key, data)

    def move(self, source: str, target: str) -> None:
        self._spend()
        super().move(source, target)

    def delete(self, keys: list[str]) -> None:
        for key in keys:
            self._spend()
            super().delete([key])


class World:
    """A bucket, and a directory to export into."""

    def __init__(self, directory: Path) -> None:
        self.topics = StoredTopics(batches_of_days)
        self.bucket = directory / "bucket"
        self.out = directory / "out"

    def publish(self, layout: Any, starts: tuple[int, int] = (0, 0), **options: Any) -> None:
        self.topics.publish(layout, starts, **options)
        self.topics.write_to(self.bucket)

    def export(self, *more: str, target: Target | None = None) -> int:
        words = [f"file://{self.bucket}", "--to", f"file://{self.out}"]
        chosen = [] if any(it.startswith("--topics") for it in more) else ["--topics", TOPIC]
        arguments = export.parser().parse_args([*words, *chosen, "--json", *more])
        arguments.file_bytes = 1_500
        return export.run(arguments, Told(events=False), target=target, runner=InProcess())

    def plainly(self) -> list[Place]:
        """What a reader of the directory sees, with each record in the directory of its day."""
        return [row for path in self.out.glob("topic=*/*/*.parquet") for row in rows(path)]

    def by_manifest(self) -> list[Place]:
        manifest = newest_manifest(open_target(f"file://{self.out}"))
        return [row for path in manifest.paths for row in rows(self.out / path)] if manifest else []

    @property
    def files(self) -> set[str]:
        return {str(it.relative_to(self.out)) for it in self.out.rglob("*") if it.is_file()}


def rows(path: Path) -> list[Place]:
    with path.open("rb") as file:
        table = pq.ParquetFile(file).read(_COLUMNS, use_threads=False)
    day = path.parent.name.removeprefix("date=")
    partitions, offsets, times = (table[it].to_pylist() for it in _COLUMNS)
    assert {it.date().isoformat() for it in times} <= {day}
    assert [it.timestamp() * 1_000 for it in times] == list(map(time_of, offsets))
    return list(zip(partitions, offsets, strict=True))


def places(*ends: int, starts: tuple[int, int] = (0, 0)) -> list[Place]:
    return [(it, offset) for it, end in enumerate(ends) for offset in range(starts[it], end)]


def is_once(found: list[Place]) -> bool:
    return len(found) == len(set(found))


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "MIN_FILE_BYTES", 1)


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    made.publish(FIRST)
    return made


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Callable[[], dict[str, Any]]:
    def read() -> dict[str, Any]:
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return found

    return read


def test_each_record_once_and_a_second_run_adds_what_is_new(
    world: World, printed: Callable[[], dict[str, Any]]
) -> None:
    assert world.export() == 0
    first = printed()
    assert sorted(world.plainly()) == sorted(world.by_manifest()) == places(120, 100)
    assert first["rows"] == 220
    assert first["tasks"] > 1
    world.publish(SECOND)
    assert world.export() == 0
    assert printed()["rows"] == 90
    assert sorted(world.plainly()) == sorted(world.by_manifest()) == places(150, 160)
    assert world.export() == 0
    assert printed()["files"] == 0
    assert len([it for it in world.files if "manifest" in it]) == 2
    assert not [it for it in world.files if "staging" in it]


def test_it_may_die_at_every_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After an export that was whole, one that adds two steps dies; what follows is a run that does not."""
    monkeypatch.setattr(exporting, "STEP_TASKS_PER_CORE", 1)
    first = {1: [(0, 0, 5), (2, 0, 5)]}
    before = World(tmp_path / "before")
    before.publish(first)
    assert before.export() == 0
    before.publish({**first, 2: [(0, 5, 10), (2, 5, 10)], 3: [(0, 10, 15)]})
    for lives in range(1, 1_000):
        world = World(tmp_path / str(lives))
        shutil.copytree(tmp_path / "before", tmp_path / str(lives))
        target = MortalTarget(world.out, lives)
        monkeypatch.setattr(export_task, "open_target", lambda _, target=target: target)
        try:
            ended = world.export(target=target) == 0
        except DiedError:
            ended = False
        monkeypatch.setattr(export_task, "open_target", open_target)
        for seen in (world.plainly(), world.by_manifest()):
            assert is_once(seen), lives
            assert set(seen) >= set(places(5, 5)), lives
        assert world.export() == 0
        assert sorted(world.plainly()) == sorted(world.by_manifest()) == places(15, 10), lives
        assert not [it for it in world.files if "staging" in it or "/." in it]
        if ended:
            assert lives > 20
            return


def test_files_that_are_gone_or_damaged_are_written_again(
    world: World, printed: Callable[[], dict[str, Any]]
) -> None:
    world.export()
    printed()
    paths = sorted(world.out.glob("topic=*/*/*.parquet"))
    paths[1].unlink()
    paths[3].write_bytes(b"not Parquet")
    (world.out / "topic=orders" / "mine.parquet").write_bytes(b"of the user")
    assert world.export() == 0
    assert printed()["repaired"] == 2
    (world.out / "topic=orders" / "mine.parquet").unlink()
    assert sorted(world.plainly()) == sorted(world.by_manifest()) == places(120, 100)


def test_a_file_whose_records_are_deleted_is_an_error_each_time(
    world: World, printed: Callable[[], dict[str, Any]]
) -> None:
    world.export()
    printed()
    first = next(
        it
        for it in newest_manifest(open_target(f"file://{world.out}")).paths.values()  # type: ignore[union-attr]
        if it.ranges[0][:2] == (0, 0)
    )
    (world.out / first.path).unlink()
    world.publish({2: [(0, 60, 120)], 3: [(2, 60, 100)]}, (60, 60))
    for _ in range(2):
        assert world.export() == 1
        assert printed()["lost"] == [first.path]


def test_a_dry_run_changes_nothing(world: World, printed: Callable[[], dict[str, Any]]) -> None:
    assert world.export("--dry-run") == 0
    told = printed()
    assert (
        sum(end - start for it in told["tasks"] for _, start, end in map(_range, it["ranges"]))
        == 220
    )
    assert world.files == set()


def _range(text: str) -> tuple[int, int, int]:
    partition, _, offsets = text.partition(":")
    start, _, end = offsets.partition("-")
    return int(partition), int(start), int(end)


def test_offsets_and_times_that_are_asked_for(world: World) -> None:
    world.export(
        "--starting-offsets",
        '{"orders": {"0": 10, "1": 20}}',
        "--ending-offsets",
        '{"orders": {"0": 30, "1": -1}}',
    )
    assert sorted(world.plainly()) == places(30, 100, starts=(10, 20))
    world.export("--until", "2023-11-15T20:00")
    world.export("--since", "2023-11-17T00:00+00:00")
    assert is_once(world.plainly())
    world.export()
    assert sorted(world.plainly()) == places(120, 100)


def test_two_runs_at_once_do_not_both_publish(world: World) -> None:
    told, target = Told(events=False), open_target(f"file://{world.out}")
    older = ExportRun(target, told)
    older.take_over(stored_topics.CLUSTER)
    assert world.export() == 0
    with pytest.raises(JobError, match="taken over"):
        older._publish_step([], {}, {})
    assert sorted(world.plainly()) == places(120, 100)


def test_a_topic_of_the_same_name_is_another(world: World) -> None:
    world.export()
    world.publish(FIRST, topic_id=type(TOPIC_ID)(int=9))
    with pytest.raises(JobError, match="deleted and created again"):
        world.export()


def test_an_export_of_another_cluster(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.export()
    with pytest.raises(JobError, match="of cluster unit, and the bucket of other"):
        ExportRun(open_target(f"file://{world.out}"), Told(events=False)).take_over("other")


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        (["--since", "yesterday"], OptionError, "--since is a date or a time"),
        (["--starting-offsets", "{"], OptionError, "startingOffsets is no JSON"),
        (["--topics", "typo"], OptionError, "no topic 'typo'"),
        (
            ["--starting-offsets", '{"orders": {"0": 0, "1": 200}}'],
            DataLossError,
            "up to offset 100",
        ),
    ],
)
def test_what_cannot_be_done(
    world: World, words: list[str], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        world.export(*words)


def test_a_directory_that_cannot_be_written(world: World) -> None:
    world.out.write_text("a file")
    with pytest.raises(TargetError, match="cannot write"):
        world.export()


def test_an_empty_folder_of_a_killed_worker_goes(world: World) -> None:
    left = world.out / "_headrace/staging/00000000000000000001/000000.dead"
    left.mkdir(parents=True)
    assert world.export() == 0
    assert not (world.out / "_headrace/staging").exists()
