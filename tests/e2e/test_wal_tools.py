"""The tools beside a broker that writes to the log, after its death, and what a start says of a bad device."""

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from tests.e2e.broker_process import HeadraceProcess
from tests.environment.loop_device import LoopDevice
from tests.environment.paths import ROOT

TOPIC = "wal-tools"
MIB = 1024 * 1024


class Outcome(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


def headrace(*arguments: str) -> Outcome:
    done = subprocess.run(
        [sys.executable, "-m", "headrace.broker", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


def wal_json(command: str, path: Path) -> dict[str, object]:
    outcome = headrace("wal", command, str(path), "--json")
    assert outcome.code == 0, outcome
    answer = json.loads(outcome.out)
    assert isinstance(answer, dict)
    return answer


class Producing:
    """Produces until told to end; knows what was acknowledged."""

    def __init__(self, bootstrap: str) -> None:
        self.acknowledged: list[int] = []
        self.failed: list[str] = []
        self._grown = threading.Condition()
        self._ended = threading.Event()
        self._producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 1, "acks": "all"})

    def run(self) -> None:
        number = 0
        while not self._ended.is_set():
            self._producer.produce(
                TOPIC, value=b"%d " % number + b"x" * 2000, partition=0, on_delivery=self._told
            )
            number += 1
            self._producer.poll(0)
            if number % 50 == 0:
                self._producer.flush(10)
                self._ended.wait(0.02)  # the tools need a little of this machine too
        self._producer.flush(30)

    def wait_for_more(self, count: int) -> None:
        """Wait until so many more are acknowledged."""
        with self._grown:
            wanted = len(self.acknowledged) + count
            assert self._grown.wait_for(lambda: len(self.acknowledged) >= wanted, timeout=60)

    def end(self) -> None:
        self._ended.set()

    def _told(self, error: object, message: object) -> None:
        if error is not None:
            self.failed.append(str(error))
            return
        with self._grown:
            self.acknowledged.append(message.offset())  # type: ignore[attr-defined]
            self._grown.notify_all()


@contextmanager
def producing(bootstrap: str) -> Iterator[Producing]:
    load = Producing(bootstrap)
    thread = threading.Thread(target=load.run)
    thread.start()
    try:
        load.wait_for_more(500)
        yield load
    finally:
        load.end()
        thread.join(60)


def count(bootstrap: str, wanted: int) -> int:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "count"})
    consumer.assign([TopicPartition(TOPIC, 0, 0)])
    found = 0
    while found < wanted:
        messages = consumer.consume(min(1000, wanted - found), timeout=20)
        assert messages, f"{found} of {wanted} are there"
        found += len(messages)
    consumer.close()
    return found


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[HeadraceProcess]:
    overrides = {"auto.create.topics.enable": "true"}
    with HeadraceProcess(tmp_path, overrides=overrides) as running:
        yield running


def test_looking_disturbs_no_broker_and_tells_the_truth(broker: HeadraceProcess) -> None:
    path = broker.directory / "data" / "wal"
    properties = broker.directory / "server.properties"
    with producing(broker.bootstrap) as load:
        for _ in range(2):
            told = wal_json("info", path)
            assert told["holds"] == "a WAL"
            assert str(told["writer"]).startswith(f"process {broker.process.process_id} (")
            verified = wal_json("verify", path)
            assert verified["result"] == "sound"
            assert int(str(verified["records"])) > 0
            dumped = headrace("wal", "dump", "-c", str(properties), "--json", "-n", "20")
            assert dumped.code == 0, dumped
            lines = [json.loads(line) for line in dumped.out.splitlines()]
            assert lines[0]["what"] == "block"
            assert {line["state"] for line in lines if line["what"] == "record"} == {"intact"}
        refused = headrace("wal", "format", "--force", str(path))
        assert (refused.code, refused.out) == (1, "")
        assert f"process {broker.process.process_id} " in refused.err
        load.wait_for_more(500)
    assert load.failed == []

    broker.kill()
    acknowledged = len(load.acknowledged)
    assert wal_json("info", path)["writer"] == "none seen"
    assert wal_json("verify", path)["result"] == "sound"
    batches = [
        json.loads(line)
        for line in headrace("wal", "dump", str(path), "--json").out.splitlines()
        if "stream_id" in line
    ]
    assert max(int(batch["base_offset"]) + int(batch["count"]) for batch in batches) >= acknowledged
    refused = headrace("wal", "format", str(path))
    assert refused.code == 1
    assert "may not be in the bucket" in refused.err

    broker.start()
    assert count(broker.bootstrap, acknowledged) >= acknowledged
    broker.stop()
    assert wal_json("verify", path)["records"] == 0
    told = wal_json("info", path)
    assert told["shutdown"] == "graceful, empty"
    assert headrace("wal", "format", str(path)).code == 0
    broker.start()
    assert count(broker.bootstrap, acknowledged) >= acknowledged, "all of it is in the bucket"


def server_arguments(directory: Path) -> list[str]:
    """A node without a configuration file."""
    return [
        *("--override", "node.id=1", "--override", "process.roles=broker,controller"),
        *("--override", "listeners=PLAINTEXT://127.0.0.1:0"),
        *("--override", "headrace.admin.listener=none"),
        *("--override", f"log.dirs={directory / 'data'}"),
        *("--override", f"s3.data.buckets=0@file://{directory / 'bucket'}"),
    ]


def test_a_start_on_a_mounted_device_ends_at_once(
    tmp_path: Path, component: Callable[[Callable[[], object]], None]
) -> None:
    """Nothing that this node could wait for will make it free."""
    with ExitStack() as stack:
        devices: list[LoopDevice] = []
        image = LoopDevice(tmp_path / "image", 64 * MIB)
        component(lambda: devices.append(stack.enter_context(image)))
        device, place = devices[0].path, tmp_path / "mounted"
        place.mkdir()
        subprocess.run(["mkfs.ext4", "-q", "-F", device], check=True)
        subprocess.run(["mount", device, str(place)], check=True)
        stack.callback(subprocess.run, ["umount", str(place)], check=True)
        path = f"s3.wal.path=0@file://{device}?capacity={32 * MIB}"
        outcome = headrace("server", *server_arguments(tmp_path), "--override", path)
        assert outcome.code == 1, outcome
        assert f"{device} is in use: mounted at {place}" in outcome.err
        assert "waiting for the WAL" not in outcome.err
        assert "Traceback" not in outcome.err


@pytest.mark.parametrize("command", ["server", "dev"])
def test_a_start_on_a_device_that_holds_something_else_says_what_to_do(
    command: str, tmp_path: Path
) -> None:
    disk = tmp_path / "disk"
    with disk.open("wb") as file:
        file.truncate(64 * MIB)
    subprocess.run(["mkfs.ext4", "-q", "-F", str(disk)], check=True)
    before = disk.read_bytes()
    place = f"0@file://{disk}?capacity={32 * MIB}"
    arguments = {
        "server": server_arguments(tmp_path),
        "dev": ["--data-dir", str(tmp_path / "data"), "--port", "0", "--admin-port", "0"],
    }[command]
    outcome = headrace(command, *arguments, "--override", f"s3.wal.path={place}")
    assert outcome.code == 1, outcome
    assert f"{disk} holds an ext2, ext3 or ext4 file system (at byte 1080)" in outcome.err
    assert f"`headrace wal format --force {disk}` erases it" in outcome.err
    assert "Traceback" not in outcome.err
    assert disk.read_bytes() == before
