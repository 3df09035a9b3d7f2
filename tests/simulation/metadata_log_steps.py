"""Steps in the life of a metadata log, and the states in which a crash may leave it."""

import random
from pathlib import Path
from typing import NamedTuple

from headrace.metadata.image import MetadataImage
from headrace.metadata.log.snapshot_format import encode_snapshot
from headrace.metadata.log.store import LogStore
from headrace.metadata.raft.effects import FRESH, HardState, Persist
from headrace.metadata.records.entry import NO_SNAPSHOT, LogEntry, SnapshotId

NAME = "cluster"
PATH = Path("/simulated/metadata")


class State(NamedTuple):
    """What a restart tells."""

    hard_state: HardState = FRESH
    snapshot: SnapshotId = NO_SNAPSHOT
    entries: tuple = ()  # behind the snapshot
    cluster_id: str = ""


class Node:
    """A process, and the disk that it works on."""

    def __init__(self, disk, rng=None):
        self.disk = disk
        self.rng = rng or random.Random(1)
        self.store = LogStore(disk.open(PATH), self.rng)


def snapshot_bytes(snapshot_id):
    return b"".join(encode_snapshot(MetadataImage(index=snapshot_id.index, term=snapshot_id.term)))


# Each step performs itself on a store, and says which states a crash in the middle of it may leave.


class Write(NamedTuple):
    """A step of consensus."""

    persist: Persist

    async def run(self, node):
        await node.store.persist(self.persist)

    def leaves(self, old):
        hard_state, truncate_from, entries = (
            self.persist.hard_state,
            self.persist.truncate_from,
            self.persist.entries,
        )
        yield old
        new = old
        if hard_state is not None:
            new = new._replace(hard_state=hard_state)
            yield new
        if truncate_from is not None:
            kept = tuple(it for it in new.entries if it.index < truncate_from)
            new = new._replace(entries=kept)
            yield new
        for number in range(1, len(entries) + 1):
            yield new._replace(entries=(*new.entries, *entries[:number]))


class Snapshot(NamedTuple):
    """A snapshot of our own."""

    snapshot: SnapshotId

    async def run(self, node):
        await node.store.write_snapshot(self.snapshot, iter([snapshot_bytes(self.snapshot)]))

    def leaves(self, old):
        yield old
        behind = tuple(it for it in old.entries if it.index > self.snapshot.index)
        yield old._replace(snapshot=self.snapshot, entries=behind)


class Install(NamedTuple):
    """A snapshot of the leader's."""

    snapshot: SnapshotId

    async def run(self, node):
        async def chunks():
            yield snapshot_bytes(self.snapshot)

        await node.store.install_snapshot(self.snapshot, chunks())

    def leaves(self, old):
        yield old
        yield old._replace(snapshot=self.snapshot, entries=())


class Name(NamedTuple):
    """The cluster becomes known."""

    async def run(self, node):
        await node.store.name_cluster(NAME)

    def leaves(self, old):
        yield old
        yield old._replace(cluster_id=NAME)


class Restart(NamedTuple):
    """A process ends and another begins."""

    async def run(self, node):
        await node.store.close()
        node.store = LogStore(node.disk.open(PATH), node.rng)
        await node.store.open(node_id=1, cluster_id="")

    def leaves(self, old):
        yield old


class Idle(NamedTuple):
    """Nothing is written for a while: the end of the log is proven."""

    async def run(self, node):
        await node.store._run(node.store._prove)

    def leaves(self, old):
        yield old


def entries(first, number, term, tag=""):
    return tuple(
        LogEntry(it, term, f"{tag} {term} {it}".encode() * 3) for it in range(first, first + number)
    )


def write(term, *, vote=None, cut=None, first=0, number=0, tag=""):
    hard_state = None if vote is None else HardState(term, vote)
    return Write(Persist(hard_state, cut, entries(first, number, term, tag)))


async def start(node):
    """Start the process; return the state that it tells, and the directory's id."""
    opened = await node.store.open(node_id=1, cluster_id="")
    snapshot = NO_SNAPSHOT
    if opened.recovered.snapshot is not None:
        newest = max(name for name in node.disk.contents() if name.endswith(".checkpoint"))
        snapshot = SnapshotId(int(newest[:20]), int(newest[21:41]))
        part = await node.store.read_snapshot(snapshot.index, 0, 1 << 20)
        assert part.data == opened.recovered.snapshot == snapshot_bytes(snapshot)
    found = tuple(opened.recovered.entries)
    assert [it.index for it in found] == list(
        range(snapshot.index + 1, snapshot.index + 1 + len(found))
    ), "no hole"
    return State(opened.hard_state, snapshot, found, opened.cluster_id), opened.directory_id


def next_step(state, kind, first, second, *, tag, above=0):
    """Make of any numbers a step that is allowed in that state.

    `above` is the last entry that may not be cut off: a snapshot that was begun may have it.
    """
    last = state.entries[-1].index if state.entries else state.snapshot.index
    term, vote = state.hard_state.term, state.hard_state.voted_for
    if kind == "term" or term == 0:
        return write(term + 1, vote=first - 1)
    if kind == "vote" and vote == -1:
        return write(term, vote=first, first=last + 1, number=second, tag=tag)
    if kind == "cut":
        cut = max(state.snapshot.index + 1, above + 1, last + 1 - first)
        return write(term + 1, vote=-1, cut=cut, first=cut, number=second, tag=tag)
    if kind == "snapshot" and last - first > state.snapshot.index:
        index = last - first
        term = next(it.term for it in state.entries if it.index == index)
        return Snapshot(SnapshotId(index, term))
    if kind == "install":
        return Install(SnapshotId(last + first + 1, term))
    if kind == "restart":
        return Restart()
    if kind == "idle":
        return Idle()
    return write(term, first=last + 1, number=first + 1, tag=tag)
