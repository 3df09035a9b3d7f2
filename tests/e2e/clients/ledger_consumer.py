"""A group member that checks each record it reads, commits often, and writes down each commit.

    python -m tests.e2e.clients.ledger_consumer BOOTSTRAP TOPIC GROUP SEED TRIED COMMITTED

Before a commit its offsets go to the ledger TRIED, after it was answered to COMMITTED. On SIGTERM
it ends with 0; a wrong record ends it with 1.
"""

import signal
import sys
from pathlib import Path

from confluent_kafka import Consumer, KafkaException, TopicPartition

from tests.e2e.ledger import Values


def main() -> int:
    """Consume until SIGTERM."""
    bootstrap, topic, group, seed, tried_path, committed_path = sys.argv[1:]
    values = Values(int(seed))
    stopping: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, frame: stopping.append(number))
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": group,
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "session.timeout.ms": 45_000,
            "reconnect.backoff.max.ms": 200,
            "fetch.message.max.bytes": 1 << 20,
            "queued.max.messages.kbytes": 16_384,
            "log_level": 0,
        }
    )
    consumer.subscribe([topic])
    expected: dict[int, int] = {}
    with Path(tried_path).open("a") as tried, Path(committed_path).open("a") as committed:
        while not stopping:
            positions: dict[int, int] = {}
            for message in consumer.consume(num_messages=200, timeout=0.2):
                if message.error():
                    continue
                partition, offset = message.partition(), message.offset()
                values.check(partition, offset, message.value())
                # A rebalance may go back to the last commit, never forth.
                assert offset <= expected.get(partition, offset), f"{partition}: gap at {offset}"
                expected[partition] = positions[partition] = offset + 1
            for partition, offset in positions.items():
                tried.write(f"{partition} {offset}\n")
            tried.flush()
            if not positions:
                continue
            offsets = [TopicPartition(topic, *position) for position in positions.items()]
            try:
                answers = consumer.commit(offsets=offsets, asynchronous=False)
            except KafkaException:
                continue  # the broker is down, or the group moves: the outcome is unknown
            for answer in answers:
                if answer.error is None:
                    committed.write(f"{answer.partition} {answer.offset}\n")
            committed.flush()
    consumer.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
