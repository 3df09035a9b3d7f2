"""What the classes of messages have in common. Pure."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeAlias

import msgspec

from headrace.protocol.message_writing import Output
from headrace.protocol.primitives import Reader
from headrace.steps import Steps

Read: TypeAlias = Callable[[Reader], Any]
ReadSteps: TypeAlias = Callable[[Reader], Steps[Any]]
Write: TypeAlias = Callable[[bytearray, Any], None]
WriteSteps: TypeAlias = Callable[[Output, Any], Steps[None]]


class MessageStruct(msgspec.Struct):
    """A struct of a message. It has the fields of all versions; those that a version lacks have their defaults."""


class KafkaMessage(MessageStruct):
    """A message, with what reads and writes it in each version, from `MIN_VERSION` on.

    The steps are None in a version that has nothing which may take long: it is read and written at once.
    """

    API_KEY: ClassVar[int]  # of requests and responses
    RECORD_TYPE: ClassVar[int]  # of a coordinator's keys and values
    MIN_VERSION: ClassVar[int]
    FLEXIBLE_SINCE: ClassVar[int]
    READ: ClassVar[tuple[Read, ...]]
    READ_STEPS: ClassVar[tuple[ReadSteps | None, ...]]
    WRITE: ClassVar[tuple[Write, ...]]
    WRITE_STEPS: ClassVar[tuple[WriteSteps | None, ...]]
    # What writes the elements of an array that may have been encoded before, by the name of its field.
    ELEMENT_STEPS: ClassVar[Mapping[str, tuple[WriteSteps, ...]]] = {}
    ERROR_FOR: ClassVar[
        Callable[[Any, int], Any]
    ]  # of requests: the answer that refuses everything
