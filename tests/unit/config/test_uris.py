"""Listeners, voters, buckets and the WAL's place."""

import pytest

from headrace.config.node import Endpoint, Voter
from headrace.config.uris import (
    WalLocation,
    parse_advertised,
    parse_bootstrap,
    parse_bucket,
    parse_host_counts,
    parse_listeners,
    parse_voters,
    parse_wal_location,
    redacted,
    split_address,
)


def test_listeners_are_read():
    assert parse_listeners("PLAINTEXT://:9092, internal://[::1]:19092") == (
        Endpoint("PLAINTEXT", "", 9092),
        Endpoint("INTERNAL", "::1", 19092),
    )


def test_two_listeners_may_both_take_a_free_port():
    assert len(parse_listeners("A://127.0.0.1:0,B://127.0.0.1:0")) == 2


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "at least one"),
        ("127.0.0.1:9092", "NAME://host:port"),
        ("PLAINTEXT://host", "host:port"),
        ("PLAINTEXT://host:http", "host:port"),
        ("PLAINTEXT://host:70000", "65535"),
        ("PLAINTEXT://::1:9092", "brackets"),
        ("A://h:1,A://h:2", "name twice"),
        ("A://h:1,B://h:1", "address twice"),
        ("://h:1", "NAME"),
    ],
)
def test_wrong_listeners_are_explained(text, part):
    with pytest.raises(ValueError, match=part):
        parse_listeners(text)


@pytest.mark.parametrize("host", ["0.0.0.0", "", "[::]"])
def test_an_address_that_nobody_can_use_is_not_advertised(host):
    with pytest.raises(ValueError, match="no client can connect"):
        parse_advertised(f"PLAINTEXT://{host}:9092")


def test_port_0_is_not_advertised():
    with pytest.raises(ValueError, match="port 0"):
        parse_advertised("PLAINTEXT://kafka.example.com:0")


def test_nothing_may_be_advertised():
    assert parse_advertised("") == ()
    assert parse_advertised("A://h:1") == (Endpoint("A", "h", 1),)


def test_an_address_is_split():
    assert split_address("host:1") == ("host", 1)
    assert split_address("[fe80::1]:0") == ("fe80::1", 0)


def test_voters_are_read():
    assert parse_voters("1@a:9093,2@[::1]:9094") == (Voter(1, "a", 9093), Voter(2, "::1", 9094))


def test_bootstrap_servers_are_read_each_once():
    assert parse_bootstrap("a:1, [::1]:2,a:1") == (("a", 1), ("::1", 2))
    assert parse_bootstrap("") == ()


@pytest.mark.parametrize("text", ["a", "1@a", "1@a:1", ":9093", "0.0.0.0:1", "a:0"])
def test_wrong_bootstrap_servers_are_refused(text):
    with pytest.raises(ValueError, match=r"host:port|no node"):
        parse_bootstrap(text)


@pytest.mark.parametrize("text", ["a:9093", "x@a:1", "1@a", "1@a:1,1@b:2", "-1@a:1"])
def test_wrong_voters_are_refused(text):
    with pytest.raises(ValueError, match=r"host:port|twice"):
        parse_voters(text)


@pytest.mark.parametrize(
    ("text", "uri"),
    [
        ("0@s3://data?region=eu&pathStyle=true", "s3://data?region=eu&pathStyle=true"),
        ("s3://data/prefix", "s3://data/prefix"),
        ("0@file:///var/lib/b", "file:///var/lib/b"),
        ("file://bucket", "file://bucket"),
        ("mem://", "mem://"),
    ],
)
def test_a_bucket_loses_its_id_only(text, uri):
    assert parse_bucket(text) == uri


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("bucket", "not scheme"),
        ("gs://bucket", "scheme 'gs'"),
        ("s3://", "no bucket"),
        ("file://", "no directory"),
        ("s3://bucket?pathstyle=true", "unknown options: pathstyle"),
        ("s3://bucket?pathStyle=1", "true or false"),
        ("s3://bucket?accessKey=A&secretKey=B", "credentials"),
        ("file:///a?region=x", "known: none"),
        ("file:///a#b", "%23"),
    ],
)
def test_a_wrong_bucket_is_explained(text, part):
    with pytest.raises(ValueError, match=part):
        parse_bucket(text)


def test_a_message_about_a_bucket_never_repeats_its_secrets():
    for text in ("s3//b?secretKey=hush", "s3://bucket?secretKey=hush", "gs://b?secretKey=hush"):
        with pytest.raises(ValueError) as caught:
            parse_bucket(text)
        assert "hush" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("/dev/nvme1n1", WalLocation("/dev/nvme1n1")),
        ("0@file:///dev/nvme1n1", WalLocation("/dev/nvme1n1")),
        ("file://wal", WalLocation("wal")),
        ("file:///with%20blank", WalLocation("/with blank")),
        ("0@s3://bucket?region=eu", WalLocation("s3://bucket?region=eu")),
        ("mem://", WalLocation("mem://")),
        ("s3://bucket?capacity=33554432", WalLocation("s3://bucket", 33_554_432)),
        (
            "0@s3://bucket/p?batchInterval=100&region=eu&maxBytesInBatch=4&pathStyle=true&maxInflightUploadCount=16",
            WalLocation(
                "s3://bucket/p?region=eu&pathStyle=true",
                io_depth=16,
                batch_interval_ms=100,
                batch_bytes=4,
            ),
        ),
        (
            "0@file:///dev/x?capacity=33554432&iops=10&iobandwidth=1048576&iodepth=256",
            WalLocation("/dev/x", 33_554_432, 10, 1_048_576, 256),
        ),
    ],
)
def test_the_place_of_the_wal_is_read(text, place):
    assert parse_wal_location(text) == place


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "empty"),
        ("file://", "no file"),
        ("s3wal?capacity=2147483648", "file://s3wal?..."),
        ("/dev/nvme1n1?iops=3000", "file:///dev/nvme1n1?..."),
        ("s3:/bucket", "neither a path nor a URI"),
        ("0@0@/dev/nvme1n1", "neither a path nor a URI"),
        ("ftp://x", "scheme 'ftp'"),
        ("file:///x?capacity=2GiB", "capacity=2GiB"),
        ("file:///x?capacity=0", "above 0"),
        ("file:///x?capacity=1000", "16 MiB"),
        ("file:///x?iops=-1", "iops=-1"),
        ("file:///x?iops=9", "iops=9, less than 10"),
        ("file:///x?iobandwidth=1", "iobandwidth=1, less than 1048576"),
        ("file:///x?iodepth=257", "iodepth=257, more than 256"),
        ("s3://bucket?maxInflightUploadCount=17", "maxInflightUploadCount=17, more than 16"),
        ("file:///x?bandwidth=1", "unknown options: bandwidth"),
        ("s3://bucket?iops=1", "unknown options: iops .known: region.*batchInterval"),
        ("s3://bucket?batchInterval=0", "batchInterval=0"),
        ("s3://bucket?capacity=1000", "16 MiB"),
        ("s3://?capacity=33554432", "no bucket"),
        ("s3://bucket?secretKey=hush", "credentials"),
    ],
)
def test_a_wrong_place_of_the_wal_is_explained(text, part):
    with pytest.raises(ValueError, match=part):
        parse_wal_location(text)


def test_secrets_are_hidden():
    assert redacted("s3://bucket?accessKey=AK&secretKey=SK&region=eu") == (
        "s3://bucket?accessKey=***&secretKey=***&region=eu"
    )
    assert redacted("s3://bucket?region=eu") == "s3://bucket?region=eu"


def test_counts_of_hosts():
    text = "10.0.0.7:500, backup:10,[::1]:0,10.0.0.7:3,"
    assert parse_host_counts(text) == (("10.0.0.7", 3), ("backup", 10), ("::1", 0))
    assert parse_host_counts("") == ()
    for wrong in ("backup", "backup:", ":5", "backup:-1", "backup:x"):
        with pytest.raises(ValueError, match="host:count"):
            parse_host_counts(wrong)
