"""Whatever a client raises is an error of ours, which is tried again, counted and told."""

import asyncio
import json
import logging
import random

import pytest

from headrace.storage.errors import (
    CorruptObjectError,
    FailureKind,
    FencedError,
    InvalidRequestError,
    ObjectNotFoundError,
    ObjectStoreError,
)
from headrace.storage.object_store.memory import MemoryObjectStore
from headrace.storage.object_store.retrying import RetryingObjectStore, RetryPolicy
from headrace.storage.object_store.statistics import Operation
from headrace.storage.object_store.unexpected import (
    MAX_MESSAGE_LENGTH,
    UnexpectedClientError,
    storage_errors_only,
)
from tests.simulation.virtual_time import run


class PanicException(BaseException):
    """As Rust's bindings have it."""


FAILURES = [
    ValueError("time data 'n/a' does not match"),
    json.JSONDecodeError("Expecting value", "<html>", 0),
    TypeError("a bug"),
    FileNotFoundError("aws-vault"),
    TimeoutError(),
    PanicException("called `Result::unwrap()` on an `Err` value"),
]
OPERATIONS = {
    Operation.PUT: lambda store: store.put("a", [b"x"]),
    Operation.GET: lambda store: store.get_range("a", 0, 1),
    Operation.COPY: lambda store: store.compose("a", [b"x"]),
    Operation.DELETE: lambda store: store.delete(["a"]),
    Operation.LIST: lambda store: store.list(""),
}


class Failing(MemoryObjectStore):
    """Fails so many times, in every operation."""

    def __init__(self, failure, times):
        super().__init__()
        self.objects["a"] = b"x"
        self.failure = failure
        self.times = times

    def _fail(self):
        self.times -= 1
        if self.times >= 0:
            raise self.failure

    async def put(self, key, parts):
        self._fail()
        await super().put(key, parts)

    async def get_range(self, key, start, end):
        self._fail()
        return await super().get_range(key, start, end)

    async def compose(self, key, pieces, *progress):
        self._fail()
        await super().compose(key, pieces, *progress)

    async def delete(self, keys):
        self._fail()
        await super().delete(keys)

    async def list(self, prefix):
        self._fail()
        return await super().list(prefix)

    async def create(self, key, parts):
        self._fail()
        return await super().create(key, parts)

    async def put_stream(self, key, chunks):
        self._fail()
        await super().put_stream(key, chunks)


def retrying(failure, times):
    inner = Failing(failure, times)
    return inner, RetryingObjectStore(inner, random.Random(0), RetryPolicy(max_attempts=3))


@pytest.mark.parametrize("failure", FAILURES, ids=lambda it: type(it).__name__)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_it_is_tried_again_counted_and_told(operation, failure):
    async def main():
        inner, store = retrying(failure, 2)
        await OPERATIONS[operation](store)
        statistics = store.statistics
        assert (statistics.retries, statistics.errors) == (2, 0)
        assert statistics.failures.total() == 2
        inner.times = 3
        with pytest.raises(ObjectStoreError, match=r".") as caught:
            await OPERATIONS[operation](store)
        assert str(failure) in str(caught.value)
        assert statistics.errors == 1
        (trouble,) = statistics.troubles(asyncio.get_running_loop().time())
        assert (trouble.operation, trouble.failures) == (operation, 3)
        assert str(failure) in trouble.reason

    run(main())


def test_what_is_tried_once_fails_with_an_error_of_ours_as_well():
    async def chunks():
        yield (b"x",)

    async def main():
        _, store = retrying(TypeError("a bug"), 2)
        with pytest.raises(UnexpectedClientError):
            await store.create("b", [b"x"])
        with pytest.raises(UnexpectedClientError):
            await store.put_stream("b", chunks())
        assert store.statistics.errors == 2
        assert store.statistics.failures[FailureKind.OTHER] == 2

    run(main())


def test_the_log_has_it_once_with_its_cause_until_something_works_again(caplog):
    async def main():
        inner, store = retrying(TypeError("a bug"), 8)
        for _ in range(2):
            with pytest.raises(UnexpectedClientError):
                await store.put("a", [b"x"])
        (told,) = caplog.records
        assert (told.levelno, told.exc_info[1]) == (logging.ERROR, inner.failure)
        inner.times = 3
        with pytest.raises(UnexpectedClientError):
            await store.list("")
        assert len(caplog.records) == 2
        await store.put("a", [b"x"])
        inner.times = 1
        await store.put("a", [b"x"])
        assert len(caplog.records) == 3

    run(main())


@pytest.mark.parametrize(
    "failure",
    [MemoryError(), asyncio.CancelledError(), KeyboardInterrupt(), SystemExit(1), GeneratorExit()],
    ids=lambda it: type(it).__name__,
)
def test_what_is_no_failure_of_the_bucket_passes(failure):
    with pytest.raises(type(failure)) as caught, storage_errors_only("put"):
        raise failure
    assert caught.value is failure


@pytest.mark.parametrize(
    "failure",
    [
        InvalidRequestError("invalid object key ''"),
        CorruptObjectError("short"),
        FencedError("newer"),
        ObjectNotFoundError("a"),
    ],
    ids=lambda it: type(it).__name__,
)
def test_errors_of_ours_pass_as_they_are(failure):
    with pytest.raises(type(failure)) as caught, storage_errors_only("put"):
        raise failure
    assert caught.value is failure


def grouped(*errors):
    return BaseExceptionGroup("of tasks", [BaseExceptionGroup("inner", errors)])


def test_a_panic_of_one_of_several_tasks_is_no_more():
    async def failing(error):
        raise error

    async def main():
        with storage_errors_only("compose"):
            async with asyncio.TaskGroup() as group:
                group.create_task(failing(PanicException("unwrap")))
                group.create_task(failing(ValueError("time data")))

    with pytest.raises(UnexpectedClientError, match="compose: PanicException: unwrap"):
        run(main())


@pytest.mark.parametrize("other", [MemoryError(), KeyboardInterrupt(), SystemExit(1)])
def test_what_is_no_failure_of_the_bucket_passes_in_a_group_as_well(other):
    failure = grouped(ValueError("time data"), PanicException("unwrap"), other)
    with pytest.raises(BaseExceptionGroup) as caught, storage_errors_only("put"):
        raise failure
    assert caught.value is failure


def test_memory_that_is_out_ends_the_call_at_once():
    async def main():
        inner, store = retrying(MemoryError(), 3)
        with pytest.raises(MemoryError):
            await store.put("a", [b"x"])
        assert inner.times == 2

    run(main())


def test_a_message_is_one_short_line():
    with pytest.raises(UnexpectedClientError) as caught, storage_errors_only("list"):
        raise ValueError("first\nsecond" + "x" * 10_000)
    assert str(caught.value).startswith("list: ValueError: first secondxx")
    assert len(str(caught.value)) == MAX_MESSAGE_LENGTH
