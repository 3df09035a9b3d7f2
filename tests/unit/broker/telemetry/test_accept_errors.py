"""Connections that cannot be accepted: counted, and told now and then."""

import asyncio
import errno
import logging
import os
import socket
from typing import Any

import pytest

from headrace.broker.telemetry.accept_errors import LOG_INTERVAL_S, AcceptErrors


def refused(number: int) -> dict[str, object]:
    return {"exception": OSError(number, os.strerror(number)), "socket": object()}


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM])
def test_a_line_says_how_many_there_were_since_the_last(
    number: int, caplog: pytest.LogCaptureFixture
) -> None:
    errors = AcceptErrors()
    with caplog.at_level(logging.WARNING):
        assert all(errors.takes(refused(number), now_s) for now_s in (0.0, 1.0, LOG_INTERVAL_S))
    assert [it.__dict__["attempts"] for it in caplog.records] == [1, 2]
    assert [it.value for it in errors.collected().samples] == [3]


def test_other_errors_are_not_of_this_kind() -> None:
    errors = AcceptErrors()
    assert not errors.takes(refused(errno.EPERM), 0.0)
    assert not errors.takes({"exception": MemoryError(), "socket": object()}, 0.0)
    assert not errors.takes({"exception": OSError(errno.ENOMEM, "")}, 0.0)
    assert not errors.takes({"socket": object()}, 0.0)


def test_the_loop_reports_them_as_they_are_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_descriptor(_: socket.socket) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    async def scenario() -> None:
        errors, told = AcceptErrors(), asyncio.Event()

        def handler(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
            assert errors.takes(context, loop.time())
            told.set()

        asyncio.get_running_loop().set_exception_handler(handler)
        server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
        monkeypatch.setattr(socket.socket, "accept", no_descriptor)
        with socket.socket() as client:
            client.setblocking(False)
            client.connect_ex(server.sockets[0].getsockname())
            async with asyncio.timeout(30):
                await told.wait()
        server.close()

    asyncio.run(scenario())
