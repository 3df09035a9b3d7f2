"""Threads that hang do not keep a process from ending."""

import asyncio
import subprocess
import sys
import threading

import pytest

from headrace import daemon_threads
from headrace.daemon_threads import (
    DaemonThreads,
    OneThreadEach,
    StillRunningError,
    import_in_thread,
    in_own_thread,
    stepwise,
)

HANGS = """
import threading
from headrace.daemon_threads import DaemonThreads
threads = DaemonThreads(2, "test")
begun = threading.Event()
threads.submit(lambda: (begun.set(), threading.Event().wait()))
begun.wait()
threads.shutdown(wait=False)
print("at the end", flush=True)
"""


def test_a_call_that_hangs_does_not_keep_the_process():
    ended = subprocess.run(
        [sys.executable, "-c", HANGS], capture_output=True, text=True, timeout=30, check=True
    )
    assert ended.stdout == "at the end\n"


def test_calls_run_side_by_side_up_to_the_bound():
    threads = DaemonThreads(3, "test")
    meeting = threading.Barrier(3)
    names = [threads.submit(lambda: (meeting.wait(10), threading.current_thread().name)[1])]
    names += [
        threads.submit(lambda: (meeting.wait(10), threading.current_thread().name)[1])
        for _ in range(2)
    ]
    assert {it.result(10) for it in names} == {"test_0", "test_1", "test_2"}
    later = [threads.submit(lambda: threading.current_thread().name) for _ in range(20)]
    assert {it.result(10) for it in later} <= {"test_0", "test_1", "test_2"}
    threads.shutdown()


def test_errors_are_the_callers():
    threads = DaemonThreads(1, "test")
    assert isinstance(threads.submit(int, "x").exception(10), ValueError)
    assert threads.submit(int, "7").result(10) == 7
    threads.shutdown()


def test_what_was_accepted_is_done_before_the_end_and_nothing_after():
    threads = DaemonThreads(2, "test")
    done = [threads.submit(str, number) for number in range(50)]
    threads.shutdown(wait=False)
    threads.ended.result(10)
    assert [it.result(0) for it in done] == [str(number) for number in range(50)]
    with pytest.raises(RuntimeError):
        threads.submit(str, 1)
    unused = DaemonThreads(2, "test")
    unused.shutdown()
    assert unused.ended.done()


def test_a_call_that_is_cancelled_before_its_turn_is_not_made():
    async def main():
        threads = DaemonThreads(1, "test")
        go_on = threading.Event()
        first = threads.submit(go_on.wait, 10)
        made = []
        second = asyncio.get_running_loop().run_in_executor(threads, made.append, 1)
        second.cancel()
        await asyncio.sleep(0)
        go_on.set()
        threads.shutdown(wait=False)
        await asyncio.wrap_future(threads.ended)
        assert first.result(0)
        assert made == []

    asyncio.run(main())


def test_one_thread_has_the_plain_name_and_keeps_the_order():
    threads = DaemonThreads(1, "test")
    made = []
    for number in range(50):
        threads.submit(made.append, number)
    assert threads.submit(lambda: threading.current_thread().name).result(10) == "test"
    assert made == list(range(50))
    threads.shutdown()


def test_a_call_in_a_thread_of_its_own_ends_the_thread_with_it():
    found = []

    def call(value):
        found.append(threading.current_thread())
        return int(value)

    async def main():
        assert await in_own_thread("test-own", call, "7") == 7
        with pytest.raises(ValueError):
            await in_own_thread("test-own", call, "x")

    asyncio.run(main())
    for thread in found:
        thread.join(10)
        assert (thread.name, thread.daemon, thread.is_alive()) == ("test-own", True, False)


def test_steps_are_taken_one_at_a_time_until_one_gives_none():
    steps = iter([1, 2, None])

    async def main():
        return [found async for found in stepwise(lambda: next(steps), "test")]

    assert asyncio.run(main()) == [1, 2]


# Once spare threads are there, none can be started: a thread that the system grants dies before its first line.
WITHOUT_NEW_THREADS = """
import asyncio, threading, time
from headrace.daemon_threads import SPARE_NAME, DaemonThreads, in_own_thread, start_ahead, stepwise

def wait_until_back():  # a thread comes back a little later than its result
    while sum(it.name == SPARE_NAME for it in threading.enumerate()) < 3:
        time.sleep(0.001)

async def main():
    for _ in range(50):  # more calls than there are threads
        assert await in_own_thread("own", int, "7") == 7
        assert [it async for it in stepwise(iter([1, None]).__next__, "steps")] == [1]
        wait_until_back()
    pool = DaemonThreads(2, "pool")
    meeting = threading.Barrier(2)
    names = [pool.submit(lambda: (meeting.wait(), threading.current_thread().name)[1]) for _ in "12"]
    print(sorted(it.result() for it in names))
    pool.shutdown()

start_ahead(3)
threading._start_new_thread = lambda *_: 0
asyncio.run(main())
"""


def test_spare_threads_do_everything_where_none_can_be_started():
    ended = subprocess.run(
        [sys.executable, "-c", WITHOUT_NEW_THREADS],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.stdout == "['pool_0', 'pool_1']\n", ended.stderr


def test_who_starts_a_thread_that_never_begins_does_not_wait_for_ever(monkeypatch):
    threads = DaemonThreads(1, "test")
    with monkeypatch.context() as dying:
        # What `Thread.start` calls, in Python 3.12 and before, and after.
        for name in ("_start_new_thread", "_start_joinable_thread"):
            dying.setattr(threading, name, lambda *_, **__: 0, raising=False)
        dying.setattr(daemon_threads, "START_TIMEOUT_S", 0.01)
        with pytest.raises(MemoryError):
            threads.submit(int, "7")
    assert threads.submit(int, "8").result(10) == 8, (
        "the call before was not made, and is in nobody's way"
    )
    threads.shutdown()


def test_a_call_that_hangs_keeps_the_only_thread_of_its_key():
    let_go = threading.Event()

    async def main() -> None:
        threads = OneThreadEach("test")
        waiting = threads.begin("a", lambda: let_go.wait(30))
        waiting.cancel()
        await asyncio.sleep(0)
        with pytest.raises(StillRunningError):
            threads.begin("a", lambda: None)
        assert await threads.begin("b", lambda: 7) == 7
        assert await threads.begin("b", lambda: 8) == 8
        let_go.set()
        async with asyncio.timeout(30):
            while True:
                try:
                    assert await threads.begin("a", lambda: 9) == 9
                except StillRunningError:
                    await asyncio.sleep(0.001)
                else:
                    return

    asyncio.run(main())


def test_who_is_cancelled_while_a_thread_imports_waits_for_its_end(tmp_path, monkeypatch):
    """An interpreter that ends meanwhile may crash."""
    (tmp_path / "imported_slowly.py").write_text(
        "import threading\nfrom builtins import begun_and_may_end as gate\n"
        "gate[0].set()\ngate[1].wait(30)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    begun, may_end = threading.Event(), threading.Event()
    monkeypatch.setattr("builtins.begun_and_may_end", (begun, may_end), raising=False)

    async def main() -> None:
        importing = asyncio.create_task(import_in_thread("import", "imported_slowly"))
        while not begun.is_set():
            await asyncio.sleep(0.001)
        for _ in range(2):
            importing.cancel()
            for _ in range(10):
                await asyncio.sleep(0)
            assert not importing.done()
        may_end.set()
        await asyncio.wait([importing])
        assert importing.cancelled()
        assert "imported_slowly" in sys.modules

    asyncio.run(main())
