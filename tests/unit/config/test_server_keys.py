"""All server keys together."""

import dataclasses
from pathlib import Path

from headrace.config.assemble import Setting, assemble
from headrace.config.node import NodeConfig
from headrace.config.server_keys import (
    SERVER_KEYS,
    TOPIC_DEFAULT_KEYS,
    allowed_text,
    default_text,
    find_key,
    nearest_key,
    value_problem,
)

# Fields that no key sets: they are made from other keys, or from all of them.
DERIVED = {
    "data_dir",
    "static",
    "log.topic_defaults",
    "metadata.controller_listeners",
    "metadata.controller_advertised_listeners",
}


def field_paths(value, prefix=""):
    for field in dataclasses.fields(value):
        inner = getattr(value, field.name)
        if dataclasses.is_dataclass(inner):
            yield from field_paths(inner, f"{prefix}{field.name}.")
        else:
            yield prefix + field.name


def paths_set_by(key):
    if key.field:
        return {key.field}
    text = key.example or default_text(key)
    return set(key.fields(text)) if key.fields and text else set()


# Nobody has a reason to set these; tests do.
NOT_SETTABLE = {
    "network.max_produce_inflight_bytes",
    "network.max_produce_inflight_requests",
    "network.receive_buffer_bytes",
    "storage.max_compaction_request_bytes",
    "storage.max_compaction_requests",
    "storage.max_read_ahead_bytes",
    "storage.max_read_bytes",
    "storage.max_read_requests",
    "storage.max_upload_bytes",
    "storage.object_prepare_ttl_ms",
    "storage.upload_concurrency",
    "wal.block_bytes",
    "wal.io_threads",
    "wal.max_record_bytes",
    "wal.window_bytes_initial",
}


def test_every_field_of_a_node_has_a_key():
    settable = set().union(*(paths_set_by(key) for key in SERVER_KEYS.values()))
    for place in (
        "file://x?capacity=99999999&iodepth=1",
        "s3://bucket?batchInterval=1&maxBytesInBatch=1",
    ):
        settable |= set(SERVER_KEYS["s3.wal.path"].fields(place))
    assert set(field_paths(NodeConfig())) - settable == (DERIVED | NOT_SETTABLE) - {"data_dir"}


def test_a_key_that_is_neither_kafkas_nor_automqs_is_in_our_namespace():
    theirs = {
        line
        for line in (Path(__file__).parent / "names_of_kafka_and_automq.txt")
        .read_text()
        .split("\n")
        if line and not line.startswith("#")
    }
    for key in SERVER_KEYS.values():
        for name in (key.name, *key.also_named):
            assert (name in theirs) != name.startswith("headrace."), name


def test_every_key_with_a_field_names_one_that_exists():
    fields = set(field_paths(NodeConfig()))
    for key in SERVER_KEYS.values():
        assert paths_set_by(key) <= fields, key.name


def test_a_key_sets_its_field_in_one_way_only():
    for key in SERVER_KEYS.values():
        assert not (key.field and key.fields), key.name


def test_the_default_of_a_key_is_what_counts_without_it():
    """Setting every key to the default that is documented changes nothing."""
    settings = {
        key.name: Setting(key.name, default_text(key), "test")
        for key in SERVER_KEYS.values()
        if default_text(key) and not key.topic_config
    }
    problems, warnings = [], []
    spelled_out = assemble(settings, problems, warnings)
    silent = assemble({}, problems, warnings)
    assert (problems, warnings) == ([], [])
    same = dataclasses.replace(spelled_out, static={}, storage=silent.storage)
    assert same == dataclasses.replace(silent, static={})
    threshold = silent.storage.upload_threshold_bytes
    assert dataclasses.replace(spelled_out.storage, upload_threshold_bytes=threshold) == (
        silent.storage
    )


def test_every_default_and_example_is_valid():
    for key in SERVER_KEYS.values():
        for text in (default_text(key), key.example):
            assert not text or value_problem(key, text) is None, (key.name, text)


def test_every_key_is_documented():
    for key in SERVER_KEYS.values():
        assert key.doc.endswith("."), key.name
        assert allowed_text(key), key.name


def test_topic_defaults_become_server_keys():
    names = {key.name for key in TOPIC_DEFAULT_KEYS}
    assert {"log.retention.ms", "log.retention.minutes", "log.retention.hours"} <= names
    assert default_text(SERVER_KEYS["log.retention.hours"]) == "168"
    assert default_text(SERVER_KEYS["log.retention.ms"]) == ""


def test_a_key_is_found_by_its_other_names():
    assert find_key("broker.id") is SERVER_KEYS["node.id"]
    assert find_key("log.dir") is SERVER_KEYS["log.dirs"]
    assert find_key("Node.Id") is None


def test_the_nearest_key_is_found():
    assert nearest_key("advertised.listener") == "advertised.listeners"
    assert nearest_key("s3.data.bucket") == "s3.data.buckets"
