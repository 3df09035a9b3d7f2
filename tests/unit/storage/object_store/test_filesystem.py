"""FileObjectStore: whole or not at all, on the disk before success, nothing left behind."""

import asyncio
import os
import shutil
import threading
from pathlib import Path

import pytest

from headrace.storage.errors import NotDeletedError, ObjectNotFoundError, ObjectStoreError
from headrace.storage.object_store import filesystem
from headrace.storage.object_store.direct_append import PAGE_BYTES, WRITEV_PARTS
from headrace.storage.object_store.filesystem import FileObjectStore
from headrace.storage.ports import CopiedRange


def run(tmp_path, scenario):
    async def main():
        store = FileObjectStore(tmp_path / "bucket")
        try:
            return await scenario(store)
        finally:
            await store.close()
            # What the store has begun comes to its end: a look at the directory waits for it.
            for pool in (store._readers, store._writers, store._background):
                pool.shutdown(wait=True)

    return asyncio.run(main())


def files(tmp_path):
    root = tmp_path / "bucket"
    return sorted(str(it.relative_to(root)) for it in root.rglob("*") if it.is_file())


@pytest.fixture
def calls(monkeypatch):
    """Record fsyncs and links by the path that they concern, in order."""
    recorded = []
    fsync, link = os.fsync, Path.hardlink_to

    def recording_fsync(descriptor):
        recorded.append(("fsync", Path(f"/proc/self/fd/{descriptor}").readlink()))
        fsync(descriptor)

    def recording_link(self, target):
        recorded.append(("link", self))
        return link(self, target)

    monkeypatch.setattr(os, "fsync", recording_fsync)
    monkeypatch.setattr(Path, "hardlink_to", recording_link)
    return recorded


def test_a_put_is_on_the_disk_before_it_succeeds(tmp_path, calls):
    root = tmp_path / "bucket"

    async def scenario(store):
        await store.put("00/c/1", [b"content"])
        first = list(calls)
        assert first[0][1].parent == root / ".tmp"  # the content, under its temporary name
        assert first[1:] == [
            ("fsync", root),  # holds the new entry 00
            ("fsync", root / "00"),
            ("link", root / "00/c/1"),
            ("fsync", root / "00/c"),
        ]
        calls.clear()
        await store.put("00/c/2", [b"content"])
        assert [kind for kind, _ in calls] == ["fsync", "link", "fsync"]

    run(tmp_path, scenario)


@pytest.mark.parametrize("write", ["put", "create"])
@pytest.mark.parametrize("failing", [".", "00", "00/c"])
def test_an_entry_whose_fsync_failed_is_made_anew(failing, write, tmp_path, monkeypatch):
    """A kernel that could not write an entry forgets it: the next fsync succeeds and proves nothing."""
    root = tmp_path / "bucket"
    failed, made = [], []
    fsync = os.fsync

    def failing_once(descriptor):
        path = Path(f"/proc/self/fd/{descriptor}").readlink()
        if path == root / failing:
            if not failed:
                failed.append(path)
                raise OSError(5, "IO error")
            assert made, "an fsync of nothing new"
        fsync(descriptor)

    def noting(call):
        def noted(self, *arguments, **named):
            result = call(self, *arguments, **named)
            path = arguments[0] if call is rename else self
            if failed and path.parent == root / failing:
                made.append(path)
            return result

        return noted

    rename = Path.rename

    async def scenario(store):
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", failing_once)
            for name in ("rename", "hardlink_to", "mkdir"):
                patch.setattr(Path, name, noting(getattr(Path, name)))
            with pytest.raises(ObjectStoreError, match="IO error"):
                await getattr(store, write)("00/c/1", (b"content",))
            await getattr(store, write)("00/c/1", (b"content",))
        assert failed
        assert files(tmp_path) == ["00/c/1"]

    run(tmp_path, scenario)


def test_a_deletion_is_on_the_disk_before_it_succeeds(tmp_path, calls):
    async def scenario(store):
        for key in ("a/1", "a/2", "b/1"):
            await store.put(key, [b"x"])
        calls.clear()
        await store.delete(["a/1", "a/2", "b/1", "c/1"])
        assert calls == [("fsync", tmp_path / "bucket/a"), ("fsync", tmp_path / "bucket/b")]

    run(tmp_path, scenario)


def test_a_failed_put_leaves_nothing(tmp_path, monkeypatch):
    def full(descriptor, buffers):
        raise OSError(28, "No space left on device")

    async def scenario(store):
        monkeypatch.setattr(os, "writev", full)
        with pytest.raises(ObjectStoreError, match="No space left"):
            await store.put("a", [b"content"])
        monkeypatch.undo()
        assert files(tmp_path) == []
        with pytest.raises(ObjectNotFoundError):
            await store.get_range("a", 0, 1)

    run(tmp_path, scenario)


def test_a_failed_put_does_not_touch_what_was_there(tmp_path, monkeypatch):
    async def scenario(store):
        await store.put("a", [b"before"])
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(5, "IO error")))
            with pytest.raises(ObjectStoreError, match="IO error"):
                await store.put("a", [b"after!"])
        assert bytes(await store.get_range("a", 0, 6)) == b"before"
        assert files(tmp_path) == ["a"]

    run(tmp_path, scenario)


def test_short_writes_are_completed(tmp_path, monkeypatch):
    writev = os.writev

    def short(descriptor, buffers):
        joined = b"".join(buffers)
        return writev(descriptor, [joined[: max(1, len(joined) // 3)]])

    async def scenario(store):
        monkeypatch.setattr(os, "writev", short)
        parts = [b"%03d" % n for n in range(700)] + [b"", bytes(range(256))]
        await store.put("a", parts)
        expected = b"".join(parts)
        assert bytes(await store.get_range("a", 0, len(expected))) == expected

    run(tmp_path, scenario)


def test_short_reads_are_completed(tmp_path, monkeypatch):
    pread = os.pread

    def short(descriptor, length, offset):
        return pread(descriptor, max(1, length // 2), offset)

    async def scenario(store):
        await store.put("a", [bytes(range(256))])
        monkeypatch.setattr(os, "pread", short)
        assert bytes(await store.get_range("a", 3, 200)) == bytes(range(3, 200))

    run(tmp_path, scenario)


@pytest.fixture
def small_steps(monkeypatch):
    """Steps of 1,000 bytes; records what each brought."""
    sizes = []

    async def pause_after(size_bytes):
        sizes.append(size_bytes)
        await asyncio.sleep(0)

    monkeypatch.setattr(filesystem, "STEP_BYTES", 1000)
    monkeypatch.setattr(filesystem, "_pause_after", pause_after)
    return sizes


def test_a_put_goes_in_steps_of_bytes_however_many_its_parts(tmp_path, monkeypatch, small_steps):
    """A pause for each 512 parts made a put of 24 MiB of batches of 100 bytes take 1.7 s."""
    calls = []
    writev = os.writev

    def recording(descriptor, buffers):
        calls.append(len(buffers))
        return writev(descriptor, buffers)

    monkeypatch.setattr(os, "writev", recording)

    async def scenario(store):
        parts = [bytes(300), bytes(range(250)) * 10, *[b"x"] * 1200]
        await store.put("a", parts)
        assert bytes(await store.get_range("a", 0, 4000)) == b"".join(parts)
        assert small_steps == [1000, 1000, 1000, 1000]
        assert max(calls) <= WRITEV_PARTS

        async def chunks():
            yield [bytes(1000)]
            yield [bytes(1500)]

        small_steps.clear()
        await store.put_stream("b", chunks())
        assert small_steps == [1000, 1000, 500]

    run(tmp_path, scenario)


def test_only_a_whole_step_is_followed_by_a_pause(monkeypatch):
    pauses = []

    async def sleep(delay_s):
        pauses.append(delay_s)

    async def main():
        monkeypatch.setattr(asyncio, "sleep", sleep)
        await filesystem._pause_after(filesystem.STEP_BYTES - 1)
        await filesystem._pause_after(filesystem.STEP_BYTES)

    asyncio.run(main())
    assert pauses == [filesystem.STEP_PAUSE_S]


def test_every_step_of_compaction_begins_on_a_page_whatever_the_sizes_of_its_pieces(
    tmp_path, monkeypatch
):
    """Else it goes through the page cache: an fsync then had 200 MB to write, and the WAL waited 0.3 s behind them."""
    step_bytes = 2 * PAGE_BYTES
    monkeypatch.setattr(filesystem, "STEP_BYTES", step_bytes)
    begins, sizes = [], []
    append = filesystem.append

    def recording(temporary, step):
        begins.append(temporary.stat().st_size % PAGE_BYTES)
        sizes.append(sum(map(len, step)))
        return append(temporary, step)

    old = os.urandom(5 * step_bytes + 123)
    pieces = [old[:777], CopiedRange("old", 777, 3 * step_bytes + 5), old[3 * step_bytes + 5 :]]

    async def chunks():
        for start in range(0, len(old), step_bytes + 1000):
            yield [old[start : start + step_bytes + 1000]]

    async def scenario(store):
        await store.put("old", [old])
        monkeypatch.setattr(filesystem, "append", recording)
        told = []
        await store.compose("composed", pieces, told.append)
        assert told == sizes == [*(5 * [step_bytes]), 123]
        await store.put_stream("streamed", chunks())
        assert sizes == 2 * told
        assert set(begins) == {0}
        for key in ("composed", "streamed"):
            assert bytes(await store.get_range(key, 0, len(old))) == old

    run(tmp_path, scenario)


@pytest.mark.usefixtures("small_steps")
class TestAPutThatEndsBetweenItsSteps:
    """What was there stays, and nothing else does."""

    def test_by_an_error(self, tmp_path, monkeypatch):
        writev = os.writev

        def full(descriptor, buffers):
            if os.fstat(descriptor).st_size:
                raise OSError(28, "No space left on device")
            return writev(descriptor, buffers)

        async def scenario(store):
            await store.put("a", [b"before"])
            with monkeypatch.context() as patch:
                patch.setattr(os, "writev", full)
                with pytest.raises(ObjectStoreError, match="No space left"):
                    await store.put("a", [bytes(2500)])
            assert bytes(await store.get_range("a", 0, 6)) == b"before"

        run(tmp_path, scenario)
        assert files(tmp_path) == ["a"]

    @pytest.mark.parametrize("closed", [False, True])
    def test_by_cancellation(self, tmp_path, monkeypatch, closed):
        async def scenario(store):
            between = asyncio.Event()

            async def pause_after(size_bytes):
                between.set()
                await asyncio.Event().wait()

            monkeypatch.setattr(filesystem, "_pause_after", pause_after)
            task = asyncio.create_task(store.put("a", [bytes(2500)]))
            await between.wait()
            if closed:
                await store.close()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        run(tmp_path, scenario)
        assert files(tmp_path) == []

    def test_by_cancellation_while_it_is_made(self, tmp_path, monkeypatch):
        """The disk comes back later: what was made then is removed, although another thread was free before."""
        touch, entered, goes_on = Path.touch, threading.Event(), threading.Event()

        def slow(path):
            entered.set()
            goes_on.wait(10)
            touch(path)

        async def scenario(store):
            await store.ensure_writable()
            monkeypatch.setattr(Path, "touch", slow)
            task = asyncio.create_task(store.put("a", [bytes(2500)]))
            await asyncio.to_thread(entered.wait, 10)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            goes_on.set()

        run(tmp_path, scenario)
        assert files(tmp_path) == []

    def test_by_the_end_of_the_store(self, tmp_path, monkeypatch):
        async def scenario(store):
            async def pause_after(size_bytes):
                await store.close()

            monkeypatch.setattr(filesystem, "_pause_after", pause_after)
            with pytest.raises(ObjectStoreError, match="bucket directory"):
                await store.put("a", [bytes(2500)])

        run(tmp_path, scenario)
        assert files(tmp_path) == []


def test_temporary_files_are_never_listed(tmp_path):
    async def scenario(store):
        await store.put("a/1", [b"x"])
        (tmp_path / "bucket/.tmp/leftover").write_bytes(b"partial")
        (tmp_path / "bucket/a/.hidden").write_bytes(b"x")
        assert await store.list("") == [("a/1", 1)]

    run(tmp_path, scenario)


def test_opening_a_directory_changes_nothing_in_it(tmp_path):
    """Tools open it, too: what others have left there is for the sweep."""
    (tmp_path / "bucket").mkdir()

    async def scenario(store):
        with pytest.raises(ObjectNotFoundError):
            await store.get_range("a/1", 0, 1)
        assert await store.list("") == []
        await store.delete(["a/1"])
        assert list((tmp_path / "bucket").iterdir()) == []

    run(tmp_path, scenario)
    temporaries = tmp_path / "bucket/.tmp"
    temporaries.mkdir()
    (temporaries / "stale").write_bytes(b"x")
    os.utime(temporaries / "stale", (0, 0))

    async def write(store):
        await store.put("a/1", [b"x"])
        assert files(tmp_path) == [".tmp/stale", "a/1"]

    run(tmp_path, write)


@pytest.mark.parametrize("failing", ["a/2", "b/1"])
def test_a_file_that_cannot_be_deleted_holds_up_no_other(tmp_path, monkeypatch, failing):
    unlink = Path.unlink

    def guarded(self, missing_ok=False):
        if str(self).endswith(failing):
            raise PermissionError(1, "Operation not permitted", str(self))
        unlink(self, missing_ok)

    async def scenario(store):
        keys = ["a/1", "a/2", "b/1", "c/1"]
        for key in keys:
            await store.put(key, [b"x"])
        monkeypatch.setattr(Path, "unlink", guarded)
        with pytest.raises(NotDeletedError, match="Operation not permitted") as caught:
            await store.delete(keys)
        assert caught.value.keys == [failing]
        assert files(tmp_path) == [failing]

    run(tmp_path, scenario)


def test_what_may_come_back_after_a_power_cut_is_not_deleted(tmp_path, monkeypatch):
    fsync = os.fsync

    def failing(descriptor):
        if Path(f"/proc/self/fd/{descriptor}").readlink().name == "a":
            raise OSError(5, "Input/output error")
        fsync(descriptor)

    async def scenario(store):
        for key in ("a/1", "a/2", "b/1"):
            await store.put(key, [b"x"])
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", failing)
            with pytest.raises(NotDeletedError, match="Input/output") as caught:
                await store.delete(["a/1", "b/1", "a/2"])
        assert caught.value.keys == ["a/1", "a/2"]
        synced = []
        monkeypatch.setattr(
            os, "fsync", lambda it: synced.append(Path(f"/proc/self/fd/{it}").readlink())
        )
        await store.delete(caught.value.keys)
        assert synced == [tmp_path / "bucket/a"]

    run(tmp_path, scenario)


def test_a_directory_that_somebody_removed_is_made_again(tmp_path):
    async def scenario(store):
        await store.put("a/1", [b"x"])
        await store.delete(["a/1"])
        (tmp_path / "bucket/a").rmdir()
        await store.put("a/2", [b"y"])
        assert await store.list("") == [("a/2", 1)]

    run(tmp_path, scenario)


def test_a_cancelled_stream_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(filesystem, "WRITE_THREADS", 1)

    async def scenario(store):
        waiting = asyncio.Event()

        async def chunks():
            yield (b"abc",)
            waiting.set()
            await asyncio.Event().wait()

        task = asyncio.create_task(store.put_stream("a", chunks()))
        await waiting.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await store.put("b", [b"x"])  # by the same thread, behind the clean-up

    run(tmp_path, scenario)
    assert files(tmp_path) == ["b"]


def test_a_closed_store_refuses(tmp_path):
    async def scenario(store):
        await store.close()
        with pytest.raises(ObjectStoreError):
            await store.put("a", [b"x"])

    run(tmp_path, scenario)


def test_a_root_that_cannot_be_made_is_an_error(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(ObjectStoreError, match="bucket directory"):
        FileObjectStore(tmp_path / "file/bucket")


def test_a_bucket_directory_that_is_gone_is_a_passing_error(tmp_path: Path) -> None:
    """Mounts come and go: the upload is tried again, and the broker lives on."""

    async def run() -> None:
        store = FileObjectStore(tmp_path / "bucket")
        shutil.rmtree(tmp_path / "bucket")
        with pytest.raises(ObjectStoreError):
            await store.put("ab/c/1", [b"content"])
        with pytest.raises(ObjectNotFoundError):
            await store.get_range("ab/c/1", 0, 1)
        await store.close()

    asyncio.run(run())


def test_what_compaction_does_holds_up_neither_uploads_nor_reads(tmp_path, monkeypatch):
    """Each has threads of its own."""
    begun, go_on = threading.Event(), threading.Event()

    read = FileObjectStore._read_object

    def slow_read(store, key, start, end):
        if key == "old":
            begun.set()
            assert go_on.wait(20)
        return read(store, key, start, end)

    monkeypatch.setattr(FileObjectStore, "_read_object", slow_read)

    async def scenario(store):
        await store.put("old", [b"abcd"])
        composing = [
            asyncio.create_task(store.compose(f"new-{it}", [CopiedRange("old", 0, 4)]))
            for it in range(4)
        ]
        assert await asyncio.to_thread(begun.wait, 20)
        deleting = asyncio.create_task(store.delete(["other"]))
        async with asyncio.timeout(20):
            await store.put("uploaded", [b"1234"])
            assert bytes(await store.get_range("uploaded", 0, 4)) == b"1234"
        assert not any(task.done() for task in (*composing, deleting))
        go_on.set()
        await asyncio.gather(*composing, deleting)

    try:
        run(tmp_path, scenario)
    finally:
        go_on.set()
