"""`headrace cluster drain`: move all partitions of a broker to the others."""

import time
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import click

from headrace.broker.cli.client.kafka_clients import admin_client
from headrace.broker.cli.client.partition import reassign
from headrace.broker.cli.failures import CommandFailedError
from headrace.broker.cli.options import bootstrap_option, output_option
from headrace.broker.cli.output import emit_for_programs, talk

POLL_S: Final = 0.1
PATIENCE_S: Final = 30  # without a partition that moves
MAX_MOVES: Final = 64  # begun by one request

Partition = tuple[str, int]


@click.command()
@click.argument("node_id", metavar="NODE", type=click.IntRange(0))
@bootstrap_option
@output_option
def drain(node_id: int, bootstrap: str, output: str) -> None:
    """Move all partitions of a broker to the others, and return when it leads none.

    It goes on running, and may get new partitions: stop it then. A broker that is stopped by SIGTERM does the same by
    itself, and gets none.
    """
    about = f"broker {node_id}"
    with admin_client(bootstrap, about=about) as admin:
        moved = _drain(admin, node_id, about)
    emit_for_programs({"node": node_id, "moved": moved, "result": "drained"}, output=output)
    talk(f"{about} leads no partition any more; {moved} have moved")


def _drain(admin: Any, node_id: int, about: str) -> int:
    """Move partitions until none is left; return how many there were at first.

    Raises:
        CommandFailedError: nobody can take them, or none has moved for a while.
    """
    first = fewest = None
    moved_s = time.monotonic()
    while True:
        led, counts = _led(admin, node_id)
        first = len(led) if first is None else first
        if not led:
            return first
        now_s = time.monotonic()
        if fewest is None or len(led) < fewest:
            fewest, moved_s = len(led), now_s
        elif now_s - moved_s > PATIENCE_S:
            raise CommandFailedError(
                f"{about}: {len(led)} partitions have not moved for {PATIENCE_S} s",
                hint="Its log says why. Is the bucket reached by all brokers?",
            )
        moving = admin.list_partition_reassignments()
        waiting = [it for it in led if it not in {(tp.topic, tp.partition) for tp in moving}]
        room = MAX_MOVES - len(moving)
        if waiting and room > 0:
            # What is refused is asked for again: brokers may come and go meanwhile.
            reassign(admin, _targets(waiting[:room], _others(admin, node_id, about), counts))
        time.sleep(POLL_S)


def _led(admin: Any, node_id: int) -> tuple[list[Partition], Counter[int]]:
    """The partitions that a broker leads, and how many each broker does."""
    led: list[Partition] = []
    counts: Counter[int] = Counter()
    for topic in admin.describe_topics():
        for it in topic["partitions"]:
            leader = it["leader_id"]
            counts[leader] += 1
            if leader == node_id:
                led.append((topic["name"], it["partition_index"]))
    return sorted(led), counts


def _others(admin: Any, node_id: int, about: str) -> list[int]:
    """Brokers that may take partitions.

    Raises:
        CommandFailedError: there are none.
    """
    found = sorted(
        it["broker_id"]
        for it in admin.describe_cluster()["brokers"]
        if it["broker_id"] != node_id and not it.get("is_fenced", False)
    )
    if not found:
        raise CommandFailedError(
            f"{about}: no other broker is active that could lead its partitions",
            hint="Start another broker first: `headrace cluster nodes` shows which there are.",
        )
    return found


def _targets(
    partitions: Sequence[Partition], others: Sequence[int], counts: Counter[int]
) -> dict[Partition, int | None]:
    """Spread partitions: each goes to the broker that leads fewest."""
    targets: dict[Partition, int | None] = {}
    for it in partitions:
        target = min(others, key=lambda node_id: (counts[node_id], node_id))
        counts[target] += 1
        targets[it] = target
    return targets
