"""Exceptions of tasks that nobody awaits reach the loop's handler, unless they are expected."""

import asyncio

import pytest

from headrace.task_failures import report_unexpected


async def failing(error: Exception | None) -> None:
    if error is not None:
        raise error


@pytest.mark.parametrize(
    ("error", "reported"),
    [
        (None, False),
        (OSError("expected"), False),
        (KeyError("a bug"), True),
        (ExceptionGroup("of a job", [ExceptionGroup("", [OSError("expected")])]), False),
    ],
)
def test_what_is_not_expected_is_reported_though_the_task_is_kept(error, reported):
    async def scenario():
        seen = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: seen.append(context))
        kept = asyncio.create_task(failing(error))
        kept.add_done_callback(lambda done: report_unexpected(done, OSError))
        await asyncio.wait([kept])
        await asyncio.sleep(0)
        kept.cancel()
        assert [it["exception"] for it in seen] == ([error] if reported else [])

    asyncio.run(scenario())


def test_of_a_group_only_what_is_not_expected_is_reported():
    async def scenario():
        seen = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: seen.append(context))
        bug = KeyError("a bug")
        kept = asyncio.create_task(failing(ExceptionGroup("of a job", [OSError(), bug])))
        await asyncio.wait([kept])
        report_unexpected(kept, OSError)
        (context,) = seen
        assert context["exception"].exceptions == (bug,)

    asyncio.run(scenario())


def test_a_cancelled_task_is_none_of_them():
    async def scenario():
        seen = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: seen.append(context))
        kept = asyncio.create_task(asyncio.sleep(60))
        kept.add_done_callback(report_unexpected)
        await asyncio.sleep(0)
        kept.cancel()
        await asyncio.wait([kept])
        await asyncio.sleep(0)
        assert seen == []

    asyncio.run(scenario())
