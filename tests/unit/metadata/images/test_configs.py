from headrace.metadata.images.configs import ConfigsDelta
from headrace.metadata.records.topics import ConfigRecord
from headrace.persistent_map import PersistentMap


def replayed(configs, *records):
    delta = ConfigsDelta(configs)
    for record in records:
        delta.change(record)
    return delta.finish()


def test_overrides_come_and_go():
    configs = replayed(
        PersistentMap(), ConfigRecord(2, "t", "a", "1"), ConfigRecord(2, "t", "b", "2")
    )
    assert dict(configs[2, "t"]) == {"a": "1", "b": "2"}

    configs = replayed(configs, ConfigRecord(2, "t", "a", None), ConfigRecord(2, "t", "x", None))
    assert dict(configs[2, "t"]) == {"b": "2"}

    assert not replayed(configs, ConfigRecord(2, "t", "b", None))


def test_a_removed_topic_takes_only_its_own_overrides_along():
    configs = replayed(
        PersistentMap(), ConfigRecord(2, "1", "a", "1"), ConfigRecord(4, "1", "a", "1")
    )
    delta = ConfigsDelta(configs)
    delta.remove_topic("1")
    delta.remove_topic("unknown")

    assert set(delta.finish()) == {(4, "1")}
