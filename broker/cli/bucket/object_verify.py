"""`headrace object verify`: checks objects to the last byte."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click

from headrace.broker.cli.bucket_argument import (
    EXIT_FOUND,
    cluster_option,
    opened,
    require_cluster,
    run_async,
    url_argument,
)
from headrace.broker.cli.options import output_option
from headrace.broker.cli.output import emit_object, emit_rows, talk
from headrace.broker.cli.progress import progress, tally
from headrace.readable import size_text

if TYPE_CHECKING:
    from headrace.storage.audit.audited_bucket import AuditedBucket
    from headrace.storage.audit.check_many import Candidate
    from headrace.storage.audit.object_check import ObjectReport

MAX_DAMAGED_KEPT = 1_000  # reports of damaged objects that are shown; more are counted


@dataclass(slots=True)
class _Outcome:
    objects: int = 0
    blocks: int = 0
    batches: int = 0
    bytes: int = 0
    gone: list[str] = field(default_factory=list)
    gone_count: int = 0
    damaged: "list[ObjectReport]" = field(default_factory=list)
    damaged_count: int = 0

    def add(self, key: str, report: "ObjectReport | None") -> None:
        """Count one object."""
        if report is None:
            self.gone_count += 1
            if len(self.gone) < MAX_DAMAGED_KEPT:
                self.gone.append(key)
            return
        self.objects += 1
        self.blocks += report.blocks
        self.batches += report.batches
        self.bytes += report.size_bytes
        if not report.is_whole:
            self.damaged_count += 1
            if len(self.damaged) < MAX_DAMAGED_KEPT:
                self.damaged.append(report)


@click.command()
@url_argument
@click.argument("names", nargs=-1, metavar="[KEY_OR_ID]...")
@click.option("--all", "everything", is_flag=True, help="Every object of the bucket.")
@cluster_option
@click.option("--index-only", is_flag=True, help="Footers and indexes, not the blocks.")
@click.option(
    "--parallel",
    type=click.IntRange(1, 64),
    default=4,
    show_default=True,
    help="Objects read at the same time; each takes about 8 MiB of memory.",
)
@output_option
def verify(
    url: str,
    names: tuple[str, ...],
    everything: bool,
    cluster: str | None,
    index_only: bool,
    parallel: int,
    output: str,
) -> int:
    """Check footers, indexes and blocks against their checksums and against each other.

    With --all, an object that is deleted during the check is no error.

    Exit code: 0 all are intact, 1 some are damaged or missing, 2 wrong usage.
    """
    if bool(names) == everything:
        raise click.UsageError("Name objects by key or id, or give --all.")
    outcome = run_async(
        _verify(url, names, cluster, blocks=not index_only, parallel=parallel), url=url
    )
    missing = 0 if everything else outcome.gone_count
    if output != "table":
        emit_object(_document(outcome), output=output)
    else:
        _print(outcome)
    return EXIT_FOUND if outcome.damaged_count or missing else 0


async def _verify(
    url: str, names: tuple[str, ...], cluster: str | None, *, blocks: bool, parallel: int
) -> _Outcome:
    from headrace.broker.cli.bucket.named_objects import find_named

    outcome = _Outcome()
    async with opened(url) as place:
        check = _Checker(place, outcome, blocks=blocks, parallel=parallel)
        if names:
            found = [await find_named(place, name, cluster) for name in names]
            total = sum(one.size_bytes for one in found) if blocks else 0
            with progress("checking", total=total) as advance:
                await check([(one.key, one.size_bytes) for one in found], on_bytes=advance)
        else:
            with tally("objects checked") as count:
                clusters: set[str] = set()
                async for page in _listed(place, cluster, clusters):
                    await check(page, on_object=count)
            require_cluster(clusters, cluster)
    return outcome


class _Checker:
    """Checks some objects and adds what it finds to the outcome."""

    def __init__(
        self, place: "AuditedBucket", outcome: _Outcome, *, blocks: bool, parallel: int
    ) -> None:
        self._place = place
        self._outcome = outcome
        self._blocks = blocks
        self._parallel = parallel

    async def __call__(
        self,
        candidates: "list[Candidate]",
        *,
        on_bytes: Callable[[int], None] = lambda _: None,
        on_object: Callable[[int], None] = lambda _: None,
    ) -> None:
        from headrace.storage.audit.check_many import check_many
        from headrace.storage.audit.object_check import Watch

        async for key, report in check_many(
            self._place.reader,
            candidates,
            blocks=self._blocks,
            parallel=self._parallel,
            watch=Watch(on_bytes=on_bytes),
        ):
            self._outcome.add(key, report)
            on_object(1)


async def _listed(
    place: "AuditedBucket", cluster: str | None, clusters: set[str]
) -> "AsyncIterator[list[Candidate]]":
    """Yield objects of a cluster, or of all, page by page; gather all clusters that there are."""
    from headrace.storage.audit.inventory import KeyKind, meaning_of

    async for page in place.lister.pages():
        meanings = [(one, meaning_of(one.key)) for one in page]
        clusters.update(meaning.cluster_id for _, meaning in meanings if meaning.cluster_id)
        yield [
            (one.key, one.size_bytes)
            for one, meaning in meanings
            if meaning.kind == KeyKind.OBJECT and cluster in (None, meaning.cluster_id)
        ]


def _document(outcome: _Outcome) -> dict[str, object]:
    return {
        "objects": outcome.objects,
        "blocks": outcome.blocks,
        "batches": outcome.batches,
        "bytes": outcome.bytes,
        "damaged": outcome.damaged_count,
        "gone": outcome.gone,
        "damage": [row for report in outcome.damaged for row in _rows(report)],
    }


def _rows(report: "ObjectReport") -> list[dict[str, object]]:
    return [{"key": report.key, "position": it.position, "what": it.what} for it in report.damage]


def _print(outcome: _Outcome) -> None:
    emit_rows([row for report in outcome.damaged for row in _rows(report)], output="table")
    for key in outcome.gone:
        talk(f"deleted during the check: {key}")
    checked = f"{outcome.objects} objects, {outcome.blocks} blocks, {outcome.batches} batches"
    talk(f"{checked}, {size_text(outcome.bytes)}: {outcome.damaged_count} damaged")
