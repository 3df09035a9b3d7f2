"""`make demo`: real data to a topic, by two ways into one Iceberg table, and SQL, a table and a chart of it.

Debian's package index goes into a topic, with some broken records among it. A pipeline takes the first half through the
broker. Then the broker stops, and the same pipeline goes on at the same offset from the bucket.
"""

import argparse
import itertools
import json
import socket
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import duckdb
from matplotlib.figure import Figure
from pyiceberg.table import Table
from pyspark.sql import SparkSession

from headrace.pipeline.demo import clients
from headrace.pipeline.demo.debian import write_package_index
from headrace.pipeline.demo.local_broker import LocalBroker
from headrace.pipeline.demo.progress import DemoError, Progress
from headrace.pipeline.java import NoJavaError
from headrace.pipeline.session import create_session
from headrace.pipeline.tables.catalogs import open_catalog
from headrace.pipeline.tables.end_offsets import end_offsets
from headrace.pipeline.tables.queries import run_pipeline
from headrace.pipeline.tables.reading_configuration import read_configuration
from headrace.pipeline.tables.status import status_rows

TOPIC: Final = "packages"
DEAD_LETTERS: Final = "packages-dead"
TABLE: Final = "debian.packages"
BROKEN: Final = 25  # records that are no documents
PARTITIONS: Final = 6
ROWS_SHOWN: Final = 12
CONFIGURATION: Final = """
checkpoint = "file://{output}/checkpoint"

[source]
format = "{format}"
bootstrap_servers = "{bootstrap}"
bucket = "file://{bucket}"

[trigger]
once = true

[catalog]
uri = "sqlite:///{output}/catalog.db"
warehouse = "file://{output}/warehouse"

[dead_letters]
topic = "{dead_letters}"

[[tables]]
name = "{table}"
topics = ["{topic}"]
columns = {{ package = "string", section = "string", installed_size = "long", size = "long", maintainer = "string" }}
required = ["package"]
new_fields = "ignore"
partition_by = ["bucket(2, package)"]
"""
SQL: Final = """
select section, count(*) as packages, round(sum(installed_size) / 1048576.0, 2) as installed_gib,
       max_by(package, installed_size) as largest
from packages group by section order by sum(installed_size) desc nulls last limit {rows}
"""
Record = tuple[bytes | None, bytes]


@dataclass(frozen=True, slots=True)
class Demo:
    """What is run, and where its results go."""

    broker: LocalBroker
    session: SparkSession
    output: Path

    def run_pipeline(self, kind: str) -> None:
        """Run the pipeline through the broker (`kafka`) or from the bucket (`headrace`)."""
        text = CONFIGURATION.format(
            format=kind,
            bootstrap=self.broker.bootstrap,
            bucket=self.broker.bucket,
            output=self.output,
            topic=TOPIC,
            table=TABLE,
            dead_letters=DEAD_LETTERS,
        )
        path = self.output / "pipeline.toml"
        path.write_text(text)
        config = read_configuration(text, source=path.name, stem=path.stem)
        stopped = run_pipeline(self.session, config, lambda: time.time_ns() // 1_000_000)
        if stopped:
            raise DemoError(f"the pipeline stopped: {stopped[TABLE]}")

    def table(self) -> Table:
        """The table, as any program opens it."""
        text = (self.output / "pipeline.toml").read_text()
        config = read_configuration(text, source="pipeline.toml", stem="pipeline")
        return open_catalog(config.catalog).load_table(TABLE)

    def status(self) -> list[dict[str, object]]:
        """What `headrace pipeline status` shows."""
        text = (self.output / "pipeline.toml").read_text()
        config = read_configuration(text, source="pipeline.toml", stem="pipeline")
        ends = end_offsets(config.source, [TOPIC])
        return list(status_rows(config, open_catalog(config.catalog), ends))


def read_records(path: Path) -> Iterator[Record]:
    """Return the documents of a file as records, with the package's name as key."""
    with path.open("rb") as lines:
        for line in lines:
            yield json.loads(line)["package"].encode(), line.strip()


def with_broken(records: Sequence[Record], broken: int) -> Iterator[Record]:
    """Yield records, with some that are no documents among them."""
    step = max(1, len(records) // max(1, broken))
    left = broken
    for number, it in enumerate(records):
        if left and number % step == 0:
            left -= 1
            yield None, it[1][: len(it[1]) // 2]  # as a writer that is cut off leaves it
        yield it


def digest(values: Sequence[str]) -> tuple[int, int]:
    """Number of texts, and the sum of their checksums."""
    return len(values), sum(zlib.crc32(it.encode()) for it in values)


def run(options: argparse.Namespace, scratch: Path, output: Path) -> None:
    """Run all steps.

    Raises:
        DemoError: a step failed, or the table is not what was sent.
    """
    progress = Progress(steps=6)
    with progress.step("Data"):
        path = scratch / "packages.jsonl"
        progress.say(f"{write_package_index(path):,} packages of Debian's index")
        records = list(itertools.islice(read_records(path), options.records))
    session = create_session("headrace demo", connector_jars=options.connector_jars)
    with LocalBroker(scratch, *free_ports(2)) as broker:
        demo = Demo(broker, session, output)
        half = len(records) // 2
        with progress.step("The first half goes through the broker into the table"):
            clients.create_topic(broker.bootstrap, TOPIC, PARTITIONS)
            clients.create_topic(broker.bootstrap, DEAD_LETTERS, 1)
            sent = with_broken(records[:half], BROKEN)
            clients.write(broker.bootstrap, TOPIC, sent)
            demo.run_pipeline("kafka")
            progress.say(f"{demo.table().scan().count():,} rows; {dead(demo)} dead letters")
        with progress.step("The rest is sent, and the broker stops"):
            clients.write(broker.bootstrap, TOPIC, records[half:])
            broker.stop()
            objects, size = broker.objects_in_bucket()
            progress.say(f"the bucket holds {objects} objects, {size / (1 << 20):.1f} MiB")
        with progress.step("The same pipeline goes on from the bucket, without a broker"):
            demo.run_pipeline("headrace")
            rows = demo.table().scan(selected_fields=("package",)).to_arrow()
            progress.say(
                f"{len(rows):,} rows; lag {sum(int(str(it['lag'])) for it in demo.status())}"
            )
        with progress.step("Are all rows there, once?"):
            compare([(key or b"").decode() for key, _ in records], rows.column(0).to_pylist())
            progress.say("number and checksums of packages agree with what was sent")
        with progress.step("SQL, and a chart"):
            table, names, values = query(demo.table())
            chart = options.chart or output / "installed-size.png"
            draw_bars(chart, names, values)
    session.stop()
    print(f"\n{table}\n\nChart: {chart}\nTable: {output / 'warehouse'}")
    progress.end()


def dead(demo: Demo) -> int:
    """Number of bad records, as the table has it."""
    return sum(int(str(it["dead_letters"])) for it in demo.status())


def compare(sent: Sequence[str], found: Sequence[str]) -> None:
    """Compare names of packages.

    Raises:
        DemoError: they differ.
    """
    if digest(sent) != digest(found):
        raise DemoError(
            f"sent {digest(sent)}, and the table has {digest(found)}: number and checksum"
        )


def query(table: Table) -> tuple[str, list[str], list[float]]:
    """Run the SQL; return its result as text, with the names and values of the chart."""
    connection = duckdb.connect()
    table.scan().to_duckdb("packages", connection)
    result = connection.execute(SQL.format(rows=ROWS_SHOWN))
    titles = [it[0] for it in result.description or ()]
    rows: list[tuple[Any, ...]] = result.fetchall()
    cells = [
        titles,
        *([f"{it:,}" if isinstance(it, int) else str(it) for it in row] for row in rows),
    ]
    widths = [max(len(row[column]) for row in cells) for column in range(len(titles))]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in cells]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines), [str(row[0]) for row in rows], [float(row[2] or 0) for row in rows]


def draw_bars(path: Path, names: Sequence[str], values: Sequence[float]) -> None:
    """Draw a bar for each name, the first one at the top, as a PNG."""
    figure = Figure(figsize=(8, 0.34 * len(names) + 1), layout="constrained")
    axes = figure.add_subplot()
    bars = axes.barh(list(names), list(values), color="#2a6f97")
    axes.bar_label(bars, fmt="%.1f", padding=3, fontsize=9)
    axes.invert_yaxis()
    axes.set_xlabel("GiB")
    axes.set_title("Installed size of Debian's packages by section", loc="left", fontsize=12)
    axes.spines[["top", "right"]].set_visible(False)
    axes.margins(x=0.1)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def free_ports(count: int) -> list[int]:
    """Return free ports."""
    probes = [socket.socket() for _ in range(count)]
    for probe in probes:
        probe.bind(("127.0.0.1", 0))
    ports = [int(probe.getsockname()[1]) for probe in probes]
    for probe in probes:
        probe.close()
    return ports


def fresh_output() -> Path:
    """Make a new directory `build/demo-*` below the current one."""
    parent = Path("build")
    parent.mkdir(exist_ok=True)
    return Path(tempfile.mkdtemp(prefix="demo-", dir=parent))


def main() -> int:
    """Run the demonstration; print the reason and return 1 if it fails."""
    parser = argparse.ArgumentParser(prog="make demo", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--records", type=int, help="use only the first RECORDS packages")
    parser.add_argument("--output", type=Path, help="directory of the table; default: build/demo-*")
    parser.add_argument("--chart", type=Path, help="the picture; default: in the output directory")
    parser.add_argument(
        "--connector-jars", type=Path, help="the connector's jars; without it Spark downloads them"
    )
    options = parser.parse_args()
    output = (options.output or fresh_output()).resolve()
    (output / "warehouse").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="headrace-demo-") as directory:
        try:
            run(options, Path(directory), output)
        except (DemoError, NoJavaError) as error:
            print(f"demo: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
