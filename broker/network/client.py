"""Who is at the other end of a connection: what a handler, an authoriser and a quota need to know of it. Pure.

The connection makes it, and a new one when authentication has changed who that is. Nothing refuses a client for it yet:
every client is anonymous, and the configuration refuses to promise anything else.

Source: `KafkaPrincipal`, `SecurityProtocol`, `AuthorizableRequestContext` of Apache Kafka.
"""

from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Final, NamedTuple


class Principal(NamedTuple):
    """An identity, as access rules and quotas name it: `User:alice`."""

    kind: str
    name: str

    def __str__(self) -> str:
        """Return the form that Kafka's tools take and show."""
        return f"{self.kind}:{self.name}"


ANONYMOUS: Final = Principal("User", "ANONYMOUS")


class SecurityProtocol(StrEnum):
    """What protects a listener, by Kafka's names."""

    PLAINTEXT = "PLAINTEXT"
    SSL = "SSL"
    SASL_PLAINTEXT = "SASL_PLAINTEXT"
    SASL_SSL = "SASL_SSL"


class Authentication(Enum):
    """How far the authentication of a connection has come."""

    NOT_ASKED = 0  # its listener authenticates nobody
    PENDING = 1  # no request but those of the authentication is served
    DONE = 2


@dataclass(frozen=True, slots=True)
class Client:
    """One client, as one connection has it; both addresses are those of the connection."""

    listener: str
    protocol: SecurityProtocol = SecurityProtocol.PLAINTEXT
    principal: Principal = ANONYMOUS
    authentication: Authentication = Authentication.NOT_ASKED
    client_host: str = "unknown"
    client_port: int = 0
    local_host: str = ""  # the broker's
    local_port: int = 0
