"""What partitions ask of a stream: a stream of the engine, and the one in memory that their tests are made with."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.simulation import virtual_time
from tests.unit.broker.partition.fakes import FakeStream
from tests.unit.storage.fakes import Node, settle

PLENTY = 1 << 30


class InMemory:
    """The stand-in."""

    async def open(self) -> FakeStream:
        self.stream = FakeStream(1, epoch=1)
        return self.stream

    async def confirm(self) -> None:
        self.stream.confirm()


class OfTheEngine:
    """A stream of a whole engine, whose WAL confirms when it is told to."""

    async def open(self) -> FakeStream:
        self.node = await Node(auto_confirm=False).start()
        stream: Any = await self.node.open(1)  # what they have in common is all that is used here
        found: FakeStream = stream
        return found

    async def confirm(self) -> None:
        self.node.wal.confirm()
        await settle()


Scene = InMemory | OfTheEngine
Act = Callable[[Scene, FakeStream], Awaitable[None]]


@pytest.fixture(params=[OfTheEngine, InMemory], ids=["engine", "fake"])
def play(request: pytest.FixtureRequest) -> Callable[[Act], None]:
    """Play a scene with a stream that is empty."""

    async def main(act: Act) -> None:
        scene = request.param()
        await act(scene, await scene.open())

    return lambda act: virtual_time.run(main(act))


def ignored(error: Exception | None) -> None:
    assert error is None


async def filled(scene: Scene, stream: FakeStream, *counts: int) -> None:
    for count in counts:
        stream.append(bytes([count]) * 100, count, ignored)
    await scene.confirm()


def bases(found: object) -> list[int]:
    assert isinstance(found, list)
    return [it.base_offset for it in found]


def test_offsets_follow_one_another_and_nothing_is_read_before_it_is_confirmed(
    play: Callable[[Act], None],
) -> None:
    async def act(scene: Scene, stream: FakeStream) -> None:
        done: list[tuple[str, Exception | None]] = []
        assert stream.append(b"abc", 3, lambda error: done.append(("abc", error))) == 0
        assert stream.append(b"de", 2, lambda error: done.append(("de", error))) == 3
        assert (stream.start_offset, stream.confirm_offset, stream.next_offset) == (0, 0, 5)
        assert stream.fetch_cached(0, PLENTY) == []
        assert done == []
        await scene.confirm()
        assert done == [("abc", None), ("de", None)]
        assert (stream.start_offset, stream.confirm_offset, stream.next_offset) == (0, 5, 5)
        found = await stream.fetch(0, PLENTY)
        assert [(it.base_offset, it.count, bytes(it.payload)) for it in found] == [
            (0, 3, b"abc"),
            (3, 2, b"de"),
        ]
        assert {(it.stream_id, it.epoch) for it in found} == {(1, 1)}

    play(act)


def test_a_payload_is_copied(play: Callable[[Act], None]) -> None:
    async def act(scene: Scene, stream: FakeStream) -> None:
        payload = bytearray(b"before")
        stream.append(payload, 1, ignored)
        payload[:] = b"after."
        await scene.confirm()
        (found,) = await stream.fetch(0, PLENTY)
        assert bytes(found.payload) == b"before"

    play(act)


def test_reads_begin_with_the_batch_that_has_the_offset(play: Callable[[Act], None]) -> None:
    async def act(scene: Scene, stream: FakeStream) -> None:
        await filled(scene, stream, 3, 2, 4)
        for start, expected in ((0, [0, 3, 5]), (2, [0, 3, 5]), (3, [3, 5]), (8, [5]), (9, [])):
            assert bases(stream.fetch_cached(start, PLENTY)) == expected
            assert bases(await stream.fetch(start, PLENTY)) == expected

    play(act)


def test_reads_have_one_batch_at_least_and_no_more_than_is_asked_for(
    play: Callable[[Act], None],
) -> None:
    async def act(scene: Scene, stream: FakeStream) -> None:
        await filled(scene, stream, 1, 1, 1)
        for max_bytes, expected in (
            (0, [0]),
            (99, [0]),
            (199, [0]),
            (200, [0, 1]),
            (1_000, [0, 1, 2]),
        ):
            assert bases(stream.fetch_cached(0, max_bytes)) == expected
            assert bases(await stream.fetch(0, max_bytes)) == expected

    play(act)


def test_what_is_trimmed_goes_and_a_trim_is_never_taken_back(play: Callable[[Act], None]) -> None:
    async def act(scene: Scene, stream: FakeStream) -> None:
        await filled(scene, stream, 3, 2)
        for target, start in ((3, 3), (1, 3), (3, 3), (4, 4)):
            await stream.trim(target)
            assert (stream.start_offset, stream.trimming_to) == (start, start)
        assert (stream.confirm_offset, stream.next_offset) == (5, 5)
        assert bases(await stream.fetch(4, PLENTY)) == [3]

    play(act)


def test_who_waits_for_confirmations_hears_of_them(play: Callable[[Act], None]) -> None:
    async def act(scene: Scene, stream: FakeStream) -> None:
        await stream.confirmed()
        await filled(scene, stream, 1)
        await stream.confirmed()
        assert stream.confirm_offset == 1

    play(act)
