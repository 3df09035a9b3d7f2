"""Checks every object of a bucket beside the metadata: what `headrace bucket fsck --blocks` does, by many tasks.

The driver lists the bucket and compares; tasks read the objects, each object by one task, 128 MiB or one object a task.
Nothing is changed in the bucket, so a job that is killed leaves nothing. Findings, words and exit codes are those of
`headrace bucket fsck`.

Run it with `headrace spark fsck URL`, or give this file to spark-submit.
"""

import argparse
import sys
import time

from headrace.known_objects import comparer_of, concerned_by, known_bucket
from headrace.pipeline.jobs.job_arguments import job_parser, metadata_of
from headrace.pipeline.jobs.object_tasks import check, check_tasks
from headrace.pipeline.jobs.running import SparkRunner
from headrace.pipeline.jobs.told import Told, run_job
from headrace.pipeline.source.bucket import Bucket, open_bucket
from headrace.pipeline.source.catalog import Catalog
from headrace.pipeline.source.snapshots import Metadata
from headrace.readable import size_text, table_lines
from headrace.storage.audit.comparison import Comparison
from headrace.storage.audit.fsck_report import (
    Depth,
    Examined,
    FsckOutcome,
    Table,
    fsck_document,
    fsck_text,
)
from headrace.storage.audit.judgement import judge_gone, objects_to_read

HOUR_MS = 3_600_000


def parser() -> argparse.ArgumentParser:
    """Return the parser of the arguments."""
    made = job_parser("fsck", (__doc__ or "").partition("\n\n")[0])
    made.add_argument(
        "--deep",
        action="store_true",
        help="read footers and indexes only, as `bucket fsck --deep` does; the default is every block",
    )
    made.add_argument("--overdue-hours", type=int, default=24, help="as of `bucket fsck`")
    made.add_argument("--strict", action="store_true", help="exit with code 1 for leftovers, too")
    made.add_argument("--json", action="store_true", help="print the result as JSON")
    made.add_argument(
        "--dry-run", action="store_true", help="say how much would be read, and read nothing"
    )
    return made


def compare_bucket(
    bucket: Bucket, metadata: Metadata, *, overdue_ms: int
) -> tuple[Comparison, Catalog]:
    """Compare the list of objects with the metadata; what differs is looked at once more."""

    def once() -> tuple[Comparison, Catalog]:
        catalog = metadata.newest(None)
        comparer = comparer_of(
            catalog.image,
            catalog.cluster_id,
            catalog.time_ms,
            now_ms=time.time_ns() // 1_000_000,
            overdue_ms=overdue_ms,
        )
        for page in bucket.pages():
            comparer.add(page)
        return comparer.finish(), catalog

    first, catalog = once()
    if not first.counts:
        return first, catalog
    second, catalog = once()
    return first.confirmed_by(second), catalog


def run(arguments: argparse.Namespace, told: Told) -> int:
    """Check; returns the exit code."""
    bucket = open_bucket(arguments.bucket)
    metadata = metadata_of(bucket, arguments)
    depth = Depth.INDEXES if arguments.deep else Depth.BLOCKS
    comparison, catalog = compare_bucket(
        bucket, metadata, overdue_ms=arguments.overdue_hours * HOUR_MS
    )
    known = known_bucket(catalog.image, catalog.cluster_id)
    chosen = objects_to_read(known, comparison)
    tasks = list(
        check_tasks(arguments.bucket, sorted(chosen.items()), blocks=depth is Depth.BLOCKS)
    )
    if arguments.dry_run:
        size = size_text(sum(it.size_bytes for it in chosen.values()))
        if arguments.json:
            told.document({"objects": len(chosen), "tasks": len(tasks)})
        else:
            told.result(f"would read {len(chosen)} objects ({size}) by {len(tasks)} tasks")
        return 0
    gone: list[str] = []
    for checked in SparkRunner("headrace fsck").run(check, tasks, told, depth.value):
        gone.extend(checked.gone)
        for finding in checked.findings:
            comparison.add(finding)
    if gone:
        # Compacted away and deleted meanwhile, or lost: newer metadata show which.
        newest = metadata.newest(None)
        for finding in judge_gone(chosen, gone, known_bucket(newest.image, newest.cluster_id)):
            comparison.add(finding)
    examined = Examined(None, catalog.index, in_use=False, time_ms=catalog.time_ms)
    told.measure(objects=len(chosen), findings=sum(comparison.counts.values()))
    concerned = concerned_by(catalog.image, comparison.findings())
    outcome = FsckOutcome(comparison, examined, concerned, depth)
    tell(told, outcome, as_json=arguments.json)
    return outcome.exit_code(strict=arguments.strict)


def tell(told: Told, outcome: FsckOutcome, *, as_json: bool) -> None:
    """Print the outcome."""
    if as_json:
        told.document(fsck_document(outcome))
        return
    above = ""
    for piece in fsck_text(outcome):
        if isinstance(piece, Table):
            columns = piece.columns or list(piece.rows[0])
            told.result(above + "\n".join(table_lines(piece.rows, columns)))
            above = "\n"
        else:
            told.talk(piece)


if __name__ == "__main__":
    sys.exit(run_job(parser(), run))
