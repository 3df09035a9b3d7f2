"""`headrace produce`: lines of standard input or a file as records."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import click

from headrace.broker.cli.client.kafka_clients import producer_client
from headrace.broker.cli.failures import CommandFailedError, explanation
from headrace.broker.cli.options import bootstrap_option, output_option
from headrace.broker.cli.output import emit_for_programs, talk
from headrace.broker.cli.progress import progress

MAX_LINE_BYTES = 64 * 1024 * 1024
MAX_SHOWN_FAILURES = 5


class Line(NamedTuple):
    """One record to send."""

    key: bytes | None
    value: bytes | None


@click.command()
@click.argument("topic")
@click.option(
    "-f",
    "--file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Read this file instead of standard input.",
)
@click.option("-k", "--key", help="Key of every record.")
@click.option(
    "-K", "--key-separator", metavar="TEXT", help="Each line is KEY, this text, and VALUE."
)
@click.option(
    "-H", "--header", "headers", multiple=True, metavar="NAME=VALUE", help="Header of every record."
)
@click.option("-P", "--partition", type=click.IntRange(0), help="Default: by key, else spread.")
@click.option(
    "-z",
    "--compression",
    type=click.Choice(["none", "gzip", "snappy", "lz4", "zstd"]),
    default="none",
    show_default=True,
    help="How batches are compressed.",
)
@click.option(
    "--acks",
    type=click.Choice(["all", "1", "0"]),
    default="all",
    show_default=True,
    help="Wait until records are durable (all, 1), or for nothing (0).",
)
@click.option(
    "--tombstones", is_flag=True, help="An empty value deletes its key: it is sent as null."
)
@bootstrap_option
@output_option
def produce(
    *,
    topic: str,
    file: Path | None,
    key: str | None,
    key_separator: str | None,
    headers: tuple[str, ...],
    partition: int | None,
    compression: str,
    acks: str,
    tombstones: bool,
    bootstrap: str,
    output: str,
) -> None:
    """Send each line of standard input, or of a file, as a record.

    \b
      echo 'hello' | headrace produce orders
      headrace produce orders --file orders.jsonl --compression zstd
      echo '42:{"total": 7}' | headrace produce orders -K :
    """  # noqa: D301 - Click wants the character, no backslash
    if key is not None and key_separator is not None:
        raise click.UsageError("Give --key or --key-separator, not both.")
    if key_separator == "":
        raise click.UsageError("--key-separator must not be empty.")
    wire_headers = [_header(text) for text in headers]
    with ExitStack() as stack:
        stream = stack.enter_context(file.open("rb")) if file else sys.stdin.buffer
        interactive = file is None and sys.stdin.isatty()
        producer = stack.enter_context(
            producer_client(
                bootstrap,
                about=f"topic {topic}",
                acks={"all": "all", "1": 1, "0": 0}[acks],
                enable_idempotence=acks == "all",
                compression_type=None if compression == "none" else compression,
                linger_ms=0 if interactive else 20,
                batch_size=256 * 1024,
                max_block_ms=30_000,
                max_request_size=MAX_LINE_BYTES,  # the topic's own limit is what counts
            )
        )
        if interactive:
            talk("Each line is a record; end with Ctrl-D.")
        sender = Sender(producer, topic, partition, wire_headers, flush_each=interactive)
        size = file.stat().st_size if file else 0
        _require_partition(producer, topic, partition)
        with progress(f"producing to {topic}", total=size) as advance:
            sender.send_all(read_lines(stream, key, key_separator, tombstones=tombstones), advance)
    sender.report(output)


def _require_partition(producer: Any, topic: str, partition: int | None) -> None:
    """Ask for the topic's partitions, which creates the topic where brokers do that."""
    numbers = producer.partitions_for(topic)
    if partition is not None and partition not in numbers:
        raise CommandFailedError(f"topic {topic} has partitions 0 to {max(numbers)}")


def _header(text: str) -> tuple[str, bytes]:
    name, separator, value = text.partition("=")
    if not separator or not name:
        raise click.BadParameter(f"{text!r} is not NAME=VALUE.", param_hint="--header")
    return name, value.encode()


def read_lines(
    stream: BinaryIO, key: str | None, key_separator: str | None, *, tombstones: bool
) -> Iterator[Line]:
    """Read records from lines; a final line without its end counts too.

    Raises:
        CommandFailedError: a line has no key separator, or is longer than MAX_LINE_BYTES.
    """
    fixed_key = key.encode() if key is not None else None
    separator = key_separator.encode() if key_separator is not None else None
    number = 0
    while True:
        raw = stream.readline(MAX_LINE_BYTES + 1)
        if not raw:
            return
        number += 1
        if len(raw) > MAX_LINE_BYTES:
            raise CommandFailedError(f"line {number} is longer than {MAX_LINE_BYTES} bytes")
        record_key, value = fixed_key, raw.removesuffix(b"\n").removesuffix(b"\r")
        if separator is not None:
            record_key, found, value = value.partition(separator)
            if not found:
                raise CommandFailedError(
                    f"line {number} has no key separator {key_separator!r}",
                    hint="Every line must be KEY, the separator, and VALUE.",
                )
        yield Line(record_key, None if tombstones and not value else value)


class Sender:
    """Sends lines and keeps count; the client's buffer bounds what is inflight."""

    def __init__(
        self,
        producer: Any,
        topic: str,
        partition: int | None,
        headers: list[tuple[str, bytes]],
        *,
        flush_each: bool,
    ) -> None:
        self._producer = producer
        self._topic = topic
        self._partition = partition
        self._headers = headers
        self._flush_each = flush_each
        self.sent = 0
        self.failed = 0
        self._failures: list[str] = []

    def send_all(self, lines: Iterator[Line], advance: Callable[[int], None]) -> None:
        """Send every line, then wait until all are acknowledged or refused."""
        for line in lines:
            future = self._producer.send(
                self._topic,
                value=line.value,
                key=line.key,
                headers=self._headers,
                partition=self._partition,
            )
            future.add_callback(self._count)
            future.add_errback(self._note)
            advance(len(line.key or b"") + len(line.value or b"") + 1)
            if self._flush_each:
                self._producer.flush()
        self._producer.flush()

    def _count(self, _: object) -> None:
        self.sent += 1

    def _note(self, error: Exception) -> None:
        self.failed += 1
        if len(self._failures) < MAX_SHOWN_FAILURES:
            self._failures.append(str(explanation(error)))

    def report(self, output: str) -> None:
        """Print how many records arrived.

        Raises:
            CommandFailedError: some were refused, or it is not known whether they arrived.
        """
        emit_for_programs(
            {"topic": self._topic, "records": self.sent, "failed": self.failed}, output=output
        )
        noun = "record" if self.sent == 1 else "records"
        talk(f"{self.sent} {noun} to {self._topic}")
        if self.failed:
            reasons = "\n       ".join(dict.fromkeys(self._failures))
            noun = "record" if self.failed == 1 else "records"
            raise CommandFailedError(f"{self.failed} {noun} failed:\n       {reasons}")
