"""Requests, and all methods of Java's Admin client, go to Headrace and to Apache Kafka: answers differ by a list.

What the clients do comes last: it makes internal topics of Kafka's.
"""

import time
from collections.abc import Iterator

import pytest
from py4j.java_gateway import JavaGateway

from headrace.protocol import messages
from tests.e2e.beside_kafka import Answer, ask, differing
from tests.e2e.conftest import Pair
from tests.e2e.java_admin import CALLS, OF_THE_CLIENT, JavaAdmin, methods, start
from tests.e2e.kafka_differences import DIFFERENCES, METHODS_THAT_DIFFER
from tests.e2e.picked_requests import picked
from tests.e2e.raw_requests import TOPIC, RawRequest, generated

pytestmark = [pytest.mark.java, pytest.mark.usefixtures("java_tools")]

# Kafka answers a change before its broker has learned of it: what only reads is asked again until both agree.
READS = ("Describe", "List", "Metadata")
AGREE_S = 5
Wrong = list[tuple[str, str, object, object]]


def served(bootstrap: str) -> set[int]:
    """The keys that a broker advertises."""
    versions = messages.ApiVersionsRequest(
        client_software_name="judge", client_software_version="1"
    )
    keys = ask(bootstrap, RawRequest("ApiVersions", 4, versions))
    return {key for field, found in keys.items() if field.endswith(".api_key") for key in found}


def until(bootstrap: str, request: RawRequest, field: str) -> None:
    """Ask until there is no error, which takes a moment on a broker that has just started."""
    deadline = time.monotonic() + 30
    while ask(bootstrap, request)[field] != {0}:
        assert time.monotonic() < deadline, request.name
        time.sleep(0.1)


def prepare(bootstrap: str) -> None:
    """A topic, and coordinators that are loaded."""
    create = messages.CreateTopicsRequest
    topic = create.CreatableTopic(name=TOPIC, num_partitions=3, replication_factor=1)
    request = create(topics=[topic], timeout_ms=10_000)
    assert ask(bootstrap, RawRequest("", 7, request))[f"topics[{TOPIC}].error_code"] == {0}
    producer = messages.InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1_000)
    until(bootstrap, RawRequest("InitProducerId", 4, producer), "error_code")
    groups = ("unknown", "another", "x", "a name", "")
    found = messages.FindCoordinatorRequest(key_type=0, coordinator_keys=list(groups))
    until(bootstrap, RawRequest("FindCoordinator", 4, found), "coordinators[x].error_code")
    for group in groups[:-1]:
        heartbeat = messages.OffsetFetchRequest(
            groups=[messages.OffsetFetchRequest.OffsetFetchRequestGroup(group_id=group, topics=[])]
        )
        fetch = RawRequest(f"OffsetFetch of {group}", 8, heartbeat)
        until(bootstrap, fetch, f"groups[{group}].error_code")
    partition = messages.ListOffsetsRequest.ListOffsetsTopic.ListOffsetsPartition
    for index in range(3):
        of = messages.ListOffsetsRequest.ListOffsetsTopic(TOPIC, [partition(index, -1, -1)])
        offsets = RawRequest("ListOffsets", 7, messages.ListOffsetsRequest(-1, 0, [of]))
        until(bootstrap, offsets, f"topics[{TOPIC}].partitions[{index}].error_code")


def told(pair: Pair, request: RawRequest) -> Iterator[tuple[Answer, Answer]]:
    """Both answers, again while they may come to agree."""
    deadline = time.monotonic() + AGREE_S
    while True:
        yield ask(pair.ours.bootstrap, request), ask(pair.kafka.bootstrap, request)
        if not request.name.startswith(READS) or time.monotonic() > deadline:
            return
        time.sleep(0.05)


@pytest.mark.timeout(300)
def test_every_request_is_answered_as_apache_kafka_answers_it(pair: Pair) -> None:
    requests = [*generated(served(pair.ours.bootstrap)), *picked()]
    assert len({it.name for it in requests}) == len(requests) > 700
    prepare(pair.ours.bootstrap)
    prepare(pair.kafka.bootstrap)
    unused, unexpected = set(DIFFERENCES), list[str]()
    for request in requests:
        wrong: Wrong = []
        for ours, kafkas in told(pair, request):
            used, wrong = set(), []
            for found in differing(ours, kafkas):
                allowing = {it for it in DIFFERENCES if it.allows(request.name, *found)}
                used |= allowing
                if not allowing:
                    wrong.append((request.name, *found))
            if not wrong:
                break
        unused -= used
        unexpected += [f"{name}: {field}: ours {a}, Kafka's {b}" for name, field, a, b in wrong]
    assert not unexpected, "\n".join(unexpected)
    assert not unused, "these do not differ any more"


def test_what_kafka_serves_and_clients_ask_for_is_advertised(pair: Pair) -> None:
    """The rest makes clients choose: transactions, and the groups of KIP-848, share groups and streams groups."""
    lacking = served(pair.kafka.bootstrap) - served(pair.ours.bootstrap)
    transactions, kip_848, share, streams = (
        {24, 25, 26, 27, 28},
        {68, 69},
        {76, 77, 78, 79},
        {88, 89, 93},
    )
    share |= {83, 84, 85, 86, 87, 90, 91, 92}
    assert lacking == transactions | kip_848 | share | streams
    assert served(pair.ours.bootstrap) <= served(pair.kafka.bootstrap)


@pytest.fixture(scope="module")
def gateway() -> Iterator[JavaGateway]:
    """The process of the clients."""
    started = start()
    yield started
    started.shutdown()


def test_no_method_of_java_s_admin_is_left_out(gateway: JavaGateway) -> None:
    assert {name.split()[0] for name, _ in CALLS} | OF_THE_CLIENT == methods(gateway)


@pytest.mark.timeout(300)
def test_every_method_of_java_s_admin_tells_what_apache_kafka_tells(
    gateway: JavaGateway, pair: Pair
) -> None:
    ours, kafka = (JavaAdmin(gateway, it.bootstrap) for it in pair)
    differing = {}
    for name, call in CALLS:
        deadline = time.monotonic() + AGREE_S
        while (told := (ours.call(call), kafka.call(call)))[0] != told[1]:
            is_read = name.startswith(("describe", "list")) and name not in METHODS_THAT_DIFFER
            if not is_read or time.monotonic() > deadline:
                differing[name] = told
                break
            time.sleep(0.1)
    ours.close()
    kafka.close()
    assert differing == {name: (a, b) for name, (a, b, _) in METHODS_THAT_DIFFER.items()}
