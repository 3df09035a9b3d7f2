"""Draining a WAL: what is read, uploaded and committed beside each other, and in which order."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence

import pytest

from headrace.storage.drain import MAX_UPLOADS, WalDrain
from headrace.storage.errors import CommitRefusedError, CorruptObjectError
from headrace.storage.ports import StreamMetadata
from headrace.storage.record_batch import StreamRecordBatch, encode_header
from headrace.wal.errors import WalCorruptError
from headrace.wal.port import RecoveredRecord
from tests.simulation import virtual_time


class Source:
    """A WAL with records of stream 1, one offset each."""

    def __init__(
        self,
        records: int,
        fails: Exception | None = None,
        tail: bytes = b"",
        missing: int | None = None,
    ) -> None:
        self.records = records
        self.read = 0
        self.is_closed = False
        self._fails = fails
        self._tail = tail
        self._missing = missing

    async def recover(self) -> AsyncGenerator[RecoveredRecord, None]:
        try:
            for offset in range(self.records):
                if offset == self._missing:
                    continue
                self.read += 1
                body = encode_header(1, 5, offset, 1, 1) + b"x" + self._tail
                yield RecoveredRecord(offset, offset + 1, memoryview(body))
            if self._fails is not None:
                raise self._fails
        finally:
            self.is_closed = True


class Committer:
    """Uploads end when the test says so."""

    def __init__(self) -> None:
        self.uploading: list[int] = []  # first offsets
        self.committed: list[int] = []
        self.inflight = 0
        self.most = 0
        self.ends: dict[int, asyncio.Event] = {}
        self.is_free = False
        self.fails: Exception | None = None

    async def upload(self, plan):
        (piece,) = plan.stream_objects
        first = piece.range.start_offset
        self.uploading.append(first)
        self.inflight += 1
        self.most = max(self.most, self.inflight)
        if not self.is_free:
            await self.ends.setdefault(first, asyncio.Event()).wait()
        return first

    async def commit(self, plan, uploaded):
        if self.fails is not None:
            raise self.fails
        self.inflight -= 1
        self.committed.append(uploaded)


class Checkpoints:
    """Adds one record behind those of stream 1."""

    def __init__(self) -> None:
        self.known: list[int] = []

    def found(self, batch: StreamRecordBatch) -> None:
        self.known.append(batch.base_offset)

    def closing(
        self, ends: Mapping[int, int], epochs: Mapping[int, int]
    ) -> Iterator[StreamRecordBatch | None]:
        yield None
        yield StreamRecordBatch(1, epochs[1], ends[1], 1, memoryview(b"state"))


def drain_of(
    source: Source,
    committer: Committer,
    end_offset: int = 0,
    checkpoints: Checkpoints | None = None,
    clock_ms: Callable[[], int] = lambda: 0,
) -> WalDrain:
    return WalDrain(
        source,
        [StreamMetadata(1, 5, 0, end_offset)],
        committer,  # type: ignore[arg-type]
        clock_ms=clock_ms,
        max_segment_bytes=1,
        stream_split_bytes=1,
        checkpoints=checkpoints,
    )


async def settle() -> None:
    for _ in range(50):
        await asyncio.sleep(0)


def test_it_reads_on_while_segments_are_uploaded_and_no_further_than_there_is_room() -> None:
    async def main() -> None:
        source, committer = Source(10), Committer()
        task = asyncio.create_task(drain_of(source, committer).run())
        await settle()
        assert committer.uploading == list(range(MAX_UPLOADS))
        assert source.read == MAX_UPLOADS + 1
        committer.is_free = True
        for end in list(committer.ends.values()):
            end.set()
        report = await task
        assert committer.most <= MAX_UPLOADS
        assert committer.committed == list(range(10))
        assert (report.records, dict(report.ends)) == (10, {1: 10})

    asyncio.run(main())


def test_commits_are_in_the_order_of_the_wal() -> None:
    async def main() -> None:
        source, committer = Source(2), Committer()
        task = asyncio.create_task(drain_of(source, committer).run())
        await settle()
        committer.ends[1].set()
        await settle()
        assert committer.committed == []
        committer.ends[0].set()
        await task
        assert committer.committed == [0, 1]

    asyncio.run(main())


def test_commits_are_timed_apart_from_uploads() -> None:
    """What a commit waits for the one before is no time of its own."""

    class SlowCommitter(Committer):
        async def upload(self, plan):
            await asyncio.sleep(3)
            return await super().upload(plan)

        async def commit(self, plan, uploaded):
            await asyncio.sleep(0.5)
            await super().commit(plan, uploaded)

    async def main() -> None:
        committer = SlowCommitter()
        committer.is_free = True
        loop = asyncio.get_running_loop()
        report = await drain_of(
            Source(4), committer, clock_ms=lambda: round(loop.time() * 1000)
        ).run()
        # Two at once: uploaded after 3 s, committed after 3.5 s and 4 s, so uploaded after 6.5 s and 7 s.
        assert (report.upload_ms, report.commit_ms, report.duration_ms) == (7_000, 2_000, 7_500)

    virtual_time.run(main())


def test_what_is_committed_already_is_told_and_not_uploaded() -> None:
    async def main() -> None:
        committer = Committer()
        committer.is_free = True
        report = await drain_of(Source(3), committer, end_offset=3).run()
        assert committer.uploading == []
        assert (report.records, report.dropped, dict(report.ends)) == (0, 3, {1: 3})

    asyncio.run(main())


def test_what_is_added_in_the_end_is_committed_behind_all_that_was_read() -> None:
    async def main() -> None:
        committer, checkpoints = Committer(), Checkpoints()
        committer.is_free = True
        report = await drain_of(Source(4), committer, 2, checkpoints).run()
        assert checkpoints.known == [0, 1, 2, 3]
        assert committer.committed == [2, 3, 4]
        assert dict(report.ends) == {1: 5}

    asyncio.run(main())


def test_what_is_kept_is_committed_and_in_the_order_of_the_wal() -> None:
    async def main() -> None:
        committer, kept = Committer(), []

        def keep(batches: Sequence[StreamRecordBatch], buffer_bytes: int) -> None:
            assert buffer_bytes == len(encode_header(1, 5, 0, 1, 1)) + 1
            kept.extend(it.base_offset for it in batches)
            assert set(kept) <= set(committer.committed)

        task = asyncio.create_task(drain_of(Source(4), committer, 1).run(keep))
        await settle()
        committer.ends[2].set()
        await settle()
        assert kept == []
        committer.is_free = True
        committer.ends[1].set()
        await task
        assert kept == [1, 2, 3], "the first is in the bucket only"

    asyncio.run(main())


def test_what_is_dropped_is_not_in_what_is_added() -> None:
    async def main() -> None:
        committer, checkpoints = Committer(), Checkpoints()
        committer.is_free = True
        source = Source(4, missing=1)
        report = await drain_of(source, committer, 0, checkpoints).run()
        assert checkpoints.known == [0]
        assert committer.committed == [0, 1]
        assert (report.discontinuous, dict(report.ends)) == (2, {1: 2})

    asyncio.run(main())


@pytest.mark.parametrize("tail", [b"", b"?"])
def test_a_wal_that_cannot_be_read_ends_the_uploads(tail: bytes) -> None:
    async def main() -> None:
        damage = WalCorruptError("wal", "damaged", offset=7, position=7)
        source, committer = Source(1, fails=damage, tail=tail), Committer()
        with pytest.raises(CorruptObjectError if tail else WalCorruptError):
            await drain_of(source, committer).run()
        assert committer.committed == []
        assert source.is_closed
        await settle()
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(main())


def test_a_refused_commit_ends_the_reading() -> None:
    async def main() -> None:
        source, committer = Source(1_000), Committer()
        committer.is_free = True
        committer.fails = CommitRefusedError("another owner")
        with pytest.raises(CommitRefusedError):
            await drain_of(source, committer).run()
        assert source.is_closed
        assert source.read < 10

    asyncio.run(main())
