"""The tools beside a real broker: while it runs, after it was killed, and when its data are deleted."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from headrace.metadata.offline.directory import read_offline
from tests.e2e.broker_process import HeadraceProcess
from tests.e2e.client_programs import CONFLUENT
from tests.e2e.records import Record
from tests.environment.paths import ROOT
from tests.integration.independent_bucket import contents_of, differences

MIB = 1 << 20
RECORDS = [Record(bytes([number % 256]) * 100_000) for number in range(300)]

RunTool = Callable[..., tuple[int, Any]]


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[HeadraceProcess]:
    """A broker that uploads early, and deletes as soon as it may."""
    settings = {
        "s3.wal.upload.threshold": str(4 * MIB),
        "s3.object.delete.retention.minutes": "0",
        "headrace.metadata.snapshot.publish.interval.ms": "1000",
    }
    with HeadraceProcess(tmp_path / "node", overrides=settings) as node:
        yield node


@pytest.fixture
def tool(broker: HeadraceProcess) -> RunTool:
    """Run a tool on the broker's bucket: (exit code, document, or what it said)."""
    data = broker.directory / "data"

    def run(*arguments: str, metadata: bool = False) -> tuple[int, Any]:
        place = [f"file://{data / 'bucket'}"]
        command = [*arguments[:2], *place, *arguments[2:], "--json"]
        if metadata:
            command += ["--metadata", str(data)]
        done = subprocess.run(
            [sys.executable, "-m", "headrace.broker", *command],
            cwd=ROOT,
            env=dict(os.environ),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr

    return run


def fill(broker: HeadraceProcess, topic: str) -> None:
    acks = CONFLUENT.produce(broker.bootstrap, topic, RECORDS)
    assert [ack.error for ack in acks] == [0] * len(RECORDS)
    broker.process.wait_until(
        lambda: broker.metrics()["headrace_uploaded_bytes_total"] > 20 * MIB,
        "uploads",
        timeout_s=20,
    )


def test_beside_a_running_broker(broker: HeadraceProcess, tool: RunTool) -> None:
    fill(broker, "live")
    code, found = tool("bucket", "fsck", "--deep", metadata=True)
    assert (code, found["errors"], found["leftovers"]) == (0, 0, 0)
    assert found["metadata_in_use"]
    code, checked = tool("object", "verify", "--all")
    assert (code, checked["damaged"]) == (0, 0)
    assert checked["bytes"] > 20 * MIB
    code, described = tool("stream", "describe", "--topic", "live", metadata=True)
    data = next(it for it in described["streams"] if it["kind"] == "data")
    assert (code, data["gaps"], data["overlaps"], data["contradictions"]) == (0, [], [], [])
    assert data["state"] == "opened"
    code, cost = tool("bucket", "cost", "--admin", f"127.0.0.1:{broker.admin_port}")
    assert code == 0
    assert cost["requests"]["ingested_bytes"] > 30_000_000
    puts = next(it for it in cost["requests"]["operations"] if it["operation"] == "put")
    assert puts["requests"] >= found["states"][1]["in_bucket"] > 0
    code, told = tool("bucket", "gc", "--yes", metadata=True)
    assert (code, "--live" in told) == (1, True)
    assert tool("bucket", "verify")[0] == 0
    stored = CONFLUENT.consume(broker.bootstrap, "live", len(RECORDS))
    assert [item.value for item in stored] == [record.value for record in RECORDS]


def test_after_a_kill(broker: HeadraceProcess, tool: RunTool, tmp_path: Path) -> None:
    fill(broker, "killed")
    broker.kill()
    code, found = tool("bucket", "fsck", "--deep", metadata=True)
    assert (code, found["errors"], found["metadata_in_use"]) == (0, 0, False)
    _, described = tool("stream", "describe", "--topic", "killed", metadata=True)
    data = next(it for it in described["streams"] if it["kind"] == "data")
    piece = data["pieces"][1]
    _, shown = tool("object", "dump", str(piece["object_id"]))
    assert shown["index"][0]["start_offset"] == piece["start_offset"]

    path = broker.directory / "data" / "bucket" / shown["key"]
    shutil.move(path, tmp_path / "kept")
    code, found = tool("bucket", "fsck", metadata=True)
    assert (code, found["counts"]) == (1, {"missing": 1})
    assert (
        f"offsets {piece['start_offset']} to {piece['end_offset']}"
        in found["findings"][0]["detail"]
    )
    code, told = tool("bucket", "gc", "--yes", metadata=True)
    assert (code, told["removed"]) == (1, 0)
    code, alone = tool("stream", "describe", "--stream", str(data["stream"]))
    assert code == 1
    assert alone["streams"][0]["gaps"] == [[piece["start_offset"], piece["end_offset"]]]
    shutil.move(tmp_path / "kept", path)

    broker.start()
    stored = CONFLUENT.consume(broker.bootstrap, "killed", len(RECORDS))
    assert [item.value for item in stored] == [record.value for record in RECORDS]


def test_when_a_topic_is_deleted_the_bucket_holds_what_the_metadata_know(
    broker: HeadraceProcess, tool: RunTool
) -> None:
    fill(broker, "deleted")
    before = tool("bucket", "ls")[1]["bytes"]
    assert before > 20 * MIB
    command = ["topic", "delete", "deleted", "--yes", "-b", broker.bootstrap]
    subprocess.run(
        [sys.executable, "-m", "headrace.broker", *command], cwd=ROOT, check=True, timeout=60
    )

    def settled() -> bool:
        _, found = tool("bucket", "fsck", metadata=True)
        assert found["errors"] == 0  # at no time
        return found["settled"] and found["states"][1]["bytes"] < before / 2

    broker.process.wait_until(settled, "the bucket to be settled", timeout_s=60)
    data = broker.directory / "data"

    def exact() -> bool:
        contents = contents_of(f"file://{data / 'bucket'}")
        known = read_offline(data / "metadata")
        return differences(contents, known.image, known.cluster_id) == []

    broker.process.wait_until(exact, "a lister of the tests' own to find the same", timeout_s=20)
