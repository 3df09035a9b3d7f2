"""Produce (API key 0), versions 3 to 13 (advertised from 0: older librdkafka asks for a range that includes it).

Behaviour:
  * acks=1 and acks=all are the same: both wait until the WAL has confirmed the batch and the lease is valid. acks=0
    gets no answer; when one of its batches is refused, the connection is closed: the client then refreshes metadata.
  * A batch takes effect when it is appended, so the next Produce of its connection starts while it is being written.
  * While this broker's lease is not valid, every partition is answered NOT_LEADER_OR_FOLLOWER, definitely not
    appended: the client tries again until the lease is valid, or another broker leads.
  * No room in WAL or cache: the request is parked before any state changes, and blocks its own connection, for at most
    `admission_timeout_ms`; then every partition is answered NOT_ENOUGH_REPLICAS, retriable and definitely not appended.
  * What an idempotent producer has sent behind a batch that was refused for a moment is refused alike, until that batch
    is sent again: see `headrace.broker.partition.refused_batches`.
  * When the WAL fails or the lease is lost after an append, the connection is closed without an answer: the outcome is
    unknown, and no error code means that.
  * Never creates a topic.
  * A partition that is moving to another broker, or is about to come: the request waits for at most two seconds. A new
    one that is being opened, too; half a second for one that this broker does not know, while there are other brokers
    that may have told the client of it. A request with more than a hundred of these does not wait for them.
  * A partition that another broker leads is NOT_LEADER_OR_FOLLOWER with the leader's address (KIP-951).
Deviations from Apache Kafka:
  * `timeout_ms` is not used: there are no followers to wait for.
  * Transactional batches are refused.
  * Records are validated as Kafka does, and offset deltas must be 0, 1, 2, ...: INVALID_RECORD. Kafka stores others in
    an uncompressed batch, and renumbers them in a compressed one.
  * Compressed data that is damaged is INVALID_RECORD, not UNKNOWN_SERVER_ERROR.
  * A key, value or header value of a length below -1 is INVALID_RECORD: Kafka takes it for null, and librdkafka
    delivers nothing from there on.
  * Records that were sent as several compressed streams (gzip members, zstd frames), or with bytes around them, are
    stored as one stream of the same codec. Kafka keeps them as they are, and librdkafka loses some of them.
  * A batch of more than a million records and headers, or of more than `headrace.produce.max.decompressed.bytes` once
    decompressed, is MESSAGE_TOO_LARGE. At most 1,000 records are named in an answer.
  * With `headrace.produce.validate.compressed=header` the records of compressed batches are believed, unless the topic
    is compacted or asks for another codec.
Version notes:
  * 3: record format 2.  7: zstd.  8: record errors.  9: flexible.  10: current leader.  13: topic ids.
Source: ProduceRequest.json, ProduceResponse.json of Apache Kafka 4.4; KIP-98, KIP-467, KIP-951, KIP-516.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Final, NamedTuple

from headrace.broker.api.current_leaders import name_leaders
from headrace.broker.api.pending_produce import (
    INTERNAL,
    LEASE_NOT_VALID,
    NOTHING,
    WRONG_ACKS,
    Arriving,
    PendingProduce,
    ProduceSteps,
    encoded_answer,
    rejected,
)
from headrace.broker.cluster.cluster_view import ClusterView
from headrace.broker.network.client import Client
from headrace.broker.network.reply import Reply
from headrace.broker.network.request_context import RestOfRequest
from headrace.broker.partition import append_rules
from headrace.broker.partition.append_rules import (
    RECORD_OVERHEAD_BYTES,
    Rejection,
    Validated,
    ValidationLimits,
)
from headrace.broker.partition.arrivals import ExpectedPartition
from headrace.broker.partition.internal_topics import INTERNAL_TOPICS
from headrace.broker.partition.opening_queue import PartitionKey
from headrace.broker.partition.partition import Partition
from headrace.broker.partition.producer_state import NO_PRODUCER_ID
from headrace.broker.partition.refused_batches import RefusedBatches, RefusedKey
from headrace.broker.partition.registry import PartitionRegistry
from headrace.broker.partition.write_side import Accepted
from headrace.broker.telemetry.request_metrics import RequestMetrics
from headrace.config.node import LogConfig
from headrace.daemon_threads import DaemonThreads
from headrace.metadata.topic_names import MAX_TOPIC_NAME_LENGTH
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode, ProtocolError
from headrace.protocol.headers import RequestHeader
from headrace.protocol.leader_discovery import NodeEndpoint
from headrace.protocol.produce import (
    LEADER_DISCOVERY_SINCE,
    SLICE_PARTITIONS,
    ProducePartitionResponse,
    ProduceRequest,
    ProduceTopic,
    ProduceTopicResponse,
    decode_one_batch,
    decode_produce_steps,
    encode_appended,
)
from headrace.protocol.records.walk import SLICE_ELEMENTS
from headrace.protocol.records.window import Slice
from headrace.steps import Steps
from headrace.storage.engine import StorageEngine
from headrace.storage.errors import BackPressureError, StorageError
from headrace.turns import Turns

logger = logging.getLogger("headrace.produce")

TOPIC_IDS_SINCE = 13
ACKS_NONE, ACKS_LEADER, ACKS_ALL = 0, 1, -1
ADMIN_CLIENT_ID = "__admin_client"
# Validation of several batches lets others have their turn when they add up, counted in records. What took steps is
# counted by its bytes, too: thousands of compressed streams or blocks may hold none.
_TURN_WORK = 2 * SLICE_ELEMENTS
_BATCH_WORK = 30
_TOPIC_WORK = 10
_BYTES_OF_WORK = 8
_PARTITION_BYTES = 1_024  # that a request holds beside its frame: decoded, and judged


class _Produce(NamedTuple):
    """One request, and what is needed to answer it."""

    client: Client
    header: RequestHeader
    request: ProduceRequest
    reply: Reply


# One partition of a request: its index, the log if there is one, and a batch to append or an error.
_Judged = tuple[int, Partition | None, Validated | Rejection]
# Where the judgement of a batch is, and what it is about.
_Place = tuple[list[_Judged], int, ProduceTopic, memoryview | None]
_Refusal = Callable[[ProduceTopic, int, memoryview | None], Rejection]
_UNDECODED: Final = ProduceRequest(None, ACKS_ALL, 0, [])
# The log of a batch if there is one, and the batch to append, an error, or what is left of its validation.
_Begun = tuple[Partition | None, Validated | Rejection | append_rules.Steps]


class ProduceHandler:
    """Serves Produce from frame to answer."""

    api_key = ApiKey.PRODUCE
    requires = (
        Access(AclOperation.WRITE, ResourceType.TOPIC),
        Access(
            AclOperation.WRITE, ResourceType.TRANSACTIONAL_ID, when="it has transactional batches"
        ),
    )

    def __init__(
        self,
        *,
        partitions: PartitionRegistry,
        cluster: ClusterView,
        engine: StorageEngine,
        wall_clock_ms: Callable[[], int],
        metrics: RequestMetrics,
        config: LogConfig,
        turns: Turns,
    ) -> None:
        self._turns = turns
        self._limits = ValidationLimits(
            walks_compressed=config.validate_compressed == "all",
            max_decompressed_bytes=config.max_decompressed_bytes,
        )
        self._threads = DaemonThreads(1, "records")
        self._refused = RefusedBatches()
        self._partitions = partitions
        self._transit = partitions.transit
        self._cluster = cluster
        self._engine = engine
        self._wall_clock_ms = wall_clock_ms
        self._metrics = metrics

    def start(
        self, client: Client, header: RequestHeader, body: memoryview, reply: Reply
    ) -> RestOfRequest | None:
        """Append the request's batches now, else return the coroutine that does so later.

        Later is when there is room, and when batches that take long to validate have been validated.
        """
        request = decode_one_batch(header.api_version, body)
        if request is None:
            decoding = decode_produce_steps(header.api_version, body)
            try:
                next(decoding)
            except StopIteration as end:
                request = end.value
            else:
                undecoded = _Produce(client, header, _UNDECODED, reply)
                return self._start_when_decoded(undecoded, decoding, len(body))
        # What its constructor does, without a call of Python code; so below, for every batch.
        produce = tuple.__new__(_Produce, (client, header, request, reply))
        if self._transit:
            waits_for = self._in_transit(request)
            if waits_for:
                return self._start_when_settled(produce, waits_for, len(body))
        bytes_needed = len(body)
        for topic in request.topics:
            bytes_needed += len(topic.partitions) * RECORD_OVERHEAD_BYTES
        if not self._engine.admits(bytes_needed):
            return self._start_when_admitted(produce, bytes_needed)
        steps: ProduceSteps[None] | None
        is_one = len(request.topics) == 1 and len(request.topics[0].partitions) == 1
        if is_one and not reply.throttle_ms:
            steps = self._serve_one(produce)
            if steps is None:
                return None
        else:
            steps = self._serve(produce)
        found = next(steps, NOTHING)
        return None if found is NOTHING else self._go_on(steps, found)

    async def _start_when_decoded(
        self, produce: _Produce, decoding: Steps[ProduceRequest], body_bytes: int
    ) -> None:
        """Decode a request that names many partitions in many turns, and go on with it."""
        try:
            produce = produce._replace(request=await self._turns.run(decoding))
        except ProtocolError as error:
            produce.reply.refuse(error)
            return
        waits_for = self._in_transit(produce.request) if self._transit else []
        await self._start_when_settled(produce, waits_for, body_bytes)

    def _in_transit(self, request: ProduceRequest) -> list[PartitionKey]:
        """The partitions of a request that are about to move, or to come."""
        found = (
            self._partitions.known(topic.name, topic.topic_id, index)
            for topic in request.topics
            for index, _ in topic.partitions
        )
        return [it for it in found if it is not None and it in self._transit]

    async def _start_when_settled(
        self, produce: _Produce, waits_for: list[PartitionKey], body_bytes: int
    ) -> None:
        """Wait for partitions that are on their way; what is not here after a moment is refused as always."""
        await self._transit.settled(waits_for)
        partitions = sum(len(topic.partitions) for topic in produce.request.topics)
        await self._start_when_admitted(produce, body_bytes + partitions * RECORD_OVERHEAD_BYTES)

    async def _start_when_admitted(self, produce: _Produce, bytes_needed: int) -> None:
        try:
            await self._engine.admission(bytes_needed)
        except BackPressureError as error:
            refusal = Rejection(ErrorCode.NOT_ENOUGH_REPLICAS, f"not appended: {error}")
            steps = self._refuse(produce, refusal)
            await self._go_on(steps, next(steps, NOTHING))
            return
        except StorageError as error:
            logger.warning(
                "Produce failed: connection closed without an answer", extra={"reason": str(error)}
            )
            produce.reply.close()
            return
        steps = self._serve(produce)
        await self._go_on(steps, next(steps, NOTHING))

    async def _go_on(self, steps: ProduceSteps[None], found: object) -> None:
        """Do the rest of a request, in as many turns of the loop as the share of each allows."""
        loop = asyncio.get_running_loop()
        while found is not NOTHING:
            if isinstance(found, Arriving):
                await self._partitions.arrivals.settled(found.partitions, found.size_bytes)
                found = next(steps, NOTHING)
            elif found is Slice.THREAD:
                found = await loop.run_in_executor(self._threads, next, steps, NOTHING)
            else:
                await self._turns.pause()
                found = next(steps, NOTHING)

    def _serve_one(self, produce: _Produce) -> ProduceSteps[None] | None:
        """Serve what most requests are, one batch; return the steps that are left if there is anything unusual."""
        _, header, request, reply = produce
        (topic,) = request.topics
        ((index, records),) = topic.partitions
        now_ms = self._wall_clock_ms()
        found, outcome = self._validate(header, topic, index, records, now_ms)
        if (
            not isinstance(outcome, Validated)
            or request.acks not in (ACKS_ALL, ACKS_LEADER)
            or not self._partitions.is_lease_valid()
        ):
            return self._serve(produce, (found, outcome))
        pending = PendingProduce(reply)
        answer = self._append_one((index, found, outcome), now_ms, pending)
        if pending.refused:
            response = ProduceTopicResponse(topic.name, topic.topic_id, [answer])
            return self._answer(produce, pending, [response])
        encoded = encode_appended(header.api_version, header.correlation_id, topic, answer)
        pending.seal([encoded])
        return None

    def _serve(self, produce: _Produce, begun: _Begun | None = None) -> ProduceSteps[None]:
        """Validate all batches, then append those that are valid, and answer.

        `begun` is how far the only one has come.
        """
        if produce.request.acks not in (ACKS_NONE, ACKS_LEADER, ACKS_ALL):
            yield from self._refuse_acks(produce)
            return
        now_ms = self._wall_clock_ms()
        by_topic: list[list[_Judged]] = []
        work = 0
        arriving: list[tuple[ExpectedPartition, _Place]] = []
        for topic in produce.request.topics:
            judged: list[_Judged] = []
            by_topic.append(judged)
            work += _TOPIC_WORK
            if work > _TURN_WORK:
                work = 0
                yield Slice.LOOP
            for index, records in topic.partitions:
                found, outcome = begun or self._validate(
                    produce.header, topic, index, records, now_ms
                )
                if not isinstance(outcome, (Validated, Rejection)):
                    outcome = yield from outcome
                    # Whatever it held, and whether or not that was right.
                    work += len(records or b"") // _BYTES_OF_WORK
                if found is None and len(arriving) <= SLICE_PARTITIONS:
                    asked = ExpectedPartition(topic.name, topic.topic_id, index)
                    if self._partitions.arrivals.may_come(asked):
                        arriving.append((asked, (judged, len(judged), topic, records)))
                judged.append((index, found, outcome))
                work += _BATCH_WORK
                if isinstance(outcome, Validated):
                    work += min(outcome.header.records_count, SLICE_ELEMENTS)
                if work > _TURN_WORK:
                    work = 0
                    yield Slice.LOOP
        if 0 < len(arriving) <= SLICE_PARTITIONS:
            yield from self._await_arriving(produce, arriving)
        yield from self._append(produce, by_topic)

    def _await_arriving(
        self, produce: _Produce, arriving: list[tuple[ExpectedPartition, _Place]]
    ) -> ProduceSteps[None]:
        """Wait for partitions that are not served here yet but may soon be, and judge their batches again."""
        partitions = sum(len(topic.partitions) for topic in produce.request.topics)
        held_bytes = produce.reply.size_bytes + partitions * _PARTITION_BYTES
        yield Arriving([asked for asked, _ in arriving], held_bytes)
        now_ms = self._wall_clock_ms()
        for _, (judged, place, topic, records) in arriving:
            index = judged[place][0]
            found, outcome = self._validate(produce.header, topic, index, records, now_ms)
            if not isinstance(outcome, (Validated, Rejection)):
                outcome = yield from outcome
            judged[place] = index, found, outcome
            yield Slice.LOOP

    def _validate(
        self,
        header: RequestHeader,
        topic: ProduceTopic,
        index: int,
        records: memoryview | None,
        now_ms: int,
    ) -> _Begun:
        found = self._find(header, topic, index)
        if isinstance(found, Rejection):
            self._note(topic, index, records, found)
            return None, found
        if found.topic in INTERNAL_TOPICS and header.client_id != ADMIN_CLIENT_ID:
            return found, append_rules.before_acks(found, records) or INTERNAL
        return found, append_rules.validate(
            records, found.writes.config, self._limits, version=header.api_version, now_ms=now_ms
        )

    def _append(self, produce: _Produce, by_topic: list[list[_Judged]]) -> ProduceSteps[None]:
        """Append what is valid, `SLICE_PARTITIONS` at a time, and answer when all of it is acknowledged."""
        _, _, request, reply = produce
        acks = request.acks
        if not self._partitions.is_lease_valid():
            yield from self._refuse(produce, LEASE_NOT_VALID)
            return
        now_ms = self._wall_clock_ms()  # again: validation may have taken many turns
        pending = PendingProduce(reply)
        responses = []
        number = 0
        for topic, judged in zip(request.topics, by_topic, strict=True):
            answers = []
            for one in judged:
                answers.append(self._append_one(one, now_ms, pending))
                number += 1
                if number % SLICE_PARTITIONS == 0:
                    yield Slice.LOOP
            responses.append(ProduceTopicResponse(topic.name, topic.topic_id, answers))
            number += 1
            if number % SLICE_PARTITIONS == 0:
                yield Slice.LOOP
        if acks == ACKS_NONE:
            if pending.refused:
                reply.close()
            else:
                reply.nothing()
            return  # pending is not sealed: no answer
        yield from self._answer(produce, pending, responses)

    def _answer(
        self, produce: _Produce, pending: PendingProduce, responses: list[ProduceTopicResponse]
    ) -> ProduceSteps[None]:
        """Answer when all that was appended is acknowledged."""
        endpoints: list[NodeEndpoint] = []
        if pending.refused and produce.header.api_version >= LEADER_DISCOVERY_SINCE:
            naming = name_leaders(self._cluster, produce.client, responses)
            responses, endpoints = yield from naming
        pending.seal(
            (yield from encoded_answer(produce.reply, produce.header, responses, endpoints))
        )

    def _find(
        self, header: RequestHeader, topic: ProduceTopic, index: int
    ) -> Partition | Rejection:
        if header.api_version >= TOPIC_IDS_SINCE:
            found = self._partitions.find_by_id(topic.topic_id, index)
        else:
            found = self._partitions.find(topic.name, index)
        return found if isinstance(found, Partition) else Rejection(found)

    def _append_one(
        self, judged: _Judged, now_ms: int, pending: PendingProduce
    ) -> ProducePartitionResponse:
        index, partition, outcome = judged
        if self._refused.by_producer and partition is not None and isinstance(outcome, Validated):
            outcome = self._unless_behind(partition, outcome)
        if isinstance(outcome, Validated):
            assert partition is not None  # without one nothing is valid
            pending.waiting += 1
            writes = partition.writes
            result = writes.append_validated(outcome, now_ms=now_ms, on_done=pending.batch_done)
            if isinstance(result, Accepted):
                base_offset, append_time_ms = result
                start = partition.reads.log_start_offset
                fields = (index, 0, base_offset, append_time_ms, start, (), None, None)
                return tuple.__new__(ProducePartitionResponse, fields)
            pending.batch_done(None)
            key = (partition.topic_id, index)
            self._refused.note(key, outcome.records, result.code, self._monotonic_ms())
            outcome = result
        pending.refused = True
        return rejected(self._metrics, index, outcome)

    def _note(
        self, topic: ProduceTopic, index: int, records: memoryview | None, refusal: Rejection
    ) -> None:
        """Note a batch that was refused before its partition was looked at, or for all partitions alike."""
        known: RefusedKey | None = self._partitions.known(topic.name, topic.topic_id, index)
        key = known or (topic.topic_id or topic.name, index)
        if len(topic.name) <= MAX_TOPIC_NAME_LENGTH:  # else it will never be known
            self._refused.note(key, records, refusal.code, self._monotonic_ms())

    def _monotonic_ms(self) -> int:
        return int(self._metrics.clock_s() * 1000)

    def _unless_behind(self, partition: Partition, batch: Validated) -> Validated | Rejection:
        """Refuse what was sent behind a batch that was refused and is still missing."""
        header = batch.header
        if header.producer_id == NO_PRODUCER_ID:
            return batch
        producers, now_ms = partition.state.producers, self._monotonic_ms()
        for topic in (partition.topic_id, partition.topic):
            first = self._refused.before((topic, partition.index), header, now_ms)
            if first and producers.lacks(header.producer_id, first.epoch, first.sequence):
                return Rejection(first.code, "not appended: the batch before it was refused")
        return batch

    def _refuse_acks(self, produce: _Produce) -> ProduceSteps[None]:
        """Answer what Kafka finds before it looks at `acks`: partitions that are not there, and what is no batch."""

        def refusal(topic: ProduceTopic, index: int, records: memoryview | None) -> Rejection:
            found = self._find(produce.header, topic, index)
            return append_rules.before_acks(found, records) or WRONG_ACKS

        yield from self._refuse_each(produce, refusal)

    def _refuse(self, produce: _Produce, refusal: Rejection) -> ProduceSteps[None]:
        """Answer every partition with the same error; nothing was appended."""
        if produce.request.acks == ACKS_NONE:
            produce.reply.close()
            return

        def noted(topic: ProduceTopic, index: int, records: memoryview | None) -> Rejection:
            self._note(topic, index, records, refusal)
            return refusal

        yield from self._refuse_each(produce, noted)

    def _refuse_each(self, produce: _Produce, refusal: _Refusal) -> ProduceSteps[None]:
        responses = []
        number = 0
        for topic in produce.request.topics:
            answers = []
            number += 1
            if number % SLICE_PARTITIONS == 0:
                yield Slice.LOOP
            for index, records in topic.partitions:
                answers.append(rejected(self._metrics, index, refusal(topic, index, records)))
                number += 1
                if number % SLICE_PARTITIONS == 0:
                    yield Slice.LOOP
            responses.append(ProduceTopicResponse(topic.name, topic.topic_id, answers))
        produce.reply.send((yield from encoded_answer(produce.reply, produce.header, responses)))
