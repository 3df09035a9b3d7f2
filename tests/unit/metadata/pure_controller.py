"""A controller without loop, clock or disk: decides, encodes, and replays what it has encoded."""

import random
from uuid import UUID

import pytest

from headrace.metadata.admin import topic_deletion
from headrace.metadata.controller.brokers import fence_broker, unfence_broker
from headrace.metadata.controller.decision import ConfigRules, Decision, Inputs
from headrace.metadata.controller.dispatch import decide
from headrace.metadata.controller.drains import due_logs, settle_log
from headrace.metadata.controller.objects import expire_objects
from headrace.metadata.errors import RefusedError
from headrace.metadata.image import MetadataImage
from headrace.metadata.levels import (
    METADATA_FEATURE,
    NEWEST,
    READ_HERE,
    encode_at_level,
    level_of,
)
from headrace.metadata.records.brokers import BrokerEndpoint, FenceReason
from headrace.metadata.records.cluster import ClusterIdRecord, FeatureRecord, LeaderChangeRecord
from headrace.metadata.records.codec import decode_records
from headrace.metadata.records.entry import LogEntry
from headrace.metadata.records.logs import LogMedium, LogReach
from headrace.metadata.records.objects import RecordedRange
from headrace.metadata.replay import replay
from headrace.metadata.rpc.requests import (
    BeginLog,
    CloseStreamBatch,
    CommitStreamSetObject,
    CommittedStreamObject,
    CompactStreamObject,
    CreateTopics,
    DeleteTopics,
    FinishDrain,
    ForgetObjects,
    OpenStreamBatch,
    PrepareObjects,
    RegisterBroker,
    StreamToClose,
    StreamToOpen,
    TopicCreation,
    TrimStream,
)
from headrace.metadata.rpc.responses import StreamsClosed, StreamsOpened
from headrace.steps import completed

EVERY_FILE = (LogReach(LogMedium.FILE, "/wals"),)
CLUSTER_ID = "cluster"
ENDPOINT = BrokerEndpoint("PLAINTEXT", "localhost", 9092)


def validate(name, value):
    """A validator with three configs."""
    if name == "retention.ms":
        return None if value.lstrip("-").isdigit() else f"{name} is a number"
    if name in ("cleanup.policy", "compression.type"):
        return None
    return f"unknown config {name}"


def stream_range(stream_id, start, end, epoch=0):
    return RecordedRange(stream_id, epoch, start, end)


def opening(node_id, node_epoch, stream_id, stream_epoch):
    return OpenStreamBatch(node_id, node_epoch, (StreamToOpen(stream_id, stream_epoch),))


def closing(node_id, node_epoch, stream_id, stream_epoch, end_offset, *log):
    streams = (StreamToClose(stream_id, stream_epoch, end_offset),)
    return CloseStreamBatch(node_id, node_epoch, streams, *log)


def of_one_stream(response):
    """The outcome for the only stream of a request; other answers as they are.

    Raises:
        RefusedError: it could not be opened or closed.
    """
    if not isinstance(response, StreamsOpened | StreamsClosed) or len(response.outcomes) > 1:
        return response
    (outcome,) = response.outcomes
    if outcome.error_code:
        raise RefusedError(outcome.error_code, outcome.message)
    return outcome


class PureController:
    def __init__(self, *, validate_broker=None, level=NEWEST):
        rules = {} if validate_broker is None else {"validate_broker": validate_broker}
        self.rules = ConfigRules(validate_topic=validate, **rules)
        self.rng = random.Random(7)
        self.now_ms = 1_000_000
        self.unable = frozenset()
        self.image = MetadataImage()
        self.entries = []
        self.epochs = {}
        feature = FeatureRecord(METADATA_FEATURE, level)
        self._apply((LeaderChangeRecord(1, 1, 0), ClusterIdRecord(CLUSTER_ID), feature))

    # Mechanics

    def inputs(self):
        return Inputs(self.now_ms, self.rng, self.rules, self.unable)

    def decide(self, request) -> Decision:
        decision = decide(request, self.image, self.inputs())
        return decision if isinstance(decision, Decision) else completed(decision)

    def do(self, request):
        return self.commit(self.decide(request))

    def commit(self, decision):
        decision = decision if isinstance(decision, Decision) else completed(decision)
        if decision.records:
            self._apply(decision.records)
        return decision.response

    def refusal(self, request):
        """The code with which a request is refused; it must change nothing."""
        before = self.image
        with pytest.raises(RefusedError) as refused:
            of_one_stream(self.do(request))
        assert refused.value.message
        assert self.image is before
        return refused.value.code

    def apply(self, *records):
        """Append an entry that no request has asked for."""
        self._apply(records)

    def _apply(self, records):
        term = max(1, self.image.term)
        entry = LogEntry(
            self.image.index + 1,
            term,
            encode_at_level(records, level_of(self.image.features)),
        )
        self.entries.append(entry)
        self.image = replay(self.image, decode_records(entry.payload), index=entry.index, term=term)

    # Short forms

    def register(
        self, node_id=1, incarnation=None, *, serve=True, reads=READ_HERE, record_lock=str
    ):
        name = f"wal of {node_id}"
        incarnation_id = UUID(int=incarnation or self.rng.getrandbits(120), version=4)
        request = RegisterBroker(
            CLUSTER_ID, node_id, incarnation_id, (ENDPOINT,), "", 0, (record_lock(name),), reads
        )
        answer = self.do(request)
        self.epochs[node_id] = answer.node_epoch
        if serve:
            self.unfence(node_id)
        return answer.node_epoch

    def unfence(self, node_id=1):
        return self.commit(unfence_broker(node_id, self.epochs[node_id], self.image))

    def fence(self, node_id=1, reason=FenceReason.SESSION_EXPIRED):
        return self.commit(
            fence_broker(node_id, self.epochs[node_id], reason, self.image, self.inputs())
        )

    def create(self, name="topic", partitions=1, **options):
        creation = topic_creation(name, partitions, **options)
        return self.do(CreateTopics((creation,), False)).results[0]

    def led_by(self, node_id, name="topic", partitions=1):
        """Create a topic that a node leads, which opens it; return the ids of its data streams."""
        assignments = tuple((it, (node_id,)) for it in range(partitions))
        self.create(name, -1, assignments=assignments)
        ids = [it.data_stream_id for it in self.image.topic(name).partitions]
        for stream_id in ids:
            self.open(stream_id, node_id=node_id)
        return ids

    def topic_with_streams(self, name="topic", partitions=1):
        """Create a topic; return the data stream ids of its partitions."""
        self.create(name, partitions)
        return [it.data_stream_id for it in self.image.topic(name).partitions]

    def opened_stream(self, name="topic"):
        """Create a topic and open its data stream; return the stream id."""
        (stream_id,) = self.topic_with_streams(name)
        self.open(stream_id)
        return stream_id

    def delete(self, *names):
        return self.do(DeleteTopics(tuple(map(topic_deletion, names)))).results

    def sender(self, node_id=1):
        return node_id, self.epochs[node_id]

    def open(self, stream_id, epoch=0, node_id=1):
        return of_one_stream(self.do(opening(*self.sender(node_id), stream_id, epoch)))

    def close(self, stream_id, end, epoch=0, node_id=1):
        return of_one_stream(self.do(closing(*self.sender(node_id), stream_id, epoch, end)))

    def trim(self, stream_id, start, epoch=0, node_id=1):
        return self.do(TrimStream(*self.sender(node_id), stream_id, epoch, start))

    def prepare(self, count=1, ttl_ms=60_000, node_id=1):
        answer = self.do(PrepareObjects(*self.sender(node_id), count, ttl_ms))
        return answer.first_object_id

    def upload_request(
        self, ranges=(), stream_objects=(), *, compacted=(), node_id=1, log=(-1, -1), **fields
    ):
        """A commit of newly prepared objects; `stream_objects` are ranges."""
        object_id = fields.get("object_id", self.prepare(node_id=node_id) if ranges else -1)
        objects = tuple(
            CommittedStreamObject(self.prepare(node_id=node_id), 100, it) for it in stream_objects
        )
        return CommitStreamSetObject(
            *self.sender(node_id),
            object_id,
            1_000,
            tuple(ranges),
            objects,
            tuple(compacted),
            log_id=log[0],
            log_epoch=log[1],
        )

    def upload(self, *ranges, stream_objects=(), compacted=(), node_id=1):
        """Commit a Stream Set Object and Stream Objects; return the request."""
        request = self.upload_request(ranges, stream_objects, compacted=compacted, node_id=node_id)
        self.do(request)
        return request

    def merge_request(self, piece, sources, node_id=1):
        merged = CommittedStreamObject(self.prepare(node_id=node_id), 300, piece)
        return CompactStreamObject(*self.sender(node_id), merged, tuple(sources))

    def begin_log_request(self, node_id=1, reach=EVERY_FILE, generation=""):
        generation = generation or f"{self.rng.getrandbits(64):016x}"
        place = (f"/wals/{node_id}",)
        sender = self.sender(node_id)
        return BeginLog(*sender, node_id, generation, LogMedium.FILE, place, reach)

    def begin_log(self, node_id=1, generation="", reach=EVERY_FILE):
        """The node uses its log from now on, and can drain those of all others."""
        request = self.begin_log_request(node_id, reach, generation)
        self.do(request)
        return request.generation

    def settle(self):
        """What the leader does about logs in each round; return which logs it changed."""
        changed = []
        for log_id in due_logs(self.image, self.now_ms):
            before = self.image
            self.commit(settle_log(log_id, self.image, self.inputs()))
            if self.image is not before:
                changed.append(log_id)
        return changed

    def log(self, log_id=1):
        return self.image.logs[log_id]

    def finish_drain(self, log_id, ends=(), position=100):
        drain = self.log(log_id).drain
        return self.do(
            FinishDrain(drain.node_id, drain.node_epoch, log_id, drain.epoch, position, tuple(ends))
        )

    def forget(self, *object_ids, node_id=1):
        return self.do(ForgetObjects(*self.sender(node_id), tuple(object_ids)))

    def expire(self):
        return self.commit(expire_objects(self.image, self.now_ms))

    def stream(self, stream_id):
        return self.image.streams[stream_id]

    def object(self, object_id):
        return self.image.objects.by_id[object_id]

    def layout(self, stream_id):
        """(object id, start, end) of the stream's objects."""
        return [
            (it.object_id, it.start_offset, it.end_offset) for it in self.stream(stream_id).objects
        ]


def topic_creation(name, partitions=1, *, factor=-1, configs=(), assignments=None):
    return TopicCreation(name, partitions, factor, tuple(configs), assignments)
