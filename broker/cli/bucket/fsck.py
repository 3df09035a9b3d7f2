"""`headrace bucket fsck`: compares a bucket with what the metadata knows."""

from typing import TYPE_CHECKING

import click

from headrace.broker.cli.bucket_argument import (
    cluster_option,
    opened,
    run_async,
    url_argument,
)
from headrace.broker.cli.metadata_source import metadata_option, metadata_source
from headrace.broker.cli.options import output_option
from headrace.broker.cli.output import emit_object, emit_rows, talk
from headrace.broker.cli.progress import tally

if TYPE_CHECKING:
    from headrace.broker.cli.bucket.compare import Compared
    from headrace.storage.audit.fsck_report import Depth, FsckOutcome

HOUR_MS = 3_600_000


@click.command()
@url_argument
@metadata_option(required=True)
@cluster_option
@click.option("--deep", is_flag=True, help="Also read each object's index and compare its ranges.")
@click.option("--blocks", is_flag=True, help="Also read and check all data: the whole bucket.")
@click.option(
    "--overdue-hours",
    type=click.IntRange(0),
    default=24,
    show_default=True,
    help="An object that is marked for deletion may stay this long; set it above "
    "s3.object.delete.retention.minutes.",
)
@click.option(
    "--parallel",
    type=click.IntRange(1, 64),
    default=8,
    show_default=True,
    help="Indexes read at the same time.",
)
@click.option("--strict", is_flag=True, help="Also exit with code 1 for leftovers.")
@output_option
def fsck(
    *,
    url: str,
    metadata: str,
    cluster: str | None,
    deep: bool,
    blocks: bool,
    overdue_hours: int,
    parallel: int,
    strict: bool,
    output: str,
) -> int:
    """Compare a bucket with the metadata.

    Errors mean that records are lost or at risk: an object is missing, has another size or another
    index, or has an id that the metadata has never assigned; with --blocks also that data contradict
    their checksums. The partitions and offsets that this concerns are named. Leftovers cost money: objects that the
    metadata no longer knows, that were never committed, or that should have been deleted. Each
    finding is checked a second time before it is reported, so a node may run at the same time.
    With `--metadata bucket`, what came after the newest snapshot is counted, not judged.
    Nothing is locked, repaired or removed.

    Exit code: 0 no errors, 1 errors (with --strict: or leftovers), 2 wrong usage.
    """
    from headrace.known_objects import concerned_by
    from headrace.storage.audit.fsck_report import Depth, FsckOutcome, fsck_document

    depth = Depth.BLOCKS if blocks else Depth.INDEXES if deep else Depth.OBJECTS
    comparison, read = run_async(
        _compare(url, metadata, cluster, depth, overdue_hours=overdue_hours, parallel=parallel),
        url=url,
    )
    concerned = concerned_by(read.image, comparison.findings())
    outcome = FsckOutcome(comparison, read.examined, concerned, depth)
    if output != "table":
        emit_object(fsck_document(outcome), output=output)
    else:
        _print(outcome)
    return outcome.exit_code(strict=strict)


async def _compare(
    url: str,
    metadata: str,
    cluster: str | None,
    depth: "Depth",
    *,
    overdue_hours: int,
    parallel: int,
) -> "Compared":
    from headrace.broker.cli.bucket.compare import compare_bucket, compare_indexes
    from headrace.storage.audit.fsck_report import Depth

    async with opened(url) as place:
        source = metadata_source(metadata, place, cluster)
        with tally("listing") as count:
            compared = await compare_bucket(
                place, source, overdue_ms=overdue_hours * HOUR_MS, count=count
            )
        if depth is not Depth.OBJECTS:
            with tally(depth.value) as count:
                await compare_indexes(
                    place,
                    source,
                    compared,
                    blocks=depth is Depth.BLOCKS,
                    parallel=parallel,
                    count=count,
                )
    return compared


def _print(outcome: "FsckOutcome") -> None:
    from headrace.storage.audit.fsck_report import Table, fsck_text

    is_first = True
    for piece in fsck_text(outcome):
        if not isinstance(piece, Table):
            talk(piece)
            continue
        if not is_first:
            click.echo()
        emit_rows(piece.rows, output="table", columns=piece.columns)
        is_first = False
