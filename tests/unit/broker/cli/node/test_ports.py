"""Free ports."""

import socket

import pytest

from headrace.broker.cli.failures import CommandFailedError
from headrace.broker.cli.node.ports import choose_port, port_is_free

HOST = "127.0.0.1"


@pytest.fixture
def taken():
    with socket.create_server((HOST, 0)) as server:
        yield server.getsockname()[1]


def test_a_port_in_use_is_not_free(taken):
    assert not port_is_free(HOST, taken)


def test_a_port_that_was_just_closed_is_free():
    with socket.create_server((HOST, 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection((HOST, port)):
            server.accept()[0].close()
    assert port_is_free(HOST, port)


def test_a_listener_on_every_address_takes_the_port_everywhere():
    with socket.create_server(("", 0)) as server:
        assert not port_is_free(HOST, server.getsockname()[1])


def test_without_a_wish_the_next_free_port_is_taken_and_told(taken, capsys):
    chosen = choose_port(HOST, None, taken, "--port")
    assert chosen > taken
    assert capsys.readouterr().err == f"port {taken} is taken, using {chosen} instead\n"


def test_the_preferred_port_needs_no_words(capsys):
    with socket.create_server((HOST, 0)) as server:
        free = server.getsockname()[1]
    assert choose_port(HOST, None, free, "--port") == free
    assert capsys.readouterr().err == ""


def test_a_wish_that_cannot_be_met_is_a_failure_with_advice(taken):
    with pytest.raises(CommandFailedError) as caught:
        choose_port(HOST, taken, 9092, "--port")
    assert str(caught.value) == (
        f"port {taken} on {HOST} is taken\n"
        "Stop what listens there, choose another, or leave --port out."
    )
    assert caught.value.exit_code == 1


def test_any_port_will_do_when_asked_for_0():
    assert choose_port(HOST, 0, 9092, "--port") == 0


def test_an_address_of_another_machine_is_refused():
    with pytest.raises(CommandFailedError, match=r"cannot listen on 192\.0\.2\.1"):
        choose_port("192.0.2.1", None, 9092, "--port")
