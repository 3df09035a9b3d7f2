"""One system call of an upload to `file://` hangs for longer than its attempt, and comes back: nothing is lost."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.e2e.admin_calls import end_offsets
from tests.e2e.broker_process import HeadraceProcess
from tests.environment.paths import ROOT

TOPIC = "late"
RECORDS = 2_000
SHIM = Path(__file__).parent / "hanging"


def test_a_put_that_comes_back_after_its_object_was_committed(tmp_path: Path) -> None:
    """Of two brokers at once: each waits for as long as an attempt may take."""
    calls = {name: tmp_path / name for name in ("open", "link")}
    with ThreadPoolExecutor(len(calls)) as pool:
        list(pool.map(hang_in, calls.keys(), calls.values()))


def hang_in(call: str, directory: Path) -> None:
    """Run a broker of which one such call hangs, until another attempt has been committed."""
    told = directory / "told"
    told.mkdir(parents=True)
    shim = {
        "PYTHONPATH": f"{SHIM}:{ROOT}",
        "HANGING_FOLDER": str(told),
        "HANGING_CALL": call,
    }
    wal = f"0@file://{directory}/broker/data/wal?capacity={64 << 20}"
    overrides = {
        "s3.wal.path": wal,
        "s3.wal.upload.interval.ms": "300",
        "s3.wal.upload.threshold": str(8 << 20),
    }
    broker = HeadraceProcess(directory / "broker", overrides=overrides, environment=shim)
    broker.start()
    try:
        admin = AdminClient({"bootstrap.servers": broker.bootstrap})
        admin.create_topics([NewTopic(TOPIC, 1)])[TOPIC].result(30)
        end_offsets(broker.bootstrap, TOPIC, 1)
        (told / "armed").touch()
        acknowledged = produce(broker)
        assert len(acknowledged) == RECORDS
        wait = broker.process.wait_until
        wait(lambda: (told / "hung").exists(), "an upload hangs", timeout_s=30)
        wait(
            lambda: broker.metrics()["headrace_log_cache_unuploaded_bytes"] == 0,
            "another attempt has been committed",
            timeout_s=30,
        )
        (told / "go").touch()
        wait(lambda: (told / "over").exists(), "the first attempt has ended", timeout_s=30)
    finally:
        broker.kill()
    with HeadraceProcess(directory / "broker", overrides=overrides) as again:
        assert read(again) == acknowledged


def produce(broker: HeadraceProcess) -> list[tuple[int, bytes]]:
    """What was acknowledged, by offset."""
    found: list[tuple[int, bytes]] = []
    producer = Producer({"bootstrap.servers": broker.bootstrap, "enable.idempotence": True})
    for number in range(RECORDS):
        producer.produce(
            TOPIC,
            b"%08d" % number * 20,
            on_delivery=lambda error, it: error or found.append((it.offset(), it.value())),
        )
        producer.poll(0)
    assert producer.flush(30) == 0
    return sorted(found)


def read(broker: HeadraceProcess) -> list[tuple[int, bytes]]:
    """Every record of the topic, by offset."""
    consumer = Consumer(
        {"bootstrap.servers": broker.bootstrap, "group.id": "g", "enable.partition.eof": True}
    )
    consumer.assign([TopicPartition(TOPIC, 0, 0)])
    found: list[tuple[int, bytes]] = []
    while len(found) < RECORDS:
        (message,) = consumer.consume(1, timeout=30) or (None,)
        assert message is not None, f"only {len(found)} records can be read"
        assert message.error() is None, message.error()
        found.append((message.offset(), message.value()))
    consumer.close()
    return found
