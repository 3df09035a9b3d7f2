"""A real controller process is killed in the middle of its work, again and again.

Run as a program it is that process: it prints every change after it was answered.
"""

import asyncio
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from headrace.config.node import Endpoint, MetadataConfig
from headrace.metadata.controller.decision import ConfigRules
from headrace.metadata.follower.client import BrokerIdentity, MetadataClient, NewTopic
from headrace.metadata.leader.driver import ControllerNode
from headrace.metadata.log.os_directory import OsDirectory
from headrace.metadata.transport import LocalTransport
from headrace.protocol.errors import ErrorCode

ROOT = Path(__file__).parents[2]
ROUNDS = 6


def config(directory):
    return MetadataConfig(log_dir=str(directory), snapshot_log_bytes=20_000)


def new_controller(directory):
    return ControllerNode(
        config(directory),
        OsDirectory(Path(config(directory).log_dir)),
        node_id=1,
        rng=random.Random(),
        wall_clock_ms=lambda: time.time_ns() // 1_000_000,
        boot_clock_ms=lambda: time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000,
        configs=ConfigRules(validate_topic=lambda name, value: None),
    )


async def work(directory, life):
    """Create topics, delete some, take ids; print what has been answered, until killed."""
    controller = new_controller(directory)
    await controller.start()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(controller.run())
        client = MetadataClient(
            config(directory),
            LocalTransport(controller.handle),
            BrokerIdentity(
                node_id=1,
                endpoints=(Endpoint("PLAINTEXT", "localhost", 9092),),
                locks=("this test's",),  # the process before has ended
            ),
            boot_clock_ms=lambda: time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000,
            rng=random.Random(),
        )
        await client.start()
        tasks.create_task(client.run())
        await client.serve()
        print("epoch", client.node_epoch, flush=True)

        async def worker(number):
            for turn in range(1_000_000):
                name = f"{life}-{number}-{turn}"
                (result,) = await client.create_topics([NewTopic(name, 2)])
                assert result.error == ErrorCode.NONE, result.message
                print("created", name, flush=True)
                if turn % 3 == 0:
                    await client.delete_topics([result.topic.topic_id])
                    print("deleted", name, flush=True)
                block = await client.allocate_producer_ids()
                print("ids", block.start, flush=True)

        for number in range(4):
            tasks.create_task(worker(number))


class Answered:
    """What the killed processes had told."""

    def __init__(self):
        self.created, self.deleted, self.id_blocks, self.epochs = set(), set(), [], []

    def read(self, output):
        for line in output.splitlines(keepends=True):
            if not line.endswith("\n"):
                continue
            what, value = line.split()
            if what == "created":
                self.created.add(value)
            elif what == "deleted":
                self.deleted.add(value)
            elif what == "ids":
                self.id_blocks.append(int(value))
            else:
                self.epochs.append(int(value))


def run_and_kill(directory, life, lines):
    """Let a process answer so many changes, then kill it; return what it had printed."""
    process = subprocess.Popen(
        [sys.executable, __file__, str(directory), str(life)],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        printed = [process.stdout.readline() for _ in range(lines)]
        process.kill()
        printed.append(process.stdout.read())
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    return "".join(printed)


@pytest.mark.timeout(120)
def test_everything_answered_survives_being_killed(tmp_path):
    answered = Answered()
    for life in range(ROUNDS):
        output = run_and_kill(tmp_path, life, 40 + 37 * life)
        assert output.count("\n") >= 40, "the process started and worked"
        answered.read(output)

    async def look():
        controller = new_controller(tmp_path)
        await controller.start()
        image = controller.image
        await controller.shutdown()
        return image

    image = asyncio.run(look())
    names = set(image.topic_ids)
    assert answered.created - answered.deleted - names <= {
        # a deletion may have become durable without having been answered
        name
        for name in answered.created
        if int(name.split("-")[2]) % 3 == 0
    }
    assert not answered.deleted & names
    assert len(set(answered.id_blocks)) == len(answered.id_blocks)
    assert image.next_producer_id > max(answered.id_blocks)
    assert answered.epochs == sorted(set(answered.epochs))
    assert image.term == ROUNDS + 1
    assert len(image.streams) == 4 * len(names)
    assert list(tmp_path.glob("*.checkpoint")), "the log was long enough for snapshots"


if __name__ == "__main__":
    asyncio.run(work(Path(sys.argv[1]), sys.argv[2]))
