"""`headrace cluster drain`: move all partitions of a broker to the others, and keep new ones off it."""

import time
from typing import Any, Final

import click

from headrace.broker.cli.client.kafka_clients import admin_client
from headrace.broker.cli.failures import CommandFailedError
from headrace.broker.cli.options import bootstrap_option, output_option
from headrace.broker.cli.output import emit_for_programs, talk
from headrace.config.dynamic_keys import DRAIN_KEY

POLL_S: Final = 0.1
PATIENCE_S: Final = 150  # without a partition that moves; more than the controller gives a move

_WHICH: Final = "`headrace cluster nodes` shows which brokers there are."


@click.command()
@click.argument("node_id", metavar="NODE", type=click.IntRange(0))
@click.option("--undo", is_flag=True, help="Let it get partitions again.")
@bootstrap_option
@output_option
def drain(node_id: int, undo: bool, bootstrap: str, output: str) -> None:
    """Move all partitions of a broker to the others, and return when it leads none.

    It goes on running and gets no partitions, until --undo or until its process starts again. A broker that is stopped
    by SIGTERM does the same by itself.
    """
    about = f"broker {node_id}"
    with admin_client(bootstrap, about=about) as admin:
        if node_id not in {it["broker_id"] for it in admin.describe_cluster()["brokers"]}:
            raise CommandFailedError(f"{about}: there is no such broker", hint=_WHICH)
        _set(admin, node_id, about, is_drained=not undo)
        moved = 0 if undo else _wait_until_empty(admin, node_id, about)
    result = "taken back" if undo else "drained"
    emit_for_programs({"node": node_id, "moved": moved, "result": result}, output=output)
    if undo:
        talk(f"{about} is drained no longer, and may get partitions again")
    else:
        talk(f"{about} leads no partition any more; {moved} have moved")


def _set(admin: Any, node_id: int, about: str, *, is_drained: bool) -> None:
    """Have the controller drain a broker, or end that.

    Raises:
        CommandFailedError: it is refused, as where no other broker could take the partitions.
    """
    from kafka.admin import ConfigResource

    change = ("SET", "true") if is_drained else ("DELETE", None)
    resource = ConfigResource("broker", str(node_id), {DRAIN_KEY: change})
    outcome = admin.alter_configs([resource], raise_on_unknown=False)["broker"][str(node_id)]
    if outcome != "OK":
        raise CommandFailedError(
            f"{about}: {outcome.partition(': ')[2] or outcome}",
            hint=_WHICH,
        )


def _wait_until_empty(admin: Any, node_id: int, about: str) -> int:
    """Wait until a broker leads nothing; return how many partitions there were at first.

    Raises:
        CommandFailedError: none has moved for a while.
    """
    first = fewest = _led(admin, node_id)
    moved_s = time.monotonic()
    while left := _led(admin, node_id):
        now_s = time.monotonic()
        if left < fewest:
            fewest, moved_s = left, now_s
        elif now_s - moved_s > PATIENCE_S:
            raise CommandFailedError(
                f"{about}: {left} partitions have not moved for {PATIENCE_S} s",
                hint="Its log says why. Is the bucket reached by all brokers? It is still being drained: run the "
                "command again to wait on, or with --undo to end that.",
            )
        time.sleep(POLL_S)
    return first


def _led(admin: Any, node_id: int) -> int:
    """How many partitions a broker leads."""
    return sum(
        it["leader_id"] == node_id
        for topic in admin.describe_topics()
        for it in topic["partitions"]
    )
