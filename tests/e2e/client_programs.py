"""One face for all clients: each produces and consumes in a process of its own."""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from tests.e2e.records import (
    Ack,
    Record,
    Stored,
    ack_from_json,
    stored_from_json,
    to_json,
)
from tests.environment.kafka import run_tool
from tests.environment.kcat import kcat_program
from tests.environment.paths import ROOT

CONSUMED_WITHIN_S = 30
_NULL = "<null>"


class ClientProgram(Protocol):
    """A client that can be asked to write records and to read them back."""

    name: str
    # Whether it can write nulls, own timestamps and any byte, and tells the offsets.
    is_library: bool

    def produce(
        self,
        bootstrap: str,
        topic: str,
        records: Sequence[Record],
        *,
        compression: str = "none",
    ) -> list[Ack]:
        """Write `records` and return the acknowledgements, where the client tells them."""
        ...

    def consume(self, bootstrap: str, topic: str, count: int) -> list[Stored]:
        """Read the first `count` records of all partitions."""
        ...


@dataclass(frozen=True, slots=True)
class LibraryClient:
    """A script of `tests.e2e.clients` around a Python library."""

    name: str
    module: str
    is_library: bool = True

    def produce(
        self,
        bootstrap: str,
        topic: str,
        records: Sequence[Record],
        *,
        compression: str = "none",
        options: Sequence[str] = (),
    ) -> list[Ack]:
        """Write `records`; `options` are further arguments of the script."""
        arguments = ("--bootstrap", bootstrap, "--topic", topic, "--compression", compression)
        lines = "".join(f"{to_json(record)}\n" for record in records)
        output = _run([*self.command("produce"), *arguments, *options], lines)
        return [ack_from_json(line) for line in output.splitlines()]

    def consume(
        self, bootstrap: str, topic: str, count: int, options: Sequence[str] = ()
    ) -> list[Stored]:
        """Read the first `count` records; `options` are further arguments of the script."""
        arguments = ("--bootstrap", bootstrap, "--topic", topic, "--count", str(count))
        output = _run([*self.command("consume"), *arguments, *options])
        return [stored_from_json(line) for line in output.splitlines()]

    def command(self, name: str) -> list[str]:
        """Return the start of the command line of one of the script's commands."""
        return [sys.executable, "-m", f"tests.e2e.clients.{self.module}", name]


@dataclass(frozen=True, slots=True)
class KcatClient:
    """kcat, whose records are lines of text; one run writes records that share their headers."""

    name: str = "kcat"
    is_library: bool = False

    def produce(
        self,
        bootstrap: str,
        topic: str,
        records: Sequence[Record],
        *,
        compression: str = "none",
    ) -> list[Ack]:
        """Write `records`, whose headers must be alike, to partition 0."""
        headers = [f"-H{name}={(value or b'').decode()}" for name, value in records[0].headers]
        lines = b"".join(b"%b\t%b\n" % (record.key or b"", record.value) for record in records)
        command = [str(kcat_program()), "-P", "-b", bootstrap, "-t", topic, "-p0", "-K\t", "-z"]
        _run([*command, compression, *headers], lines.decode())
        return []

    def consume(self, bootstrap: str, topic: str, count: int) -> list[Stored]:
        """Read the first `count` records."""
        command = [str(kcat_program()), "-C", "-b", bootstrap, "-t", topic, "-q", "-J"]
        output = _run([*command, "-o", "beginning", f"-c{count}"])
        return [self._stored(json.loads(line)) for line in output.splitlines()]

    @staticmethod
    def _stored(line: dict[str, object]) -> Stored:
        flat = line.get("headers", [])
        pairs = zip(flat[::2], flat[1::2], strict=True)
        return Stored(
            line["partition"],
            line["offset"],
            _encoded(line["payload"]),
            _encoded(line["key"]),
            tuple((name, _encoded(value)) for name, value in pairs),
            line["ts"],
            {"create": 0, "logappend": 1}[line["tstype"]],
        )


@dataclass(frozen=True, slots=True)
class JavaClient:
    """Kafka's console producer and consumer."""

    name: str = "java"
    is_library: bool = False

    def produce(
        self,
        bootstrap: str,
        topic: str,
        records: Sequence[Record],
        *,
        compression: str = "none",
    ) -> list[Ack]:
        """Write `records`, with text for keys, values and headers, to the partition of each key."""
        lines = []
        for record in records:
            headers = ",".join(
                f"{name}:{(value or b'').decode()}" for name, value in record.headers
            )
            lines.append(f"{headers}\t{(record.key or b'').decode()}\t{record.value.decode()}\n")
        run_tool(
            "org.apache.kafka.tools.ConsoleProducer",
            *("--bootstrap-server", bootstrap, "--topic", topic),
            *("--compression-codec", compression),
            *("--reader-property", "parse.key=true", "--reader-property", "parse.headers=true"),
            stdin="".join(lines),
        )
        return []

    def consume(self, bootstrap: str, topic: str, count: int) -> list[Stored]:
        """Read the first `count` records."""
        printed = ("timestamp", "partition", "offset", "headers", "key", "value")
        options = [f"print.{name}=true" for name in printed] + [f"null.literal={_NULL}"]
        ran = run_tool(
            "org.apache.kafka.tools.consumer.ConsoleConsumer",
            *("--bootstrap-server", bootstrap, "--topic", topic, "--from-beginning"),
            *("--max-messages", str(count), "--timeout-ms", str(1000 * CONSUMED_WITHIN_S)),
            *(part for option in options for part in ("--formatter-property", option)),
        )
        return [self._stored(line) for line in ran.stdout.splitlines()]

    @staticmethod
    def _stored(line: str) -> Stored:
        time, partition, offset, headers, key, value = line.split("\t")
        kind, timestamp_ms = time.split(":")
        pairs = (
            [] if headers == "NO_HEADERS" else [pair.split(":", 1) for pair in headers.split(",")]
        )
        return Stored(
            int(partition.removeprefix("Partition:")),
            int(offset.removeprefix("Offset:")),
            _encoded(None if value == _NULL else value),
            _encoded(None if key == _NULL else key),
            tuple((name, _encoded(None if text == _NULL else text)) for name, text in pairs),
            int(timestamp_ms),
            {"CreateTime": 0, "LogAppendTime": 1}[kind],
        )


KAFKA_PYTHON = LibraryClient("kafka-python", "kafka_python_client")
CONFLUENT = LibraryClient("confluent-kafka", "confluent_client")
AIOKAFKA = LibraryClient("aiokafka", "aiokafka_client")
LIBRARIES = (KAFKA_PYTHON, CONFLUENT, AIOKAFKA)
KCAT = KcatClient()
JAVA = JavaClient()


def _run(command: list[str], stdin: str | None = None) -> str:
    ran = subprocess.run(
        command,
        input="" if stdin is None else stdin,
        capture_output=True,
        text=True,
        timeout=CONSUMED_WITHIN_S + 10,
        check=False,
        cwd=ROOT,
    )
    if ran.returncode != 0:
        msg = f"{' '.join(command)} ended with {ran.returncode}:\n{ran.stdout[-4000:]}{ran.stderr[-4000:]}"
        raise AssertionError(msg)
    return ran.stdout


def _encoded(text: str | None) -> bytes | None:
    return None if text is None else text.encode()
