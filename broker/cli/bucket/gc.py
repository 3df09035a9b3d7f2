"""`headrace bucket gc`: removes objects that no metadata knows."""

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import click

from headrace.broker.cli.bucket_argument import (
    cluster_option,
    opened,
    run_async,
    url_argument,
)
from headrace.broker.cli.failures import CommandFailedError
from headrace.broker.cli.metadata_source import IN_BUCKET, metadata_option, metadata_source
from headrace.broker.cli.options import output_option
from headrace.broker.cli.output import emit_object, emit_rows, talk
from headrace.broker.cli.progress import tally
from headrace.broker.cli.times import parse_time
from headrace.readable import format_time, size_text

if TYPE_CHECKING:
    from headrace.storage.audit.comparison import Finding
    from headrace.storage.audit.garbage import GarbagePlan

MAX_ROWS_SHOWN = 50
BATCH_KEYS = 1_000  # what one request of S3 takes


class _Collected(NamedTuple):
    plan: "GarbagePlan"
    removed: int
    cluster_id: str
    in_use: bool


@click.command()
@url_argument
@metadata_option(required=True)
@cluster_option
@click.option(
    "--dry-run", is_flag=True, help="Only show what would be removed; the default without --yes."
)
@click.option("-y", "--yes", is_flag=True, help="Remove the objects.")
@click.option(
    "--live", is_flag=True, help="Continue even if a node has the metadata directory open."
)
@click.option(
    "--older-than",
    default="24h",
    show_default=True,
    metavar="AGE",
    help="Remove only what is older, such as 90m, 24h or 7d.",
)
@output_option
def gc(
    *,
    url: str,
    metadata: str,
    cluster: str | None,
    dry_run: bool,
    yes: bool,
    live: bool,
    older_than: str,
    output: str,
) -> None:
    """Remove objects of this cluster that its metadata no longer knows.

    Such objects were written after their preparation had expired, or their deletion failed: no
    broker will read them. Never removed: objects that the metadata knows, objects of other
    clusters, objects of a write-ahead log, and all other keys. If the metadata and the bucket
    contradict each other, nothing is removed (see `bucket fsck`).

    Without --yes nothing is removed. With --yes the metadata directory is locked until the end, so
    that no node can start; with --live it is not locked, and a node may run. With `--metadata bucket`
    nothing can be locked.
    """
    if dry_run and yes:
        raise click.UsageError("Give --dry-run or --yes, not both.")
    if yes and metadata == IN_BUCKET and not live:
        raise click.UsageError(
            "With --metadata bucket there is no directory to lock, and a node may run: add --live."
        )
    collected = run_async(
        _collect(url, metadata, cluster, older_than, remove=yes, lock=yes and not live), url=url
    )
    plan = collected.plan
    rows = [_row(it) for it in plan.removable]
    summary = {
        "cluster": collected.cluster_id,
        "dry_run": not yes,
        "metadata_in_use": collected.in_use,
        "refusal": plan.refusal,
        "removable": len(rows),
        "removable_bytes": plan.removable_bytes,
        "removed": collected.removed,
        "too_young": plan.too_young,
        "beyond_bound": plan.beyond_bound,
    }
    if output != "table":
        emit_object(summary | {"objects": rows}, output=output)
    else:
        _print(collected, rows, removed=yes)
    if plan.refusal:
        raise CommandFailedError(
            f"nothing may be removed: {plan.refusal}",
            hint="`headrace bucket fsck` shows the details. Check that --metadata is the newest "
            "metadata of this bucket.",
        )


async def _collect(
    url: str, metadata: str, cluster: str | None, older_than: str, *, remove: bool, lock: bool
) -> _Collected:
    from headrace.broker.cli.bucket.compare import compare_bucket, wall_clock_ms
    from headrace.storage.audit.comparison import OVERDUE_MS_DEFAULT
    from headrace.storage.audit.garbage import plan_garbage

    now_ms = wall_clock_ms()
    safe_age_ms = now_ms - parse_time(older_than, now_ms=now_ms)
    if safe_age_ms < 0:
        raise click.BadParameter(f"{older_than!r} is in the future.")
    with _locked(metadata) if lock else _unlocked():
        async with opened(url) as place:
            source = metadata_source(metadata, place, cluster)
            with tally("listing") as count:
                comparison, read = await compare_bucket(
                    place, source, overdue_ms=OVERDUE_MS_DEFAULT, count=count
                )
        plan = plan_garbage(comparison, now_ms=now_ms, safe_age_ms=safe_age_ms)
        removed = 0
        if remove and not plan.refusal:
            removed = await _remove(url, [it.key for it in plan.removable])
    return _Collected(plan, removed, comparison.cluster_id, read.examined.in_use and not lock)


async def _remove(url: str, keys: list[str]) -> int:
    from headrace.storage.object_store.factory import open_object_store

    store = open_object_store(url, rng=random.SystemRandom(), environment=os.environ)
    try:
        with tally("removed") as count:
            for start in range(0, len(keys), BATCH_KEYS):
                batch = keys[start : start + BATCH_KEYS]
                await store.delete(batch)
                count(len(batch))
    finally:
        await store.close()
    return len(keys)


@contextmanager
def _locked(metadata_dir: str) -> Iterator[None]:
    """Hold the directory's lock: no node has it open, and none can start."""
    from pathlib import Path

    from headrace.metadata.errors import MetadataIdentityError
    from headrace.metadata.log.identity import lock_directory
    from headrace.metadata.log.os_directory import OsDirectory
    from headrace.metadata.offline.directory import find_directory

    try:
        lock = lock_directory(OsDirectory(find_directory(Path(metadata_dir))))
    except MetadataIdentityError as error:
        raise CommandFailedError(
            str(error),
            hint="Stop the node, or add --live to remove objects while it runs.",
        ) from error
    try:
        yield
    finally:
        lock.close()


@contextmanager
def _unlocked() -> Iterator[None]:
    yield


def _row(finding: "Finding") -> dict[str, object]:
    return {
        "object_id": finding.object_id,
        "bytes": finding.size_bytes,
        "modified": format_time(finding.modified_ms),
        "key": finding.key,
    }


def _print(collected: _Collected, rows: list[dict[str, object]], *, removed: bool) -> None:
    plan = collected.plan
    emit_rows(rows[:MAX_ROWS_SHOWN], output="table")
    if len(rows) > MAX_ROWS_SHOWN:
        talk(f"... and {len(rows) - MAX_ROWS_SHOWN} more; -o json shows all")
    size = size_text(plan.removable_bytes)
    if removed:
        talk(f"removed {collected.removed} of {len(rows)} objects ({size})")
    else:
        talk(f"would remove {len(rows)} objects ({size}); use --yes to remove them")
    if plan.too_young:
        talk(f"kept: {plan.too_young} that are not old enough (--older-than)")
    if plan.beyond_bound:
        talk(f"left for another run: {plan.beyond_bound}")
    if collected.in_use and not removed:
        talk(
            "A node has the metadata directory open: --yes needs --live as well, or stop the node."
        )
