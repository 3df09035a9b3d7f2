"""Keys without effect."""

import pytest

from headrace.config.ignored_keys import IGNORED, reason_ignored
from headrace.config.server_keys import find_key


@pytest.mark.parametrize(
    "name",
    [
        "transaction.max.timeout.ms",
        "group.consumer.session.timeout.ms",
        "log.cleaner.threads",
        "num.io.threads",
        "replica.lag.time.max.ms",
        "ssl.keystore.location",
        "listener.name.external.ssl.keystore.location",
        "zookeeper.connect",
        "s3.network.baseline.bandwidth",
        "automq.zonerouter.channels",
        "remote.log.storage.system.enable",
        "controller.quorum.fetch.timeout.ms",
    ],
)
def test_a_known_key_has_a_reason(name):
    assert reason_ignored(name)


def test_the_longest_family_counts():
    assert "use the options of s3.wal.path" in reason_ignored("s3.wal.capacity")
    assert "quorum" in reason_ignored("metadata.max.idle.interval.ms")
    assert "files" in reason_ignored("metadata.max.retention.ms")


@pytest.mark.parametrize("name", ["num.io.thread", "replica", "anything.else", "ss"])
def test_an_unknown_key_has_none(name):
    assert reason_ignored(name) is None


def test_no_key_is_both_honoured_and_ignored_by_name():
    for names in IGNORED.values():
        assert [name for name in names if find_key(name)] == []
