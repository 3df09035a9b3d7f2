"""Bucket URIs: a configuration and the command line take the same, but for keys."""

import pytest

from headrace.config.bucket_uris import (
    BUCKET_OPTIONS,
    KEY_OPTIONS,
    MAX_PREFIX_BYTES,
    S3Location,
    parse_location,
)
from headrace.config.uris import WalLocation, parse_bucket, parse_wal_location
from headrace.storage.object_store.uri import parse_bucket_uri

VALUES = {
    "region": "eu-west-3",
    "endpoint": "https://s3.example.org:9000",
    "pathStyle": "false",
    "checksum": "SHA256",
    "checksumAlgorithm": "sha256",
}
ENDPOINT = "endpoint=http%3A%2F%2F"


@pytest.mark.parametrize("name", BUCKET_OPTIONS)
def test_what_a_tool_takes_a_broker_takes_as_well(name):
    uri = f"s3://bucket/prefix?{name}={VALUES[name]}"
    assert parse_bucket(f"0@{uri}") == uri
    assert parse_wal_location(f"0@{uri}&capacity=33554432") == WalLocation(uri, 33_554_432)
    location = parse_bucket_uri(uri)
    assert location != parse_bucket_uri("s3://bucket/prefix")
    assert location == parse_location(uri, takes_keys=False)


@pytest.mark.parametrize("name", KEY_OPTIONS)
def test_keys_are_for_tools_alone(name):
    uri = "s3://bucket?accessKey=AK&secretKey=hush"
    assert isinstance(parse_bucket_uri(uri), S3Location)
    for parse in (parse_bucket, parse_wal_location):
        with pytest.raises(ValueError, match=f"carries credentials .*{name}.*AWS_ACCESS_KEY_ID"):
            parse(uri)


REFUSED = [
    ("0@s3://one?region=eu-1,1@s3://two?region=eu-1", "several buckets"),
    ("0@s3://one, s3://two", "several buckets"),
    ("file:///one,1@file:///two", "several buckets"),
    ("s3://ab", "'ab', which is not a bucket name: 3 to 63"),
    (f"s3://{'a' * 64}", "not a bucket name"),
    ("s3://bucket?region=a-1&region=b-1", "options twice: region"),
    ("s3://bucket?checksum=SHA256&checksumAlgorithm=SHA256", "mean the same"),
    ("s3://bucket?checksum=CRC32C", "checksum=CRC32C, which is not SHA256"),
    ("s3://bucket?region=eu%0Awest", "name of a region"),
    ("s3://bucket?region=12", "name of a region"),
    ("s3://bucket/a//b", "'' between two slashes"),
    ("s3://bucket//a", "'' between two slashes"),
    ("s3://bucket/a//", "'' between two slashes"),
    ("s3://bucket/a/./b", "'.' between two slashes"),
    ("s3://bucket/..", "'..' between two slashes"),
    ("s3://bucket/%2E%2E/a", "'..' between two slashes"),
    ("s3://bucket/a%0Ab", r"'a\\nb' between two slashes"),
    ("s3://bucket/a\nb", "control character"),
    (f"s3://bucket/{'a/' * MAX_PREFIX_BYTES}", "prefix of more than 768 bytes"),
    (f"s3://bucket?{ENDPOINT}", "endpoint that is not"),
    ("s3://bucket?endpoint=ftp://host", "endpoint that is not"),
    (f"s3://bucket?{ENDPOINT}a%20b", "host 'a b'"),
    (f"s3://bucket?{ENDPOINT}host:99999", "wrong port"),
    (f"s3://bucket?{ENDPOINT}user@host", "more than scheme"),
    (f"s3://bucket?{ENDPOINT}host%3Fa=b", "more than scheme"),
    (
        f"s3://bucket?{ENDPOINT}127.0.0.1:9000&pathStyle=false",
        "a bucket cannot be part of an address",
    ),
    (
        f"s3://bucket?{ENDPOINT}%5B::1%5D:9000&pathStyle=false",
        "a bucket cannot be part of an address",
    ),
    (f"s3://bucket?{ENDPOINT}10.1&pathStyle=false", "a bucket cannot be part of an address"),
    (
        f"s3://Bucket_1?{ENDPOINT}host&pathStyle=false",
        "'Bucket_1' that cannot be part of a host name",
    ),
    ("mem://x", "takes nothing else"),
    ("mem://?region=a-1", "takes nothing else"),
]


@pytest.mark.parametrize(("uri", "message"), REFUSED)
@pytest.mark.parametrize("parse", [parse_bucket, parse_bucket_uri])
def test_what_no_client_can_use_is_refused_by_both(parse, uri, message):
    with pytest.raises(ValueError, match=message):
        parse(uri)


@pytest.mark.parametrize(
    "uri",
    [
        "s3://abc",
        f"s3://{'a' * 63}",
        "s3://bucket/",
        "s3://bucket/a/b/",
        "s3://bucket/a%20b/100%25/~",
        "s3://Bucket_1?endpoint=http://127.0.0.1:9000",
        "s3://bucket?endpoint=http://[::1]:9000&pathStyle=true",
        "s3://bucket?endpoint=http://localhost:9000/&pathStyle=false",
        "s3://bucket?endpoint=https://gate.example.org/s3",
    ],
)
def test_what_clients_can_use_is_taken_by_both(uri):
    assert parse_bucket(uri) == uri
    parse_bucket_uri(uri)


@pytest.mark.parametrize("uri", ["s3://bucket?capacity=33554432", "file:///dev/x?iops=1"])
def test_an_option_of_the_wal_is_not_given_twice_either(uri):
    name, value = uri.partition("?")[2].split("=")
    with pytest.raises(ValueError, match=f"options twice: {name}"):
        parse_wal_location(f"{uri}&{name}={value}")


@pytest.mark.parametrize("parse", [parse_bucket, parse_bucket_uri, parse_wal_location])
@pytest.mark.parametrize(
    "uri",
    [
        "s3://AKIA:hush@bucket",
        "s3://AKIA:hu/sh@bucket",
        "s3://hush@bucket/prefix",
        "s3://AKIA:hush[@bucket",
        "s3://AKIA:hush\u2100@bucket",
        f"s3://bucket?{ENDPOINT}AKIA:hush@host:9000",
        f"s3://bucket?{ENDPOINT}AKIA:hu%2Fsh@host:9000",
    ],
)
def test_a_refusal_repeats_no_secret(parse, uri):
    with pytest.raises(ValueError, match="has ") as caught:
        parse(uri)
    assert "hu" not in str(caught.value)
    assert "AKIA" not in str(caught.value)
