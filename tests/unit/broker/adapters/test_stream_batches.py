"""Streams are opened and closed by few requests, and each caller gets the outcome of its own."""

import asyncio
from collections.abc import Sequence

import pytest

from headrace.broker.adapters.stream_batches import MAX_STREAMS, StreamBatches
from headrace.metadata.rpc.requests import StreamToOpen
from headrace.metadata.rpc.responses import StreamOutcome
from headrace.storage.errors import RetriableStorageError
from tests.simulation.virtual_time import run


class Controller:
    """Answers each request when the test lets it."""

    def __init__(self) -> None:
        self.requests: list[list[tuple[int, int]]] = []
        self.may_answer = asyncio.Event()
        self.failures: list[Exception] = []

    async def send(self, streams: Sequence[StreamToOpen]) -> Sequence[StreamOutcome]:
        self.requests.append([(it.stream_id, it.stream_epoch) for it in streams])
        await self.may_answer.wait()
        if self.failures:
            raise self.failures.pop(0)
        return [StreamOutcome(0, None, it.stream_id, it.stream_id + 1) for it in streams]


def test_what_is_asked_for_meanwhile_goes_with_the_next_request() -> None:
    async def main() -> None:
        controller = Controller()
        opening = StreamBatches(controller.send)
        calls = [asyncio.create_task(opening.ask(StreamToOpen(0, 5)))]
        await asyncio.sleep(1)
        wanted = range(1, 2 * MAX_STREAMS + 2)
        calls += [asyncio.create_task(opening.ask(StreamToOpen(it, 5))) for it in wanted]
        await asyncio.sleep(1)
        assert controller.requests == [[(0, 5)]]
        controller.may_answer.set()
        outcomes = await asyncio.gather(*calls)
        assert [it.start_offset for it in outcomes] == list(range(2 * MAX_STREAMS + 2))
        assert [len(it) for it in controller.requests] == [1, MAX_STREAMS, MAX_STREAMS, 1]
        assert (await opening.ask(StreamToOpen(7, 6))).start_offset == 7

    run(main())


def test_a_request_that_fails_fails_its_own_streams_only() -> None:
    async def main() -> None:
        controller = Controller()
        opening = StreamBatches(controller.send)
        controller.failures = [RetriableStorageError("no controller answers")]
        first = [asyncio.create_task(opening.ask(StreamToOpen(it, 5))) for it in range(2)]
        await asyncio.sleep(1)
        second = asyncio.create_task(opening.ask(StreamToOpen(2, 5)))
        controller.may_answer.set()
        for call in first:
            with pytest.raises(RetriableStorageError):
                await call
        assert (await second).start_offset == 2

    run(main())


def test_a_caller_that_gives_up_takes_no_other_with_it() -> None:
    async def main() -> None:
        controller = Controller()
        opening = StreamBatches(controller.send)
        calls = [asyncio.create_task(opening.ask(StreamToOpen(it, 5))) for it in range(3)]
        await asyncio.sleep(1)
        late = asyncio.create_task(opening.ask(StreamToOpen(3, 5)))
        await asyncio.sleep(1)
        calls[0].cancel()
        late.cancel()
        await asyncio.sleep(1)
        controller.may_answer.set()
        assert [(await it).start_offset for it in calls[1:]] == [1, 2]
        assert (await opening.ask(StreamToOpen(4, 5))).start_offset == 4
        assert controller.requests == [[(0, 5), (1, 5), (2, 5)], [(4, 5)]]

    run(main())


def test_a_request_names_no_stream_twice() -> None:
    """A stream with two epochs, of which one is an earlier leadership's; the others have nothing to do with it."""

    async def main() -> None:
        controller = Controller()
        opening = StreamBatches(controller.send)
        calls = [asyncio.create_task(opening.ask(StreamToOpen(0, 5)))]
        await asyncio.sleep(1)
        wanted = [StreamToOpen(*it) for it in ((1, 0), (2, 0), (1, 3), (3, 0), (1, 4), (2, 1))]
        calls += [asyncio.create_task(opening.ask(it)) for it in wanted]
        await asyncio.sleep(1)
        controller.may_answer.set()
        outcomes = await asyncio.gather(*calls)
        assert [it.start_offset for it in outcomes] == [0, 1, 2, 1, 3, 1, 2]
        assert controller.requests == [
            [(0, 5)],
            [(1, 0), (2, 0), (3, 0)],
            [(1, 3), (2, 1)],
            [(1, 4)],
        ]

    run(main())
