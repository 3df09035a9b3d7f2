"""Exports topics from the bucket to Parquet, without a broker: each record once, however often it runs or is killed.

Files are `topic=<name>/date=<day of the record's time, in UTC>/*.parquet`, of about --file-bytes each where there is
enough; columns are partition, offset, timestamp, timestampType, key, value and headers, as of `format("headrace")`.
A manifest says which offsets are in which files: a second run adds what is missing, writes files again that are gone
or have another size, and removes what a run that was killed has left.

Run it with `headrace spark export URL --to URL --topics NAME,...`, or give this file to spark-submit.
"""

import argparse
import io
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from typing import Final, NamedTuple

from headrace.pipeline.jobs import job_arguments
from headrace.pipeline.jobs.dated_files import (
    COLUMNS,
    COMPRESSIONS,
    MAX_FILE_BYTES,
    TARGET_FILE_BYTES,
    DatedFiles,
)
from headrace.pipeline.jobs.export_plan import ExportTask, by_day, chunk_bytes
from headrace.pipeline.jobs.exporting import (
    ExportRun,
    look,
    newest_manifest,
    require_cluster,
)
from headrace.pipeline.jobs.job_arguments import add_topics, job_parser, metadata_of
from headrace.pipeline.jobs.manifest import FORMAT, Manifest, missing, wanted_of
from headrace.pipeline.jobs.running import Runner, SparkRunner
from headrace.pipeline.jobs.target import Target, open_target
from headrace.pipeline.jobs.told import EXIT_FAILED, JobError, Told, run_job
from headrace.pipeline.source.bucket import Bucket, open_bucket, read_index
from headrace.pipeline.source.catalog import Catalog, TopicPartition
from headrace.pipeline.source.ends import PartitionEnds
from headrace.pipeline.source.errors import OptionError
from headrace.pipeline.source.offsets import batch_ranges
from headrace.pipeline.source.options import read_options
from headrace.pipeline.source.plan import (
    Part,
    WantedRange,
    divide,
    large_objects,
    parts_of,
)
from headrace.pipeline.source.reading import Reading, read_task
from headrace.pipeline.source.snapshots import with_metadata
from headrace.pipeline.source.times import day_starts
from headrace.readable import size_text, table_lines

SAMPLE_BYTES: Final = 4 * 1024 * 1024  # of a topic, by which the size of its files is estimated
LOOKUPS: Final = 16  # of days' beginnings, at once
MIN_FILE_BYTES: Final = 1 << 20


class ExportPlan(NamedTuple):
    """What a run does."""

    tasks: list[ExportTask]
    topic_ids: dict[str, str]
    repaired: dict[int, str]  # by the number of a task, the file that it replaces
    lost: list[str]  # files that cannot be written again: their records are deleted


def parser() -> argparse.ArgumentParser:
    """Return the parser of the arguments."""
    made = job_parser("export", (__doc__ or "").partition("\n\nRun it")[0])
    made.add_argument(
        "--to", required=True, metavar="URL", help="file:///DIRECTORY or s3://NAME/PREFIX?..."
    )
    add_topics(made)
    made.add_argument("--starting-offsets", metavar="JSON", help="as of the data source")
    made.add_argument("--ending-offsets", metavar="JSON", help="as of the data source")
    made.add_argument(
        "--since",
        metavar="TIME",
        help="2026-01-31 or 2026-01-31T12:00, in UTC: from the first offset so new",
    )
    made.add_argument("--until", metavar="TIME", help="up to the first offset that is so new")
    made.add_argument(
        "--file-bytes",
        type=int,
        default=TARGET_FILE_BYTES,
        help=f"of a file, about; at most {MAX_FILE_BYTES} (default {TARGET_FILE_BYTES})",
    )
    made.add_argument(
        "--compression",
        choices=COMPRESSIONS,
        default=COMPRESSIONS[0],
        help=f"of the files (default {COMPRESSIONS[0]}); snappy and lz4 take less time",
    )
    made.add_argument(
        "--fail-on-data-loss",
        choices=["true", "false"],
        default="true",
        help="whether offsets that retention deletes meanwhile end the job",
    )
    made.add_argument(
        "--dry-run", action="store_true", help="say what would be done, and do nothing"
    )
    made.add_argument("--json", action="store_true", help="print the result as JSON")
    return made


def source_options(arguments: argparse.Namespace) -> dict[str, str]:
    """Return the arguments as options of the data source."""
    return job_arguments.source_options(
        arguments,
        endingOffsets=arguments.ending_offsets,
        startingTimestamp=arguments.since and str(time_ms("--since", arguments.since)),
        endingTimestamp=arguments.until and str(time_ms("--until", arguments.until)),
        startingOffsetsByTimestampStrategy="latest",
        failOnDataLoss=arguments.fail_on_data_loss,
    )


def time_ms(name: str, text: str) -> int:
    """Read a time, in UTC unless it says otherwise.

    Raises:
        OptionError: it is none.
    """
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise OptionError(
            f"{name} is a date or a time such as 2026-01-31T12:00, not {text!r}"
        ) from error
    return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp() * 1_000)


class Planner:
    """Plans by one snapshot of the metadata."""

    def __init__(
        self, bucket: Bucket, arguments: argparse.Namespace, manifest: Manifest, run: int
    ) -> None:
        self._bucket = bucket
        self._arguments = arguments
        self._manifest = manifest
        self._run = run
        self._options = read_options(source_options(arguments))

    def plan(self, wrong: Sequence[str], catalog: Catalog) -> ExportPlan:
        """Plan what is missing, and what repairs files.

        Raises:
            JobError: a topic was deleted and created again since it was exported.
            ObjectGoneError: newer metadata is needed.
            SourceError: the bucket cannot be read, or has not what is wanted.
        """
        ends = PartitionEnds(self._bucket, self._options)
        wanted = batch_ranges(catalog, self._options, ends.of(catalog))
        names = {it.name.topic for it in wanted}
        plan = ExportPlan([], {name: catalog.topic_id(name) for name in sorted(names)}, {}, [])
        _require_same_topics(self._manifest, plan.topic_ids)
        self._plan_repairs(wrong, catalog, plan)
        for topic in plan.topic_ids:
            todo = [it for it in missing(self._manifest, wanted) if it.name.topic == topic]
            for parts in self._divided(catalog, todo):
                plan.tasks.append(self._task(len(plan.tasks), topic, parts, None, catalog))
        return plan

    def _plan_repairs(self, wrong: Sequence[str], catalog: Catalog, plan: ExportPlan) -> None:
        for topic, found in self._manifest.topics.items():
            for file in found.files:
                if file.path not in wrong:
                    continue
                ranges = wanted_of(topic, file)
                is_there = catalog.has_topic(topic) and catalog.topic_id(topic) == found.topic_id
                stored = {it.name: catalog.stored(it.name) for it in ranges if is_there}
                if not is_there or any(
                    held is None or held.start_offset > it.start_offset
                    for it in ranges
                    for held in [stored[it.name]]
                ):
                    plan.lost.append(file.path)
                    continue
                number = len(plan.tasks)
                parts = tuple(parts_of(catalog, ranges))
                plan.tasks.append(self._task(number, topic, parts, frozenset({file.date}), catalog))
                plan.repaired[number] = file.path
                plan.topic_ids.setdefault(topic, found.topic_id)

    def _task(
        self,
        number: int,
        topic: str,
        parts: tuple[Part, ...],
        dates: frozenset[str] | None,
        catalog: Catalog,
    ) -> ExportTask:
        return ExportTask(
            bucket=self._arguments.bucket,
            cluster_id=catalog.cluster_id,
            target=self._arguments.to,
            topic=topic,
            run=self._run,
            number=number,
            parts=parts,
            dates=dates,
            fails_on_loss=self._options.fails_on_loss,
            max_file_bytes=min(MAX_FILE_BYTES, 2 * self._arguments.file_bytes),
            compression=self._arguments.compression,
        )

    def _divided(
        self, catalog: Catalog, wanted: Sequence[WantedRange]
    ) -> Iterator[tuple[Part, ...]]:
        """Yield the parts of each task, of one topic."""
        sample = parts_of(catalog, wanted)
        if not sample:
            return
        ratio = self._ratio(max(sample, key=lambda it: it.size_bytes), catalog)
        for ranges in by_day(wanted, self._day_starts(catalog, wanted)):
            parts = parts_of(catalog, ranges)
            total = sum(it.size_bytes for it in parts)
            most = chunk_bytes(total, ratio, self._arguments.file_bytes)
            stored = {it.stored.object_id: it.stored for it in parts}
            indexes = {
                it: read_index(self._bucket, stored[it].key, stored[it].size_bytes)
                for it in sorted(large_objects(parts, most))
            }
            yield from divide(parts, indexes, most)

    def _day_starts(
        self, catalog: Catalog, wanted: Sequence[WantedRange]
    ) -> Mapping[TopicPartition, Sequence[tuple[int, int]]]:
        names = sorted({it.name for it in wanted})

        def found(name: TopicPartition) -> list[tuple[int, int]]:
            stored = catalog.stored(name)
            return [] if stored is None else day_starts(self._bucket, catalog, stored)

        with ThreadPoolExecutor(LOOKUPS) as pool:
            return dict(zip(names, pool.map(found, names), strict=True))

    def _ratio(self, part: Part, catalog: Catalog) -> float:
        """Bytes of a Parquet file for a byte of objects, by the first blocks of a part."""
        stored = part.stored
        index = read_index(self._bucket, stored.key, stored.size_bytes)
        size_bytes, end = 0, stored.start_offset
        for block in index.find(stored.stream_id, stored.start_offset, stored.end_offset):
            size_bytes += block.size
            end = min(block.end_offset, stored.end_offset)
            if size_bytes >= SAMPLE_BYTES:
                break
        piece = Part(part.name, stored._replace(end_offset=end))
        ranges = [(part.name.partition, stored.start_offset, end)]
        files = DatedFiles(
            ranges,
            begin=lambda day, _: (day, io.BytesIO()),
            finish=lambda _, file: len(file.getvalue()),  # type: ignore[attr-defined]
            compression=self._arguments.compression,
        )
        reading = Reading(COLUMNS, self._options.fails_on_loss, catalog.cluster_id)
        for batch in read_task(self._bucket, (piece,), reading):
            files.add(batch)
        return sum(it.bytes for it in files.finish()) / max(1, size_bytes)


def run(
    arguments: argparse.Namespace,
    told: Told,
    *,
    target: Target | None = None,
    runner: Runner | None = None,
) -> int:
    """Export; returns the exit code.

    Args:
        arguments: see `parser`.
        told: what is told.
        target: None: that of the arguments.
        runner: None: Spark.
    """
    if not MIN_FILE_BYTES <= arguments.file_bytes <= MAX_FILE_BYTES:
        raise OptionError(f"--file-bytes is between {MIN_FILE_BYTES} and {MAX_FILE_BYTES}")
    start_s = time.monotonic()
    read_options(
        source_options(arguments)
    )  # what is wrong with them is an error before anything is done
    bucket, target = open_bucket(arguments.bucket), target or open_target(arguments.to)
    catalog = metadata_of(bucket, arguments).newest(None)
    if arguments.dry_run:
        manifest = newest_manifest(target) or Manifest(FORMAT, 0, "", catalog.cluster_id, {})
        require_cluster(manifest, catalog.cluster_id)
        found = look(target, manifest, first_kept=0)
        planner = Planner(bucket, arguments, manifest, 0)
        plan = with_metadata(bucket, catalog, partial(planner.plan, found.wrong))
        tell_plan(told, plan, len(found.strangers), as_json=arguments.json)
        return 0
    exporting = ExportRun(target, told)
    found = exporting.take_over(catalog.cluster_id)
    planner = Planner(bucket, arguments, exporting.manifest, exporting.run)
    plan = with_metadata(bucket, catalog, partial(planner.plan, found.wrong))
    if plan.tasks:
        runner = runner or SparkRunner("headrace export")
        exporting.run_steps(runner, plan.tasks, plan.topic_ids, plan.repaired)
    seconds = round(time.monotonic() - start_s, 3)
    tell_result(told, exporting, plan, seconds, as_json=arguments.json)
    return EXIT_FAILED if plan.lost else 0


def tell_result(
    told: Told, exporting: ExportRun, plan: ExportPlan, seconds: float, *, as_json: bool
) -> None:
    """Print what was done."""
    totals, topics = exporting.totals, exporting.manifest.topics
    document: dict[str, object] = {
        **totals._asdict(),
        "seconds": seconds,
        "tasks": len(plan.tasks),
        "repaired": len(plan.repaired),
        "lost": plan.lost,
        "removed": exporting.removed,
        "manifest_version": exporting.manifest.version,
        "offsets": {name: topics[name].offsets for name in plan.topic_ids if name in topics},
    }
    told.measure(
        records=totals.rows,
        files=totals.files,
        written_bytes=totals.bytes,
        findings=len(plan.repaired) + len(plan.lost),
    )
    if as_json:
        told.document(document)
    else:
        size = size_text(totals.bytes)
        told.result(f"exported {totals.rows} records in {totals.files} files ({size})")
        told.talk(
            f"repaired {len(plan.repaired)} files, removed {exporting.removed} that no manifest has"
        )
    for path in plan.lost:
        told.talk(
            f"error: {path} is missing or damaged, and its records are no longer in the topic: restore the file"
        )


def tell_plan(told: Told, plan: ExportPlan, strangers: int, *, as_json: bool) -> None:
    """Print what would be done."""
    rows = [
        {
            "topic": it.topic,
            "date": ",".join(sorted(it.dates)) if it.dates else "",
            "ranges": [f"{partition}:{start}-{end}" for partition, start, end in it.ranges],
            "bytes": it.size_bytes,
            "replaces": plan.repaired.get(it.number, ""),
        }
        for it in plan.tasks
    ]
    if as_json:
        told.document({"tasks": rows, "lost": plan.lost, "strangers": strangers})
        return
    if rows:
        told.result("\n".join(table_lines(rows, list(rows[0]))))
    size = size_text(sum(it.size_bytes for it in plan.tasks))
    told.talk(
        f"would read {size} by {len(rows)} tasks, repair {len(plan.repaired)} files and remove {strangers}"
    )


def _require_same_topics(manifest: Manifest, topic_ids: Mapping[str, str]) -> None:
    for name, topic_id in topic_ids.items():
        known = manifest.topics.get(name)
        if known is not None and known.topic_id != topic_id:
            raise JobError(
                f"topic {name} was deleted and created again since it was exported: give another --to"
            )


if __name__ == "__main__":
    sys.exit(run_job(parser(), run))
