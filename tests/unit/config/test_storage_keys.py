"""AutoMQ's and our own keys."""

import pytest

from headrace.config.server_keys import SERVER_KEYS, value_problem
from headrace.config.storage_keys import HEADRACE_KEYS, S3_KEYS


def test_the_wal_path_sets_only_what_it_says():
    fields = SERVER_KEYS["s3.wal.path"].fields
    assert fields("0@file:///dev/x?capacity=33554432") == {
        "wal.path": "/dev/x",
        "wal.capacity_bytes": 33_554_432,
    }
    assert fields("0@file:///dev/x?iops=11&iobandwidth=2000000&iodepth=3") == {
        "wal.path": "/dev/x",
        "wal.max_iops": 11,
        "wal.max_bandwidth_bytes": 2_000_000,
        "wal.io_depth": 3,
    }


def test_one_bucket_is_supported():
    fields = SERVER_KEYS["s3.data.buckets"].fields
    assert fields("0@s3://bucket") == {"storage.bucket_uri": "s3://bucket"}
    with pytest.raises(ValueError, match="more than one"):
        fields("0@s3://one,1@s3://two")


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("0.0.0.0:9644", {"telemetry.admin_host": "0.0.0.0", "telemetry.admin_port": 9644}),
        ("[::1]:0", {"telemetry.admin_host": "::1", "telemetry.admin_port": 0}),
        ("none", {"telemetry.admin_port": -1}),
        ("", {"telemetry.admin_port": -1}),
    ],
)
def test_the_admin_listener_is_read(text, values):
    assert SERVER_KEYS["headrace.admin.listener"].fields(text) == values


def test_the_admin_listener_needs_a_port():
    assert "host:port" in value_problem(SERVER_KEYS["headrace.admin.listener"], "localhost")


def test_names_tell_whose_they_are():
    assert all(key.name.startswith("s3.") for key in S3_KEYS)
    assert all(key.name.startswith("headrace.") for key in HEADRACE_KEYS)


@pytest.mark.parametrize(
    "text", ["none", "reservation", "command:/bin/fence", "command:/bin/fence --zone 'a b'"]
)
def test_a_fence_is_named(text):
    key = SERVER_KEYS["headrace.wal.fence"]
    assert value_problem(key, text) is None


@pytest.mark.parametrize("text", ["", "flock", "command:", "command:fence", "command:/bin/a 'b"])
def test_what_is_no_fence_is_refused(text):
    assert value_problem(SERVER_KEYS["headrace.wal.fence"], text)
