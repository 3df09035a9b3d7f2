"""One task of an export: reads objects, and writes files that stay hidden until the driver publishes them."""

from typing import BinaryIO, Final, NamedTuple

from pyspark import TaskContext

from headrace.pipeline.jobs.dated_files import COLUMNS, DatedFiles, WrittenFile
from headrace.pipeline.jobs.export_plan import ExportTask
from headrace.pipeline.jobs.manifest import STAGING, data_key
from headrace.pipeline.jobs.target import open_target
from headrace.pipeline.source.bucket import open_bucket
from headrace.pipeline.source.reading import Reading, read_task

_MARK: Final = "/topic="


class Exported(NamedTuple):
    """What a task has written."""

    task: ExportTask
    files: list[WrittenFile]


def export(task: ExportTask) -> Exported:
    """Run a task; each attempt writes files of its own, so two attempts at once do not meet.

    Raises:
        SourceError: the bucket cannot be read.
        DataLossError: offsets were deleted meanwhile, and failOnDataLoss is true.
        TargetError: a file cannot be written.
    """
    bucket, target = open_bucket(task.bucket), open_target(task.target)
    context = TaskContext.get()
    attempt = 0 if context is None else context.taskAttemptId()
    folder = f"{staging_folder(task.run)}/{task.number:06d}.{attempt}"

    def begin(day: str, number: int) -> tuple[str, BinaryIO]:
        key = f"{folder}/{data_key(task.topic, day, task.run, task.number, number)}"
        return key, target.begin(key)

    files = DatedFiles(
        task.ranges,
        begin=begin,
        finish=target.finish,
        dates=task.dates,
        max_file_bytes=task.max_file_bytes,
        compression=task.compression,
    )
    reading = Reading(COLUMNS, task.fails_on_loss, task.cluster_id)
    for batch in read_task(bucket, task.parts, reading):
        files.add(batch)
    return Exported(task, files.finish())


def staging_folder(run: int) -> str:
    """Where files of a run are until they are published."""
    return f"{STAGING}/{run:020d}"


def published_key(staged: str) -> str:
    """The key that a staged file gets."""
    return staged[staged.index(_MARK) + 1 :]
