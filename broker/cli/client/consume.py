"""`headrace consume`: records of a topic on standard output."""

import sys
from typing import Any, BinaryIO

import click

from headrace.broker.cli.client.kafka_clients import consumer_client
from headrace.broker.cli.failures import CommandFailedError
from headrace.broker.cli.options import bootstrap_option, form_option
from headrace.broker.cli.output import talk
from headrace.broker.cli.record_format import Formatter, record_formatter
from headrace.broker.cli.times import TIME_HELP, parse_time

POLL_MS = 500
MAX_POLL_RECORDS = 500


@click.command()
@click.argument("topic")
@click.option("--from-beginning", is_flag=True, help="From the oldest record; default: new ones.")
@click.option("--offset", type=int, help="From this offset in each partition; -10 is the last ten.")
@click.option("--from-timestamp", metavar="TIME", help="From this time on. " + TIME_HELP)
@click.option(
    "-P", "--partition", type=click.IntRange(0), help="Only this partition; default: all."
)
@click.option("-g", "--group", help="Read as a member of this group, and commit offsets.")
@click.option(
    "-n", "--max-records", "limit", type=click.IntRange(1), help="Stop after this many records."
)
@click.option("--until-end", is_flag=True, help="Stop at the current end of the topic.")
@form_option(
    default="raw",
    metavar="FORM",
    help="raw (values), json, table, or a format: '%k %v' (also %t %p %o %T %h).",
)
@click.option("--committed", is_flag=True, help="Leave out records of aborted transactions.")
@bootstrap_option
def consume(
    *,
    topic: str,
    from_beginning: bool,
    offset: int | None,
    from_timestamp: str | None,
    partition: int | None,
    group: str | None,
    limit: int | None,
    until_end: bool,
    output: str,
    committed: bool,
    bootstrap: str,
) -> None:
    """Print the records of a topic.

    \b
      headrace consume orders --from-beginning
      headrace consume orders --from-timestamp 15m --until-end -o json
      headrace consume orders --offset -10 -o '%p %o %k %v'
    """  # noqa: D301 - Click wants the character, no backslash
    if sum((from_beginning, offset is not None, from_timestamp is not None)) > 1:
        raise click.UsageError("Give one of --from-beginning, --offset and --from-timestamp.")
    if group is not None and (offset is not None or from_timestamp or partition is not None):
        raise click.UsageError(
            "A group starts at its committed offsets: --group can only be combined with "
            "--from-beginning."
        )
    write = record_formatter(output)
    since_ms = parse_time(from_timestamp) if from_timestamp is not None else None
    settings: dict[str, object] = {
        "group_id": group,
        "enable_auto_commit": False,
        "auto_offset_reset": "earliest" if from_beginning else "latest",
        "isolation_level": "read_committed" if committed else "read_uncommitted",
        "allow_auto_create_topics": False,
        "max_poll_records": MAX_POLL_RECORDS,
    }
    with consumer_client(bootstrap, about=f"topic {topic}", **settings) as consumer:
        partitions = _partitions(consumer, topic, partition)
        if group is not None:
            consumer.subscribe([topic])
        else:
            consumer.assign(partitions)
            _seek(consumer, partitions, offset, since_ms, from_beginning=from_beginning)
        reader = Reader(consumer, write, sys.stdout.buffer, limit=limit, commits=group is not None)
        if until_end:
            reader.stop_at(consumer.end_offsets(partitions))
        try:
            reader.read()
        finally:
            talk(f"{reader.count} {'record' if reader.count == 1 else 'records'} from {topic}")


def _partitions(consumer: Any, topic: str, partition: int | None) -> list[Any]:
    from kafka.structs import TopicPartition

    numbers = consumer.partitions_for_topic(topic)
    if not numbers:
        raise CommandFailedError(
            f"there is no topic {topic}",
            hint="See `headrace topic list`, or create it with `headrace topic create`.",
        )
    if partition is not None and partition not in numbers:
        raise CommandFailedError(f"topic {topic} has partitions 0 to {max(numbers)}")
    chosen = sorted(numbers) if partition is None else [partition]
    return [TopicPartition(topic, number) for number in chosen]


def _seek(
    consumer: Any,
    partitions: list[Any],
    offset: int | None,
    since_ms: int | None,
    *,
    from_beginning: bool,
) -> None:
    """Put every partition at its start; explicitly, so that --until-end knows it."""
    starts = consumer.beginning_offsets(partitions)
    ends = consumer.end_offsets(partitions)
    asked = {} if since_ms is None else dict.fromkeys(partitions, since_ms)
    found = consumer.offsets_for_times(asked) if asked else {}
    for partition in partitions:
        low, high = starts[partition], ends[partition]
        if since_ms is not None:
            position = found[partition].offset if found[partition] else high
        elif offset is not None:
            position = min(max(offset if offset >= 0 else high + offset, low), high)
        else:
            position = low if from_beginning else high
        consumer.seek(partition, position)


class Reader:
    """Polls and writes until it has enough."""

    def __init__(
        self,
        consumer: Any,
        write: Formatter,
        target: BinaryIO,
        *,
        limit: int | None,
        commits: bool,
    ) -> None:
        self._consumer = consumer
        self._format = write
        self._target = target
        self._limit = limit
        self._commits = commits
        self._ends: dict[Any, int] | None = None
        self.count = 0

    def stop_at(self, ends: dict[Any, int]) -> None:
        """Stop when every partition has reached these offsets."""
        self._ends = ends

    def read(self) -> None:
        """Poll, write, and commit what was written, until the limit or the end is reached."""
        while not self._is_done():
            wanted = MAX_POLL_RECORDS
            if self._limit is not None:
                wanted = min(wanted, self._limit - self.count)
            batches = self._consumer.poll(timeout_ms=POLL_MS, max_records=wanted)
            for records in batches.values():
                for record in records:
                    if self._ends is None or record.offset < self._ends[self._partition(record)]:
                        self._target.write(self._format(record))
                        self.count += 1
            self._target.flush()
            if batches and self._commits:
                self._consumer.commit()

    def _partition(self, record: Any) -> tuple[str, int]:
        return (record.topic, record.partition)

    def _is_done(self) -> bool:
        if self._limit is not None and self.count >= self._limit:
            return True
        if self._ends is None:
            return False
        assigned = self._consumer.assignment()
        if not assigned:
            return not any(self._ends.values())
        return all(self._consumer.position(p) >= self._ends[p] for p in assigned)
