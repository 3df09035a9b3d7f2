"""`headrace cluster balance`: how even the brokers are, and which partitions move for that.

Kafka's protocol has no request for it: the admin listener of any node answers.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import click

from headrace.broker.cli.admin_listener import AdminRefusedError, ask_admin, refused
from headrace.broker.cli.options import admin_option, output_option
from headrace.broker.cli.output import emit_object, emit_rows, heading, talk
from headrace.readable import format_time

ANSWER_TIMEOUT_S: Final = 60
MAX_DECISIONS_SHOWN: Final = 20
MOVE_COLUMNS: Final = ("at", "topic", "partition", "source", "target", "goal", "outcome")


@click.command()
@click.option("--dry-run", is_flag=True, help="Also show which moves it would begin next.")
@admin_option
@output_option
def balance(*, dry_run: bool, admin: str, output: str) -> None:
    """Show the shares of brokers in traffic and partitions, and the last moves that even them out, with reasons."""
    path = "/balance?dry-run=true" if dry_run else "/balance"
    try:
        answer = ask_admin(admin, "GET", path, timeout_s=ANSWER_TIMEOUT_S)
    except AdminRefusedError as error:
        raise refused(error, admin, "GET /balance", hint="Try again later.") from error
    if output != "table":
        emit_object(answer, output=output)
        return
    emit_object(
        {
            "state": answer["waits_for"] or _working(answer["evening"]),
            "moves_under_way": answer["moving"],
        },
        output=output,
    )
    heading("\nBrokers")
    emit_rows(list(map(_share, answer["brokers"])), output=output)
    for reason in answer["unreached"]:
        talk(reason)
    _tell_moves("Last decisions", answer["decisions"][-MAX_DECISIONS_SHOWN:], output)
    if answer["planned"] is not None:
        _tell_moves("It would begin", answer["planned"], output)


def _working(goals: Sequence[str]) -> str:
    return f"evening out {' and '.join(goals)}" if goals else "even enough"


def _share(broker: Mapping[str, Any]) -> dict[str, object]:
    return {
        "broker": broker["node_id"],
        "rack": broker["rack"],
        "takes_part": broker["takes_part"],
        "partitions": broker["partitions"],
        "traffic": f"{broker['bytes_per_s'] / (1 << 20):.1f} MiB/s",
    }


def _tell_moves(title: str, moves: Sequence[Mapping[str, Any]], output: str) -> None:
    heading(f"\n{title}")
    if not moves:
        talk("none")
        return
    rows = [{**it, "at": format_time(it["at_ms"])} for it in moves]
    emit_rows(rows, output=output, columns=(*MOVE_COLUMNS, "reason"))
