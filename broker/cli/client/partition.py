"""`headrace partition`: move partitions between brokers, and see which are moving."""

import time
from collections.abc import Mapping
from typing import Any, Final

import click

from headrace.broker.cli.client.kafka_clients import admin_client, ask
from headrace.broker.cli.failures import CommandFailedError, raise_all, refusal
from headrace.broker.cli.options import bootstrap_option, output_option
from headrace.broker.cli.output import emit_for_programs, emit_rows, talk

POLL_S: Final = 0.02
SETTLED_S: Final = 1.0  # brokers hear of the end of a move one after the other
TIMEOUT_S: Final = 150  # more than the controller gives a move


@click.group()
def partition() -> None:
    """Move partitions between brokers."""


@partition.command()
@click.argument("topic")
@click.argument("number", metavar="PARTITION", type=click.IntRange(0))
@click.option("--to", "target", type=click.IntRange(0), metavar="NODE", help="The new leader.")
@click.option("--cancel", is_flag=True, help="Take a move back that is under way.")
@click.option("--no-wait", is_flag=True, help="Do not wait until it has moved.")
@bootstrap_option
@output_option
def move(
    topic: str,
    number: int,
    target: int | None,
    cancel: bool,
    no_wait: bool,
    bootstrap: str,
    output: str,
) -> None:
    """Let another broker lead a partition.

    The leader goes on until the other one takes over: producers and consumers are sent to it, and see no error. If it
    has not moved after some seconds, it stays where it is.
    """
    if (target is None) == (not cancel):
        raise click.UsageError("give either --to NODE or --cancel")
    about = f"partition {topic}-{number}"
    with admin_client(bootstrap, about=about) as admin:
        begun_s = time.monotonic()
        raise_all(reassign(admin, {(topic, number): target}))
        if cancel:
            result = "taken back"
        elif no_wait:
            result = "begun"
        else:
            _wait_until_moved(admin, topic, number, target, about)
            result = "moved"
    took_ms = round((time.monotonic() - begun_s) * 1000)
    row = {"topic": topic, "partition": number, "to": target, "result": result, "ms": took_ms}
    emit_for_programs(row, output=output)
    where = "" if target is None else f" to broker {target}"
    after = f" after {took_ms} ms" if result == "moved" else ""
    talk(f"{about}: {'the move is ' if result != 'moved' else ''}{result}{where}{after}")


@partition.command()
@bootstrap_option
@output_option
def moves(bootstrap: str, output: str) -> None:
    """List the partitions that are moving."""
    with admin_client(bootstrap) as admin:
        found = admin.list_partition_reassignments()
    rows = [
        {
            "topic": it.topic,
            "partition": it.partition,
            "from": told["removing_replicas"][0],
            "to": told["adding_replicas"][0],
        }
        for it, told in sorted(found.items())
        if told["adding_replicas"] and told["removing_replicas"]
    ]
    emit_rows(rows, output=output, columns=("topic", "partition", "from", "to"))


def reassign(admin: Any, targets: Mapping[tuple[str, int], int | None]) -> list[CommandFailedError]:
    """Begin moves, by topic and partition; None takes one back. Return what was refused.

    Raises:
        CommandFailedError: all of it was.
    """
    from kafka import errors
    from kafka.protocol.admin import AlterPartitionReassignmentsRequest

    asked = AlterPartitionReassignmentsRequest.ReassignableTopic
    topics: dict[str, list[Any]] = {}
    for (topic, number), target in targets.items():
        replicas = None if target is None else [target]
        wanted = asked.ReassignablePartition(partition_index=number, replicas=replicas)
        topics.setdefault(topic, []).append(wanted)
    request = AlterPartitionReassignmentsRequest(
        timeout_ms=TIMEOUT_S * 1000,
        allow_replication_factor_change=True,
        topics=[asked(name=name, partitions=partitions) for name, partitions in topics.items()],
    )
    answer = ask(admin, request)
    if answer.error_code:
        raise refusal(errors.for_code(answer.error_code).__name__, answer.error_message, about="")
    return [
        refusal(
            errors.for_code(it.error_code).__name__,
            it.error_message,
            about=f"partition {topic.name}-{it.partition_index}",
        )
        for topic in answer.responses
        for it in topic.partitions
        if it.error_code
    ]


def _wait_until_moved(admin: Any, topic: str, number: int, target: int | None, about: str) -> None:
    """Wait until the target leads.

    Raises:
        CommandFailedError: the partition stays where it is, or it takes too long.
    """
    moving_s = time.monotonic()
    until_s = moving_s + TIMEOUT_S
    while (now_s := time.monotonic()) < until_s:
        if admin.list_partition_reassignments({topic: [number]}):
            moving_s = now_s
        (described,) = admin.describe_topics([topic])
        leader = next(
            it["leader_id"] for it in described["partitions"] if it["partition_index"] == number
        )
        if leader == target:
            return
        if now_s - moving_s > SETTLED_S:
            raise CommandFailedError(
                f"{about}: it was not moved, and broker {leader} still leads it",
                hint="The log of that broker says why. Is the bucket reached by both brokers?",
            )
        time.sleep(POLL_S)
    raise CommandFailedError(
        f"{about}: it has not moved after {TIMEOUT_S} s",
        hint="`headrace partition moves` shows whether it still does.",
    )
