"""The life cycle on a simulated disk: order of calls, identity, faults, capacity, shutdown."""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from headrace.wal.device.submissions import WriteStatistics
from headrace.wal.errors import (
    WalCorruptError,
    WalDeviceError,
    WalFailedError,
    WalForeignError,
    WalFormattingError,
    WalIdentityError,
    WalLockedError,
    WalOverCapacityError,
    WalStateError,
    WalVersionError,
)
from headrace.wal.layout import FORMATTING_SLOT, RING_POSITION, ShutdownType
from headrace.wal.port import WriteAheadLog
from headrace.wal.ring.group_commit import GroupCommit
from headrace.wal.ring.log import LOCK_ATTEMPTS, LOCK_PAUSE_S, DeltaWal
from headrace.wal.ring.superblock_updates import SuperblockUpdates
from tests.simulation import virtual_time
from tests.simulation.disk import SimulatedDevice, SimulatedDisk
from tests.simulation.wal_run import KIB, RING_BYTES, SMALL, WalOnDisk
from tests.unit.wal.test_layout import of_version

Scenario = Callable[[WalOnDisk], Awaitable[None]]


def satisfies_the_port(wal: DeltaWal) -> WriteAheadLog:
    return wal


def new_disk(*, automatic: bool = True) -> SimulatedDisk:
    return SimulatedDisk(SMALL.capacity_bytes, automatic=automatic)


def run(scenario: Scenario, disk: SimulatedDisk | None = None) -> SimulatedDisk:
    """Run a scenario on a log that is ready for appends."""
    on = disk or new_disk()

    async def main() -> None:
        log = WalOnDisk(on)
        await log.begin()
        await scenario(log)

    asyncio.run(main())
    return on


async def confirmed(log: WalOnDisk) -> None:
    async with asyncio.timeout(5):
        while log.wal.confirmed_offset < log.wal.next_offset:
            await asyncio.sleep(0)


async def trimmed(log: WalOnDisk) -> None:
    async with asyncio.timeout(5):
        while log.wal.used_bytes:
            await asyncio.sleep(0)


async def reopened(disk: SimulatedDisk) -> list[bytes]:
    disk.has_writer = False
    return [bytes(record.body) for record in await WalOnDisk(disk).begin()]


# --- life cycle


def test_what_is_appended_is_confirmed_and_recovered() -> None:
    async def scenario(log: WalOnDisk) -> None:
        end = log.append(b"headbody")
        assert log.confirmed == []
        await confirmed(log)
        assert log.confirmed[-1] >= end
        log.disk.has_writer = False
        assert await reopened(log.disk) == [b"headbody"]

    run(scenario)


def test_calls_out_of_order_are_refused() -> None:
    async def main() -> None:
        wal = WalOnDisk(new_disk()).wal
        with pytest.raises(WalStateError, match="not started"):
            await wal.reset()
        with pytest.raises(WalStateError):
            wal.append(b"", b"x")
        await wal.start()
        with pytest.raises(WalStateError, match="not recovered"):
            await wal.reset()
        assert not wal.room_for(1)
        assert [record async for record in wal.recover()] == []
        with pytest.raises(WalStateError, match="recovered, not reset"):
            wal.append(b"", b"x")
        await wal.reset()
        with pytest.raises(WalStateError, match="running"):
            await wal.start()
        await wal.shutdown()
        with pytest.raises(WalFailedError, match="shut down"):
            wal.append(b"", b"x")
        with pytest.raises(WalFailedError, match="shut down"):
            wal.trim(0)
        await wal.shutdown()

    asyncio.run(main())


def test_a_recovery_that_was_left_must_be_repeated_before_the_reset() -> None:
    async def scenario(log: WalOnDisk) -> None:
        for number in range(10):
            log.append(b"%d" % number * 3000)
            await confirmed(log)
        log.disk.has_writer = False
        wal = WalOnDisk(log.disk).wal
        await wal.start()
        walk = wal.recover()
        await anext(walk)
        await walk.aclose()
        with pytest.raises(WalStateError):
            await wal.reset()
        assert len([record async for record in wal.recover()]) == 10
        await wal.reset()

    run(scenario)


def test_starting_and_recovering_writes_nothing() -> None:
    async def scenario(log: WalOnDisk) -> None:
        log.append(b"12345678")
        await confirmed(log)
        image, writes = bytes(log.disk.image), log.disk.writes
        for _ in range(3):
            log.disk.has_writer = False
            wal = WalOnDisk(log.disk).wal
            await wal.start()
            assert len([record async for record in wal.recover()]) == 1
            await wal.shutdown()
        assert (bytes(log.disk.image), log.disk.writes) == (image, writes)

    run(scenario)


def test_after_a_reset_nothing_comes_back_and_offsets_grow() -> None:
    async def scenario(log: WalOnDisk) -> None:
        first = log.append(b"12345678")
        await confirmed(log)
        log.disk.has_writer = False
        again = WalOnDisk(log.disk)
        await again.begin()
        assert again.wal.next_offset >= first
        assert again.wal.used_bytes == 0
        assert await reopened(log.disk) == []

    run(scenario)


def test_a_graceful_shutdown_leaves_an_empty_log() -> None:
    async def scenario(log: WalOnDisk) -> None:
        log.append(b"12345678")
        await confirmed(log)
        log.trim(log.wal.confirmed_offset - 1)
        await log.wal.shutdown()
        again = WalOnDisk(log.disk)
        await again.wal.start()
        assert again.wal.superblock.shutdown is ShutdownType.GRACEFUL
        assert [record async for record in again.wal.recover()] == []

    run(scenario)


def test_a_shutdown_with_records_left_is_not_graceful() -> None:
    """The bucket was away: what was acknowledged must be found by the next start."""

    async def scenario(log: WalOnDisk) -> None:
        log.append(b"12345678")
        log.append(b"abcdefgh")
        await log.wal.shutdown()
        assert await reopened(log.disk) == [b"12345678", b"abcdefgh"]

    run(scenario)


def test_a_shutdown_confirms_everything_first() -> None:
    async def scenario(log: WalOnDisk) -> None:
        ends = [log.append(bytes(3000)) for _ in range(6)]
        await log.wal.shutdown()
        assert log.confirmed[-1] >= ends[-1]
        assert not log.disk.has_writer

    run(scenario)


def test_the_capacity_may_change_while_the_ring_is_empty() -> None:
    async def scenario(log: WalOnDisk) -> None:
        log.append(b"12345678")
        await confirmed(log)
        log.disk.has_writer = False
        smaller = WalOnDisk(
            log.disk, replace(SMALL, capacity_bytes=SMALL.capacity_bytes - 16 * KIB)
        )
        assert len(await smaller.begin()) == 1
        assert smaller.wal.capacity_bytes == RING_BYTES - 16 * KIB
        smaller.append(b"87654321")
        await confirmed(smaller)
        log.disk.has_writer = False
        assert [bytes(record.body) for record in await WalOnDisk(log.disk).begin()] == [b"87654321"]

    run(scenario)


# --- whose device


def test_a_second_writer_is_refused() -> None:
    async def scenario(log: WalOnDisk) -> None:
        with pytest.raises(WalLockedError):
            await WalOnDisk(log.disk).wal.start()

    run(scenario)


def test_an_owner_that_lets_go_a_moment_later_is_waited_for() -> None:
    async def scenario(log: WalOnDisk) -> None:
        again = asyncio.create_task(WalOnDisk(log.disk).begin())
        await asyncio.sleep(LOCK_ATTEMPTS * LOCK_PAUSE_S / 2)
        assert not again.done()
        log.disk.has_writer = False
        await again

    run(scenario)


@pytest.mark.parametrize(
    ("node_id", "node_epoch", "cluster_id", "message"),
    [
        (8, 1, "simulation", "belongs to node 7.*headrace wal format --force simulated"),
        (7, 1, "other", "of cluster 'simulation'"),
        (7, 0, "simulation", "used by node epoch 1"),
    ],
)
def test_the_log_of_somebody_else_is_refused(
    node_id: int, node_epoch: int, cluster_id: str, message: str
) -> None:
    disk = run(lambda log: confirmed(log))
    disk.has_writer = False
    before = bytes(disk.image)

    async def main() -> None:
        wal = DeltaWal(
            SMALL,
            node_id=node_id,
            node_epoch=node_epoch,
            cluster_id=cluster_id,
            rng=random.Random(0),
            wall_clock_ms=lambda: 0,
            on_confirmed=lambda offset: None,
            on_failed=lambda error: None,
            opener=lambda config, writable: disk.open(config.path, writable=writable),
        )
        with pytest.raises(WalIdentityError, match=message):
            await wal.start()

    asyncio.run(main())
    assert bytes(disk.image) == before
    assert not disk.has_writer


def test_a_newer_registration_of_the_same_node_takes_its_log() -> None:
    disk = run(lambda log: confirmed(log))
    disk.has_writer = False

    async def main() -> None:
        log = WalOnDisk(disk, epoch=5)
        await log.begin()
        assert log.wal.superblock.node_epoch == 5

    asyncio.run(main())


def test_a_device_with_something_else_on_it_is_never_formatted() -> None:
    disk = new_disk()
    disk.image[1080:1082] = b"\x53\xef"  # ext4
    with pytest.raises(WalForeignError, match=r"ext4.*headrace wal format --force simulated"):
        run(lambda log: confirmed(log), disk)
    assert bytes(disk.image).count(0) == len(disk.image) - 2


def test_a_device_whose_formatting_was_interrupted_is_not_taken() -> None:
    disk = new_disk()
    disk.image[: len(FORMATTING_SLOT)] = FORMATTING_SLOT
    with pytest.raises(WalFormattingError, match="finish it with `headrace wal format simulated`"):
        run(lambda log: confirmed(log), disk)
    assert disk.writes == 0


def test_a_log_of_another_format_version_is_refused_with_its_place() -> None:
    disk = new_disk()
    disk.image[: len(FORMATTING_SLOT)] = of_version(2)
    with pytest.raises(WalVersionError, match="the WAL on simulated has format version 2"):
        run(lambda log: confirmed(log), disk)
    assert disk.writes == 0


def test_wiped_superblocks_of_a_used_log_are_noticed() -> None:
    async def scenario(log: WalOnDisk) -> None:
        log.append(b"12345678")
        await confirmed(log)
        log.disk.image[:RING_POSITION] = bytes(RING_POSITION)
        with pytest.raises(WalCorruptError, match="no valid superblock"):
            await reopened(log.disk)

    run(scenario)


def test_a_device_smaller_than_configured_is_refused() -> None:
    with pytest.raises(WalDeviceError, match="are configured"):
        run(lambda log: confirmed(log), SimulatedDisk(SMALL.capacity_bytes - 4096))


def test_a_device_that_has_shrunk_is_refused() -> None:
    disk = run(lambda log: confirmed(log))
    del disk.image[-8192:]
    disk.has_writer = False
    with pytest.raises(WalDeviceError, match="truncated or is another device"):
        asyncio.run(reopened(disk))


def test_a_device_is_refused_that_is_smaller_than_its_log_is_to_be() -> None:
    """It cannot grow, and nobody is left to believe in a capacity that is not there."""
    disk = run(lambda log: confirmed(log))
    image = bytes(disk.image)
    disk.has_writer = False
    larger = replace(SMALL, capacity_bytes=SMALL.capacity_bytes + 4096)
    with pytest.raises(WalDeviceError, match=f"{len(image)}.*{larger.capacity_bytes}"):
        asyncio.run(WalOnDisk(disk, larger).begin())
    assert bytes(disk.image) == image


def test_nonsense_is_refused_before_the_device_is_touched() -> None:
    disk = new_disk()

    async def main() -> None:
        with pytest.raises(WalDeviceError, match="too small"):
            await WalOnDisk(disk, replace(SMALL, capacity_bytes=4096)).wal.start()

    asyncio.run(main())
    assert not disk.has_writer


# --- capacity


def test_a_full_ring_refuses_and_takes_again_once_the_trim_is_durable() -> None:
    async def scenario(log: WalOnDisk) -> None:
        while log.wal.room_for(3000):
            log.append(bytes(3000))
            await confirmed(log)
        next_offset = log.wal.next_offset
        with pytest.raises(WalOverCapacityError):
            log.append(bytes(3000))
        assert log.wal.next_offset == next_offset
        log.trim(log.wal.confirmed_offset - 1)
        assert not log.wal.room_for(3000), "not before the superblock is durable"
        assert log.rooms == 0
        await trimmed(log)
        assert log.rooms == 1
        log.append(bytes(3000))
        await confirmed(log)

    run(scenario)


# --- faults


def failing(number: int, error: OSError) -> Callable[[int, int], OSError | None]:
    return lambda write, position: error if write == number else None


@pytest.mark.parametrize("number", range(4, 30))
def test_after_the_first_error_nothing_is_confirmed(
    number: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Whichever write it is: of a block or of the superblock, in the middle or at the shutdown."""
    caplog.set_level(logging.CRITICAL + 1)

    async def scenario(log: WalOnDisk) -> None:
        log.disk.fault = failing(number, OSError(5, "Input/output error"))
        appended: list[tuple[int, bytes]] = []

        async def append_for_ever() -> None:
            for turn in range(1_000):
                body = turn.to_bytes(4, "big") + bytes(2000)
                while not log.wal.room_for(len(body)) and not log.failures:
                    if log.confirmed and log.confirmed[-1] - 1 > log.wal.trim_offset:
                        log.trim(log.confirmed[-1] - 1)
                    await asyncio.sleep(0)
                appended.append((log.append(body), body))
                if turn % 3:
                    await asyncio.sleep(0)

        with pytest.raises(WalFailedError, match="Input/output error"):
            await append_for_ever()
        for _ in range(20):
            await asyncio.sleep(0)
        last = log.confirmed[-1] if log.confirmed else 0
        required = {body for end, body in appended if log.wal.trim_offset + 1 < end <= last}
        with pytest.raises(WalFailedError, match="Input/output error"):
            await log.wal.shutdown()
        assert len(log.failures) == 1
        assert not log.disk.has_writer
        log.disk.fault = lambda number, position: None
        assert required <= set(await reopened(log.disk))

    run(scenario)


@pytest.mark.parametrize("ordinal", [0, 1, 2], ids=["block", "superblock", "its copy"])
def test_an_error_during_the_shutdown_is_reported(
    ordinal: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL + 1)

    async def scenario(log: WalOnDisk) -> None:
        log.append(bytes(7000))
        log.disk.fault = failing(log.disk.writes + ordinal, OSError(5, "Input/output error"))
        with pytest.raises(WalFailedError, match="Input/output error"):
            await log.wal.shutdown()
        assert len(log.failures) == 1
        assert not log.disk.has_writer

    run(scenario)


def test_a_write_that_hangs_fails_the_log() -> None:
    async def main() -> None:
        disk = new_disk()
        clock_s = asyncio.get_running_loop().time
        config = replace(SMALL, io_timeout_ms=200)
        log = WalOnDisk(disk, config, clock=lambda: int(clock_s() * 1e9))
        await log.begin()
        disk.fault = lambda number, position: SimulatedDisk.HANG
        log.append(b"12345678")
        await asyncio.sleep(0.19)
        assert not log.failures
        await asyncio.sleep(0.02)
        assert "took more than 0.2 s" in str(log.failures[0])
        assert log.confirmed == []
        with pytest.raises(WalFailedError):
            await log.wal.shutdown()

    virtual_time.run(main())


@pytest.mark.parametrize(
    ("of", "name"),
    [
        (GroupCommit, "next_write"),
        (SimulatedDevice, "write"),
        (WriteStatistics, "written"),
        (GroupCommit, "completed"),
        (SuperblockUpdates, "want_window"),
    ],
)
def test_an_exception_that_no_code_expected_fails_the_log_at_once(
    of: type, name: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL + 1)

    def broken(*_: object) -> None:
        raise KeyError("planted")

    async def scenario(log: WalOnDisk) -> None:
        told: list[BaseException] = []
        asyncio.get_running_loop().set_exception_handler(
            lambda _, context: told.append(context["exception"])
        )
        with monkeypatch.context() as patch:
            patch.setattr(of, name, broken)
            log.append(b"12345678")
            async with asyncio.timeout(5):
                while not told:
                    await asyncio.sleep(0)
        assert len(log.failures) == 1
        assert log.confirmed == []
        assert [repr(error) for error in told] == ["KeyError('planted')"]
        with pytest.raises(WalFailedError, match="planted"):
            log.append(b"12345678")
        with pytest.raises(WalFailedError, match="planted"):
            await log.wal.shutdown()

    run(scenario)


def test_a_completion_after_the_failure_is_not_confirmed() -> None:
    async def scenario(log: WalOnDisk) -> None:
        log.disk.automatic = False
        for _ in range(3):
            log.append(bytes(7000))
        await asyncio.sleep(0)
        first, second = log.disk.pending[:2]
        second.done(OSError(5, "Input/output error"))
        first.done(None)
        assert log.confirmed == []
        assert len(log.failures) == 1

    run(scenario)


def test_a_device_that_fails_while_formatting_is_released() -> None:
    disk = new_disk()
    disk.fault = failing(1, OSError(28, "No space left on device"))
    with pytest.raises(OSError, match="No space left"):
        run(lambda log: confirmed(log), disk)
    assert not disk.has_writer


def test_a_format_that_was_interrupted_is_done_again() -> None:
    disk = new_disk()
    disk.fault = failing(1, OSError(5, "Input/output error"))
    with pytest.raises(OSError, match="Input/output"):
        run(lambda log: confirmed(log), disk)
    disk.fault = lambda number, position: None
    run(lambda log: confirmed(log), disk)


# --- what makes it fast


def test_appends_of_one_turn_share_a_write() -> None:
    async def scenario(log: WalOnDisk) -> None:
        writes = log.disk.writes
        for _ in range(10):
            log.append(bytes(100))
        await confirmed(log)
        assert log.disk.writes == writes + 1
        assert len(log.confirmed) == 1

    run(scenario)


def test_an_idle_log_tells_the_device_what_was_confirmed_last() -> None:
    """Else damage to the very last blocks could pass for a torn tail."""

    async def scenario(log: WalOnDisk) -> None:
        log.append(b"12345678")
        await confirmed(log)
        assert log.wal.superblock.confirmed_offset < log.wal.confirmed_offset
        async with asyncio.timeout(5):
            while log.wal.superblock.confirmed_offset < log.wal.confirmed_offset:
                await asyncio.get_running_loop().run_in_executor(None, lambda: None)

    run(scenario)
