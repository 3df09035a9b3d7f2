"""The metadata log after a power cut or a kill at any moment: what was promised, and nothing else.

Invariants of consensus that rest on it: term and vote are one write that is never forgotten (R-6),
a cut leaves the old log or the cut one and never a hole (R-9), an installed snapshot replaces
everything or nothing (R-10), and what a restart tells is durable (R-7).
"""

import asyncio
import random
import shutil
import tempfile
from itertools import count
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.metadata.errors import MetadataLogCorruptError
from headrace.metadata.image import MetadataImage
from headrace.metadata.log.entry_format import NOT_PROVEN, SEGMENT_HEADER_BYTES
from headrace.metadata.log.files import LogFiles
from headrace.metadata.log.os_directory import OsDirectory
from headrace.metadata.log.snapshot_format import encode_snapshot
from headrace.metadata.log.store import LogStore
from headrace.metadata.raft.effects import FRESH, HardState, Persist
from headrace.metadata.records.entry import NO_SNAPSHOT, LogEntry, SnapshotId
from tests.property.recorded_directory import RecordedDirectory

NAME = "cluster"


class State(NamedTuple):
    """What a restart tells."""

    hard_state: HardState = FRESH
    snapshot: SnapshotId = NO_SNAPSHOT
    entries: tuple = ()  # behind the snapshot
    cluster_id: str = ""


class Node:
    """A process, and the directory that it works on."""

    def __init__(self, recorded):
        self.recorded = recorded
        self.store = LogStore(OsDirectory(recorded.path, recorded.sync), random.Random(1))


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
        node.store = LogStore(OsDirectory(node.recorded.path, node.recorded.sync), random.Random(2))
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


LIFE = [
    write(1, vote=1),
    write(1, first=1, number=3),
    write(1, first=4, number=2),
    Idle(),
    Name(),
    write(2, vote=-1, cut=4, first=4, number=3),  # a cut in a segment
    write(2, vote=3),
    write(2, cut=6, first=6, number=2, tag="again"),  # and another, behind it
    write(2, cut=3, first=3, number=4, tag="before"),  # before all of them
    Idle(),
    Snapshot(SnapshotId(4, 2)),
    Idle(),  # of an empty segment
    write(2, first=7, number=2),
    Idle(),
    write(3, vote=2, cut=5, first=5, number=2),  # over the border of two segments
    write(3, first=7, number=1),
    write(4, vote=-1, cut=7),  # the end alone
    write(4, cut=5, first=5, number=1),  # all that there is behind the snapshot
    Install(SnapshotId(20, 4)),
    write(4, first=21, number=2),
    Idle(),
    Snapshot(SnapshotId(21, 4)),
    Install(SnapshotId(30, 4)),
    Install(SnapshotId(40, 4)),  # two in a row
    write(4, first=41, number=1),
    Restart(),
    write(5, vote=1, cut=41, first=41, number=2),
    Snapshot(SnapshotId(41, 5)),
    write(5, first=43, number=2),
    write(6, vote=-1),
    Install(SnapshotId(42, 6)),  # into the middle of what is there
    write(6, vote=1, first=43, number=1),
]


async def look(directory, *, sync=lambda _: None):
    """Start on a directory: the state that it tells, and its id."""
    store = LogStore(OsDirectory(directory, sync), random.Random(5))
    try:
        opened = await store.open(node_id=1, cluster_id="")
        snapshot = NO_SNAPSHOT
        if opened.recovered.snapshot is not None:
            newest = max(directory.glob("*.checkpoint"))
            snapshot = SnapshotId(int(newest.name[:20]), int(newest.name[21:41]))
            part = await store.read_snapshot(snapshot.index, 0, 1 << 20)
            assert part.data == opened.recovered.snapshot == snapshot_bytes(snapshot)
        found = tuple(opened.recovered.entries)
        assert [it.index for it in found] == list(
            range(snapshot.index + 1, snapshot.index + 1 + len(found))
        ), "no hole"
        return State(opened.hard_state, snapshot, found, opened.cluster_id), opened.directory_id
    finally:
        await store.close()


class Restarts:
    """Starts on what power cuts have left, on each directory once."""

    def __init__(self, scratch):
        self._scratch = scratch
        self._numbers = count()
        self._told = {}

    def all(self):
        """The directories so far, and what each told."""
        return [(dict(key), told) for key, told in self._told.items()]

    @property
    def states(self):
        """How many different directories there were."""
        return len(self._told)

    async def check(self, left, allowed):
        """Each of these directories tells one of these states."""
        for key, files in left.items():
            if key not in self._told:
                self._told[key] = await self._start(files)
            told = self._told[key]
            assert told in allowed, f"{sorted(files)} tells {told}, allowed is {allowed}"

    async def _start(self, files):
        directory = RecordedDirectory.of(files, self._scratch / str(next(self._numbers))).path
        told = await look(directory)
        assert told == await look(directory), "a second start changes nothing"
        shutil.rmtree(directory)
        return told[0]


def states_of(recorded):
    return {tuple(sorted(files.items())): files for files in recorded.states()}


async def live(recorded, steps):
    """Go through the steps; after each yield the state, and those that were possible meanwhile."""
    with recorded.watching():
        node = Node(recorded)
        try:
            await node.store.open(node_id=1, cluster_id="")
            state = State()
            yield state, {state}
            for step in steps:
                await step.run(node)
                possible = list(step.leaves(state))
                state = possible[-1]
                yield state, set(possible)
        finally:
            await node.store.close()


def recorded_in(directory):
    directory.mkdir()
    return RecordedDirectory(directory)


@pytest.mark.slow
def test_a_power_cut_at_every_change_of_a_long_life(tmp_path):
    """And then another at every change of the start that follows."""

    async def scenario():
        recorded = recorded_in(tmp_path / "log")
        restarts = Restarts(tmp_path)
        left, moments = {}, []
        recorded.on_change = lambda: left.update(states_of(recorded))
        async for state, possible in live(recorded, LIFE):
            moments += [(dict(left), possible), (states_of(recorded), {state})]
            left.clear()
        moments.append((dict(left), {state}))  # while it was closed
        left.clear()
        for directories, possible in moments:
            await restarts.check(directories, possible)
        assert (await look(recorded.path))[0] == state
        assert restarts.states > 200
        for number, (files, told) in enumerate(restarts.all()):
            again = RecordedDirectory.of(files, tmp_path / f"again-{number}")
            again.on_change = lambda again=again: left.update(states_of(again))
            with again.watching():
                assert (await look(again.path, sync=again.sync))[0] == told
            await restarts.check(left | states_of(again), {told})
            left.clear()
            shutil.rmtree(again.path)

    asyncio.run(scenario())


def test_a_kill_at_any_change_and_a_power_cut_after_the_next_start(tmp_path):
    """What a start reads may be in the memory of the kernel only: it is durable before it is told."""

    async def scenario():
        recorded = recorded_in(tmp_path / "log")
        restarts = Restarts(tmp_path)
        deaths, moments = [], []
        recorded.on_change = lambda: deaths.append(recorded.killed())
        async for _, possible in live(recorded, LIFE):
            moments += [(death, possible) for death in deaths]
            deaths.clear()
        assert len(moments) > 100
        for number, (dead, possible) in enumerate(moments):
            dead.lay_out(tmp_path / f"dead-{number}")
            with dead.watching():
                told, _ = await look(dead.path, sync=dead.sync)
            assert told in possible
            await restarts.check(states_of(dead), {told})
            shutil.rmtree(dead.path)

    asyncio.run(scenario())


def steps_from(choices):
    """Make of any numbers steps that are allowed one after the other."""
    state = State()
    steps = []
    for kind, first, second in choices:
        last = state.entries[-1].index if state.entries else state.snapshot.index
        term, vote = state.hard_state.term, state.hard_state.voted_for
        tag = f"{len(steps)}"
        if kind == "term" or term == 0:
            step = write(term + 1, vote=first - 1)
        elif kind == "vote" and vote == -1:
            step = write(term, vote=first, first=last + 1, number=second, tag=tag)
        elif kind == "cut":
            cut = max(state.snapshot.index + 1, last + 1 - first)
            step = write(term + 1, vote=-1, cut=cut, first=cut, number=second, tag=tag)
        elif kind == "snapshot" and last - first > state.snapshot.index:
            index = last - first
            term = next(it.term for it in state.entries if it.index == index)
            step = Snapshot(SnapshotId(index, term))
        elif kind == "install":
            step = Install(SnapshotId(last + first + 1, term))
        elif kind == "restart":
            step = Restart()
        elif kind == "idle":
            step = Idle()
        else:
            step = write(term, first=last + 1, number=first + 1, tag=tag)
        steps.append(step)
        *_, state = step.leaves(state)
    return steps


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    choices=st.lists(
        st.tuples(
            st.sampled_from(
                [
                    "term",
                    "vote",
                    "cut",
                    "append",
                    "append",
                    "snapshot",
                    "install",
                    "restart",
                    "idle",
                ]
            ),
            st.integers(0, 3),
            st.integers(0, 2),
        ),
        max_size=14,
    ),
    data=st.data(),
)
def test_a_power_cut_in_any_life(choices, data):
    """At some change, with something of what was under way; then life goes on as if it were new."""
    scratch = Path(tempfile.mkdtemp(prefix="metadata-log-"))

    async def scenario():
        recorded = recorded_in(scratch / "log")
        moments, left = [], {}
        recorded.on_change = lambda: left.update(states_of(recorded))
        async for state, possible in live(recorded, steps_from(choices)):
            moments += [(dict(left), possible), (states_of(recorded), {state})]
            left.clear()
        restarts = Restarts(scratch)
        for directories, possible in moments:
            if directories:
                key = data.draw(st.sampled_from(sorted(directories)))
                await restarts.check({key: directories[key]}, possible)
        assert (await look(recorded.path))[0] == state

    try:
        asyncio.run(scenario())
    finally:
        shutil.rmtree(scratch)


@settings(max_examples=100, deadline=None)
@given(
    groups=st.lists(st.integers(1, 3), min_size=2, max_size=4),
    proven=st.booleans(),
    data=st.data(),
)
def test_one_flipped_bit_is_never_believed(groups, proven, data):
    """Refused, or (in what nothing proves) cut off; never other bytes than were written."""
    scratch = Path(tempfile.mkdtemp(prefix="metadata-log-"))
    try:
        files = LogFiles(OsDirectory(scratch, lambda _: None))
        files.open(segment_id=1)
        written = []
        for number in groups:
            group = entries(len(written) + 1, number, 1, "x" * number)
            files.append(group)
            written += group
        proven_end = files.end if proven else NOT_PROVEN
        files.close()
        path = next(scratch.glob("*.log"))
        content = bytearray(path.read_bytes())
        position = data.draw(st.integers(SEGMENT_HEADER_BYTES, len(content) - 1))
        content[position] ^= 1 << data.draw(st.integers(0, 7))
        path.write_bytes(content)
        files = LogFiles(OsDirectory(scratch, lambda _: None))
        try:
            recovered = files.open(segment_id=2, proven_end=proven_end)
        except MetadataLogCorruptError:
            assert path.read_bytes() == content, "nothing is changed"
            return
        files.close()
        assert not proven, "an entry that was proven is missing"
        assert recovered.entries == written[: len(recovered.entries)]
        assert len(recovered.entries) >= len(written) - groups[-1]
    finally:
        shutil.rmtree(scratch)
