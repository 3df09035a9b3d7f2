"""Who speaks for a registration proves that it is its own, by a secret that is recorded nowhere."""

import asyncio
import random
from typing import get_args
from uuid import UUID

import msgspec
import pytest

from headrace.metadata.image import BrokerState
from headrace.metadata.levels import READ_HERE
from headrace.metadata.proof import incarnation_of, new_secret, recorded_lock, shown_locks
from headrace.metadata.records.brokers import BrokerEndpoint
from headrace.metadata.records.codec import encode_records
from headrace.metadata.records.logs import LogMedium
from headrace.metadata.rpc.frames import decode_answer, decode_request, encode_request
from headrace.metadata.rpc.requests import (
    AcceptLogLoss,
    AddVoter,
    AllocateProducerIds,
    AlterConfigs,
    AlterReassignments,
    BrokerGoal,
    CreatePartitions,
    CreateTopics,
    DeleteTopics,
    DescribeBalance,
    DescribeQuorum,
    FetchEntries,
    FetchSnapshot,
    Heartbeat,
    RegisterBroker,
    Relay,
    RemoveVoter,
    Request,
    Speaking,
    TellLevels,
    UnregisterBroker,
    UpdateFeatures,
)
from headrace.metadata.snapshot import image_to_records
from headrace.protocol.errors import ErrorCode
from tests.unit.metadata.running_cluster import (
    Cluster,
    ask,
    eventually,
    register,
    scenario,
)

SECRET = bytes(range(16))
REFUSED = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
# Nobody speaks for a registration with these: operators, members of the quorum and readers of the log send them.
OF_ANYBODY = {
    *(AcceptLogLoss, AddVoter, AlterConfigs, AlterReassignments, CreatePartitions, CreateTopics),
    *(DeleteTopics, DescribeBalance, DescribeQuorum, FetchEntries, FetchSnapshot, RemoveVoter),
    *(Relay, TellLevels, UnregisterBroker, UpdateFeatures),  # what a Relay holds proves itself
}
VALUES = {LogMedium: LogMedium.FILE, UUID: UUID(int=1), bool: False, str: ""}


def sample(kind, node_id=0, node_epoch=0):
    """Return a request of a kind in the name of a registration; what else it says does not matter."""
    given = {"node_id": node_id, "node_epoch": node_epoch, "goal": BrokerGoal.SHUT_DOWN}
    values = []
    for field in msgspec.structs.fields(kind):
        if field.name in given:
            values.append(given[field.name])
        elif field.default is not msgspec.NODEFAULT:
            values.append(field.default)
        else:
            values.append(_value(field.type))
    return kind(*values)


def _value(wanted):
    wanted = getattr(wanted, "__value__", wanted)
    while hasattr(wanted, "__metadata__"):  # Annotated
        wanted = wanted.__origin__
    if getattr(wanted, "__origin__", wanted) is tuple:
        return ()
    if issubclass(wanted, msgspec.Struct):
        return sample(wanted)
    return VALUES.get(wanted, 1)


SPEAKING = get_args(Speaking)


def registration(incarnation_id, locks=(), lock_names=(), node_id=1):
    endpoints = (BrokerEndpoint("PLAINTEXT", "h", 1),)
    return RegisterBroker(
        "", node_id, incarnation_id, endpoints, "", 0, locks, READ_HERE, lock_names
    )


async def send(node, request, proof=None):
    return decode_answer(await node.handle(encode_request(9, request, proof)), 9)


@pytest.fixture
def cluster(tmp_path):
    return Cluster(tmp_path / "metadata")


def test_every_request_is_known_to_speak_for_a_registration_or_for_none():
    kinds = set(get_args(Request))
    named = {it for it in kinds if "node_epoch" in it.__struct_fields__}

    assert named == set(SPEAKING)
    assert kinds == named | OF_ANYBODY | {RegisterBroker}


@pytest.mark.parametrize("kind", SPEAKING)
def test_a_proof_goes_with_each_request_that_speaks(kind):
    request = sample(kind, 3, 4)

    sent = decode_request(encode_request(1, request, SECRET))

    assert sent == decode_request(encode_request(1, request))._replace(proof=SECRET)
    assert len(msgspec.structs.fields(kind)) < 14, "an array of more items has another header"


def test_an_incarnation_id_says_that_it_is_a_digest():
    secrets = [new_secret(random.Random(it)) for it in range(100)]
    ids = {incarnation_of(it) for it in secrets}

    assert len(ids) == 100
    assert {it.version for it in ids} == {8}
    assert {it.variant for it in ids} == {"specified in RFC 4122"}


@pytest.mark.parametrize("kind", SPEAKING)
def test_no_stranger_speaks_for_a_living_registration(tmp_path, kind):
    @scenario
    async def run():
        cluster = Cluster(tmp_path / "metadata")
        async with cluster.controller() as node, cluster.client() as client:
            index, known = node.image.index, node.image.brokers[1]
            request = sample(kind, 1, client.node_epoch)
            guesses = (None, bytes(16), known.incarnation_id.bytes, incarnation_of(bytes(16)).bytes)
            for guess in guesses:
                answer = await send(node, request, guess)
                assert answer.error == REFUSED, answer
            assert node.image.index == index
            assert node.image.brokers[1].state == BrokerState.ACTIVE
            assert client.is_lease_valid()
            assert not client.fenced

    run()


@scenario
async def test_a_stranger_that_tries_every_epoch_ends_nobody(cluster):
    async with cluster.controller() as node, cluster.client() as client:
        for goal in BrokerGoal:
            answers = {
                epoch: (await ask(node, Heartbeat(1, epoch, 0, goal))).error
                for epoch in range(node.image.index + 10)
            }
            assert answers.pop(client.node_epoch) == REFUSED
            assert set(answers.values()) == {ErrorCode.STALE_BROKER_EPOCH}
        assert client.is_lease_valid()
        await client.allocate_producer_ids()


@scenario
async def test_an_epoch_that_is_not_there_yet_is_refused_before_it_comes(cluster):
    """What is asked at once is decided together: a registration, and whatever names its epoch in advance."""
    async with cluster.controller() as node:
        epoch = node.image.index + 1
        coming = (
            AllocateProducerIds(1, epoch),
            Heartbeat(1, epoch, epoch, BrokerGoal.SHUT_DOWN),
        )
        registered, *answers = await asyncio.gather(
            send(node, registration(incarnation_of(SECRET)), SECRET),
            *(send(node, it) for it in coming),
        )

        assert registered.body.node_epoch == epoch
        assert {it.error for it in answers} == {ErrorCode.STALE_BROKER_EPOCH}
        assert not node.image.brokers[1].epoch_ended


@scenario
async def test_nothing_that_is_recorded_proves_anything(cluster):
    async with cluster.controller() as node, cluster.client() as client:
        secret = client._requester._secret
        recorded = encode_records(tuple(image_to_records(node.image)))

        assert client._session._incarnation_id.bytes in recorded
        assert secret not in recorded
        assert b"wal of 1" not in recorded


@scenario
async def test_who_knows_what_is_recorded_cannot_take_a_living_brokers_place(cluster):
    async with cluster.controller() as node, cluster.client() as client:
        known = node.image.brokers[1]
        forged = [
            registration(known.incarnation_id),
            registration(known.incarnation_id, known.locks),
            registration(UUID(int=1, version=4), known.locks),
            registration(UUID(int=1, version=4), known.locks, known.locks),
            registration(UUID(int=1, version=4), (), ("wal of 2",)),
        ]
        refused = {REFUSED, ErrorCode.DUPLICATE_BROKER_REGISTRATION}
        for request in forged:
            for proof in (None, known.incarnation_id.bytes):
                assert (await send(node, request, proof)).error in refused
        own = registration(incarnation_of(SECRET), known.locks)
        assert (await send(node, own, SECRET)).error == ErrorCode.DUPLICATE_BROKER_REGISTRATION

        assert node.image.brokers[1] == known
        assert client.is_lease_valid()


@scenario
async def test_a_repeated_registration_needs_the_proof_too(cluster):
    async with cluster.controller() as node:
        own = registration(incarnation_of(SECRET), (recorded_lock("a"),), ("a",))
        first = await send(node, own, SECRET)
        assert first.error == ErrorCode.NONE

        assert await send(node, own, SECRET) == first
        assert (await send(node, own)).error == REFUSED
        other = registration(incarnation_of(bytes(16)), (recorded_lock("a"),), ("a",))
        assert (await send(node, other, SECRET)).error == REFUSED


@scenario
async def test_the_process_that_holds_the_lock_takes_the_place_at_once(cluster):
    async with cluster.controller() as node:
        async with cluster.client() as client:
            first = client.node_epoch
        async with cluster.client() as client:
            assert client.node_epoch > first
            assert node.image.brokers[1].locks == (recorded_lock("wal of 1"),)


@scenario
async def test_a_registration_of_the_first_release_proves_nothing_until_the_next(cluster):
    async with cluster.controller() as node:
        epoch = await register(node, incarnation=1)
        answer = await ask(node, Heartbeat(1, epoch, epoch, BrokerGoal.SERVE))
        assert answer.error == ErrorCode.NONE
        # The process that comes after it names the lock of the earlier one, which is recorded as it is.
        async with cluster.client() as client:
            assert client.node_epoch > epoch
            await eventually(client.is_lease_valid)
            answer = await ask(node, Heartbeat(1, client.node_epoch, 0, BrokerGoal.SHUT_DOWN))
            assert answer.error == REFUSED


def test_a_lock_is_shown_by_its_name_or_as_the_first_release_recorded_it():
    digest = recorded_lock("a")

    assert shown_locks(registration(UUID(int=1), (digest,), ())) == set()
    assert shown_locks(registration(UUID(int=1), (digest,), ("a",))) == {"a", digest}
    assert shown_locks(registration(UUID(int=1), ("a",), ())) == {"a"}
    assert digest != recorded_lock("b")
