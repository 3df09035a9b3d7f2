"""An idempotent librdkafka producer under steady load, which writes down what was acknowledged.

    python -m tests.e2e.clients.ledger_producer BOOTSTRAP TOPIC PARTITIONS SEED LEDGER BYTES_PER_S

It lives through restarts of the broker. On SIGTERM it sends what it has queued and ends with 0; a
record that is not delivered, or that lands at another offset than its number, ends it with 1.
"""

import signal
import sys
import time
from pathlib import Path

from confluent_kafka import KafkaError, Message, Producer

from tests.e2e.ledger import Values

FLUSH_WITHIN_S = 90


def main() -> int:
    """Produce until SIGTERM."""
    bootstrap, topic, partitions, seed, ledger, rate = sys.argv[1:]
    values = Values(int(seed))
    numbers = [0] * int(partitions)
    faults: list[str] = []
    stopping: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, frame: stopping.append(number))
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "enable.idempotence": True,
            "linger.ms": 5,
            "compression.type": "none",
            "delivery.timeout.ms": 1000 * FLUSH_WITHIN_S,
            "reconnect.backoff.max.ms": 200,
            "retry.backoff.max.ms": 200,
            "queue.buffering.max.messages": 5000,
            "log_level": 0,
        }
    )
    with Path(ledger).open("a") as lines:

        def delivered(error: KafkaError | None, message: Message, number: int) -> None:
            if error is not None:
                faults.append(f"{message.partition()}:{number} was not delivered: {error}")
            elif message.offset() != number:
                faults.append(f"{message.partition()}:{number} is at {message.offset()}")
            else:
                lines.write(f"{message.partition()} {number}\n")

        started, sent_bytes = time.monotonic(), 0
        while not stopping and not faults:
            partition = min(range(len(numbers)), key=numbers.__getitem__)
            number = numbers[partition]
            value = values.value(partition, number)
            try:
                producer.produce(
                    topic,
                    value,
                    partition=partition,
                    on_delivery=lambda error, message, number=number: delivered(
                        error, message, number
                    ),
                )
            except BufferError:
                producer.poll(0.05)
                started, sent_bytes = time.monotonic(), 0  # do not catch up after an outage
                lines.flush()
                continue
            numbers[partition] += 1
            sent_bytes += len(value)
            ahead_s = sent_bytes / float(rate) - (time.monotonic() - started)
            producer.poll(max(0.0, ahead_s))
            lines.flush()
        left = producer.flush(FLUSH_WITHIN_S)
    if left:
        faults.append(f"{left} records have no answer")
    print("\n".join(faults[:20]), file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
