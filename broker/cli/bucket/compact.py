"""`headrace bucket compact`: have a running node compact now."""

import time
from typing import Any, Final

import click

from headrace.broker.cli.admin_listener import AdminRefusedError, ask_admin
from headrace.broker.cli.failures import CommandFailedError
from headrace.broker.cli.options import admin_option, output_option
from headrace.broker.cli.output import emit_object, talk
from headrace.readable import size_text

ANSWER_TIMEOUT_S: Final = 10
POLL_S: Final = 0.5
TOLD_EVERY_S: Final = 10
_COUNTERS: Final = (
    "groups",
    "objects_in",
    "objects_out",
    "bytes_in",
    "bytes_out",
    "copied_bytes",
    "cleaned_streams",
    "cleaned_bytes_in",
    "cleaned_bytes_out",
    "failures",
    "damaged_objects",
)


@click.command()
@admin_option
@click.option("--wait/--no-wait", default=True, help="Wait until it is done.  [default: wait]")
@output_option
def compact(*, admin: str, wait: bool, output: str) -> int:
    """Make a running node merge its objects now, instead of at the next interval.

    All objects that are worth merging are merged, and compacted topics are cleaned as far as their settings
    say: a second run has nothing to do. The node keeps to
    headrace.compaction.bytes.per.second, and continues if this command is interrupted.
    """
    before = _ask(admin, "GET")
    number = _ask(admin, "POST")["round"]
    if not wait:
        emit_object({"round": number}, output=output)
        return 0
    after = _wait(admin, number, before)
    found = {key: after[key] - before[key] for key in _COUNTERS}
    emit_object(found, output=output)
    return 1 if found["failures"] or found["damaged_objects"] else 0


def _wait(admin: str, number: int, before: dict[str, Any]) -> dict[str, Any]:
    """Poll until a round is over; print its progress meanwhile."""
    told_s = time.perf_counter()
    while True:
        found = _ask(admin, "GET")
        if found["rounds_finished"] >= number:
            return found
        if time.perf_counter() - told_s >= TOLD_EVERY_S and found["group_bytes"]:
            told_s = time.perf_counter()
            done, of = size_text(found["group_done_bytes"]), size_text(found["group_bytes"])
            groups = found["groups"] - before["groups"]
            cleaned = found["cleaned_streams"] - before["cleaned_streams"]
            talk(f"{groups} groups merged, {cleaned} logs cleaned so far; this one: {done} of {of}")
        time.sleep(POLL_S)


def _ask(admin: str, method: str) -> dict[str, Any]:
    """Send one request.

    Raises:
        CommandFailedError: there is no answer, or not one of a node.
    """
    try:
        return ask_admin(admin, method, "/compact", timeout_s=ANSWER_TIMEOUT_S)
    except AdminRefusedError as error:
        raise CommandFailedError(
            f"{admin} answers {error.status} to {method} /compact",
            hint="503 means that the node is starting. Otherwise check that this is the admin "
            "listener of a node of this version.",
        ) from error
