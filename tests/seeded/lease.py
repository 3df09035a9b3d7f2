"""Mistakes with the lease: who may acknowledge, answer and adopt, and from when it counts."""

from tests.seeded.bug import SeededBug

_UNIT = "tests/unit/broker"
_SESSION = "tests/unit/metadata/test_session.py"

BUGS = (
    SeededBug(
        "lease-01",
        "the lease is counted from the answer to a heartbeat, not from its sending",
        "metadata/follower/session.py",
        "BrokerSession.heartbeat",
        "self.lease.extend(sent_at_ms)",
        "self.lease.extend(self._boot_clock_ms())",
        f"{_SESSION}::test_a_slow_answer_gives_a_shorter_lease",
    ),
    SeededBug(
        "lease-02",
        "a lease that was ended comes back with an answer that was under way",
        "metadata/follower/lease.py",
        "BrokerLease.extend",
        "not self._ended",
        "True",
        "tests/unit/metadata/test_lease.py::test_a_lease_that_was_ended_never_comes_back",
    ),
    SeededBug(
        "lease-03",
        "what was read while the bucket answered is given although the lease has run out meanwhile",
        "broker/fetch/reader.py",
        "FetchReader.read",
        """
            result.has_cold = any(read.is_cold for read in result.reads)
            return self._certain(result)
        """,
        """
            result.has_cold = any(read.is_cold for read in result.reads)
            return result
        """,
        f"{_UNIT}/fetch/test_reader.py::TestWithoutAValidLease"
        "::test_it_is_asked_once_for_each_look_and_after_reading",
    ),
    SeededBug(
        "lease-04",
        "records are taken by a broker whose lease is not valid",
        "broker/api/produce.py",
        "ProduceHandler._append",
        """
            if not self._partitions.is_lease_valid():
                yield from self._refuse(produce, _LEASE_NOT_VALID)
                return
        """,
        "pass",
        f"{_UNIT}/api/test_produce.py::test_without_a_certain_lease_nothing_is_appended",
    ),
    SeededBug(
        "lease-05",
        "the end of a log is told without the lease",
        "broker/api/list_offsets.py",
        "ListOffsetsHandler._answer",
        "not self._partitions.is_lease_valid()",
        "False",
        f"{_UNIT}/api/test_list_offsets.py::test_without_a_certain_lease_nothing_is_told",
    ),
    SeededBug(
        "lease-06",
        "a group is served without the lease",
        "broker/coordinator/runtime/coordinator_runtime.py",
        "CoordinatorRuntime.driver",
        """
            self.require_valid_lease()
            return driver
        """,
        "return driver",
        f"{_UNIT}/coordinator/group/test_coordinator.py::test_without_a_certain_lease_nobody_is_answered",
    ),
    SeededBug(
        "lease-07",
        "a rebalance that ends by its deadline is told without the lease",
        "broker/coordinator/group/coordinator.py",
        "GroupCoordinator._park",
        """
            self.runtime.require_valid_lease()
            return answer
        """,
        "return answer",
        f"{_UNIT}/coordinator/group/test_coordinator.py"
        "::test_a_join_that_ends_without_a_certain_lease_is_not_told",
    ),
    SeededBug(
        "lease-08",
        "a broker names itself as coordinator without the lease",
        "broker/coordinator/runtime/topic_logs.py",
        "TopicLogs.coordinator_node",
        "leader == self._cluster.node_id and not self.is_lease_valid()",
        "False",
        f"{_UNIT}/coordinator/runtime/test_topic_logs.py"
        "::test_a_broker_whose_lease_is_not_certain_does_not_name_itself",
    ),
    SeededBug(
        "lease-09",
        "Stream Objects of a node that lives are merged by another",
        "metadata/controller/object_commits.py",
        "compact_stream_object",
        "adopter(image.brokers, writer) == request.node_id",
        "True",
        "tests/unit/metadata/controller/test_adoption.py"
        "::TestStreamObjects::test_not_while_the_node_lives",
    ),
    SeededBug(
        "lease-10",
        "the batch of a request that has but one is taken by a broker whose lease is not valid",
        "broker/api/produce.py",
        "ProduceHandler._serve_one",
        "not isinstance(outcome, Validated) or request.acks not in (ACKS_ALL, ACKS_LEADER) "
        "or not self._partitions.is_lease_valid()",
        "not isinstance(outcome, Validated) or request.acks not in (ACKS_ALL, ACKS_LEADER)",
        f"{_UNIT}/api/test_produce.py::test_without_a_certain_lease_nothing_is_appended",
    ),
)
