"""Runs an export on the driver: takes it over, tidies up, repairs, and publishes step by step.

What if it dies at any line? Files that tasks write are in the staging folder, which readers of Parquet leave out.
When all tasks of a step have ended, the driver moves their files to their folders, and then creates the next version
of the manifest. A run begins by creating a version of its own: a run before it that still lives can publish nothing
from then on. Then it deletes what the manifest does not have: the staging folder, and files that were moved and not
published. Only then does it read anything, so no record is ever in two files that can be seen.
"""

import uuid
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NamedTuple

from headrace.pipeline.jobs.export_plan import ExportTask
from headrace.pipeline.jobs.export_task import Exported, export, published_key, staging_folder
from headrace.pipeline.jobs.manifest import (
    FOLDER,
    FORMAT,
    KEPT,
    STAGING,
    ExportedFile,
    Manifest,
    data_run,
    decode_manifest,
    encode_manifest,
    extended,
    manifest_key,
    manifest_version,
)
from headrace.pipeline.jobs.running import Runner
from headrace.pipeline.jobs.target import Target
from headrace.pipeline.jobs.told import JobError, Told
from headrace.pipeline.source.errors import ObjectGoneError

MAX_ATTEMPTS: Final = 5  # a manifest that was listed may be deleted before it is read
MOVES: Final = 8  # at once
STEP_TASKS_PER_CORE: Final = 8  # of one step, at whose end it is published


class ExportTotals(NamedTuple):
    """What a run has done."""

    files: int = 0
    rows: int = 0
    bytes: int = 0

    def plus(self, files: Sequence[ExportedFile]) -> "ExportTotals":
        """With these files."""
        return ExportTotals(
            self.files + len(files),
            self.rows + sum(it.rows for it in files),
            self.bytes + sum(it.bytes for it in files),
        )


def newest_manifest(target: Target) -> Manifest | None:
    """Return the manifest that counts, or None without one.

    Raises:
        SourceError: it cannot be read.
        UnreadableManifestError: it is damaged.
    """
    for _ in range(MAX_ATTEMPTS):
        versions = [
            found for it in target.keys(FOLDER) if (found := manifest_version(it)) is not None
        ]
        if not versions:
            return None
        try:
            return decode_manifest(target.whole(manifest_key(max(versions))))
        except ObjectGoneError:
            continue  # two newer ones have come meanwhile
    raise JobError("each manifest was deleted before it could be read: run again")


class ExportState(NamedTuple):
    """What is wrong in an export's directory."""

    strangers: list[str]  # files of runs that did not publish them, and old manifests
    wrong: list[str]  # files of the manifest that are missing, or have another size


def look(target: Target, manifest: Manifest, *, first_kept: int) -> ExportState:
    """Compare a directory with its manifest.

    Args:
        target: the directory.
        manifest: the newest.
        first_kept: the oldest version that stays.
    """
    expected = {path: file.bytes for path, file in manifest.paths.items()}
    strangers: list[str] = []
    wrong = set(expected)
    for page in target.pages():
        for it in page:
            version = manifest_version(it.key)
            if it.key in expected:
                if it.size_bytes == expected[it.key]:
                    wrong.discard(it.key)
            elif (version is not None and version < first_kept) or (
                version is None
                and (it.key.startswith(f"{FOLDER}/") or data_run(it.key) is not None)
            ):
                strangers.append(it.key)
    return ExportState(strangers, sorted(wrong))


class ExportRun:
    """One run; `take_over` first."""

    def __init__(self, target: Target, told: Told) -> None:
        self._target = target
        self._told = told
        self._writer = uuid.uuid4().hex
        self.totals = ExportTotals()
        self.removed = 0
        self.manifest = Manifest(FORMAT, 0, "", "", {})
        self.run = 0

    def take_over(self, cluster_id: str) -> ExportState:
        """Make this the run that publishes, and delete what others have left; return what is wrong.

        Raises:
            JobError: another run has just done the same, or the export is of another cluster.
            TargetError: the directory cannot be written.
        """
        before = newest_manifest(self._target) or Manifest(FORMAT, 0, "", cluster_id, {})
        require_cluster(before, cluster_id)
        self.manifest = before
        self._publish([], [], {}, [])
        self.run = self.manifest.version
        found = look(self._target, self.manifest, first_kept=self.run - KEPT + 1)
        self._target.delete(found.strangers)
        self._target.delete_empty(STAGING)
        self.removed = len(found.strangers)
        return found

    def run_steps(
        self,
        runner: Runner,
        tasks: Sequence[ExportTask],
        topic_ids: dict[str, str],
        repaired: dict[int, str],
    ) -> None:
        """Run tasks and publish what they write, a step at a time.

        Args:
            runner: of the tasks.
            tasks: all.
            topic_ids: of their topics.
            repaired: by the number of a task, the file that it replaces.

        Raises:
            JobError: another run has taken over.
        """
        size = runner.parallelism * STEP_TASKS_PER_CORE
        try:
            for start in range(0, len(tasks), size):
                step = tasks[start : start + size]
                label = f"exporting, step {start // size + 1} of {-(-len(tasks) // size)}"
                sized = [(it, it.size_bytes) for it in step]
                found = runner.run(export, sized, self._told, label)
                self._publish_step(found, topic_ids, repaired)
        finally:
            self._target.delete(self._target.keys(staging_folder(self.run)))
            self._target.delete_empty(STAGING)

    def _publish_step(
        self, found: Sequence[Exported], topic_ids: dict[str, str], repaired: dict[int, str]
    ) -> None:
        self._require_newest()
        removed = [repaired[it.task.number] for it in found if it.task.number in repaired]
        self._target.delete(removed)
        added = [
            (
                it.task.topic,
                ExportedFile(
                    published_key(file.name), file.date, file.rows, file.bytes, file.ranges
                ),
            )
            for it in found
            for file in it.files
        ]
        moves = [(file.name, published_key(file.name)) for it in found for file in it.files]
        with ThreadPoolExecutor(MOVES) as pool:
            for _ in pool.map(lambda it: self._target.move(*it), moves):
                pass
        try:
            self._publish(found, added, topic_ids, removed)
        except JobError:
            # The run that has taken over may have looked before these files were moved.
            self._target.delete([key for _, key in moves])
            raise
        self.totals = self.totals.plus([file for _, file in added])

    def _publish(
        self,
        found: Sequence[Exported],
        added: Sequence[tuple[str, ExportedFile]],
        topic_ids: dict[str, str],
        removed: Sequence[str],
    ) -> None:
        version = self.manifest.version + 1
        following = extended(
            self.manifest,
            version=version,
            writer=self._writer,
            topic_ids=topic_ids,
            exported=[
                wanted for it in found if it.task.dates is None for wanted in it.task.exported
            ],
            added=added,
            removed=removed,
        )
        if not self._target.create(manifest_key(version), encode_manifest(following)):
            raise _taken_over()
        self.manifest = following
        if version > KEPT:
            self._target.delete([manifest_key(version - KEPT)])

    def _require_newest(self) -> None:
        found = newest_manifest(self._target)
        if found is None or found.version != self.manifest.version:
            raise _taken_over()


def require_cluster(manifest: Manifest, cluster_id: str) -> None:
    """Refuse to mix clusters.

    Raises:
        JobError: the export is of another one.
    """
    if manifest.cluster != cluster_id:
        raise JobError(
            f"the export is of cluster {manifest.cluster}, and the bucket of {cluster_id}: give another --to"
        )


def _taken_over() -> JobError:
    return JobError("another export has taken over this directory meanwhile: run again after it")
