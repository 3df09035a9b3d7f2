"""The clients of one run, what they do at once, and what is judged of it."""

import asyncio
from collections.abc import Coroutine
from functools import partial
from typing import Any, Final

from tests.simulation.cluster import inspection, wire
from tests.simulation.cluster.admin import Admin, AdminHistory, Deleter
from tests.simulation.cluster.askers import Asker
from tests.simulation.cluster.clients import SeenCodes
from tests.simulation.cluster.cluster import Cluster
from tests.simulation.cluster.compacted import (
    COMPACTED,
    CONFIGS,
    KeyedProducer,
    KeyedReader,
    judge,
)
from tests.simulation.cluster.members import Member
from tests.simulation.cluster.mover import Mover
from tests.simulation.cluster.offsets import OffsetHistory
from tests.simulation.cluster.process import Process
from tests.simulation.cluster.producers import BurstProducer, IdempotentProducer, Producer
from tests.simulation.cluster.readers import Reader
from tests.simulation.cluster.records import Place, RecordHistory
from tests.simulation.cluster.refusals import Refusals
from tests.simulation.cluster.session_readers import Patience, SessionReader

RECORDS, DELETED, AGING, SETTINGS = "records", "deleted", "aging", "settings"
QUIET = "quiet"  # some records at once, and then none for a while
QUIET_S: Final = (0.3, 3.0)
LATE_S: Final = (
    0.4  # of a reader that waits, where nothing is wrong, and for each request to the bucket:
)
REQUESTS: Final = 5
GROUP = "group"
MEMBERS = 2
ADMIN_PAUSE_S = 0.4
# Hosts of clients whose links are cut.
CLIENTS = ("producer-0", "producer-1", "idempotent", "member-0", "member-1", "deleter", "admin-1")
IDEMPOTENT, ASKER = 2, 5  # the numbers of those producers


class Load:
    """All clients of one cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self.records = RecordHistory()
        self.offsets = OffsetHistory(may_misplace=cluster.lost.may_misplace)
        self.admin = AdminHistory(SETTINGS)
        self.seen = SeenCodes()
        if not cluster.nature.faults:
            newest_epoch = partial(inspection.leader_epoch, cluster)
            slow_bucket = cluster.nature.is_bucket_slow
            self.seen.refusals = Refusals(newest_epoch, slow_bucket=slow_bucket)
        self.moves_asked: set[tuple[Place, int]] = set()  # with their targets
        self.read = 0
        self._cluster = cluster
        self._brokers = [it.node_id for it in cluster.brokers]
        self._topics = {RECORDS: 2 * len(self._brokers), DELETED: 2, AGING: 1, SETTINGS: 1}
        if cluster.nature.readers:
            self._topics[QUIET] = 3 * len(self._brokers)
        size = cluster.nature.record_bytes
        self.keyed = KeyedProducer(*self._of("producer", 6), record_bytes=size)
        if cluster.nature.has_compacted:
            self._topics[COMPACTED] = 2
        self._deleter = Deleter(
            *self._of("deleter", 0), ends=self._end, has_lost=cluster.lost.has_lost
        )

    async def create_topics(self) -> None:
        """Create the topics that are there from the beginning."""
        connection = await wire.Connection.open(self._brokers[0])
        for name, partitions in self._topics.items():
            configs = {AGING: {"retention.ms": "3000"}, COMPACTED: CONFIGS}.get(name, {})
            code = await wire.create_topic(connection, name, partitions, configs)
            assert code == 0, code
        connection.close()

    def clients(self, until_s: float) -> list["asyncio.Task[None]"]:
        """Start all clients; they end soon after a moment."""
        pause_s = self._cluster.nature.send_pause_s
        tasks = [
            self.start("producer-0", self._producer(0).run(self.places(RECORDS), until_s, pause_s)),
            self.start("producer-1", self._producer(1).run(self.places(RECORDS), until_s, pause_s)),
            self.start(
                "idempotent", self._idempotent().run(self.places(RECORDS), until_s, pause_s)
            ),
            self.start(
                "producer-3",
                self._producer(3).run(
                    self.places(DELETED) + self.places(AGING), until_s, 3 * pause_s
                ),
            ),
            self.start("deleter", self._deleter.run(self.places(DELETED), until_s)),
        ]
        producing = tasks[:4]
        if self._cluster.nature.has_compacted:
            keyed = self.keyed.run(self.places(COMPACTED), until_s, pause_s)
            tasks.append(self.start("producer-6", keyed))
        if self._cluster.nature.readers:
            bursts = self._bursts().run_in_bursts(self.places(QUIET), until_s, QUIET_S)
            producing.append(self.start("producer-4", bursts))
            tasks += producing[4:]
        tasks += [
            self.start(f"member-{it}", self._member(it).run(until_s)) for it in range(MEMBERS)
        ]
        tasks += [
            self.start(f"reader-{it}", self._session_reader(it).run(until_s, producing))
            for it in range(self._cluster.nature.readers)
        ]
        asking = self._asker().run_without_leases(
            GROUP,
            self._cluster.loop.leaseless.without,
            lambda node_id: inspection.places_led_by(self._cluster, node_id, RECORDS),
            until_s,
        )
        tasks.append(self.start("asker", asking))
        if self._cluster.nature.move_pause_s is not None:
            mover = Mover(
                *self._of("mover", 0),
                asked=self.moves_asked,
                back=self._cluster.nature.moves_back,
                wanted=self._cluster.wanted_back,
            )
            places = self._followed()
            moving = mover.run(places, until_s, self._cluster.nature.move_pause_s)
            tasks.append(self.start("mover", moving))
        for node_id in self._brokers:
            admin = Admin(*self._of("admin", node_id), node_id=node_id, history=self.admin)
            tasks.append(self.start(f"admin-{node_id}", admin.run(until_s, ADMIN_PAUSE_S)))
        return tasks

    async def judge(self) -> list[str]:
        """Read everything, and return what is wrong."""
        reader = Reader(*self._of("reader", 0))
        found, starts = {}, {}
        for place in self._followed():
            starts[place], found[place] = await self.start("reader", reader.read(place))
        await self.start("member-9", self._member(9).look())
        self.read = sum(map(len, found.values()))
        lost = self._cluster.lost
        wrong = self.records.judge(
            found, starts, must_all_be_there=frozenset({IDEMPOTENT}), may_miss=lost.may_miss
        )
        for place, start in starts.items():
            least = self._deleter.acknowledged.get(place, 0)
            most = self._deleter.attempted.get(place, 0)
            if not least <= start <= most and not lost.has_lost(place):
                wrong.append(f"{place} starts at {start}: {least} to {most} was asked for")
        if self._cluster.nature.has_compacted:
            wrong += await self._judge_compacted()
        return wrong + self.offsets.wrong + self.admin.judge() + self.seen.faults

    async def _judge_compacted(self) -> list[str]:
        reader = KeyedReader(*self._of("reader", 6))
        self.seen.counts["compacted records sent"] += len(self.keyed.sent)
        wrong: list[str] = []
        for place in self.places(COMPACTED):
            found = await self.start("reader", reader.read(place))
            self.seen.counts["compacted records read"] += len(found)
            if not self._cluster.lost.has_lost(place):
                wrong += judge(self.keyed.sent, place, found)
        return wrong

    def start(self, host: str, work: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
        """Let a client work on a host of its own."""
        return self._cluster.loop.create_task(work, context=Process(host).context)

    def places(self, topic: str) -> list[Place]:
        return [(topic, it) for it in range(self._topics[topic])]

    def _followed(self) -> list[Place]:
        quiet = self.places(QUIET) if QUIET in self._topics else []
        return self.places(RECORDS) + self.places(DELETED) + quiet

    def _of(self, kind: str, number: int) -> tuple[Any, ...]:
        return number, self._brokers, self._cluster.rng(kind, number), self.seen

    def _producer(self, number: int) -> Producer:
        size = self._cluster.nature.record_bytes
        return Producer(*self._of("producer", number), history=self.records, record_bytes=size)

    def _asker(self) -> Asker:
        size = self._cluster.nature.record_bytes
        return Asker(*self._of("asker", ASKER), history=self.records, record_bytes=size)

    def _bursts(self) -> BurstProducer:
        return BurstProducer(
            *self._of("producer", 4),
            history=self.records,
            record_bytes=self._cluster.nature.record_bytes,
        )

    def _session_reader(self, number: int) -> SessionReader:
        nature = self._cluster.nature
        delay_s = nature.weather.delay_s[1]
        late_s = LATE_S + REQUESTS * delay_s if nature.is_calm and not nature.faults else None
        return SessionReader(
            *self._of("reader", number),
            places=self.places(QUIET) if number % 2 else self._followed(),
            history=self.records,
            deleted=lambda place: self._deleter.acknowledged.get(place, 0),
            may_start_later=lambda place: place in self._deleter.attempted,
            has_lost=self._cluster.lost.has_lost,
            record_bytes=nature.record_bytes,
            patience=Patience(late_s, refusals=nature.short_turns),
        )

    def _idempotent(self) -> IdempotentProducer:
        return IdempotentProducer(
            *self._of("idempotent", IDEMPOTENT),
            history=self.records,
            record_bytes=self._cluster.nature.record_bytes,
            has_lost=self._cluster.lost.has_lost,
            restarts=self._cluster.nature.producer_restarts,
            linger_s=self._cluster.nature.producer_linger_s,
        )

    def _member(self, number: int) -> Member:
        return Member(
            *self._of("member", number),
            group=GROUP,
            places=self.places(RECORDS),
            offsets=self.offsets,
            history=self.records,
            known_epoch=self._known_epoch,
        )

    def _known_epoch(self, node_id: int, place: Place) -> int:
        """Which leader epoch of a partition a broker knows."""
        host = next(it for it in self._cluster.brokers if it.node_id == node_id)
        return inspection.known_epoch(host, place)

    def _end(self, place: Place) -> int:
        """How far a partition is acknowledged."""
        return self.records.ends.get(place, 0)
