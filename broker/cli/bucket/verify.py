"""`headrace bucket verify`: tries every operation that a broker needs."""

import os
import random
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from headrace.broker.cli.bucket_argument import (
    EXIT_FOUND,
    opened,
    run_async,
    url_argument,
)
from headrace.broker.cli.options import output_option
from headrace.broker.cli.output import emit_object, emit_rows, talk
from headrace.broker.cli.progress import tally

if TYPE_CHECKING:
    from headrace.storage.audit.probe import ProbeReport
    from headrace.storage.audit.rights import Outcome

_NEEDS = ["object-wal", "compaction", "sweep"]


@click.command()
@url_argument
@click.option(
    "--without",
    "unneeded",
    multiple=True,
    type=click.Choice(_NEEDS),
    help="A feature that will not be used: it is tried, but may fail. Repeat for more.",
)
@click.option(
    "--creators",
    type=click.IntRange(2, 256),
    default=16,
    show_default=True,
    help="Clients that create one key at the same time; exactly one must succeed.",
)
@output_option
def verify(url: str, unneeded: tuple[str, ...], creators: int, output: str) -> int:
    """Try every operation that a broker needs of a bucket.

    Writes keys below headrace-probe/ and removes them again; it also removes keys older than an
    hour that an earlier run left there. No other key is changed. With S3, each request is tried on
    its own, so that a refusal names the missing IAM action, and then through the broker's own
    client. About 11 MB are written.

    Exit code: 0 everything works, 1 something does not, 2 wrong usage.
    """
    report, leftovers = run_async(_probe(url, creators), url=url)
    failed = [it for it in report.outcomes if not _is_fine(it, unneeded)]
    result = {
        "ok": not failed and not report.left_behind,
        "missing_actions": report.missing_actions,
        "left_behind": report.left_behind,
        "leftovers_removed": leftovers,
    }
    rows = [_row(it) for it in report.outcomes]
    if output != "table":
        emit_object(result | {"operations": rows}, output=output)
    else:
        emit_rows(rows, output=output, columns=_COLUMNS)
        _advise(report, failed)
        if leftovers:
            talk(f"removed {leftovers} keys and uploads that an earlier run had left")
    return 0 if result["ok"] else EXIT_FOUND


async def _probe(url: str, creators: int) -> "tuple[ProbeReport, int]":
    """Return what was found out, and how many keys of earlier probes were removed."""
    from headrace.storage.audit.probe import probe_bucket

    async with opened(url):  # the URL is one, and there are credentials
        with tally("operations probed") as count:
            report = await probe_bucket(
                url,
                rng=random.SystemRandom(),
                environment=os.environ,
                creators=creators,
                on_outcome=lambda _: count(1),
            )
    works = any(it.status.value == "ok" for it in report.outcomes)
    return report, await _remove_leftovers(url) if works else 0


async def _remove_leftovers(url: str) -> int:
    from headrace.broker.cli.bucket.leftovers import remove_leftovers
    from headrace.storage.errors import StorageError

    # Which right was missing is shown above, and keys that stay do no harm.
    with suppress(StorageError):
        return await remove_leftovers(url, now_ms=time.time_ns() // 1_000_000)
    return 0


_COLUMNS = ("operation", "status", "milliseconds", "needed_for", "detail")


def _is_fine(outcome: "Outcome", unneeded: tuple[str, ...]) -> bool:
    need = outcome.step.need.value.lower().replace(" ", "-")
    return outcome.status.value == "ok" or need in unneeded


def _row(outcome: "Outcome") -> dict[str, object]:
    return {
        "operation": outcome.step.name,
        "status": outcome.status.value,
        "milliseconds": round(outcome.milliseconds, 1),
        "needed_for": outcome.step.need.value,
        "purpose": outcome.step.purpose,
        "detail": outcome.detail,
        "missing_actions": list(outcome.missing),
        "advice": outcome.advice,
    }


def _advise(report: "ProbeReport", failed: "list[Outcome]") -> None:
    """Say what to do, each thing once."""
    if not failed and not report.left_behind:
        talk("everything that a broker needs works")
    for action in report.missing_actions:
        talk(f"missing permission: {action}")
    advice = dict.fromkeys(it.advice for it in failed if it.advice and not it.missing)
    for text in advice:
        talk(text)
    for key in report.left_behind:
        talk(f"could not be removed: {key}")
