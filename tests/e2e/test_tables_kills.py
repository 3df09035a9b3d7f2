"""Jobs that fill tables are killed at random moments: driver, JVM and Python workers, with all that a job does."""

import json
import random
import re
import time
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.tables_faults import Job
from tests.e2e.tables_world import TablesWorld, place
from tests.environment.rotation import turn_of_today
from tests.environment.spark import connector_jars

pytestmark = [pytest.mark.spark, pytest.mark.java, pytest.mark.timeout(1800)]

PARTITIONS = 2
EVENTS, CUSTOMERS = "shop.events", "shop.customers"
OF_ONE_TRIGGER = 40  # records: a job has several micro-batches of each table
OF_ONE_JOB = 100  # records that come into each topic before it
MAX_STEPS = 10  # of the checkpoints, after which the last process of a job is killed
MAX_DELAY_S = 0.7  # after such a step
END_S = 120.0
MAX_FILES = 4  # that a micro-batch of an upsert adds, with Spark as it is
# A round of maintenance after each micro-batch.
BUSY = {
    "interval": "1 ms",
    "expire_snapshots_after": "1 ms",
    "min_snapshots": 2,
    "compact_from_files": 3,
    "remove_orphans_after": "1 ms",
}
CHECKPOINT_FILE = re.compile(r"metadata|(offsets|commits|sources/0)/\.?\d+(\.crc)?|\.metadata\.crc")
# Temporary files of a JVM that was killed: those of Spark and of the libraries that it loads, none of ours.
OF_A_KILLED_JVM = re.compile(r"(blockmgr|spark|artifacts|liblz4-java|libzstd-jni|snappy)-.*")


class Shop:
    """What goes into the topics, and what tables have to have of it."""

    def __init__(self, world: TablesWorld, rng: random.Random, topics: dict[str, str]) -> None:
        self._world, self._rng, self._topics = world, rng, topics
        self._ends = Counter[tuple[str, int]]()
        self._pending: dict[tuple[str, int], list[tuple[bytes | None, bytes | None]]] = {}
        self._jobs = 0
        self.events: dict[tuple[int, int], dict[str, Any]] = {}
        self.customers: dict[str, dict[str, Any]] = {}
        self.bad: list[str] = []

    def fill(self) -> None:
        """Write records of one job: some are bad, and some have a field that is new."""
        for _ in range(OF_ONE_JOB):
            document = {"id": len(self.events), "name": f"n{self._rng.randrange(1000)}"}
            if self._rng.random() < 0.1:
                document[f"new{self._jobs}"] = self._jobs
            place = self._send("events", self._rng.randrange(PARTITIONS), document)
            if place is not None:
                self.events[place] = document
            key = f"c{self._rng.randrange(50)}"
            change = None if self._rng.random() < 0.2 else {"n": self._rng.randrange(1000)}
            partition = zlib.crc32(key.encode()) % PARTITIONS
            if self._send("customers", partition, change, key=key) is not None:
                if change is None:
                    self.customers.pop(key, None)
                else:
                    self.customers[key] = change
        self._jobs += 1
        self._flush()

    def _send(
        self, name: str, partition: int, document: Any, key: str = ""
    ) -> tuple[int, int] | None:
        """Keep a record, or a bad one in its place; return where it is if it is good."""
        topic = self._topics[name]
        offset = self._ends[topic, partition]
        self._ends[topic, partition] += 1
        is_bad = self._rng.random() < 0.03
        value = b"{bad" if is_bad else None if document is None else json.dumps(document).encode()
        self._pending.setdefault((topic, partition), []).append((key.encode() or None, value))
        if is_bad:
            self.bad.append(f"{topic}-{partition}-{offset}")
            return None
        return partition, offset

    def _flush(self) -> None:
        for (topic, partition), sent in self._pending.items():
            self._world.produce_records(topic, partition, sent)
        self._pending.clear()


def steps(checkpoint: Path) -> int:
    """How often queries have gone on: begun and ended micro-batches."""
    return sum(len(list(checkpoint.glob(f"*/{it}/[0-9]*"))) for it in ("offsets", "commits"))


def kill_within(job: Job, what: str, checkpoint: Path, rng: random.Random, max_steps: int) -> bool:
    """Kill a process after some steps of the job and some time; return whether it was there."""
    goal, delay_s = steps(checkpoint) + rng.randint(0, max_steps), rng.uniform(0, MAX_DELAY_S)
    deadline = time.monotonic() + END_S
    while steps(checkpoint) < goal and job.is_running:
        assert time.monotonic() < deadline, "the job does not go on"
        time.sleep(0.005)
    time.sleep(delay_s)
    return job.is_running and job.kill(what)


def test_jobs_that_are_killed_at_random_moments(
    bootstrap: str,
    create_topic: Callable[..., str],
    component: Callable[[Callable[[], object]], None],
    request: pytest.FixtureRequest,
    tmp_path: Path,
) -> None:
    component(connector_jars)
    wanted = request.config.getoption("--table-kills")
    seed = request.config.getoption("--table-seed")
    seed = turn_of_today(1)[0] if seed is None else seed
    print(f"--table-seed {seed}")
    rng = random.Random(seed)
    world = TablesWorld(bootstrap, tmp_path)
    topics = {it: create_topic(it, partitions=PARTITIONS) for it in ("events", "customers")}
    dead, checkpoint = create_topic("dead"), tmp_path / "checkpoint"
    tables = [
        {"name": EVENTS, "topics": [topics["events"]], "partition_by": ["bucket(2, id)"]}
        | {"columns": {"id": "long", "name": "string"}},
        {"name": CUSTOMERS, "topics": [topics["customers"]], "mode": "upsert", "key": "id"},
    ]
    sections: dict[str, Any] = {
        "source": {"bootstrap_servers": bootstrap, "max_offsets_per_trigger": OF_ONE_TRIGGER},
        "dead_letters": {"topic": dead},
        "maintenance": BUSY,
    }
    file = tmp_path / "killed.toml"
    file.write_text(world.text(tables, **sections))
    workers = max(1, wanted // 10)  # that are killed in one job
    shop, killed = Shop(world, rng, topics), Counter[str]()
    for number in range(2 * wanted):
        shop.fill()
        job = Job(file, tmp_path / f"tmp-{number}")
        job.wait_until_it_runs()
        ends_by = ("driver", "jvm")[(number + seed) % 2]
        plan = ["worker"] * workers + [ends_by]
        for what in plan:
            killed[what] += kill_within(job, what, checkpoint, rng, MAX_STEPS // workers)
        job.end(END_S)
        left = [it.name for it in job.temporary.iterdir()]
        assert [it for it in left if ends_by != "jvm" or not OF_A_KILLED_JVM.fullmatch(it)] == []
        if killed.total() >= wanted:
            break
    print(dict(killed))
    assert killed.total() >= wanted
    assert killed["worker"]
    last = Job(file, tmp_path / "tmp-last")
    last.wait_until_it_runs()
    assert last.end(END_S) == 0
    assert list(last.temporary.iterdir()) == []

    config = world.config(tables, **sections)
    events = world.rows(config, EVENTS)
    names = {"id", "name", *(name for it in shop.events.values() for name in it)}
    found = {
        (it["kafka_partition"], it["kafka_offset"]): {
            name: it[name] for name in names if it[name] is not None
        }
        for it in events
    }
    assert len(found) == len(events)
    assert found == shop.events
    customers = world.rows(config, CUSTOMERS)
    assert len({it["id"] for it in customers}) == len(customers)
    assert {it["id"]: {"n": it["n"]} for it in customers} == shop.customers
    assert max(world.added_files(config, CUSTOMERS)) <= MAX_FILES
    assert sorted(map(place, world.letters(dead))) == sorted(shop.bad)
    for name in (EVENTS, CUSTOMERS):
        assert world.orphans(config, name) == []
        files = [it.relative_to(checkpoint / name) for it in (checkpoint / name).rglob("*")]
        left = [str(it) for it in files if (checkpoint / name / it).is_file()]
        assert [it for it in left if not CHECKPOINT_FILE.fullmatch(it)] == []
