"""Failures of commands, each with the next step.

`explained` wraps the use of a Kafka client and turns its exceptions into one line of what happened
and one of what to do. Nothing here imports the client: exceptions are recognised by name.
"""

import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

CONNECT_TIMEOUT_S = 3.0


class CommandFailedError(Exception):
    """A command could not do what it was asked; the message is for the user."""

    def __init__(self, message: str, *, hint: str = "", exit_code: int = 1) -> None:
        super().__init__(f"{message}\n{hint}" if hint else message)
        self.exit_code = exit_code


_UNREACHABLE = frozenset(
    {
        "KafkaConnectionError",
        "NodeNotReadyError",
        "BrokerNotAvailableError",
        "MetadataEmptyBrokerList",
    }
)

# Name of the client's exception -> what happened, what to do next.
_EXPLANATIONS = {
    "UnknownTopicOrPartitionError": (
        "there is no such topic or partition",
        "See `headrace topic list`, or create it with `headrace topic create`.",
    ),
    "TopicAlreadyExistsError": (
        "the topic exists already",
        "Use another name, --if-not-exists, or `headrace topic alter`.",
    ),
    "InvalidTopicError": (
        "the topic's name is not valid",
        "Use up to 249 letters, digits, dots, underscores and dashes.",
    ),
    "InvalidPartitionsError": (
        "the number of partitions is not valid",
        "A topic has at least one partition, and their number can only grow.",
    ),
    "InvalidReplicationFactorError": ("the replication factor is not valid", "Leave it out."),
    "InvalidConfigurationError": (
        "a setting is not valid",
        "`headrace config explain KEY` says what is allowed.",
    ),
    "MessageSizeTooLargeError": (
        "a record is larger than the topic accepts",
        "Raise max.message.bytes: `headrace topic alter NAME --config max.message.bytes=...`.",
    ),
    "OffsetOutOfRangeError": (
        "there is no such offset",
        "`headrace topic describe NAME` shows where each partition begins and ends.",
    ),
    "NonEmptyGroupError": (
        "the group has members",
        "Stop its consumers, and wait for their session timeout if they were killed.",
    ),
    "GroupIdNotFoundError": ("there is no such group", "See `headrace group list`."),
    "UnknownMemberIdError": (
        "the group has members",
        "Stop its consumers, and wait for their session timeout if they were killed.",
    ),
    "IncompatibleBrokerVersion": (
        "the broker does not offer this",
        "`headrace cluster describe` shows which cluster this is.",
    ),
    "TopicAuthorizationFailedError": ("you are not allowed to use this topic", ""),
    "GroupAuthorizationFailedError": ("you are not allowed to use this group", ""),
    "ClusterAuthorizationFailedError": ("you are not allowed to do this on the cluster", ""),
}


def no_broker(bootstrap: str, reason: str = "") -> CommandFailedError:
    """Say that nothing answers, and how to get something that does."""
    detail = f" ({reason})" if reason else ""
    return CommandFailedError(
        f"no broker answers at {bootstrap}{detail}",
        hint="Start one with `headrace dev`, or name another with -b HOST:PORT.",
    )


def require_reachable(bootstrap: str) -> None:
    """Fail at once when no bootstrap server accepts a connection; the client would wait for long.

    Raises:
        CommandFailedError: none does, or one is not host:port.
    """
    reasons = []
    for address in bootstrap.split(","):
        host, port = _split(address.strip())
        try:
            socket.create_connection((host, port), CONNECT_TIMEOUT_S).close()
        except OSError as error:
            reasons.append(error.strerror or str(error))
        else:
            return
    raise no_broker(bootstrap, reasons[0].lower() if reasons else "")


def _split(address: str) -> tuple[str, int]:
    host, separator, port = address.rpartition(":")
    if not separator:
        host, port = address, "9092"
    if not host or not port.isdigit() or int(port) > 65_535:
        raise CommandFailedError(
            f"{address!r} is not HOST:PORT",
            hint="For instance -b 127.0.0.1:9092; separate several with commas.",
            exit_code=2,
        )
    return host.strip("[]"), int(port)


@contextmanager
def explained(bootstrap: str, *, about: str = "") -> Iterator[None]:
    """Turn exceptions of the Kafka client into failures with a next step.

    Args:
        bootstrap: the cluster that is talked to.
        about: what the command is about, such as "topic orders".

    Raises:
        CommandFailedError: instead of the client's exception.
    """
    try:
        yield
    except Exception as error:
        if all(kind.__name__ != "KafkaError" for kind in type(error).__mro__):
            raise
        raise explanation(error, bootstrap=bootstrap, about=about) from error


def explanation(
    error: Exception, *, bootstrap: str = "the given address", about: str = ""
) -> CommandFailedError:
    """Say what an exception of the client means, and what to do next."""
    name, detail = type(error).__name__, _detail(error)
    if name in _UNREACHABLE:
        return no_broker(bootstrap)
    if name == "KafkaTimeoutError":
        return CommandFailedError(
            _joined(about, f"the cluster at {bootstrap} did not answer in time", detail),
            hint="Is it still starting? `headrace cluster describe` shows whether it serves.",
        )
    return refusal(name, detail, about=about)


def refusal(name: str, detail: str | None, *, about: str) -> CommandFailedError:
    """Explain why a broker refused something.

    Args:
        name: of the client's exception for the error code.
        detail: what the broker said itself, if anything.
        about: what was refused, such as "topic orders".
    """
    if name in _EXPLANATIONS:
        what, next_step = _EXPLANATIONS[name]
        return CommandFailedError(_joined(about, what, detail), hint=next_step)
    return CommandFailedError(_joined(about, detail or name, None))


def _joined(about: str, what: str, detail: str | None) -> str:
    subject = f"{about}: " if about else ""
    return f"{subject}{what} ({detail.rstrip('.')})" if detail else f"{subject}{what}"


def _detail(error: Exception) -> str:
    """Give the message that the broker sent, if any; the client repeats whole messages in some."""
    text = " ".join(str(argument) for argument in error.args if argument).strip()
    return "" if len(text) > 300 or "Request" in text or "Response" in text else text


def raise_all(failures: Sequence[CommandFailedError]) -> None:
    """Raise one failure for several; the hints follow what they are about.

    Raises:
        CommandFailedError: there is at least one.
    """
    if failures:
        raise CommandFailedError(
            "\n       ".join(str(f).replace("\n", "\n       ") for f in failures)
        )
