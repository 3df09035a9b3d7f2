"""`__consumer_offsets` of a broker whose groups commit all the time: it stays short, and so do loads."""

from pathlib import Path

from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from headrace.broker.coordinator.runtime.rewriting import MIN_LOG_BYTES
from tests.e2e.admin_calls import committed_offsets
from tests.e2e.broker_process import HeadraceProcess

PARTITIONS = 50
ROUNDS = 800  # about three times the size at which a partition's log is first rewritten
SETTINGS = {
    "s3.wal.upload.interval.ms": "200",
    "offsets.topic.num.partitions": "1",
    "headrace.log.format": "json",
}


def commit(bootstrap: str, group: str, rounds: range) -> None:
    consumer = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": group, "enable.auto.commit": False}
    )
    for number in rounds:
        where = [TopicPartition("committed", it, number) for it in range(PARTITIONS)]
        consumer.commit(offsets=where, asynchronous=False)
    consumer.close()


def test_a_restart_loads_what_is_live_and_not_everything_that_was_committed(
    tmp_path: Path,
) -> None:
    with HeadraceProcess(tmp_path, overrides=SETTINGS) as node:
        admin = AdminClient({"bootstrap.servers": node.bootstrap})
        admin.create_topics([NewTopic("committed", PARTITIONS)])["committed"].result(30)
        commit(node.bootstrap, "early", range(2))
        commit(node.bootstrap, "busy", range(1, ROUNDS))

        def is_short() -> bool:
            return node.metrics()["headrace_coordinator_log_bytes"] <= MIN_LOG_BYTES

        node.process.wait_until(is_short, "a short log", timeout_s=60)
        commit(node.bootstrap, "busy", range(ROUNDS, ROUNDS + 1))
        before = node.metrics()
        node.kill()
        node.start()

        def is_loaded() -> bool:
            return node.metrics()["headrace_coordinator_loads_total"] == 1

        node.process.wait_until(is_loaded, "loaded groups", timeout_s=60)
        after = node.metrics()
        assert before["headrace_coordinator_live_records"] == 2 * PARTITIONS
        assert after["headrace_coordinator_live_records"] == 2 * PARTITIONS
        assert after["headrace_coordinator_loaded_records_total"] < PARTITIONS * ROUNDS / 2
        everywhere = range(PARTITIONS)
        assert committed_offsets(node.bootstrap, "busy") == dict.fromkeys(everywhere, ROUNDS)
        assert committed_offsets(node.bootstrap, "early") == dict.fromkeys(everywhere, 1)
