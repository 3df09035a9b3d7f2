"""`headrace object verify`: checks objects to the last byte."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click

from broker.cli.bucket_place import (
    EXIT_FOUND,
    cluster_option,
    json_option,
    opened,
    run_async,
    size_text,
    url_argument,
)
from broker.cli.output import emit_object, emit_rows, talk
from broker.cli.progress import tally

if TYPE_CHECKING:
    from collections.abc import Callable

    from storage.audit.check_many import Candidate
    from storage.audit.object_check import ObjectReport
    from storage.audit.place import Place

DAMAGED_KEPT_MAX = 1_000  # reports of damaged objects that are shown; more are counted


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
            if len(self.gone) < DAMAGED_KEPT_MAX:
                self.gone.append(key)
            return
        self.objects += 1
        self.blocks += report.blocks
        self.batches += report.batches
        self.bytes += report.size_bytes
        if not report.is_whole:
            self.damaged_count += 1
            if len(self.damaged) < DAMAGED_KEPT_MAX:
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
    help="Objects read at a time; each takes some 8 MiB of memory.",
)
@json_option
def verify(
    url: str,
    names: tuple[str, ...],
    everything: bool,
    cluster: str | None,
    index_only: bool,
    parallel: int,
    as_json: bool,
) -> int:
    """Check footers, indexes and blocks against their checksums and against each other.

    With --all, an object that is deleted while it is checked is no error.

    Exit code: 0 all are whole, 1 some are damaged or missing, 2 wrong usage.
    """
    if bool(names) == everything:
        raise click.UsageError("Name objects by KEY or id, or give --all.")
    outcome = run_async(
        _verify(url, names, cluster, blocks=not index_only, parallel=parallel), url=url
    )
    missing = 0 if everything else outcome.gone_count
    if as_json:
        emit_object(_document(outcome), output="json")
    else:
        _print(outcome)
    return EXIT_FOUND if outcome.damaged_count or missing else 0


async def _verify(
    url: str, names: tuple[str, ...], cluster: str | None, *, blocks: bool, parallel: int
) -> _Outcome:
    from storage.audit.check_many import check_many  # noqa: PLC0415 - not for help

    outcome = _Outcome()
    async with _counted() as count, opened(url) as place:
        pages = _named(place, names, cluster) if names else _listed(place, cluster)
        async for page in pages:
            async for key, report in check_many(
                place.reader, page, blocks=blocks, parallel=parallel
            ):
                outcome.add(key, report)
                count(1)
    return outcome


@asynccontextmanager
async def _counted() -> "AsyncIterator[Callable[[int], None]]":
    with tally("objects checked") as count:
        yield count


async def _named(
    place: "Place", names: tuple[str, ...], cluster: str | None
) -> "AsyncIterator[list[Candidate]]":
    from broker.cli.object_place import find_named  # noqa: PLC0415 - not for help

    for name in names:
        found = await find_named(place, name, cluster)
        yield [(found.key, found.size_bytes)]


async def _listed(place: "Place", cluster: str | None) -> "AsyncIterator[list[Candidate]]":
    from storage.audit.inventory import KeyKind, meaning_of  # noqa: PLC0415 - not for help

    async for page in place.lister.pages():
        yield [
            (one.key, one.size_bytes)
            for one in page
            if (meaning := meaning_of(one.key)).kind == KeyKind.OBJECT
            and cluster in (None, meaning.cluster_id)
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
        talk(f"deleted meanwhile: {key}")
    checked = f"{outcome.objects} objects, {outcome.blocks} blocks, {outcome.batches} batches"
    talk(f"{checked}, {size_text(outcome.bytes)}: {outcome.damaged_count} damaged")
