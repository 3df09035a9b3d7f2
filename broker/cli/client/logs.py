"""`headrace cluster accept-loss`, and the logs that `headrace cluster describe` shows.

Kafka's protocol has no request for logs: the admin listener of any node answers.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import click

from headrace.broker.cli.admin_listener import AdminRefusedError, ask_admin, refused
from headrace.broker.cli.failures import CommandFailedError
from headrace.broker.cli.options import admin_option, confirm, output_option, yes_option
from headrace.broker.cli.output import emit_for_programs, talk
from headrace.readable import format_time

ANSWER_TIMEOUT_S: Final = 60
MAX_TOPICS_SHOWN: Final = 20
MAX_NUMBERS_SHOWN: Final = 20  # partitions of a topic
COLUMNS: Final = (
    "log_id",
    "owner",
    "owner_state",
    "owner_ended",
    "state",
    "generation",
    "places",
    "drainer",
    "draining_since",
    "offline_partitions",
)


@click.command("accept-loss")
@click.argument("log_id", metavar="LOG", type=click.IntRange(0))
@click.option(
    "--generation",
    required=True,
    metavar="G",
    help="Generation of the log, as `headrace cluster describe --admin` shows it.",
)
@click.option(
    "--damaged-only",
    is_flag=True,
    help="Give up only what cannot be read; a broker that drains the log leaves it out.",
)
@yes_option
@admin_option
@output_option
def accept_loss(
    *, log_id: int, generation: str, damaged_only: bool, yes: bool, admin: str, output: str
) -> None:
    """Give up an unreadable log of a broker that will not come back.

    LOG is the log's number. Acknowledged records that are only in this log are lost for good: those
    of the last seconds before its broker ended that had not been uploaded to the bucket. Everything
    in the bucket stays. Other brokers lead the partitions from then on, and continue where the
    bucket ends.

    It is refused while the log's broker lives, while another one drains the log, and for another
    generation than the log's. If the WAL still exists, start its broker instead: nothing is lost.
    """
    found = next((it for it in logs_from(admin) if it["log_id"] == log_id), None)
    if found is None:
        raise CommandFailedError(
            f"there is no log {log_id}",
            hint="`headrace cluster describe --admin HOST:PORT` shows all logs; below level 2 there are "
            "none (`headrace cluster features`).",
        )
    _tell(found, damaged_only=damaged_only)
    confirm(f"Accept the loss of log {log_id}, generation {generation}?", yes=yes)
    wanted = {"log_id": log_id, "generation": generation, "damaged_only": damaged_only}
    try:
        ask_admin(admin, "POST", "/logs/accept-loss", wanted, timeout_s=ANSWER_TIMEOUT_S)
    except AdminRefusedError as error:
        hint = "Nothing was changed."
        if error.status == 503:
            hint = "Whether it was done is not known: run the command again, which changes nothing then."
        raise refused(error, admin, "the acceptance of a loss", hint=hint) from error
    emit_for_programs({**wanted, "result": "accepted"}, output=output)
    talk(f"the loss of {'damaged parts of ' if damaged_only else ''}log {log_id} is accepted")


def logs_from(admin: str) -> list[dict[str, Any]]:
    """Ask a node for the logs of its cluster.

    Raises:
        CommandFailedError: it cannot be asked, or does not know yet.
    """
    try:
        answer = ask_admin(admin, "GET", "/logs", timeout_s=ANSWER_TIMEOUT_S)
    except AdminRefusedError as error:
        raise refused(error, admin, "GET /logs", hint="Try again later.") from error
    logs: list[dict[str, Any]] = answer["logs"]
    return logs


def shown(log: Mapping[str, Any]) -> dict[str, object]:
    """One log as a row."""
    times = {
        "owner_ended": log["owner_ended_ms"],
        "draining_since": log["draining_since_ms"],
    }
    return {**log, **{it: None if ms is None else format_time(ms) for it, ms in times.items()}}


def _tell(log: Mapping[str, Any], *, damaged_only: bool) -> None:
    """Say what would be lost, and which partitions it concerns."""
    row = shown(log)
    since = f" since {row['owner_ended']}" if row["owner_ended"] else ""
    talk(
        f"log {log['log_id']} of broker {log['owner']} ({log['owner_state']}{since}): "
        f"{log['state']}, generation {log['generation']}, at {', '.join(log['places']) or 'an unknown place'}"
    )
    for reason in log["refusals"]:
        talk(f"  not read by {reason}")
    lost = "what cannot be read of it" if damaged_only else "it"
    talk(f"Acknowledged records that are only in {lost} will be lost for good.")
    talk(f"Partitions that wait for it: {log['offline_partitions']}")
    topics = sorted(log["partitions"].items())
    for name, numbers in topics[:MAX_TOPICS_SHOWN]:
        talk(f"  {name}: {_listed(numbers)}")
    if len(topics) > MAX_TOPICS_SHOWN:
        talk(f"  and of {len(topics) - MAX_TOPICS_SHOWN} more topics")


def _listed(numbers: Sequence[int]) -> str:
    more = len(numbers) - MAX_NUMBERS_SHOWN
    return ", ".join(map(str, numbers[:MAX_NUMBERS_SHOWN])) + (f" and {more} more" * (more > 0))
