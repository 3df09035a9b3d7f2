"""The simulated directory loses what a real one may lose, and nothing else."""

import asyncio
import errno
import random
from pathlib import Path

import pytest

from tests.simulation import virtual_time
from tests.simulation.directory import Hang, ProcessEnded, SimulatedDirectoryDisk

PATH = Path("/simulated")
SEEDS = range(200)


def begun(seed, **options):
    """A disk with one file that is durable, and a process on it."""
    disk = SimulatedDirectoryDisk(random.Random(seed), **options)
    directory = disk.open(PATH)
    directory.make()
    put(directory, "old", b"o" * 2000)
    directory.sync()
    return disk, directory


def put(directory, name, data, *, sync=True):
    file = directory.create(name)
    file.write(data, 0)
    if sync:
        file.sync()
    file.close()


def overwrite(directory, name, data, position):
    file = directory.open(name)
    file.write(data, position)
    return file


def test_what_was_synced_is_never_lost():
    for seed in SEEDS:
        disk, directory = begun(seed)
        overwrite(directory, "old", b"n" * 100, 500).sync()
        put(directory, "new", b"new")
        directory.replace("new", "newer")
        directory.sync()
        disk.cut_power()
        assert disk.contents() == {"old": b"o" * 500 + b"n" * 100 + b"o" * 1400, "newer": b"new"}


def test_a_write_that_was_not_synced_is_left_whole_torn_or_not_at_all():
    found = set()
    for seed in SEEDS:
        disk, directory = begun(seed)
        overwrite(directory, "old", b"n" * 1700, 700)
        disk.cut_power()
        content = disk.contents()["old"]
        assert content[:700] == b"o" * 700
        found.add(content)
    assert b"o" * 2000 in found
    assert b"o" * 700 + b"n" * 1700 in found
    sectors = b"o" * 1024 + b"n" * 512 + b"o" * 464
    assert sectors in found, "the second of its sectors alone"
    assert any(b"\0" in it for it in found), "the file is longer, and has nothing there"
    assert len(found) > 20


def test_names_that_were_not_synced_are_left_in_any_combination():
    found = set()
    for seed in SEEDS:
        disk, directory = begun(seed)
        put(directory, "a", b"a")
        directory.unlink("old")
        put(directory, "b.tmp", b"b")
        directory.replace("b.tmp", "b")
        disk.cut_power()
        found.add(frozenset(disk.contents().items()))
    old, a, b = ("old", b"o" * 2000), ("a", b"a"), ("b", b"b")
    every = [frozenset(), {old}, {a}, {b}, {old, a}, {old, b}, {a, b}, {old, a, b}]
    assert {frozenset(it) for it in every} <= found


def test_a_file_that_was_synced_is_gone_if_its_name_was_not():
    states = set()
    for seed in SEEDS:
        disk, directory = begun(seed)
        put(directory, "new", b"new")
        disk.cut_power()
        states.add(disk.contents().get("new"))
    assert states == {None, b"new"}


def test_after_a_sync_that_failed_the_next_one_proves_nothing():
    """The pages count as clean, as those of Linux do."""
    found = set()
    for seed in SEEDS:
        disk, directory = begun(seed)
        file = overwrite(directory, "old", b"n" * 10, 0)
        disk.before = fail_sync
        with pytest.raises(OSError, match="injected"):
            file.sync()
        disk.before = lambda _: None
        file.sync()
        assert disk.contents()["old"][:10] == b"n" * 10, "the memory has it"
        disk.cut_power()
        found.add(disk.contents()["old"][:10])
    assert {b"o" * 10, b"n" * 10} <= found


def test_what_is_written_again_after_a_sync_that_failed_is_durable():
    for seed in SEEDS:
        disk, directory = begun(seed)
        file = overwrite(directory, "old", b"n" * 10, 0)
        disk.before = fail_sync
        with pytest.raises(OSError, match="injected"):
            file.sync()
        disk.before = lambda _: None
        file.write(b"n" * 10, 0)
        file.sync()
        disk.cut_power()
        assert disk.contents()["old"] == b"n" * 10 + b"o" * 1990


def test_names_after_a_sync_of_the_directory_that_failed():
    found = set()
    for seed in SEEDS:
        disk, directory = begun(seed)
        put(directory, "new", b"new")
        disk.before = fail_sync
        with pytest.raises(OSError, match="injected"):
            directory.sync()
        disk.before = lambda _: None
        disk.cut_power()
        found.add("new" in disk.contents())
    assert found == {True, False}


def fail_sync(operation):
    if operation.kind == "sync":
        raise OSError(errno.EIO, "injected")


def test_a_kill_loses_nothing_but_a_power_cut_after_it_may():
    found = set()
    for seed in SEEDS:
        disk, directory = begun(seed)
        directory.lock("lock")
        overwrite(directory, "old", b"n", 0)
        disk.end_process()
        assert disk.contents()["old"].startswith(b"no")
        disk.open(PATH).lock("lock")
        with pytest.raises(ProcessEnded):
            directory.unlink("old")
        disk.cut_power()
        found.add(disk.contents()["old"][:1])
    assert found == {b"o", b"n"}


def test_one_of_two_processes_ends():
    disk, directory = begun(1)
    held = directory.lock("lock")
    other = disk.open(PATH)
    with pytest.raises(BlockingIOError):
        other.lock("lock")
    disk.end_process(other)
    overwrite(directory, "old", b"n", 0).close()
    held.close()
    third = disk.open(PATH)
    third.lock("lock")
    assert third.open_to_read("old").read(1, 0) == b"n"


def test_a_full_disk_takes_what_fits_and_then_nothing_until_something_is_removed():
    _, directory = begun(1, capacity_bytes=2100)
    file = directory.create("new")
    assert file.write(b"n" * 300, 0) == 100
    with pytest.raises(OSError, match="No space"):
        file.write(b"n" * 200, 100)
    assert file.write(b"m" * 50, 0) == 50, "what is there already can be replaced"
    directory.unlink("old")
    assert file.write(b"n" * 200, 100) == 200


def test_a_kill_in_the_middle_of_a_call_leaves_what_has_happened_by_then():
    """And it tells nothing to a process that has ended."""
    left, told = [], []

    async def killed(seed):
        disk, directory = begun(seed, latency_s=0.01)
        await asyncio.sleep(1)

        def work():
            for name in "abcd":
                put(directory, name, name.encode())
                directory.sync()

        work_done = directory.run(work)
        later = directory.run(lambda: directory.unlink("old"))
        await asyncio.sleep(disk.rng.uniform(0, 0.09))
        told.append((work_done.done(), later.done()))
        disk.end_process()
        left.append("".join(sorted(name for name in disk.contents() if name != "old")))
        assert ("old" not in disk.contents()) <= work_done.done()
        await asyncio.sleep(1)
        assert (work_done.done(), later.done()) == told[-1]

    async def scenario():
        for seed in SEEDS:
            await killed(seed)

    virtual_time.run(scenario())
    assert {"a", "ab", "abc", "abcd"} <= set(left) <= {"", "a", "ab", "abc", "abcd"}
    assert len(set(told)) > 1
    assert all(found == "abcd" for found, (done, _) in zip(left, told, strict=True) if done)


def test_a_power_cut_in_the_middle_of_a_call_keeps_what_was_synced_by_then():
    async def cut(seed):
        disk = SimulatedDirectoryDisk(random.Random(seed), latency_s=0.01)
        directory = disk.open(PATH)
        synced = []

        async def follow():
            for name in "abcd":
                await directory.run(lambda name=name: put(directory, name, name.encode()))
                await directory.run(directory.sync)
                synced.append(name)

        directory.make()
        following = asyncio.ensure_future(follow())
        await asyncio.sleep(disk.rng.uniform(0, 0.09))
        known = set(synced)
        disk.cut_power()
        following.cancel()
        assert known <= set(disk.contents())
        assert all(disk.contents()[name] == name.encode() for name in known)
        return len(known)

    async def scenario():
        return {await cut(seed) for seed in SEEDS}

    assert len(virtual_time.run(scenario())) > 3


def test_a_disk_that_does_not_answer_holds_up_everything_behind_it():
    async def scenario():
        disk, directory = begun(1)

        def hang(operation):
            if operation.kind == "sync":
                raise Hang

        disk.before = hang
        calls = [directory.run(directory.sync), directory.run(directory.names)]
        await asyncio.sleep(1000)
        assert not any(it.done() for it in calls)
        disk.before = lambda _: None
        disk.end_process()
        assert await disk.open(PATH).run(lambda: 1) == 1

    virtual_time.run(scenario())


def test_what_a_disk_does_is_decided_by_its_seed():
    def life(seed):
        disk, directory = begun(seed)
        overwrite(directory, "old", b"n" * 2000, 0)
        put(directory, "new", b"new")
        disk.cut_power()
        return disk.contents()

    assert all(life(seed) == life(seed) for seed in SEEDS)
