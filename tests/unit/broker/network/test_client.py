"""Who is at the other end of a connection."""

import dataclasses

import pytest

from headrace.broker.network.client import (
    ANONYMOUS,
    Authentication,
    Client,
    Principal,
    SecurityProtocol,
)


def test_principals_are_written_as_kafkas_tools_take_them() -> None:
    assert str(ANONYMOUS) == "User:ANONYMOUS"
    assert f"{Principal('User', 'CN=alice,OU=ops')}" == "User:CN=alice,OU=ops"


def test_a_client_is_anonymous_until_something_has_authenticated_it() -> None:
    client = Client("INSIDE")
    assert client.principal == ANONYMOUS
    assert client.authentication is Authentication.NOT_ASKED
    assert client.protocol is SecurityProtocol.PLAINTEXT


def test_nobody_changes_who_a_client_is() -> None:
    """A request in service keeps the identity with which it came."""
    client = Client("INSIDE")
    with pytest.raises(dataclasses.FrozenInstanceError):
        client.principal = Principal("User", "admin")  # type: ignore[misc]
    with pytest.raises((AttributeError, TypeError)):
        client.note = "kept"  # type: ignore[attr-defined]
