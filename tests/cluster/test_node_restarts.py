"""Every broker is restarted by SIGTERM under load, one after the other, as operations.md says: clients see no error."""

import pytest
from confluent_kafka import KafkaError

from tests.cluster.client_errors import SeenErrors
from tests.cluster.record_load import RecordLoad
from tests.cluster.scene import Scene

SEED = 7

pytestmark = pytest.mark.timeout(300)


class NoErrors(SeenErrors):
    """A client may see that a connection has ended, for it ends with its broker: nothing else."""

    def note_librdkafka(self, where: str, error: KafkaError, *, in_group: bool = False) -> None:
        """Keep everything that a broker has answered, and what a client has given up."""
        super().note_librdkafka(where, error, in_group=in_group)
        if error.code() not in (KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN):
            self.fault(f"{where}: {error.name()}")


def test_brokers_are_restarted_one_after_the_other_and_no_client_sees_an_error(
    scene: Scene,
) -> None:
    """An idempotent producer and a group of librdkafka: nothing is refused, every record is there once."""
    seen = NoErrors()
    load = RecordLoad(scene.cluster, seen, SEED, topic="restarted")
    load.start()
    load.wait_for_progress()
    for broker in scene.cluster.brokers:
        broker.stop()
        assert load.led_by(broker) == []
        load.wait_for_progress()
        broker.begin()
        broker.wait_ready()
        load.wait_for_progress()
    load.stop()
    print(f"\nseen by clients: {dict(seen.counts)}", flush=True)
    print(f"longest gap of a partition: {max(load.longest_gap_ns) / 1e9:.2f} s", flush=True)
    seen.check()
    assert load.check_everything() == sum(it + 1 for it in load.acknowledged)
    scene.settle()
