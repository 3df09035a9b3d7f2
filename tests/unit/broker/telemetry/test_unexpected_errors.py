"""Who an exception belongs to, and what is counted."""

import asyncio
import errno
import logging
import os
import socket
import sys
import threading
from concurrent.futures import Future

import pytest

from headrace.broker.telemetry.memory_reserve import MemoryReserve
from headrace.broker.telemetry.unexpected_errors import UnexpectedError, UnexpectedErrors
from tests.unit.broker.network.test_session import Connection


class Client:
    """As much of a session as is looked at."""

    def __init__(self) -> None:
        self.client = self
        self.client_host = "10.1.2.3"


def counted(errors: UnexpectedErrors) -> dict[str, float]:
    family, _ = errors.collect()
    return {sample.labels["owner"]: sample.value for sample in family.samples}


@pytest.fixture
def reasons() -> list[str]:
    return []


@pytest.fixture
def errors(reasons: list[str]) -> UnexpectedErrors:
    return UnexpectedErrors(reasons.append)


def raise_key_error() -> None:
    raise KeyError("a bug")


def test_the_first_of_the_node_ends_it_and_all_are_counted(errors, reasons):
    async def scenario():
        loop = asyncio.get_running_loop()
        with errors.watching(loop):
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
        error = KeyError("a bug")
        context = {"message": "request failed", "exception": error, key: Client(), "api_key": 3}
        with errors.watching(loop):
            loop.call_exception_handler(context)
        assert errors.first is None

    with caplog.at_level(logging.ERROR):
        asyncio.run(scenario())
    assert counted(errors) == {"client": 1, "node": 0}
    assert reasons == []
    assert "request failed" in caplog.text
    assert [it.api_key for it in caplog.records] == [3]
    assert "a bug" in caplog.text


def test_the_log_names_the_client_of_a_session(errors, caplog):
    async def scenario():
        session = Connection().session
        with errors.watching(asyncio.get_running_loop()):
            session.fail("request", KeyError("a bug"), 3)

    with caplog.at_level(logging.ERROR):
        asyncio.run(scenario())
    assert [(it.client, it.api_key) for it in caplog.records] == [("10.0.0.7", 3)]


def test_a_message_without_an_exception_is_logged(errors, reasons, caplog):
    async def scenario():
        loop = asyncio.get_running_loop()
        with errors.watching(loop):
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
def test_the_node_ends_though_what_should_hurry_it_raises(error):
    def cannot_start_a_thread(_reason: str) -> None:
        raise RuntimeError("can't start new thread")

    async def scenario():
        loop = asyncio.get_running_loop()
        errors = UnexpectedErrors(cannot_start_a_thread)

        def broken() -> None:
            raise error

        with errors.watching(loop):
            loop.call_soon(broken)
            async with asyncio.timeout(5):
                with pytest.raises(UnexpectedError):
                    await errors.end_the_node()
        assert errors.first is not None

    asyncio.run(scenario())


class Broken:
    """An object that cannot go in peace."""

    def __del__(self) -> None:
        raise KeyError("a bug")


def a_callback_of_a_future() -> None:
    future: Future[None] = Future()
    future.add_done_callback(lambda _: raise_key_error())
    future.set_result(None)


def a_thread() -> None:
    thread = threading.Thread(target=raise_key_error)
    thread.start()
    thread.join()


def an_object_that_goes() -> None:
    Broken()


def the_handler_of_errors() -> None:
    """A context whose message cannot be had."""

    class NoText:
        def __str__(self) -> str:
            raise KeyError("a bug")

    context = {"message": NoText(), "exception": ValueError(), "protocol": Client()}
    asyncio.get_running_loop().call_exception_handler(context)


@pytest.mark.parametrize(
    "fails", [a_callback_of_a_future, a_thread, an_object_that_goes, the_handler_of_errors]
)
def test_what_others_would_only_log_ends_the_node(errors, reasons, fails):
    async def scenario():
        with errors.watching(asyncio.get_running_loop()):
            fails()
            with pytest.raises(UnexpectedError, match="a bug"):
                await errors.end_the_node()

    asyncio.run(scenario())
    assert counted(errors) == {"client": 0, "node": 1}
    assert len(reasons) == 1


def test_nothing_is_taken_in_any_more_in_the_end(errors, reasons):
    async def scenario():
        with errors.watching(asyncio.get_running_loop()):
            pass

    hooks = threading.excepthook, sys.unraisablehook
    asyncio.run(scenario())
    assert (threading.excepthook, sys.unraisablehook) == hooks
    a_callback_of_a_future()
    assert reasons == []


def test_memory_is_given_back_before_the_end_is_told(errors, monkeypatch):
    released = []
    monkeypatch.setattr(MemoryReserve, "release", lambda _: released.append(errors.first))

    async def scenario():
        with errors.watching(asyncio.get_running_loop()):
            asyncio.get_running_loop().call_soon(raise_key_error)
            with pytest.raises(UnexpectedError):
                await errors.end_the_node()

    asyncio.run(scenario())
    assert released[0] is None
    assert errors.first is not None


def test_connections_that_cannot_be_accepted_are_nobody_s_mistake(errors, reasons, caplog):
    async def scenario():
        loop = asyncio.get_running_loop()
        with errors.watching(loop), socket.socket() as listening:
            for _ in range(900):
                error = OSError(errno.EMFILE, os.strerror(errno.EMFILE))
                message = "socket.accept() out of system resource"
                context = {"message": message, "exception": error, "socket": listening}
                loop.call_exception_handler(context)

    with caplog.at_level(logging.WARNING):
        asyncio.run(scenario())
    assert counted(errors) == {"client": 0, "node": 0}
    _, accepting = errors.collect()
    assert [(it.name, it.value) for it in accepting.samples] == [
        ("headrace_accept_errors_total", 900)
    ]
    (line,) = caplog.records
    assert line.getMessage() == "connections cannot be accepted: Too many open files"
    assert line.exc_info is None
    assert reasons == []
