"""What the client scripts share: arguments, and JSON lines on standard input and output.

    python -m tests.e2e.clients.<name> produce --bootstrap H:P --topic T    Record in, Ack out
    python -m tests.e2e.clients.<name> consume ... --count N                Stored out
    python -m tests.e2e.clients.<name> join ... --group G                  events out until SIGTERM

Events of a group member: {"event": "assigned" | "revoked", "partitions": [...]}, then one
{"event": "committed", "offsets": {partition: offset}, "values": [...]} for each batch it has read.
"""

import argparse
import json
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from tests.e2e.records import Ack, Record, Stored, record_from_json, to_json


@dataclass(frozen=True, slots=True)
class Arguments:
    """The command line of a client script."""

    command: str
    bootstrap: str
    topic: str
    group: str
    compression: str
    acks: int
    idempotent: bool
    count: int
    start: int  # an offset, -2 for the earliest
    partition: int | None  # None: all
    max_partition_fetch_bytes: int
    max_request_bytes: int
    auto_offset_reset: str


Producer = Callable[[Arguments, list[Record]], Iterable[Ack]]
Consumer = Callable[[Arguments], Iterator[Stored]]
Member = Callable[[Arguments, Callable[[], bool]], None]


def main(produce: Producer, consume: Consumer, join: Member) -> None:
    """Run the command that was asked for."""
    arguments = _parse()
    if arguments.command == "produce":
        records = [record_from_json(line) for line in sys.stdin]
        for ack in produce(arguments, records):
            print(to_json(ack))
    elif arguments.command == "consume":
        for stored in consume(arguments):
            print(to_json(stored))
    else:
        join(arguments, _asked_to_stop())


def emit(event: str, **fields: object) -> None:
    """Tell the test what happened to this group member."""
    print(json.dumps({"event": event, **fields}), flush=True)


def _asked_to_stop() -> Callable[[], bool]:
    asked = False

    def remember(signal_number: int, frame: object) -> None:
        nonlocal asked
        asked = True

    signal.signal(signal.SIGTERM, remember)
    return lambda: asked


def _parse() -> Arguments:
    parser = argparse.ArgumentParser()
    parser.add_argument("command", choices=["produce", "consume", "join"])
    parser.add_argument("--bootstrap", required=True)
    parser.add_argument("--topic", required=True)
    parser.add_argument("--group", default="")
    parser.add_argument("--compression", default="none")
    parser.add_argument("--acks", type=int, default=-1)
    parser.add_argument("--idempotent", action="store_true")
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--start", type=int, default=-2)
    parser.add_argument("--partition", type=int)
    parser.add_argument("--max-partition-fetch-bytes", type=int, default=1 << 20)
    parser.add_argument("--max-request-bytes", type=int, default=1 << 20)
    parser.add_argument("--auto-offset-reset", default="earliest")
    return Arguments(**vars(parser.parse_args()))
