"""`make demo`: sends real data through the broker and its bucket, and compares what three clients read.

make demo                     Debian's package index
make demo DATA=file.jsonl     your own data, one JSON document per line
"""

import argparse
import json
import socket
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from headrace.pipeline import package_sizes
from headrace.pipeline.demo import clients
from headrace.pipeline.demo.debian import write_package_index
from headrace.pipeline.demo.digests import TopicDigest
from headrace.pipeline.demo.local_broker import LocalBroker
from headrace.pipeline.demo.outputs import fresh_output
from headrace.pipeline.demo.progress import DemoError, Progress
from headrace.pipeline.fields import SAMPLE_DOCUMENTS, FieldChoice, NoSuchFieldError, choose_fields
from headrace.pipeline.java import NoJavaError
from headrace.pipeline.session import create_session

TOPIC = "documents"
BUCKET_READS = "headrace_object_store_get_bytes_total"
MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Options:
    """The command line options."""

    data: Path | None
    records: int | None
    partitions: int
    key: str | None
    group_by: str | None
    number: str | None
    output: Path
    connector_jars: Path | None


def read_records(
    path: Path, key: str | None, limit: int | None
) -> Iterator[tuple[bytes | None, bytes]]:
    """Return the lines of a file as records, with the value of `field` as key, if one is named."""
    with path.open("rb") as lines:
        for line in islice((line.strip() for line in lines), limit):
            if line:
                yield _key_of(line, key), line


def _key_of(line: bytes, field: str | None) -> bytes | None:
    if field is None:
        return None
    try:
        document = json.loads(line)
    except ValueError:
        return None
    value = document.get(field) if isinstance(document, dict) else None
    return None if value is None else str(value).encode()


def run(options: Options, scratch: Path) -> None:
    """Run all steps.

    Raises:
        DemoError: a program is missing, or the clients' results differ.
    """
    progress = Progress(steps=6)
    with progress.step("Data"):
        path, key, fields = prepare(options, scratch)
        progress.say(f"{path} ({path.stat().st_size / MIB:.1f} MiB)")
        progress.say(f"grouped by {fields.group_by!r}, sum of {fields.number!r}")
    with LocalBroker(scratch, *free_ports(2)) as broker:
        with progress.step(f"librdkafka writes to {options.partitions} partitions"):
            clients.create_topic(broker.bootstrap, TOPIC, options.partitions)
            records = read_records(path, key, options.records)
            written = clients.write(broker.bootstrap, TOPIC, records)
            progress.say(f"{written.count:,} records acknowledged")
        with progress.step("kafka-python and kcat read, from memory"):
            compare(broker, written, scratch, progress)
        with progress.step("The broker restarts"):
            broker.stop()
            objects, size = broker.objects_in_bucket()
            progress.say(f"the bucket holds {objects} objects, {size / MIB:.1f} MiB")
            broker.start()
        with progress.step("kafka-python and kcat read, from the bucket"):
            compare(broker, written, scratch, progress)
            fetched = broker.metric(BUCKET_READS)
            progress.say(f"the broker read {fetched / MIB:.1f} MiB from the bucket")
            if not fetched:
                msg = "the broker did not read the records from the bucket"
                raise DemoError(msg)
        with progress.step("Spark aggregates the documents"):
            summary = aggregate(options, broker.bootstrap, fields, written.count)
    print(f"\n{summary}\n\nParquet: {options.output / 'totals'}")
    progress.end()


def prepare(options: Options, scratch: Path) -> tuple[Path, str | None, FieldChoice]:
    """Return the file of documents, the field for their keys, and the fields to aggregate."""
    path, key = options.data, options.key
    group_by, number = options.group_by, options.number
    if path is None:
        path = scratch / "packages.jsonl"
        write_package_index(path)
        key, group_by, number = key or "package", group_by or "section", number or "installed_size"
    try:
        with path.open() as lines:
            sample = islice(lines, SAMPLE_DOCUMENTS)
            return path, key, choose_fields(sample, group_by=group_by, number=number)
    except (OSError, UnicodeDecodeError, NoSuchFieldError) as error:
        raise DemoError(str(error)) from error


def compare(broker: LocalBroker, written: TopicDigest, scratch: Path, progress: Progress) -> None:
    """Read the topic with two clients and compare each with the acknowledged records."""
    readings = {
        "kafka-python": clients.read_with_kafka_python(broker.bootstrap, TOPIC, written.count),
        "kcat": clients.read_with_kcat(broker.bootstrap, TOPIC, scratch),
    }
    for name, reading in readings.items():
        differences = written.differences(reading)
        if differences:
            msg = f"{name} read other records than were written:\n" + "\n".join(differences)
            raise DemoError(msg)
        progress.say(f"{name}: {reading.count:,} records, counts and checksums agree")
    checksums = " ".join(checksum for _, checksum in written.summary().values())
    progress.say(f"checksum of each partition: {checksums}")


def aggregate(options: Options, bootstrap: str, fields: FieldChoice, count: int) -> str:
    """Run the Spark job and return its table."""
    session = create_session("headrace demo", connector_jars=options.connector_jars)
    totals = package_sizes.run(session, bootstrap, TOPIC, fields, options.output)
    summary = package_sizes.table(totals, fields)
    counted = sum(row[package_sizes.DOCUMENTS] for row in totals.collect())
    session.stop()
    if counted != count:
        msg = f"Spark counted {counted} documents, expected {count}"
        raise DemoError(msg)
    return summary


def free_ports(count: int) -> list[int]:
    """Return free ports."""
    probes = [socket.socket() for _ in range(count)]
    for probe in probes:
        probe.bind(("127.0.0.1", 0))
    ports = [int(probe.getsockname()[1]) for probe in probes]
    for probe in probes:
        probe.close()
    return ports


def parse_arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m headrace.pipeline.demo", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--data", type=Path, help="JSON lines; default: Debian's package index")
    parser.add_argument("--records", type=int, help="use only the first RECORDS documents")
    parser.add_argument("--partitions", type=int, default=6)
    parser.add_argument("--key", help="field to use as the records' key")
    parser.add_argument("--group-by", help="field to group by; default: chosen from the data")
    parser.add_argument("--number", help="numeric field to sum; default: chosen from the data")
    parser.add_argument(
        "--output", type=Path, help="directory of the Parquet files; default: build/demo"
    )
    parser.add_argument(
        "--connector-jars",
        type=Path,
        help="directory with the connector's jars; without it Spark downloads them",
    )
    return parser.parse_args()


def main() -> int:
    """Run the demonstration; print the reason and return 1 if it fails."""
    arguments = parse_arguments()
    with tempfile.TemporaryDirectory(prefix="headrace-demo-") as directory:
        scratch = Path(directory)
        fields = {**vars(arguments), "output": arguments.output or fresh_output("demo")}
        try:
            run(Options(**fields), scratch)
        except (DemoError, NoJavaError) as error:
            print(f"demo: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
