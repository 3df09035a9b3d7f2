"""Requests that follow from the tables of Kafka's messages: of each API, in each version, with values of several kinds.

They are the same in every run, since each has a generator of random numbers of its own. What they name exists on both
brokers or on none, and they change nothing that a later request would see differently.
"""

import random
import types
import typing
from collections.abc import Collection, Iterator
from typing import Any, Final, NamedTuple
from uuid import UUID

import msgspec

from headrace.protocol import messages
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.api_versions import VERSIONS
from headrace.protocol.headers import RequestHeader
from headrace.protocol.message_class import KafkaMessage

TOPIC: Final = "known"  # of three partitions
UNKNOWN_ID: Final = UUID(int=77)
VARIANTS: Final = 3  # of each API and version: empty, plain, odd

# Requests whose answers wait, change what is shared, or need bytes of their own: the hand-picked ones have them.
NOT_GENERATED: Final = frozenset(
    {
        ApiKey.PRODUCE,  # tests/e2e/test_bad_batches.py
        ApiKey.API_VERSIONS,
        ApiKey.DELETE_TOPICS,
        ApiKey.JOIN_GROUP,
        ApiKey.SYNC_GROUP,
        ApiKey.ADD_RAFT_VOTER,
        ApiKey.REMOVE_RAFT_VOTER,
        ApiKey.UPDATE_FEATURES,
    }
)
_ALWAYS: Final[dict[str, Any]] = {
    "validate_only": True,
    "allow_auto_topic_creation": False,
    "max_wait_ms": 0,
    "min_bytes": 0,
    "max_bytes": 1 << 20,
    "partition_max_bytes": 1 << 20,
    "session_id": 0,
    "session_epoch": -1,
    "forgotten_topics_data": [],
    "replica_id": -1,
    "timeout_ms": 5_000,
    "retention_time_ms": -1,
    "metadata": b"",
    "endpoint_type": 1,
    "cluster_id": None,
    "transactional_id": None,
    "transaction_timeout_ms": 60_000,
}
_TOPICS: Final = (TOPIC, "unknown", "no topic", "")
_TEXTS: Final = ("", "x", "a name", "\u00e4")
_CONFIGS: Final = ("retention.ms", "no.such.config", "cleanup.policy", "")
_BY_NAME: Final[dict[str, tuple[Any, ...]]] = {
    "topic": _TOPICS,
    "topic_name": _TOPICS,
    "group_id": ("unknown", "another", ""),
    "group": ("unknown",),
    "entity_type": ("user", "client-id", "ip", "group"),
    "partition_index": (0, 2, 3),
    "partition": (0, 2, 3),
    "num_partitions": (1, 2, 0),
    "replication_factor": (1, -1, 0),
    "key_type": (0,),
    "isolation_level": (0, 1),
    "resource_type": (2, 4, 16, 32, 99),
    "max_num_offsets": (1,),
    "broker_id": (9,),
    "broker_ids": (1,),
    "replicas": (1,),
}


class RawRequest(NamedTuple):
    """A request and what to call it."""

    name: str
    version: int
    message: KafkaMessage


def generated(served: Collection[int]) -> Iterator[RawRequest]:
    """Every variant of every API of `served`, in every version."""
    for key, (low, high, _) in VERSIONS.items():
        if key not in served or key in NOT_GENERATED:
            continue
        api = "".join(part.capitalize() for part in key.name.split("_"))
        for version in range(low, high + 1):
            for variant in range(VARIANTS):
                rng = random.Random(f"{api} {version} {variant}")
                message = _message(getattr(messages, f"{api}Request"), rng, variant)
                if not _can_be_encoded(message, version):  # it has a null that came later
                    rng = random.Random(f"{api} {version} {variant}")
                    message = _message(type(message), rng, max(variant, 1))
                yield RawRequest(f"{api} {version} #{variant}", version, message)


def _can_be_encoded(message: KafkaMessage, version: int) -> bool:
    try:
        messages.encode_request(message, RequestHeader(message.API_KEY, version, 1, "judge"))
    except (AssertionError, TypeError, AttributeError):
        return False
    return True


def _message(kind: type, rng: random.Random, variant: int) -> Any:
    module = vars(__import__(kind.__module__, fromlist=["x"]))
    hints = typing.get_type_hints(kind, module)
    values = {}
    for field in msgspec.structs.fields(kind):
        name = field.name
        of = f"{kind.__name__}.{name}"
        values[name] = _ALWAYS[name] if name in _ALWAYS else _value(of, hints[name], rng, variant)
    return kind(**values)


def _value(name: str, hint: Any, rng: random.Random, variant: int) -> Any:
    arguments = typing.get_args(hint)
    if isinstance(hint, types.UnionType):
        plain = next(it for it in arguments if it is not type(None))
        if plain is UUID:
            return None if variant < 2 else rng.choice((None, UNKNOWN_ID))
        return None if variant == 0 else _value(name, plain, rng, variant)
    if arguments:  # an array
        count = 0 if variant == 0 else rng.randint(1, variant)
        return [_value(name, arguments[0], rng, variant) for _ in range(count)]
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return _message(hint, rng, variant)
    return _plain(name, hint, rng, variant)


def _plain(name: str, hint: Any, rng: random.Random, variant: int) -> Any:
    kind, _, name = name.rpartition(".")
    if hint is str and "Config" in kind and name == "name":
        return _CONFIGS[0] if variant < 2 else rng.choice(_CONFIGS)
    choices = _BY_NAME.get(name) or _BY_NAME.get(name.removesuffix("s")) or ()
    if hint is str and name in ("name", "names", "topics", "resource_name"):
        choices = _TOPICS
    fitting = [it for it in choices if isinstance(it, hint)]
    if fitting:
        return fitting[0] if variant < 2 else rng.choice(fitting)
    if hint is str:
        return _TEXTS[1] if variant < 2 else rng.choice(_TEXTS)
    if hint is bytes:
        return b"" if variant < 2 else rng.randbytes(4)
    if hint is bool:
        return variant == 1
    if hint is float:
        return 1.0 if variant < 2 else rng.choice((-1.0, 0.5, 5.0))
    if hint is UUID:
        return UNKNOWN_ID
    return 0 if variant < 2 else rng.choice((-1, 0, 1, 9))
