"""`headrace bucket fsck`: compares a bucket with what the metadata knows."""

from enum import Enum
from typing import TYPE_CHECKING

import click

from headrace.broker.cli.bucket_argument import (
    EXIT_FOUND,
    metadata_option,
    opened,
    run_async,
    size_text,
    url_argument,
)
from headrace.broker.cli.options import output_option
from headrace.broker.cli.output import emit_object, emit_rows, talk
from headrace.broker.cli.progress import tally
from headrace.broker.cli.times import format_time

if TYPE_CHECKING:
    from headrace.broker.cli.bucket.compare import Compared
    from headrace.broker.cli.bucket.concerned import Concerned
    from headrace.storage.audit.comparison import Comparison, Finding

MAX_ROWS_SHOWN = 50
HOUR_MS = 3_600_000


class Depth(Enum):
    """What is read of the bucket."""

    OBJECTS = "objects"  # their list
    INDEXES = "indexes"
    BLOCKS = "blocks"


@click.command()
@url_argument
@metadata_option(required=True)
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
    metadata_dir: str,
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
    Nothing is locked, repaired or removed.

    Exit code: 0 no errors, 1 errors (with --strict: or leftovers), 2 wrong usage.
    """
    depth = Depth.BLOCKS if blocks else Depth.INDEXES if deep else Depth.OBJECTS
    compared = run_async(
        _compare(url, metadata_dir, depth, overdue_hours=overdue_hours, parallel=parallel),
        url=url,
    )
    comparison = compared.comparison
    if output != "table":
        emit_object(_document(compared, depth), output=output)
    else:
        _print(compared, depth)
    from headrace.storage.audit.comparison import Severity

    wrong = comparison.count(Severity.ERROR) + strict * comparison.count(Severity.LEFTOVER)
    return EXIT_FOUND if wrong else 0


async def _compare(
    url: str, metadata_dir: str, depth: Depth, *, overdue_hours: int, parallel: int
) -> "Compared":
    from headrace.broker.cli.bucket.compare import compare_bucket, compare_indexes

    async with opened(url) as place:
        with tally("listing") as count:
            compared = await compare_bucket(
                place, metadata_dir, overdue_ms=overdue_hours * HOUR_MS, count=count
            )
        if depth is not Depth.OBJECTS:
            with tally(depth.value) as count:
                await compare_indexes(
                    place,
                    metadata_dir,
                    compared,
                    blocks=depth is Depth.BLOCKS,
                    parallel=parallel,
                    count=count,
                )
    return compared


def _document(compared: "Compared", depth: Depth) -> dict[str, object]:
    from headrace.storage.audit.comparison import Severity

    outcome, metadata = compared
    return {
        "cluster": outcome.cluster_id,
        "node": metadata.node_id,
        "metadata_index": metadata.image.index,
        "metadata_in_use": metadata.in_use,
        "deep": depth is not Depth.OBJECTS,
        "blocks": depth is Depth.BLOCKS,
        "exact": outcome.is_exact,
        "settled": outcome.is_settled,
        "errors": outcome.count(Severity.ERROR),
        "leftovers": outcome.count(Severity.LEFTOVER),
        "counts": {problem.value: count for problem, count in outcome.counts.items()},
        "states": _states(outcome),
        "not_judged": {kind.value: count for kind, count in outcome.not_judged.items()},
        "other_clusters": outcome.other_clusters,
        "findings": [_row(it) for it in outcome.findings()],
        "concerned": [it._asdict() for it in _concerned(compared)],
    }


def _concerned(compared: "Compared") -> "list[Concerned]":
    from headrace.broker.cli.bucket.concerned import concerned_by

    return concerned_by(compared.metadata.image, compared.comparison.findings())


def _states(outcome: "Comparison") -> list[dict[str, object]]:
    return [
        {
            "state": state.value,
            "known": totals.known,
            "in_bucket": totals.found,
            "bytes": totals.found_bytes,
        }
        for state, totals in outcome.states.items()
    ]


def _row(finding: "Finding") -> dict[str, object]:
    return {
        "severity": finding.problem.severity.value,
        "problem": finding.problem.value,
        "object_id": finding.object_id,
        "bytes": finding.size_bytes,
        "modified": format_time(finding.modified_ms) if finding.modified_ms else None,
        "key": finding.key,
        "detail": finding.detail,
    }


def _print(compared: "Compared", depth: Depth) -> None:
    from headrace.storage.audit.comparison import Severity

    outcome, metadata = compared
    used = ", in use by a running node" if metadata.in_use else ""
    talk(f"cluster {outcome.cluster_id}, metadata at entry {metadata.image.index}{used}")
    emit_rows(_states(outcome), output="table")
    rows = [_row(it) for it in outcome.findings()]
    if rows:
        click.echo()
        columns = ("severity", "problem", "object_id", "bytes", "modified", "detail")
        emit_rows(rows[:MAX_ROWS_SHOWN], output="table", columns=columns)
    if len(rows) > MAX_ROWS_SHOWN:
        talk(f"... and {len(rows) - MAX_ROWS_SHOWN} more; -o json shows all")
    concerned = _concerned(compared)
    if concerned:
        click.echo()
        emit_rows([it._asdict() for it in concerned[:MAX_ROWS_SHOWN]], output="table")
    if len(concerned) > MAX_ROWS_SHOWN:
        talk(f"... and {len(concerned) - MAX_ROWS_SHOWN} more; -o json shows all")
    for kind, number in outcome.not_judged.items():
        talk(f"not checked: {number} keys ({kind.value})")
    for cluster_id, number in outcome.other_clusters.items():
        talk(f"not checked: {number} objects of cluster {cluster_id}")
    errors, leftovers = outcome.count(Severity.ERROR), outcome.count(Severity.LEFTOVER)
    leftover_bytes = sum(it.size_bytes for it in outcome.findings(Severity.LEFTOVER))
    how = {Depth.OBJECTS: "objects", Depth.INDEXES: "objects and indexes"}
    what = how.get(depth, "objects, indexes and blocks")
    talk(f"{what} compared: {errors} errors, {leftovers} leftovers ({size_text(leftover_bytes)})")
    _advise(outcome)
    _advise_about(concerned)


def _advise_about(concerned: "list[Concerned]") -> None:
    """Say what can be done about partitions."""
    from headrace.broker.cli.bucket.concerned import CHECKPOINTS, RECORDS

    held = {it.holds for it in concerned}
    if RECORDS in held:
        talk(
            "Those records cannot be read; all others can, and the partitions take new ones. Restore the keys "
            "from a version or a copy, or let consumers start behind the damage: with `headrace topic "
            "delete-records NAME -P PARTITION --before END_OFFSET`, which deletes everything below."
        )
    if CHECKPOINTS in held:
        talk("Checkpoints need nothing: the broker reads the log instead, and writes a new one.")


def _advise(outcome: "Comparison") -> None:
    from headrace.storage.audit.comparison import Problem

    if outcome.counts.get(Problem.BEYOND_METADATA):
        talk(
            "The metadata is older than the bucket: do not start a node on it, and do not remove "
            "anything."
        )
    if outcome.counts.get(Problem.MISSING):
        talk("Records are lost unless the bucket keeps versions or a copy: restore the keys above.")
    if outcome.counts.get(Problem.UNKNOWN):
        talk("`headrace bucket gc` removes unknown objects.")
