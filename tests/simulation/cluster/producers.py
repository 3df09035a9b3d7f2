"""Producers: one that never repeats, and an idempotent one that repeats whatever has an unknown outcome."""

import asyncio
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import InitProducerIdRequest
from headrace.protocol.records.record import BatchOptions
from tests.simulation.cluster import wire
from tests.simulation.cluster.bucket import wall_clock_ms
from tests.simulation.cluster.clients import PAUSE_AFTER_ERROR_S, Client
from tests.simulation.cluster.records import Place, RecordHistory, RecordId, value_of
from tests.simulation.cluster.wire import LOST, Connection

PRODUCE_S = 4.0
MAX_INFLIGHT = 3  # batches of one partition
_RECORDS = (1, 1, 2, 5)  # of a batch


class OnceProducer(Client, ABC):
    """Sends each batch once, whatever it is answered."""

    async def run(self, places: list[Place], until_s: float, pause_s: float) -> None:
        """Send until a moment."""
        loop = asyncio.get_running_loop()
        while loop.time() < until_s:
            place = self.rng.choice(places)
            try:
                done = await self._send(place)
            except LOST:
                done = False
            await asyncio.sleep(pause_s if done else PAUSE_AFTER_ERROR_S)

    @abstractmethod
    async def _send(self, place: Place) -> bool:
        """Send a batch to a partition; whether it was acknowledged."""

    async def _base_offset(
        self, place: Place, node_id: int, connection: Connection, batch: bytes, what: str
    ) -> int | None:
        """Send a batch to the leader of its partition; None unless it was acknowledged."""
        try:
            code, base = await wire.produce(connection, *place, batch, within_s=PRODUCE_S)
        except LOST:
            self.drop(node_id)
            self.forget(place)
            return None
        if code:
            self.refused(what, code, place)
            return None
        return base


class Producer(OnceProducer):
    """Sends each record once, and tells a history."""

    def __init__(self, *arguments: Any, history: RecordHistory, record_bytes: int) -> None:
        super().__init__(*arguments)
        self._history = history
        self._record_bytes = record_bytes
        self._sent = 0

    async def _send(self, place: Place) -> bool:
        loop = asyncio.get_running_loop()
        node_id, connection = await self.leader(place)
        records = [(self.number, self._sent + it) for it in range(self.rng.choice(_RECORDS))]
        self._sent += len(records)
        for record in records:
            self._history.send(record, place)
        values = [value_of(it, self._record_bytes) for it in records]
        batch = wire.batch_of(values, wall_clock_ms(loop.time()))
        base = await self._base_offset(place, node_id, connection, batch, "produce")
        if base is None:
            return False
        for offset, record in enumerate(records, start=base):
            self._history.acknowledge(record, offset, loop.time(), node_id)
        return True


class BurstProducer(Producer):
    """Sends some records at once, and then none for a while."""

    async def run_in_bursts(
        self, places: list[Place], until_s: float, pause_s: tuple[float, float]
    ) -> None:
        """Send until a moment, with pauses between bursts."""
        while asyncio.get_running_loop().time() < until_s:
            for place in self.rng.sample(places, self.rng.randint(1, len(places))):
                try:
                    await self._send(place)
                except LOST:
                    await asyncio.sleep(PAUSE_AFTER_ERROR_S)
            await asyncio.sleep(self.rng.uniform(*pause_s))


@dataclass(frozen=True, slots=True)
class _Batch:
    """One batch that is not acknowledged yet."""

    sequence: int
    records: list[RecordId]


class IdempotentProducer(Client):
    """Repeats a batch, with its sequence, until it is acknowledged; several of a partition are under way at once."""

    def __init__(
        self,
        *arguments: Any,
        history: RecordHistory,
        record_bytes: int,
        has_lost: Callable[[Place], bool],
        restarts: float = 0.0,
        linger_s: float = 0.0,
    ) -> None:
        """Begin.

        Args:
            arguments: see `Client`.
            history: of all producers.
            record_bytes: size of a value.
            has_lost: whether a partition may have lost records, as an operator has accepted.
            restarts: probability that it is another producer for the next batches of a partition.
            linger_s: between batches that are sent without waiting for answers.
        """
        super().__init__(*arguments)
        self._restarts = restarts
        self._linger_s = linger_s
        self._history = history
        self._record_bytes = record_bytes
        self._has_lost = has_lost
        self._sent = 0
        # One for each partition: where one has lost records, the others' sequences go on.
        self._ids: dict[Place, tuple[int, int]] = {}
        self._sequences: dict[Place, int] = {}
        self._unacknowledged: dict[Place, deque[_Batch]] = {}

    async def run(self, places: list[Place], until_s: float, pause_s: float) -> None:
        """Send until a moment, and then until everything is acknowledged."""
        loop = asyncio.get_running_loop()
        for place in places:
            self._unacknowledged[place] = deque()
        while loop.time() < until_s or any(self._unacknowledged.values()):
            place = self.rng.choice(places)
            waiting = self._unacknowledged[place]
            if self._restarts and not waiting and self.rng.random() < self._restarts:
                self._ids.pop(place, None)
                self._sequences[place] = 0
            while loop.time() < until_s and len(waiting) < self.rng.randint(1, MAX_INFLIGHT):
                waiting.append(self._new_batch(place))
            try:
                if place not in self._ids:
                    self._ids[place] = await self._initialise()
                done = await self._send(place) if waiting else True
            except LOST:
                done = False
            await asyncio.sleep(pause_s if done else PAUSE_AFTER_ERROR_S)

    async def _initialise(self) -> tuple[int, int]:
        node_id, connection = await self.any_broker()
        request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=60_000)
        try:
            answer = await connection.ask(ApiKey.INIT_PRODUCER_ID, 1, request, within_s=PRODUCE_S)
        except LOST:
            self.drop(node_id)
            raise
        if answer.error_code:
            self.seen.note("init producer id", answer.error_code)
            raise ConnectionError
        return answer.producer_id, answer.producer_epoch

    def _begin_anew(self, place: Place) -> None:
        """Repeat what is not acknowledged as another producer: records before it are lost, by an operator's word."""
        del self._ids[place]
        sequence = 0
        waiting = self._unacknowledged[place]
        for number, batch in enumerate(waiting):
            waiting[number] = _Batch(sequence, batch.records)
            sequence += len(batch.records)
        self._sequences[place] = sequence

    def _new_batch(self, place: Place) -> _Batch:
        records = [(self.number, self._sent + it) for it in range(self.rng.choice(_RECORDS))]
        self._sent += len(records)
        for record in records:
            self._history.send(record, place)
        sequence = self._sequences.get(place, 0)
        self._sequences[place] = sequence + len(records)
        return _Batch(sequence, records)

    async def _send(self, place: Place) -> bool:
        node_id, connection = await self.leader(place)
        waiting = self._unacknowledged[place]
        try:
            answers = await self._produce(connection, place, list(waiting))
        except LOST:
            self.drop(node_id)
            self.forget(place)
            return False
        now_s = asyncio.get_running_loop().time()
        is_first_failed = False
        for batch, (code, base) in zip(list(waiting), answers, strict=True):
            if (
                code in (ErrorCode.NONE, ErrorCode.DUPLICATE_SEQUENCE_NUMBER)
                and not is_first_failed
            ):
                waiting.popleft()
                for offset, record in enumerate(batch.records, start=base):
                    known = offset if code == ErrorCode.NONE else None
                    self._history.acknowledge(record, known, now_s, node_id)
            elif is_first_failed:
                pass  # it came behind one that is missing, and is repeated
            else:
                is_first_failed = True
                has_lost = code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER and self._has_lost(place)
                if has_lost:
                    self._begin_anew(place)
                else:
                    self.refused("idempotent produce", code, place)
        if is_first_failed:
            self.forget(place)
        return not is_first_failed

    async def _produce(
        self, connection: Connection, place: Place, batches: list[_Batch]
    ) -> list[tuple[int, int]]:
        now_ms = wall_clock_ms(asyncio.get_running_loop().time())
        contents = []
        for batch in batches:
            options = BatchOptions(
                producer_id=self._ids[place][0],
                producer_epoch=self._ids[place][1],
                base_sequence=batch.sequence,
            )
            values = [value_of(it, self._record_bytes) for it in batch.records]
            contents.append(wire.batch_of(values, now_ms, options))
        return await wire.produce_all(
            connection, *place, contents, within_s=PRODUCE_S, pause_s=self._linger_s
        )
