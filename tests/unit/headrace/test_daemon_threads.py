"""Threads that hang do not keep a process from ending."""

import asyncio
import subprocess
import sys
import threading

import pytest

from headrace.daemon_threads import DaemonThreads, in_own_thread, stepwise

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
