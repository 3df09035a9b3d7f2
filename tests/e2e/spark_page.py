"""Runs every snippet of a page about Spark as it is written, in order: `python -m tests.e2e.spark_page DIR PAGE`.

It has namespaces of network and mounts to itself, so the addresses of the pages and the directory /srv are free: MinIO
and a broker listen there, and /srv is empty. All Python of a page runs in one namespace and one Spark session, which is
the reader's; commands run in processes of their own. A query that a snippet starts is stopped when its first
micro-batch has ended. A pipeline that a command starts goes on, like a terminal that is left open; the next snippet is
typed when its first micro-batch has ended.

What a snippet may count on, beside what those above it have made:

- the topics of `TOPICS`, with the records of `documents`, all of them in the bucket and in its newest snapshot
- `shop.toml`, which holds the block of TOML above
- `job.py`, which holds the block of Python above the commands; `file.jsonl`, with documents
- the S3 buckets of `BUCKETS`, and the variables of credentials, as the page tells; a URI of such a bucket in a command
  may leave out the endpoint
- the package of the wheel for Spark, `pyspark_headrace`, and the files of a checkout
- what `STANDS_FOR` has for names that are those of somebody's cluster
"""

import contextlib
import io
import json
import os
import re
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

import boto3

from tests.documentation.outputs import matches
from tests.documentation.pages import Block, page
from tests.e2e.broker_process import HeadraceProcess
from tests.e2e.client_programs import CONFLUENT
from tests.e2e.records import Record
from tests.e2e.spark_buckets import EARLY, published
from tests.e2e.spark_connector import create, wait_until
from tests.environment.minio import ACCESS_KEY, SECRET_KEY, MinioServer

PAGES = ("docs/spark.md", "docs/tables.md")
BROKER_PORT, ADMIN_PORT, S3_PORT = 9092, 9644, 9000
BUCKETS = ("headrace", "exports")  # the first is the broker's
S3_OPTIONS = f"endpoint=http://127.0.0.1:{S3_PORT}&pathStyle=true"
S3_URI = re.compile(rf"(?<![\w'\"])(s3://(?:{'|'.join(BUCKETS)})[\w/-]*)(?=\s)")
STANDS_FOR = {
    "local-cluster[2,1,1024]": "local[2]",  # test_spark_submit.py runs the same job on two workers
    "spark://HOST:7077": "local[2]",
    "broker:9092": f"127.0.0.1:{BROKER_PORT}",
    "s3a://checkpoints": "file://$PWD/checkpoints",
    "file:///checkpoints": "file://$PWD/checkpoints",
    "file:///exports": "file://$PWD/exports",
}
PIPELINE_RUN = re.compile(r"headrace pipeline run .*")
ENDED_MICRO_BATCHES = "srv/lake/checkpoint/*/commits/[0-9]*"
KEYS = {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY}
PARTITIONS = 2
RECORDS = 60
TOPICS = (
    "orders",
    "documents",
)  # filled; `results` and others come into being when they are written to
COMMAND_TIMEOUT_S = 300
LOG_TAIL = 6_000  # characters


def snippets(name: str) -> list[Block]:
    """Return all blocks of a page that can be typed: the others show what is written."""
    return [it for it in page(name).blocks if it.language in ("python", "sh", "toml")]


def documents() -> list[bytes]:
    """Documents with the fields that snippets name."""
    shops = ("north", "south")
    return [
        json.dumps(
            {"id": n, "shop": shops[n % 2], "amount": n / 2}
            | {"section": f"s{n % 3}", "installed_size": n, "time_ms": 1_764_000_000_000 + 1000 * n}
            | {"price": n / 4, "at": f"2026-11-27T10:00:{n:02}Z"}
        ).encode()
        for n in range(RECORDS)
    ]


def fill(broker: HeadraceProcess, bucket: str) -> None:
    """Write the topics, and wait until the bucket has them."""
    for topic in TOPICS:
        sent = [Record(it, partition=n % PARTITIONS) for n, it in enumerate(documents())]
        create(broker.bootstrap, topic, PARTITIONS)
        CONFLUENT.produce(broker.bootstrap, topic, sent, compression="zstd")
    wait_until(
        "the topics are in the bucket",
        lambda: (
            sum(published(bucket).get((t, p), 0) for t in TOPICS for p in range(PARTITIONS))
            == RECORDS * len(TOPICS)
        ),
    )


def command(text: str) -> str:
    """Return commands of the page as they are here."""
    for example, meant in STANDS_FOR.items():
        text = text.replace(example, meant)
    return S3_URI.sub(rf"'\1?{S3_OPTIONS}'", text)


class Reader:
    """Someone who types the snippets, one after the other."""

    def __init__(self) -> None:
        self._names: dict[str, Any] = {"__name__": "__main__"}

    def type_in(self, block: Block) -> str:
        """Run a snippet, and return what it writes.

        Raises:
            AssertionError: it fails.
        """
        if block.language == "python":
            return self._run_python(block)
        if block.language == "toml":
            Path("shop.toml").write_text(block.text)
            return ""
        if PIPELINE_RUN.fullmatch(block.text.strip()):
            self._start_pipeline(block.text)
            return ""
        ran = subprocess.run(
            ["bash", "-c", f"set -eo pipefail\n{command(block.text)}"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=COMMAND_TIMEOUT_S,
            check=False,
        )
        assert ran.returncode == 0, f"exit code {ran.returncode}: {ran.stdout[-LOG_TAIL:]}"
        return ran.stdout

    def _start_pipeline(self, text: str) -> None:
        log = Path("pipeline.log")
        with log.open("w") as written:
            pipeline = subprocess.Popen(
                ["bash", "-c", f"exec {text}"],
                stdin=subprocess.DEVNULL,
                stdout=written,
                stderr=subprocess.STDOUT,
            )
        wait_until(
            "the pipeline has ended a micro-batch",
            lambda: pipeline.poll() is not None or any(Path("/").glob(ENDED_MICRO_BATCHES)),
        )
        assert pipeline.poll() is None, log.read_text()[-LOG_TAIL:]

    def _run_python(self, block: Block) -> str:
        Path("job.py").write_text(block.text)
        text = block.text
        for example, meant in STANDS_FOR.items():
            if meant.startswith("file:"):
                text = text.replace(example, meant.replace("$PWD", str(Path.cwd())))
        # The lines of a traceback are those of the page.
        code = compile("\n" * block.line + text, block.page, "exec")
        written = io.StringIO()
        try:
            with contextlib.redirect_stdout(written):
                exec(code, self._names)
        except Exception as error:
            raise AssertionError(traceback.format_exc()[-LOG_TAIL:]) from error
        self._stop_queries()
        return written.getvalue()

    def _stop_queries(self) -> None:
        if "spark" not in self._names:
            return
        for query in self._names["spark"].streams.active:
            wait_until(
                "a micro-batch has ended",
                lambda query=query: query.lastProgress is not None or not query.isActive,
            )
            query.stop()
            assert query.exception() is None, query.exception()


def main() -> int:
    """Run a page; the exit code is 1 if a snippet fails, and its place is the last one that was told."""
    directory = Path(sys.argv[1])
    os.chdir(directory / "headrace")  # which looks like a checkout
    sys.path.insert(0, str(Path.cwd()))
    Path("file.jsonl").write_bytes(b"\n".join(documents()))
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    (directory / "srv").mkdir()
    subprocess.run(["mount", "--bind", directory / "srv", "/srv"], check=True)
    os.environ.update(KEYS)
    with MinioServer(directory / "minio", port=S3_PORT) as minio:
        client = boto3.client("s3", endpoint_url=minio.endpoint, region_name="us-east-1")
        for bucket in BUCKETS:
            client.create_bucket(Bucket=bucket)
        uri = f"s3://{BUCKETS[0]}?{S3_OPTIONS}"
        settings = {**EARLY, "s3.data.buckets": f"0@{uri}"}
        settings["headrace.admin.listener"] = f"127.0.0.1:{ADMIN_PORT}"
        node = HeadraceProcess(directory / "node", port=BROKER_PORT, overrides=settings)
        node.admin_port = ADMIN_PORT
        with node:
            fill(node, uri)
            reader = Reader()
            for block in snippets(sys.argv[2]):
                print(block.place, flush=True)
                try:
                    written = reader.type_in(block)
                    if block.output is not None:
                        shown = f"shown:\n{block.output}\nwritten:\n{written}"
                        assert matches(block.output, written), shown
                except AssertionError as error:
                    print(error, flush=True)
                    return 1
    print("done", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
