"""Every crash of the production WAL on a simulated disk: acknowledged means recovered, and nothing else appears.

One run of each workload, the same each time; `tests/integration/test_wal_crash_images.py` tries other
ones every day, and `make soak` 500,000 states.
"""

import asyncio
import random
import re
from collections.abc import Callable
from contextlib import contextmanager

import pytest

from headrace.wal.errors import WalCorruptError
from headrace.wal.framing import BlockHeader, read_block_header
from headrace.wal.layout import PAGE_BYTES, RING_POSITION, Superblock, decode_superblock
from tests.environment.paths import ROOT
from tests.simulation import virtual_time, wal_crash_run
from tests.simulation.disk import Completed, Event, PowerCut, SimulatedDisk, Submitted
from tests.simulation.wal_catalogue import BY_NAME, WORKLOADS
from tests.simulation.wal_crash_judge import Judge
from tests.simulation.wal_run import WalOnDisk, recover_image
from tests.simulation.wal_workloads import Workload

SEED = 1


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_what_was_acknowledged_survives_every_crash(workload: Workload) -> None:
    verdicts = Judge(workload, SEED).run(torn=1, damaged=0.0)
    assert not verdicts.violations, verdicts.violations[0]
    assert len(verdicts.states) > 30


@pytest.mark.parametrize(
    "name",
    [
        "mixed records",
        "many laps",
        "bursts that fill the IO depth",
        "trimmed at need",
        "shut down with records",
    ],
)
def test_damage_is_harmless_or_refused(name: str) -> None:
    """Never silent loss of what the disk tells to be acknowledged; and a loss that is accepted is named."""
    verdicts = Judge(BY_NAME[name], SEED).run(torn=1, damaged=1.0)
    assert not verdicts.violations, verdicts.violations[0]
    assert verdicts.refused > 20
    assert verdicts.damaged - verdicts.refused > 20


# --- the workloads are what they are called


class Traits:
    """What the log wrote in a run."""

    def __init__(self, trace: list[Event]) -> None:
        self.blocks: list[BlockHeader] = []
        self.superblocks: list[Superblock] = []
        self.max_inflight = 0
        self.power_cuts = 0
        self.failed_writes = 0
        self.zero_writes = 0
        inflight = set()
        for event in trace:
            match event:
                case Submitted():
                    inflight.add(event.number)
                    self.max_inflight = max(self.max_inflight, len(inflight))
                    self._written(event)
                case Completed():
                    inflight.discard(event.number)
                case PowerCut():
                    self.power_cuts += 1
                    inflight.clear()

    def _written(self, event: Submitted) -> None:
        header = read_block_header(memoryview(event.data), 0)
        superblock = decode_superblock(event.data) if event.position < RING_POSITION else None
        if header is not None:
            self.blocks.append(header)
        elif superblock is not None:
            self.superblocks.append(superblock)
        elif not any(event.data):
            self.zero_writes += 1

    @property
    def holes(self) -> list[int]:
        return [
            block.offset - block.previous_end
            for block in self.blocks
            if block.offset > block.previous_end
        ]

    @property
    def ring_bytes(self) -> int:
        return self.superblocks[0].ring.size_bytes

    @property
    def laps(self) -> float:
        return (self.blocks[-1].offset - self.blocks[0].offset) / self.ring_bytes

    def distinct(self, field: str) -> int:
        return len({getattr(superblock, field) for superblock in self.superblocks})


TRAITS: dict[str, Callable[[Traits], bool]] = {
    "one-byte records": lambda run: max(block.records for block in run.blocks) >= 8,
    "a page exactly": lambda run: any(block.length == PAGE_BYTES for block in run.blocks),
    "a block exactly": lambda run: any(block.length == 2 * PAGE_BYTES for block in run.blocks),
    "a byte more than a block": lambda run: all(b.length == 2 * PAGE_BYTES + 1 for b in run.blocks),
    "the largest record": lambda run: {block.length for block in run.blocks} == {16 * 1024},
    "ends with the ring": lambda run: any(
        (block.offset + block.length) % run.ring_bytes == 0 for block in run.blocks
    ),
    "a byte too long for the ring": lambda run: set(run.holes) == {8 * 1024},
    "a hole wider than a block": lambda run: set(run.holes) == {12 * 1024},
    "stale blocks of a page everywhere": lambda run: run.laps > 1.5 and not run.holes,
    "many laps": lambda run: run.laps > 2,
    "the window grows in steps": lambda run: run.distinct("window_bytes") > 3,
    "the window grows by exact fits": lambda run: run.distinct("window_bytes") > 3,
    "trimmed at each confirmation": lambda run: run.distinct("trim_offset") > 10,
    "never trimmed": lambda run: run.laps < 1,
    "one write at a time": lambda run: run.max_inflight == 2,  # one, and the superblock
    "eight writes at a time": lambda run: run.max_inflight >= 7,
    "a device larger than used": lambda run: run.ring_bytes == 64 * 1024,
    "zeroed in the background": lambda run: run.zero_writes > 5,
    "idle in between": lambda run: run.distinct("confirmed_offset") > 5,
    "shut down empty": lambda run: run.distinct("shutdown") == 2,
    "power cuts, ten in a row": lambda run: run.power_cuts == 10,
    "power cuts while beginning": lambda run: run.distinct("generation_id") > 6,
    "another capacity": lambda run: run.distinct("capacity_bytes") == 4,
    "resized, larger": lambda run: run.distinct("capacity_bytes") == 4,
    "resized, smaller": lambda run: run.distinct("capacity_bytes") == 4,
    "resized, power cut": lambda run: run.power_cuts > 0,
    "a loss is accepted": lambda run: run.power_cuts == 9,
    "zeroed in the background, power cut": lambda run: run.zero_writes > 2,
    "a write hangs": lambda run: run.power_cuts == 3,
}


@pytest.mark.parametrize("name", TRAITS)
def test_a_workload_does_what_it_is_called(name: str) -> None:
    assert any(TRAITS[name](Traits(BY_NAME[name].record(seed).trace)) for seed in range(3))


@pytest.mark.parametrize(("name", "generations"), [("another capacity", 7), ("resized, larger", 5)])
def test_every_reset_and_resize_begins_another_life(name: str, generations: int) -> None:
    assert Traits(BY_NAME[name].record(SEED).trace).distinct("generation_id") == generations


def test_a_workload_is_the_same_each_time() -> None:
    for name in ("mixed records", "resized, a file", "a write hangs"):
        assert BY_NAME[name].record(7).trace == BY_NAME[name].record(7).trace


# --- the test is tested


class HastyDisk(SimulatedDisk):
    """Tells of the completion of blocks before it is true."""

    def submit(self, position: int, data: memoryview, done: Callable[[object], None]) -> None:
        if position < RING_POSITION:
            super().submit(position, data, done)
            return
        super().submit(position, data, lambda error: None)
        asyncio.get_running_loop().call_soon(done, None)


@contextmanager
def hasty(monkeypatch: pytest.MonkeyPatch):
    with monkeypatch.context() as patch:
        patch.setattr("tests.simulation.wal_workloads.SimulatedDisk", HastyDisk)
        yield


def test_an_early_acknowledgement_is_found_and_found_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with hasty(monkeypatch):
        work = [
            unit for unit in wal_crash_run.units(7400, 1, [0]) if unit.workload == "never trimmed"
        ]
        summary = wal_crash_run.run(work)
        assert wal_crash_run.report(summary) == 1
        violation = summary.verdicts.violations[0]
        assert f'--replay "{violation.replay}"' in capsys.readouterr().out
        assert violation.replay.count(":") == 3
        assert "lost" in violation.what
        assert wal_crash_run.main(["--replay", violation.replay]) == 1
        assert violation.what in capsys.readouterr().out
    sound = Judge(BY_NAME["never trimmed"], SEED)
    index = next(point.index for point in sound.points() if point.inflight)
    for outcome in ("s1", "t3", "xs0"):
        assert wal_crash_run.main(["--replay", f"never trimmed:{SEED}:{index}:{outcome}"]) == 0


def test_the_page_shows_how_to_repeat_a_state(capsys: pytest.CaptureFixture[str]) -> None:
    (words,) = re.findall(r'--replay "(.+?)"', (ROOT / "docs/wal.md").read_text())
    assert wal_crash_run.main(["--replay", words]) == 0
    assert "0 violations" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("nonsense", "is not WORKLOAD:SEED:POINT:OUTCOME"),
        ("", "is not WORKLOAD:SEED:POINT:OUTCOME"),
        ("nonsense:1", "there is no workload 'nonsense'; there are a "),
        ("a full ring:x:1:s0", "is not WORKLOAD:SEED:POINT:OUTCOME"),
        ("a full ring:9001:20", "is not WORKLOAD:SEED:POINT:OUTCOME"),
        ("a full ring:9001:99999999:s0", "no point 99999999"),
        ("a full ring:9001:20:q", "no outcome 'q'"),
        ("a full ring:9001:20:s64", "no outcome 's64'"),
    ],
)
def test_words_that_repeat_nothing_are_explained(
    words: str, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        wal_crash_run.main(["--replay", words])
    assert ended.value.code == 2
    assert reason in capsys.readouterr().err


def test_a_share_is_a_tenth_of_the_whole_with_runs_of_its_own() -> None:
    every = wal_crash_run.units(500_000, 1, range(10))
    assert sum(unit.states for unit in every) >= 500_000
    shares = [
        wal_crash_run.units(500_000, 1, wal_crash_run.parse_shares(f"{k}/10")) for k in range(1, 11)
    ]
    assert sorted(map(repr, every)) == sorted(repr(unit) for share in shares for unit in share)


# --- beside the enumeration


@pytest.mark.parametrize("lost", [1, 2])
def test_lost_superblocks(lost: int) -> None:
    """After a shutdown one copy is enough; both refuse the start."""
    disk = BY_NAME["shut down empty"].record(3)
    for slot in range(lost):
        disk.image[slot * PAGE_BYTES : slot * PAGE_BYTES + 512] = bytes(512)
    disk.has_writer = False
    if lost == 2:
        with pytest.raises(WalCorruptError, match="no valid superblock"):
            virtual_time.run(WalOnDisk(disk).begin())
        return
    superblock, _, _ = recover_image(disk.image)
    assert superblock.slot_position == PAGE_BYTES


def test_the_driver_recovers_what_the_core_does() -> None:
    """Else the enumeration, which uses the core alone, would say nothing of a start."""
    rng = random.Random(2)
    judge = Judge(BY_NAME["many laps"], 2)
    compared = 0
    for point in judge.points():
        if point.index < 20 or rng.random() > 0.3:
            continue
        kept = point.kept("t0") if point.inflight else []
        point.make(kept)
        disk = SimulatedDisk(len(point.image))
        disk.image[:] = point.image
        _, records, _ = recover_image(disk.image)
        expected = [(record.offset, bytes(record.body)) for record in records]
        point.unmake(kept)
        assert virtual_time.run(recovered_by_driver(disk)) == expected
        compared += 1
    assert compared > 10


async def recovered_by_driver(disk: SimulatedDisk) -> list[tuple[int, bytes]]:
    log = WalOnDisk(disk)
    await log.start()
    return [(record.offset, bytes(record.body)) for record in await log.recover()]
