"""The brokers of a cluster as a reader sees them: who leads a partition, where it ends, what it holds.

What may pass by itself is tried again: a leader that has moved or died, a broker that does not answer. After
PATIENCE_S without an answer that helps it is an error.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, NoReturn, TypeVar
from uuid import UUID

from headrace.pipeline.source.catalog import TopicPartition
from headrace.pipeline.source.errors import OptionError, SourceError
from headrace.pipeline.source.tail.connection import BrokerConnection
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import RETRIABLE, ErrorCode, ProtocolError
from headrace.protocol.fetch.client import (
    FETCH_VERSION,
    FetchedPartition,
    decode_fetch_response,
    encode_fetch_request,
)
from headrace.protocol.generated.list_offsets import ListOffsetsRequest, ListOffsetsResponse
from headrace.protocol.generated.metadata import MetadataRequest, MetadataResponse

PATIENCE_S: Final = 120.0  # as Spark's Kafka source waits for records by default
TOPIC_PATIENCE_S: Final = 5.0  # a broker may not know yet what the metadata say
FIRST_PAUSE_S: Final = 0.1  # between attempts; doubled each time
LONGEST_PAUSE_S: Final = 2.0
FETCH_BYTES: Final = 8 << 20  # of one Fetch, unless a single batch is larger
FETCH_WAIT_MS: Final = 500
MAX_PARTITIONS_OF_REQUEST: Final = 10_000
METADATA_VERSION: Final = 12
LIST_OFFSETS_VERSION: Final = 7
LATEST_TIMESTAMP: Final = -1
EARLIEST_TIMESTAMP: Final = -2
_CONSUMER: Final = -1

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Clock:
    """Time that passes, and waiting."""

    monotonic_s: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    time_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class BrokerAccess:
    """How brokers are reached and asked; it goes to tasks."""

    addresses: tuple[str, ...]  # "host:port"
    cluster_id: str
    is_read_committed: bool


class TopicGoneError(Exception):
    """The brokers do not know a topic of this id: it was deleted, or created again."""


class _NotNowError(Exception):
    """An answer that a later attempt may better."""


@dataclass(frozen=True, slots=True)
class _Topic:
    """A topic as a broker knows it."""

    topic_id: UUID | None
    error_code: int
    leaders: Mapping[int, int]  # node id by partition; -1: there is none now


@dataclass
class _Leaders:
    """What the newest Metadata said; empty once something in it was wrong."""

    brokers: Mapping[int, tuple[str, int]] = field(default_factory=dict)
    topics: dict[str, _Topic] = field(default_factory=dict)


class Brokers:
    """Asks the brokers of one cluster, by one connection to each."""

    def __init__(self, access: BrokerAccess, clock: Clock | None = None) -> None:
        self._access = access
        self._clock = clock or Clock()
        self._leaders = _Leaders()
        self._connections: dict[tuple[str, int], BrokerConnection] = {}

    def offsets(
        self,
        timestamps: Mapping[TopicPartition, int],
        topic_ids: Mapping[str, UUID],
        *,
        is_read_committed: bool,
    ) -> dict[TopicPartition, int]:
        """Ask for the first offset that is not older than a time, or for the end or the start.

        Args:
            timestamps: in ms, or `LATEST_TIMESTAMP` or `EARLIEST_TIMESTAMP`.
            topic_ids: of the topics: one of the same name and another id is another topic.
            is_read_committed: whether what is not decided counts as not being there.

        Returns:
            Offsets, -1 where no record is as new. Partitions of topics that the brokers do not know are left out.

        Raises:
            SourceError: the brokers do not answer, or refuse.
        """
        found: dict[TopicPartition, int] = {}
        names = sorted(timestamps)
        for first in range(0, len(names), MAX_PARTITIONS_OF_REQUEST):
            some = {it: timestamps[it] for it in names[first : first + MAX_PARTITIONS_OF_REQUEST]}
            asked = sorted({it.topic for it in some})
            known = self._known_topics(asked, topic_ids)
            wanted = {it: time for it, time in some.items() if it.topic in known}
            if wanted:
                found |= self._patiently(
                    "where partitions end", partial(self._listed, wanted, int(is_read_committed))
                )
        return found

    def fetch(
        self, name: TopicPartition, topic_id: UUID, offset: int, *, is_read_committed: bool
    ) -> FetchedPartition:
        """Fetch records from an offset on, as far as they are committed, or as their transactions are decided.

        Returns:
            The answer of the leader: error 0 or OFFSET_OUT_OF_RANGE. Without records if none came in FETCH_WAIT_MS.

        Raises:
            TopicGoneError: no broker knows this topic any more.
            SourceError: the brokers do not answer, or refuse.
        """
        body = encode_fetch_request(
            topic_id,
            name.partition,
            offset,
            isolation_level=int(is_read_committed),
            max_wait_ms=FETCH_WAIT_MS,
            max_bytes=FETCH_BYTES,
        )

        def attempt() -> FetchedPartition:
            if not self._known_topics([name.topic], {name.topic: topic_id}):
                raise TopicGoneError(name.topic)
            address = self._leader(name)
            answer = self._ask(address, lambda it: it.ask(ApiKey.FETCH, FETCH_VERSION, body))
            found = decode_fetch_response(answer)
            if found.error_code != ErrorCode.OFFSET_OUT_OF_RANGE:
                _check(found.error_code, f"{name.topic}-{name.partition} at {_shown(address)}")
            return found

        return self._patiently(f"{name.topic}-{name.partition}", attempt)

    def _listed(
        self, wanted: Mapping[TopicPartition, int], isolation_level: int
    ) -> dict[TopicPartition, int]:
        self._known_topics(sorted({it.topic for it in wanted}), {})
        by_leader: dict[tuple[str, int], dict[str, dict[int, int]]] = {}
        for name, timestamp in wanted.items():
            topics = by_leader.setdefault(self._leader(name), {})
            topics.setdefault(name.topic, {})[name.partition] = timestamp
        found: dict[TopicPartition, int] = {}
        for address, topics in by_leader.items():
            ask = partial(
                BrokerConnection.ask_for,
                answer=ListOffsetsResponse,
                request=_list_offsets(topics, isolation_level),
                version=LIST_OFFSETS_VERSION,
            )
            for topic in self._ask(address, ask).topics:
                for it in topic.partitions:
                    name = TopicPartition(topic.name, it.partition_index)
                    _check(it.error_code, f"{name.topic}-{name.partition} at {_shown(address)}")
                    found[name] = it.offset
        if found.keys() != wanted.keys():
            raise _NotNowError("an answer lacks partitions")
        return found

    def _known_topics(self, names: Sequence[str], topic_ids: Mapping[str, UUID]) -> set[str]:
        """Names of the topics that the brokers know by these ids, if an id is given; they get some time to learn."""
        deadline_s = self._clock.monotonic_s() + TOPIC_PATIENCE_S
        while True:
            missing = [it for it in names if it not in self._leaders.topics]
            if missing:
                self._learn(missing)
            found = {it for it in names if self._is_known(it, topic_ids.get(it))}
            if len(found) == len(names) or self._clock.monotonic_s() >= deadline_s:
                return found
            for it in set(names) - found:
                del self._leaders.topics[it]
            self._clock.sleep(FIRST_PAUSE_S)

    def _is_known(self, name: str, topic_id: UUID | None) -> bool:
        known = self._leaders.topics[name]
        return not known.error_code and topic_id in (None, known.topic_id)

    def _learn(self, names: Sequence[str]) -> None:
        """Ask the first broker that answers for topics and leaders."""
        found = self._patiently("the cluster", lambda: self._metadata(names))
        self._leaders.brokers = {it.node_id: (it.host, it.port) for it in found.brokers}
        for it in found.topics:
            assert isinstance(it, MetadataResponse.MetadataResponseTopic)
            leaders = {
                partition.partition_index: partition.leader_id for partition in it.partitions
            }
            self._leaders.topics[it.name or ""] = _Topic(it.topic_id, it.error_code, leaders)
        if not self._leaders.topics.keys() >= set(names):
            raise SourceError("the brokers' metadata lack topics that were asked for")

    def _metadata(self, names: Sequence[str]) -> MetadataResponse:
        failures = []
        known = [*map(_address, self._access.addresses), *self._leaders.brokers.values()]
        for address in dict.fromkeys(known):
            try:
                found = self._ask(address, partial(ask_metadata, names=names))
            except (OSError, ProtocolError) as error:
                failures.append(f"{_shown(address)}: {error}")
                continue
            if found.cluster_id != self._access.cluster_id:
                raise OptionError(
                    f"option kafka.bootstrap.servers: {_shown(address)} is a broker of cluster {found.cluster_id}; "
                    f"the bucket is of {self._access.cluster_id}"
                )
            return found
        raise _NotNowError("; ".join(failures))

    def _leader(self, name: TopicPartition) -> tuple[str, int]:
        """Address of the leader, by the newest metadata."""
        leader_id = self._leaders.topics[name.topic].leaders.get(name.partition)
        if leader_id is None or leader_id not in self._leaders.brokers:
            raise _NotNowError(f"{name.topic}-{name.partition} has no leader")
        return self._leaders.brokers[leader_id]

    def _ask(self, address: tuple[str, int], ask: Callable[[BrokerConnection], T]) -> T:
        connection = self._connections.get(address)
        try:
            if connection is None:
                connection = self._connections[address] = BrokerConnection(*address)
            return ask(connection)
        except (OSError, ProtocolError):
            self._connections.pop(address, None)
            if connection is not None:
                connection.close()
            raise

    def _patiently(self, what: str, attempt: Callable[[], T]) -> T:
        deadline_s = self._clock.monotonic_s() + PATIENCE_S
        pause_s = FIRST_PAUSE_S
        while True:
            try:
                return attempt()
            except (OSError, ProtocolError, _NotNowError) as error:
                self._forget()
                if self._clock.monotonic_s() + pause_s > deadline_s:
                    _give_up(what, error)
                self._clock.sleep(pause_s)
                pause_s = min(2 * pause_s, LONGEST_PAUSE_S)

    def close(self) -> None:
        """Close all connections; they are opened again when they are needed."""
        self._forget()

    def _forget(self) -> None:
        """Close all connections and forget who leads; addresses of brokers are kept, to ask them."""
        for it in self._connections.values():
            it.close()
        self._connections.clear()
        self._leaders.topics.clear()


def ask_metadata(connection: BrokerConnection, names: Sequence[str]) -> MetadataResponse:
    """Ask a broker for the cluster and for some topics, none of which is created.

    Raises:
        OSError, ProtocolError: as of `BrokerConnection.ask`.
    """
    request = MetadataRequest(
        topics=[MetadataRequest.MetadataRequestTopic(name=it) for it in names],
        allow_auto_topic_creation=False,
    )
    found: MetadataResponse = connection.ask_for(MetadataResponse, request, METADATA_VERSION)
    return found


def _list_offsets(
    timestamps: Mapping[str, Mapping[int, int]], isolation_level: int
) -> ListOffsetsRequest:
    topic = ListOffsetsRequest.ListOffsetsTopic
    return ListOffsetsRequest(
        replica_id=_CONSUMER,
        isolation_level=isolation_level,
        topics=[
            topic(
                name=name,
                partitions=[
                    topic.ListOffsetsPartition(partition_index=index, timestamp=time)
                    for index, time in partitions.items()
                ],
            )
            for name, partitions in timestamps.items()
        ],
    )


def _give_up(what: str, error: Exception) -> NoReturn:
    raise SourceError(
        f"option tail=broker: no broker answers for {what} for {PATIENCE_S:.0f} s: {str(error)[:500]}. Addresses are "
        f"those of kafka.bootstrap.servers, and what the brokers advertise; tail=none asks none"
    ) from error


def _check(error_code: int, place: str) -> None:
    if error_code == ErrorCode.NONE:
        return
    try:
        known = ErrorCode(error_code)
    except ValueError:
        raise SourceError(f"{place}: error {error_code}") from None
    if known in RETRIABLE:
        raise _NotNowError(f"{place}: {known.name}")
    raise SourceError(f"{place}: {known.name}")


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    return host.strip("[]"), int(port)


def _shown(address: tuple[str, int]) -> str:
    return f"{address[0]}:{address[1]}"
