"""Who an exception belongs to, and what is counted."""

import asyncio
import logging
import threading

import pytest

from headrace.broker.telemetry.unexpected_errors import UnexpectedError, UnexpectedErrors


class Client:
    """As much of a session as is looked at."""

    def __init__(self) -> None:
        self.info = self
        self.client_host = "10.1.2.3"


def counted(errors: UnexpectedErrors) -> dict[str, float]:
    (family,) = errors.collect()
    return {sample.labels["owner"]: sample.value for sample in family.samples}


@pytest.fixture
def reasons() -> list[str]:
    return []


@pytest.fixture
def errors(reasons: list[str], monkeypatch: pytest.MonkeyPatch) -> UnexpectedErrors:
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)  # put back after the test
    return UnexpectedErrors(reasons.append)


def raise_key_error() -> None:
    raise KeyError("a bug")


def test_the_first_of_the_node_ends_it_and_all_are_counted(errors, reasons):
    async def scenario():
        loop = asyncio.get_running_loop()
        errors.watch(loop)
        loop.call_soon(raise_key_error)
        loop.call_later(0, raise_key_error)
        with pytest.raises(UnexpectedError, match="KeyError") as raised:
            await errors.end_the_node()
        assert isinstance(raised.value.__cause__, KeyError)

    asyncio.run(scenario())
    assert counted(errors) == {"client": 0, "node": 2}
    assert len(reasons) == 1
    assert "KeyError('a bug')" in reasons[0]


@pytest.mark.parametrize("key", ["protocol", "transport", "socket"])
def test_what_a_client_brought_about_ends_nobody_else(errors, reasons, caplog, key):
    async def scenario():
        loop = asyncio.get_running_loop()
        errors.watch(loop)
        error = KeyError("a bug")
        context = {"message": "request failed", "exception": error, key: Client(), "api_key": 3}
        loop.call_exception_handler(context)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await errors.end_the_node()

    with caplog.at_level(logging.ERROR):
        asyncio.run(scenario())
    assert counted(errors) == {"client": 1, "node": 0}
    assert reasons == []
    assert "request failed" in caplog.text
    assert [it.api_key for it in caplog.records] == [3]
    assert "a bug" in caplog.text


def test_a_message_without_an_exception_is_logged(errors, reasons, caplog):
    async def scenario():
        loop = asyncio.get_running_loop()
        errors.watch(loop)
        loop.call_exception_handler({"message": "Task was destroyed but it is pending!"})

    with caplog.at_level(logging.ERROR):
        asyncio.run(scenario())
    assert counted(errors) == {"client": 0, "node": 0}
    assert "Task was destroyed" in caplog.text


class UnspeakableError(Exception):
    def __repr__(self) -> str:
        raise MemoryError


@pytest.mark.unexpected_errors
@pytest.mark.parametrize("error", [KeyError("a bug"), UnspeakableError()])
def test_the_node_ends_though_what_should_hurry_it_raises(error, monkeypatch):
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)

    def cannot_start_a_thread(_reason: str) -> None:
        raise RuntimeError("can't start new thread")

    async def scenario():
        loop = asyncio.get_running_loop()
        errors = UnexpectedErrors(cannot_start_a_thread)
        errors.watch(loop)

        def broken() -> None:
            raise error

        loop.call_soon(broken)
        async with asyncio.timeout(5):
            with pytest.raises(UnexpectedError):
                await errors.end_the_node()
        assert errors.first is not None

    asyncio.run(scenario())
