"""A metadata log whose process dies again and again, on a disk that fails and loses what was not synced.

Whatever happens, each start tells a state that was possible: what was acknowledged is there, no vote is taken back
(R-6), no entry is missing before another (R-9), and what one start has told the next one tells, too (R-7).
"""

import asyncio
import errno
import random
from contextlib import suppress

import pytest

from headrace.metadata.errors import MetadataLogFailedError
from tests.environment.rotation import turn_of_today
from tests.simulation import virtual_time
from tests.simulation.directory import Hang, ProcessEnded, SimulatedDirectoryDisk
from tests.simulation.metadata_log_steps import Name, Node, Snapshot, State, next_step, start

KINDS = ("term", "vote", "cut", "append", "append", "snapshot", "snapshot", "install", "install")
RARE_KINDS = ("idle", "name")
SEEDS = 60
SEEDS_A_DAY = 200
TENTHS = 10
PROCESSES = 8
STEPS = (0, 0, 2, 5, 12)  # of one process
TROUBLES = ("kill", "power", "power", "power", "error", "error", "error", "full", "hang", "nothing")


class Life:
    """A disk, the processes that have it one after the other, and what they may tell."""

    def __init__(self, seed, latency_s=0.0):
        self.rng = random.Random(f"metadata log {seed}")
        self.disk = SimulatedDirectoryDisk(self.rng, latency_s=latency_s)
        self.possible = {State()}
        self.acknowledged = State().hard_state
        self.directory_id = None
        self.died = 0
        self._steps = 0

    async def process(self):
        """Start, check what is told, and take some steps."""
        node = Node(self.disk, self.rng)
        try:
            state, directory_id = await start(node)
            assert state in self.possible, f"{state} was told, possible was {self.possible}"
            assert directory_id == (self.directory_id or directory_id)
            told, known = state.hard_state, self.acknowledged
            assert told.term > known.term or (
                told.term == known.term and known.voted_for in {-1, told.voted_for}
            ), "a vote was taken back"
            self.possible, self.directory_id = {state}, directory_id
            await self._live(node, state)
        finally:
            if not node.store._directory.has_ended:
                await node.store.close()

    async def _live(self, node, state):
        above = 0
        for _ in range(self.rng.choice(STEPS)):
            step = self._next(state, above)
            if isinstance(step, Snapshot):
                above = step.snapshot.index
            self.possible = {left for it in self.possible for left in step.leaves(it)}
            try:
                await step.run(node)
            except MetadataLogFailedError:
                self.disk.before = lambda _: None
                with pytest.raises(MetadataLogFailedError):
                    await step.run(node)
                raise
            except OSError:
                if not isinstance(step, Snapshot) or self.rng.random() < 0.5:
                    raise
                continue  # the log goes on without it
            *_, state = step.leaves(state)
            if not above or above <= state.snapshot.index:
                self.possible = {state}
            self.acknowledged = state.hard_state

    def _next(self, state, above):
        self._steps += 1
        kind = self.rng.choice(KINDS if self.rng.random() < 0.9 else RARE_KINDS)
        if kind == "name":
            return Name()
        first, second = self.rng.randrange(4), self.rng.randrange(3)
        return next_step(state, kind, first, second, tag=f"{self._steps}", above=above)

    def trouble(self):
        """Have something happen at one of the next operations."""
        kind = self.rng.choice(TROUBLES)
        left = self.rng.randrange(self.rng.choice((12, 40, 100)))

        def before(operation):
            nonlocal left
            left -= 1
            if kind == "error" and left <= 0 and operation.changes and self.rng.random() < 0.3:
                raise OSError(errno.EIO, "injected")
            if left:
                return
            if kind == "kill":
                self.disk.end_process()
            elif kind == "power":
                self.disk.cut_power()
            elif kind == "hang":
                raise Hang
            elif kind == "full":
                used = sum(map(len, self.disk.contents().values()))
                self.disk.capacity_bytes = used + self.rng.randrange(300)
            if kind in {"kill", "power"}:
                self.died += 1
                raise ProcessEnded

        self.disk.before = before

    def end(self):
        """End the process if it is still there."""
        self.disk.before = lambda _: None
        self.disk.capacity_bytes = None
        if self.rng.random() < 0.5:
            self.disk.end_process()
        else:
            self.disk.cut_power()


async def one_after_the_other(seed):
    """Processes that die at an operation."""
    life = Life(seed)
    for _ in range(PROCESSES):
        life.trouble()
        # A process that has ended, and one whose disk does not answer, is told nothing any more.
        with suppress(TimeoutError, MetadataLogFailedError, OSError):
            async with asyncio.timeout(60):
                await life.process()
        life.end()
    await life.process()
    return life


async def at_any_time(seed):
    """Processes that die at a time, also between two calls, on a disk that takes its time."""
    life = Life(seed, latency_s=0.02)
    for _ in range(PROCESSES):
        running = asyncio.ensure_future(life.process())
        await asyncio.wait([running], timeout=life.rng.choice((0.05, 0.3, 1.0, 5.0)))
        life.died += not running.done()
        life.end()
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
    await life.process()
    return life


def live(kind, seeds):
    """Live these lives; return how many processes died."""
    died = 0
    for seed in seeds:
        try:
            died += virtual_time.run(kind(seed)).died
        except BaseException as error:
            error.add_note(f"{kind.__name__}({seed})")
            raise
    return died


@pytest.mark.parametrize("kind", [one_after_the_other, at_any_time])
def test_whatever_ends_its_processes_the_log_tells_what_it_has_acknowledged(kind):
    assert live(kind, range(SEEDS)) > SEEDS


@pytest.mark.slow
@pytest.mark.parametrize("kind", [one_after_the_other, at_any_time])
def test_other_lives_each_day(kind):
    turn, tenth = turn_of_today(TENTHS)
    begin = SEEDS + (turn * TENTHS + tenth) * SEEDS_A_DAY
    assert live(kind, range(begin, begin + SEEDS_A_DAY)) > SEEDS_A_DAY


def test_what_a_start_tells_after_a_sync_that_failed_outlives_a_power_cut():
    """It was read from pages that count as clean: no sync writes them, unless they are written again."""

    async def told_twice(seed):
        disk = SimulatedDirectoryDisk(random.Random(seed))
        node = Node(disk)
        state, _ = await start(node)
        for number in range(4):
            step = next_step(state, "append", number, 0, tag="x" * 40)
            *_, state = step.leaves(state)
            if number == 3:
                disk.before = fail_sync
                with pytest.raises(MetadataLogFailedError):
                    await step.run(node)
                disk.before = lambda _: None
            else:
                await step.run(node)
        disk.end_process()
        told, _ = await start(Node(disk))
        assert told == state
        disk.cut_power()
        assert (await start(Node(disk)))[0] == told

    for seed in range(20):
        virtual_time.run(told_twice(seed))


def fail_sync(operation):
    if operation.kind == "sync":
        raise OSError(errno.EIO, "injected")
