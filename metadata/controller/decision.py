"""The parts of a decision. Pure."""

from collections.abc import Callable, Generator, Mapping
from typing import TYPE_CHECKING, Final

import msgspec

from headrace.config.dynamic_keys import dynamic_broker_problem
from headrace.metadata.records.record import MetadataRecord
from headrace.metadata.rpc.responses import Response

if TYPE_CHECKING:
    from random import Random

# Takes a config's name and value; returns what is wrong, or None.
ConfigValidator = Callable[[str, str], str | None]
# Takes all overrides of a topic; returns which of them do not go together, or None.
Contradiction = Callable[[Mapping[str, str]], str | None]

# Kafka's configs of topics and brokers that are lists, with their defaults (LogConfig.java).
LIST_CONFIG_DEFAULTS: Final[Mapping[str, str]] = {
    "cleanup.policy": "delete",
    "log.cleanup.policy": "delete",
    "follower.replication.throttled.replicas": "",
    "leader.replication.throttled.replicas": "",
}


class Decision(msgspec.Struct, frozen=True):
    """Records to make durable and replay, in one entry, before the response may be sent."""

    records: tuple[MetadataRecord, ...]
    response: Response


DecisionSteps = Generator[
    None, None, Decision
]  # each of them small: there may be 50,000 partitions


class ConfigRules(msgspec.Struct, frozen=True, kw_only=True):
    """Which configs topics and brokers may have."""

    validate_topic: ConfigValidator
    contradiction: Contradiction = lambda _overrides: None  # between valid ones of a topic
    validate_broker: ConfigValidator = dynamic_broker_problem
    list_defaults: Mapping[str, str] = msgspec.field(default_factory=lambda: LIST_CONFIG_DEFAULTS)


class Inputs(msgspec.Struct, frozen=True):
    """What a decision may use beside the request and the image."""

    now_ms: int  # the leader's wall clock; goes into records
    rng: "Random"
    configs: ConfigRules
    # Brokers that have reported that they cannot open partitions now: they get none while others can.
    unable: frozenset[int] = frozenset()
