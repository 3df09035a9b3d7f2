"""The metadata log after a power cut or a kill at any moment: what was promised, and nothing else.

Invariants of consensus that rest on it: term and vote are one write that is never forgotten (R-6),
a cut leaves the old log or the cut one and never a hole (R-9), an installed snapshot replaces
everything or nothing (R-10), and what a restart tells is durable (R-7).
"""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.metadata.errors import MetadataLogCorruptError
from headrace.metadata.log.entry_format import NOT_PROVEN, SEGMENT_HEADER_BYTES
from headrace.metadata.log.files import LogFiles
from headrace.metadata.records.entry import SnapshotId
from tests.simulation.directory import SimulatedDirectoryDisk
from tests.simulation.directory_states import states
from tests.simulation.metadata_log_steps import (
    PATH,
    Idle,
    Install,
    Name,
    Node,
    Restart,
    Snapshot,
    State,
    entries,
    next_step,
    start,
    write,
)

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


async def look(disk):
    """Start on a disk: the state that it tells, and its id."""
    node = Node(disk)
    try:
        return await start(node)
    finally:
        await node.store.close()


class Restarts:
    """Starts on what power cuts have left, on each directory once."""

    def __init__(self):
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
        disk = SimulatedDirectoryDisk.of(files)
        told = await look(disk)
        assert told == await look(disk), "a second start changes nothing"
        return told[0]


def states_of(disk):
    return {tuple(sorted(files.items())): files for files in states(disk.happened)}


def before_each_change(disk, do):
    """Have something done before each operation that changes the disk."""
    disk.before = lambda operation: do() if operation.changes else None


async def live(disk, steps):
    """Go through the steps; after each yield the state, and those that were possible meanwhile."""
    node = Node(disk)
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


@pytest.mark.slow
def test_a_power_cut_at_every_change_of_a_long_life():
    """And then another at every change of the start that follows."""

    async def scenario():
        disk = SimulatedDirectoryDisk()
        restarts = Restarts()
        left, moments = {}, []
        before_each_change(disk, lambda: left.update(states_of(disk)))
        async for state, possible in live(disk, LIFE):
            moments += [(dict(left), possible), (states_of(disk), {state})]
            left.clear()
        moments.append((dict(left), {state}))  # while it was closed
        left.clear()
        for directories, possible in moments:
            await restarts.check(directories, possible)
        assert (await look(disk))[0] == state
        assert restarts.states > 200
        for files, told in restarts.all():
            left.clear()
            again = SimulatedDirectoryDisk.of(files)
            before_each_change(again, lambda again=again: left.update(states_of(again)))
            assert (await look(again))[0] == told
            await restarts.check(left | states_of(again), {told})

    asyncio.run(scenario())


def test_a_kill_at_any_change_and_a_power_cut_after_the_next_start():
    """What a start reads may be in the memory of the kernel only: it is durable before it is told."""

    async def scenario():
        disk = SimulatedDirectoryDisk()
        restarts = Restarts()
        deaths, moments = [], []
        before_each_change(disk, lambda: deaths.append(disk.killed()))
        async for _, possible in live(disk, LIFE):
            moments += [(death, possible) for death in deaths]
            deaths.clear()
        assert len(moments) > 100
        for dead, possible in moments:
            told, _ = await look(dead)
            assert told in possible
            await restarts.check(states_of(dead), {told})

    asyncio.run(scenario())


def steps_from(choices):
    """Make of any numbers steps that are allowed one after the other."""
    state = State()
    steps = []
    for kind, first, second in choices:
        step = next_step(state, kind, first, second, tag=f"{len(steps)}")
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

    async def scenario():
        disk = SimulatedDirectoryDisk()
        moments, left = [], {}
        before_each_change(disk, lambda: left.update(states_of(disk)))
        async for state, possible in live(disk, steps_from(choices)):
            moments += [(dict(left), possible), (states_of(disk), {state})]
            left.clear()
        restarts = Restarts()
        for directories, possible in moments:
            if directories:
                key = data.draw(st.sampled_from(sorted(directories)))
                await restarts.check({key: directories[key]}, possible)
        assert (await look(disk))[0] == state

    asyncio.run(scenario())


@settings(max_examples=100, deadline=None)
@given(
    groups=st.lists(st.integers(1, 3), min_size=2, max_size=4),
    proven=st.booleans(),
    data=st.data(),
)
def test_one_flipped_bit_is_never_believed(groups, proven, data):
    """Refused, or (in what nothing proves) cut off; never other bytes than were written."""
    disk = SimulatedDirectoryDisk.of({})
    files = LogFiles(disk.open(PATH))
    files.open(segment_id=1)
    written = []
    for number in groups:
        group = entries(len(written) + 1, number, 1, "x" * number)
        files.append(group)
        written += group
    proven_end = files.end if proven else NOT_PROVEN
    files.close()
    ((name, whole),) = disk.contents().items()
    content = bytearray(whole)
    position = data.draw(st.integers(SEGMENT_HEADER_BYTES, len(content) - 1))
    content[position] ^= 1 << data.draw(st.integers(0, 7))
    disk = SimulatedDirectoryDisk.of({name: bytes(content)})
    files = LogFiles(disk.open(PATH))
    try:
        recovered = files.open(segment_id=2, proven_end=proven_end)
    except MetadataLogCorruptError:
        assert disk.contents() == {name: bytes(content)}, "nothing is changed"
        return
    files.close()
    assert not proven, "an entry that was proven is missing"
    assert recovered.entries == written[: len(recovered.entries)]
    assert len(recovered.entries) >= len(written) - groups[-1]
