"""What every directory of a metadata log must do: one of the system's, and the simulated one."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from headrace.metadata.log.directory import Directory
from headrace.metadata.log.os_directory import OsDirectory
from tests.simulation.directory import SimulatedDirectoryDisk

Opener = Callable[[], Directory]


@pytest.fixture(params=["system", "simulated", "simulated-slow"])
def opener(request: pytest.FixtureRequest, tmp_path: Path) -> Opener:
    """Open the same directory, which does not exist at first, as often as one likes."""
    path = tmp_path / "of" / "data"
    if request.param == "system":
        return lambda: OsDirectory(path)
    disk = SimulatedDirectoryDisk(latency_s=0.002 if "slow" in request.param else 0.0)
    return lambda: disk.open(path)


@pytest.fixture
def directory(opener: Opener) -> Directory:
    directory = opener()
    directory.make()
    return directory


def put(directory: Directory, name: str, content: bytes) -> None:
    file = directory.create(name)
    assert file.write(content, 0) == len(content)
    file.close()


def content(directory: Directory, name: str) -> bytes:
    file = directory.open_to_read(name)
    try:
        return file.read(1 << 20, 0)
    finally:
        file.close()


def test_a_directory_is_made_once_and_for_its_owner_only(opener: Opener, tmp_path: Path) -> None:
    directory = opener()
    assert directory.path == tmp_path / "of" / "data"
    with pytest.raises(FileNotFoundError):
        directory.names()
    with pytest.raises(FileNotFoundError):
        directory.lock("lock")
    for _ in range(2):
        directory.make()
    assert directory.names() == []
    assert directory.mode() & 0o077 == 0
    assert not directory.is_in_memory() or "/dev/shm" in str(tmp_path)


def test_what_is_written_is_read_by_everybody_who_opens_it(
    directory: Directory, opener: Opener
) -> None:
    put(directory, "file", b"0123456789")
    assert content(opener(), "file") == b"0123456789"
    assert (directory.has("file"), directory.has("other")) == (True, False)
    assert directory.names() == ["file"]


def test_a_file_is_written_and_read_anywhere(directory: Directory) -> None:
    put(directory, "file", b"0123456789")
    file = directory.open("file")
    assert file.write(memoryview(b"ab"), 3) == 2
    assert file.write(b"end", 12) == 3
    file.sync()
    assert file.size() == 15
    assert file.read(5, 1) == b"12ab5"
    assert file.read(100, 9) == b"9\0\0end"
    assert file.read(1, 15) == file.read(1, 99) == b""
    file.close()


def test_what_is_created_again_is_empty(directory: Directory) -> None:
    put(directory, "file", b"old")
    directory.create("file").close()
    assert content(directory, "file") == b""


def test_a_file_that_is_not_there_is_not_opened(directory: Directory) -> None:
    for refused in (
        lambda: directory.open("none"),
        lambda: directory.open_to_read("none"),
        lambda: directory.unlink("none"),
        lambda: directory.replace("none", "other"),
    ):
        with pytest.raises(FileNotFoundError):
            refused()
    assert directory.names() == []


def test_a_rename_takes_the_place_of_another_file(directory: Directory) -> None:
    put(directory, "old", b"old")
    put(directory, "new", b"new")
    before = directory.open_to_read("old")
    directory.replace("new", "old")
    directory.sync()
    assert directory.names() == ["old"]
    assert content(directory, "old") == b"new"
    assert before.read(9, 0) == b"old", "who has it open can still read it"
    before.close()


def test_a_file_that_was_removed_is_still_there_for_who_has_it_open(directory: Directory) -> None:
    put(directory, "file", b"content")
    file = directory.open_to_read("file")
    directory.unlink("file")
    put(directory, "file", b"another")
    directory.sync()
    assert (file.size(), file.read(99, 0)) == (7, b"content")
    file.close()
    directory.unlink("file")
    directory.sync()
    assert not directory.has("file")


def test_one_opening_holds_a_lock_until_it_is_closed(directory: Directory, opener: Opener) -> None:
    held = directory.lock("lock")
    for other in (directory, opener()):
        with pytest.raises(BlockingIOError):
            other.lock("lock")
    assert directory.names() == ["lock"]
    held.close()
    opener().lock("lock").close()


def test_a_closed_file_is_not_used_and_closing_it_again_closes_nothing_else(
    directory: Directory,
) -> None:
    file = directory.create("file")
    file.close()
    for refused in (file.size, file.sync, lambda: file.write(b"x", 0), lambda: file.read(1, 0)):
        with pytest.raises((OSError, ValueError), match="file descriptor"):
            refused()
    other = directory.create("other")
    file.close()
    other.write(b"x", 0)
    other.close()


def test_calls_are_made_in_turn_and_tell_their_outcome(directory: Directory) -> None:
    async def scenario() -> None:
        put(directory, "file", b"")
        file = directory.open("file")

        def append(data: bytes) -> int:
            position = file.size()
            file.write(data, position)
            file.sync()
            return position

        def fail() -> None:
            raise OSError("refused")

        calls = [directory.run(lambda it=it: append(b"ab" * it)) for it in range(1, 5)]  # type: ignore[misc]
        failing = directory.run(fail)
        assert await asyncio.gather(*calls) == [0, 2, 6, 12]
        with pytest.raises(OSError, match="refused"):
            await failing
        assert await directory.run(file.size) == 20
        file.close()
        directory.close()
        with pytest.raises(RuntimeError):
            await directory.run(file.size)

    asyncio.run(scenario())


def test_a_call_that_was_cancelled_stops_none_of_the_others(directory: Directory) -> None:
    async def scenario() -> None:
        calls = [directory.run(lambda: put(directory, "file", b"x")) for _ in range(3)]
        calls[1].cancel()
        await calls[0]
        await calls[2]
        assert directory.names() == ["file"]
        directory.close()

    asyncio.run(scenario())
