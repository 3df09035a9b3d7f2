"""Whatever becomes of brokers and of those that drain their logs, no acknowledged record is lost or doubled."""

import random

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from headrace.metadata.controller.drains import REFUSED_MS
from headrace.metadata.errors import RefusedError
from headrace.metadata.image import MetadataImage
from headrace.metadata.images.brokers import has_ended
from headrace.metadata.images.logs import LogState, drains_of
from headrace.metadata.records.brokers import FenceReason
from headrace.metadata.records.codec import decode_records
from headrace.metadata.replay import replay
from headrace.metadata.rpc.requests import (
    AcceptLogLoss,
    CommitStreamSetObject,
    EndLog,
    FinishDrain,
    RefuseDrain,
    UnregisterBroker,
)
from headrace.metadata.snapshot import canonical_bytes, image_to_records, records_to_image
from tests.unit.metadata.pure_controller import (
    EVERY_FILE,
    PureController,
    closing,
    of_one_stream,
    opening,
    stream_range,
)

NODES = (1, 2, 3, 4)

nodes = st.sampled_from(NODES)
seeds = st.integers(0, 2**32)
sometimes = st.integers(0, 2)  # 0: now


class WatchedController(PureController):
    """Looks at every single entry."""

    def _apply(self, records):
        before = self.image
        super()._apply(records)
        for stream_id, after in self.image.streams.items():
            old = before.streams.get(stream_id)
            if old is not None and old.opened and after.opened:
                assert old.node_id == after.node_id, "opened elsewhere before it was closed"
        for log_id, after in self.image.logs.items():
            old = before.logs.get(log_id)
            if after.drain is not None and (old is None or old.drain != after.drain):
                assert after.drain.epoch == self.image.index
                drainer = self.image.brokers[after.drain.node_id]
                assert drainer.epoch == after.drain.node_epoch
                assert not drainer.fenced
                assert has_ended(self.image.brokers, after.owner)


class LogMachine(RuleBasedStateMachine):
    """Brokers with WALs, whose records are acknowledged; processes end at any point, and their requests arrive late."""

    def __init__(self):
        super().__init__()
        self.controller = WatchedController(level=2)
        self.held = {node_id: {} for node_id in NODES}  # by log: stream -> end of what is durable
        self.acked = {}  # stream -> end of what was acknowledged
        self.begun = set()  # registrations that have begun their log
        self.closing = set()  # (node, stream): its owner has asked to close it; not answered yet
        self.sent = []  # requests, some of which arrive once more or for the first time

    @property
    def image(self):
        return self.controller.image

    def alive(self, node_id):
        return not has_ended(self.image.brokers, node_id)

    def epoch(self, node_id):
        return self.controller.epochs[node_id]

    def using(self, node_id):
        """Whether the node serves: it has a log and a valid lease."""
        return self.alive(node_id) and (node_id, self.epoch(node_id)) in self.begun

    def attempt(self, request):
        before = self.image
        self.sent.append(request)
        del self.sent[:-30]
        try:
            of_one_stream(self.controller.do(request))
        except RefusedError as error:
            assert self.image is before
            return error.code
        for log_id, log in self.image.logs.items():
            if log.state == LogState.LOST and before.logs[log_id].state != LogState.LOST:
                self._give_up(log_id)
        return None

    def _give_up(self, log_id):
        """An operator has: what only the log held is acknowledged no more."""
        for stream_id in self.held[log_id]:
            stream = self.image.streams.get(stream_id)
            if stream is not None:
                self.acked[stream_id] = stream.end_offset

    def do(self, request):
        assert self.attempt(request) is None

    # Owners

    @initialize(partitions=st.integers(1, 3))
    def begin(self, partitions):
        for node_id in NODES:
            self.restart(node_id, 1, 9, 0)
        self.controller.create("a", partitions)
        self.controller.create("b", 2)
        for node_id in NODES:
            self._open_all(node_id)

    @rule(node_id=nodes, drains=st.integers(0, 3), dies=st.integers(0, 9), seed=seeds)
    def restart(self, node_id, drains, dies, seed):
        """A start; it recovers what its WAL holds, and may end at each step."""
        self.controller.register(node_id, serve=False)
        self.closing = {it for it in self.closing if it[0] != node_id}
        if dies < 2:
            return
        log = self.image.logs.get(node_id)
        held = self.held[node_id]
        recovered = [
            it
            for it in self.image.streams.values()
            if it.opened and it.node_id == node_id and held.get(it.stream_id, 0) > it.end_offset
        ]
        if log is not None and log.state in (LogState.EMPTY, LogState.DRAINED, LogState.LOST):
            assert log.state == LogState.LOST or not recovered
        for number, stream in enumerate(recovered):
            if dies == 2 and number:
                return
            own = (node_id, self.epoch(node_id))
            self._upload([stream], node_id, own, held, random.Random(seed), whole=True)
        held.clear()
        if dies == 3:
            return
        self.do(self.controller.begin_log_request(node_id, EVERY_FILE if drains else ()))
        self.begun.add((node_id, self.epoch(node_id)))
        self.controller.unfence(node_id)
        self._open_all(node_id)

    @rule(seed=seeds)
    def append(self, seed):
        """Records are durable in the WALs; most of them are acknowledged."""
        for node_id in NODES:
            if self.using(node_id):
                self._append(node_id, random.Random(seed))

    def _append(self, node_id, rng):
        for stream in self.image.streams.values():
            used = stream.opened and stream.node_id == node_id
            if used and (node_id, stream.stream_id) not in self.closing and rng.random() < 0.7:
                held = self.held[node_id]
                start = held.get(stream.stream_id, stream.end_offset)
                held[stream.stream_id] = start + rng.randint(1, 5)
                if rng.random() < 0.8:
                    self.acked[stream.stream_id] = held[stream.stream_id]

    @rule(node_id=nodes, seed=seeds, arrives=sometimes)
    def upload(self, node_id, seed, arrives):
        if not self.using(node_id):
            return
        log = (node_id, self.epoch(node_id))
        streams = [it for it in self.image.streams.values() if it.opened and it.node_id == node_id]
        self._upload(
            streams, node_id, log, self.held[node_id], random.Random(seed), late=not arrives
        )

    @rule(node_id=nodes, settles=sometimes, seed=seeds)
    def fence(self, node_id, settles, seed):
        """A broker ends, with records in its WAL."""
        if self.alive(node_id):
            if self.using(node_id):
                self._append(node_id, random.Random(seed))
            self.controller.fence(node_id)
            if settles:
                self.settle()

    @rule(node_id=nodes, often=sometimes)
    def leave(self, node_id, often):
        """A shutdown in order: everything is uploaded, the log is empty."""
        if often or not self.using(node_id):
            return
        log = (node_id, self.epoch(node_id))
        streams = [it for it in self.image.streams.values() if it.opened and it.node_id == node_id]
        self._upload(streams, node_id, log, self.held[node_id], random.Random(0), whole=True)
        self.held[node_id].clear()
        self.do(EndLog(*self.controller.sender(node_id), node_id))
        self.controller.fence(node_id, FenceReason.SHUT_DOWN)

    @rule(node_id=nodes, data=st.data(), arrives=sometimes, seed=seeds)
    def close(self, node_id, data, arrives, seed):
        """An owner closes a stream that is committed, and goes on; then the close comes again."""
        streams = [it for it in self.image.streams.values() if it.opened and it.node_id == node_id]
        if not self.using(node_id) or not streams:
            return
        stream = data.draw(st.sampled_from(sorted(streams, key=lambda it: it.stream_id)))
        end = self.held[node_id].get(stream.stream_id, stream.end_offset)
        sender = self.controller.sender(node_id)
        request = closing(*sender, stream.stream_id, stream.epoch, end, *sender)
        if arrives:
            assert (self.attempt(request) is None) == (end == stream.end_offset)
            self._open_all(node_id)
            self._append(node_id, random.Random(seed))
            self.attempt(request)
        elif end == stream.end_offset:
            self.closing.add((node_id, stream.stream_id))
            self.sent.append(request)

    # Drains

    @rule()
    def settle(self):
        self.controller.settle()

    @rule(skipped_ms=st.sampled_from([1, REFUSED_MS]))
    def wait(self, skipped_ms):
        self.controller.now_ms += skipped_ms

    @rule(data=st.data(), seed=seeds, arrives=sometimes)
    def drain(self, data, seed, arrives):
        """Bring a part of what a log holds to the bucket."""
        node_id, log = self._drain(data)
        if log is None:
            return
        streams = [
            it for it in self.image.streams.values() if it.opened and it.node_id == log.owner
        ]
        named = (log.log_id, log.drain.epoch)
        held = self.held[log.owner]
        self._upload(streams, node_id, named, held, random.Random(seed), late=not arrives)

    @rule(data=st.data(), whole=st.booleans())
    def finish(self, data, whole):
        node_id, log = self._drain(data)
        if log is None:
            return
        held = self.held[log.owner]
        named = (log.log_id, log.drain.epoch)
        streams = [
            it for it in self.image.streams.values() if it.opened and it.node_id == log.owner
        ]
        if whole:
            self._upload(streams, node_id, named, held, random.Random(0), whole=True)
        complete = all(
            held[it.stream_id] <= self.image.streams[it.stream_id].end_offset
            for it in streams
            if it.stream_id in held
        )
        sender = self.controller.sender(node_id)
        request = FinishDrain(*sender, *named, 1, tuple(sorted(held.items())))
        assert (self.attempt(request) is None) == complete
        assert (self.image.logs[log.log_id].state == LogState.DRAINED) == complete

    @rule(data=st.data())
    def refuse(self, data):
        node_id, log = self._drain(data)
        if log is not None:
            sender = self.controller.sender(node_id)
            self.do(RefuseDrain(*sender, log.log_id, log.drain.epoch, "not there"))
            drain = self.image.logs[log.log_id].drain
            assert drain is None or drain.node_id != node_id

    @precondition(lambda self: self.sent)
    @rule(data=st.data())
    def late(self, data):
        """A request arrives once more, or for the first time: by then its right may be over."""
        self._arrive(data.draw(st.sampled_from(self.sent)))

    def _arrive(self, request):
        before = self.image
        refused = self.attempt(request)
        if isinstance(request, CommitStreamSetObject | FinishDrain) and self.image is not before:
            assert refused is None
            assert self._may_act(before, request)

    @rule(
        data=st.data(),
        seed=seeds,
        what=st.sampled_from(["owner", "refuses", "restarts", "ends", "again", "forgotten"]),
        finishes=st.booleans(),
    )
    def interrupted(self, data, seed, what, finishes):
        """Something happens to a drain while its requests are on their way; then they arrive."""
        node_id, log = self._drain(data)
        if log is None:
            return
        streams = [
            it for it in self.image.streams.values() if it.opened and it.node_id == log.owner
        ]
        named, held = (log.log_id, log.drain.epoch), self.held[log.owner]
        sender = self.controller.sender(node_id)
        finish = FinishDrain(*sender, *named, 1, tuple(sorted(held.items())))
        commit = self._upload_request(streams, node_id, named, held, random.Random(seed))
        requests = ([] if commit is None else [commit]) + ([finish] if finishes else [])
        self.sent += requests
        if what == "again" and commit is not None:
            self._arrive(commit)
        elif what == "owner":
            self.restart(log.owner, 1, 9, seed)
        elif what == "refuses":
            self.do(RefuseDrain(*sender, *named, "not there"))
        elif what == "restarts":
            self.restart(node_id, 1, 9, seed)
        elif what == "ends":
            self.controller.fence(node_id)
            self.settle()
        elif commit is not None:
            self._compact_and_forget(commit)
        for request in requests:
            self._arrive(request)

    def _compact_and_forget(self, request):
        """A commit takes effect, its object is compacted at once and deleted: the repetition succeeds."""
        self.do(request)
        ranges = [it for it in request.ranges if it.stream_id in self.image.streams]
        if len(ranges) == len(request.ranges):
            sender = request.node_id
            self.controller.upload(*ranges, compacted=[request.object_id], node_id=sender)
            self.controller.forget(request.object_id, node_id=sender)
            assert self.attempt(request) is None

    # Operators

    @rule(log_id=nodes, damaged_only=st.booleans(), often=st.integers(0, 9))
    def accept_loss(self, log_id, damaged_only, often):
        log = self.image.logs.get(log_id)
        if often or log is None:
            return
        ended = has_ended(self.image.brokers, log.owner)
        done = self.attempt(AcceptLogLoss(log_id, log.generation, damaged_only)) is None
        assert not done or ended

    @rule(node_id=nodes, often=st.integers(0, 4))
    def unregister(self, node_id, often):
        if often or node_id not in self.image.brokers:
            return
        opened = any(it.opened and it.node_id == node_id for it in self.image.streams.values())
        if self.attempt(UnregisterBroker(node_id)) is None:
            assert not opened
            assert node_id not in self.image.logs

    @rule(name=st.sampled_from("ab"), often=st.integers(0, 9))
    def recreate(self, name, often):
        if often or not any(not it.fenced for it in self.image.brokers.values()):
            return
        self.controller.delete(name)
        self.controller.create(name, 2)

    @rule()
    def reload_from_snapshot(self):
        records = image_to_records(self.image)
        image = records_to_image(records, index=self.image.index, term=self.image.term)
        assert image == self.image
        self.controller.image = image

    # Invariants

    @invariant()
    def nobody_opens_behind_what_was_acknowledged(self):
        """What a leader serves from, it has found in the bucket or has in its own WAL."""
        for stream in self.image.streams.values():
            acked = self.acked.get(stream.stream_id, 0)
            known = stream.end_offset
            if stream.opened:
                known = max(known, self.held[stream.node_id].get(stream.stream_id, 0))
            assert known >= acked, f"records {known} to {acked} of {stream.stream_id} are lost"

    @invariant()
    def nothing_of_a_log_that_is_settled_is_open(self):
        for log in self.image.logs.values():
            if log.state in (LogState.DRAINED, LogState.LOST):
                streams = self.image.streams.values()
                assert not any(it.opened and it.node_id == log.owner for it in streams)

    @invariant()
    def drains_are_of_ended_owners(self):
        for log in self.image.logs.values():
            if log.state == LogState.DRAINING:
                assert has_ended(self.image.brokers, log.owner)

    def teardown(self):
        """The whole log gives the same image."""
        image = MetadataImage()
        for entry in self.controller.entries:
            records = decode_records(entry.payload)
            image = replay(image, records, index=entry.index, term=entry.term)
        assert canonical_bytes(image) == canonical_bytes(self.image)

    # Parts of rules

    def _open_all(self, node_id):
        for topic in self.image.topics.values():
            for partition in topic.partitions:
                stream_id = partition.data_stream_id
                if (
                    partition.leader == node_id
                    and self.using(node_id)
                    and (node_id, stream_id) not in self.closing
                ):
                    sender = self.controller.sender(node_id)
                    self.attempt(opening(*sender, stream_id, partition.leader_epoch))

    @rule(node_id=nodes)
    def open(self, node_id):
        self._open_all(node_id)

    def _drain(self, data):
        """Choose a drain that is under way: its drainer and the log."""
        drains = [
            (node_id, log)
            for node_id in NODES
            if self.alive(node_id)
            for log in drains_of(self.image.logs, node_id, self.epoch(node_id))
        ]
        return data.draw(st.sampled_from(drains)) if drains else (None, None)

    def _upload(self, streams, node_id, log, held, rng, *, whole=False, late=False):
        """Commit, in the name of a log, what it holds beyond the ends of streams."""
        request = self._upload_request(streams, node_id, log, held, rng, whole=whole)
        if request is not None and late:
            self.sent.append(request)
        elif request is not None:
            self.do(request)

    def _upload_request(self, streams, node_id, log, held, rng, *, whole=False):
        pieces = []
        for stream in sorted(streams, key=lambda it: it.stream_id):
            end = held.get(stream.stream_id, 0)
            if end > stream.end_offset and (whole or rng.random() < 0.7):
                end = end if whole else rng.randint(stream.end_offset + 1, end)
                start = stream.end_offset
                pieces.append(stream_range(stream.stream_id, start, end, stream.epoch))
        if not pieces:
            return None
        return self.controller.upload_request(pieces, node_id=node_id, log=log)

    def _may_act(self, image, request):
        if request.node_id == request.log_id:
            return image.brokers[request.node_id].epoch == request.node_epoch
        epoch = getattr(request, "log_epoch", None) or request.drain_epoch
        drain = image.logs[request.log_id].drain
        return (drain.epoch, drain.node_id, drain.node_epoch) == (
            epoch,
            request.node_id,
            request.node_epoch,
        )


TestLogs = pytest.mark.slow(LogMachine.TestCase)
TestLogs.settings = settings(
    max_examples=300,
    stateful_step_count=60,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
