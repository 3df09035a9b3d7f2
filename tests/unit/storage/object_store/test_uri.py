"""Bucket URIs."""

import pytest

from headrace.storage.object_store.uri import (
    FileLocation,
    MemoryLocation,
    S3Location,
    parse_bucket_uri,
)


def test_everything_that_an_s3_uri_can_say():
    location = parse_bucket_uri(
        "0@s3://my.bucket-1/deep/prefix/?endpoint=http://127.0.0.1:9000/&region=eu-west-3"
        "&pathStyle=true&checksum=sha256&accessKey=AK&secretKey=s%2Fk%2B"
    )
    assert location == S3Location(
        bucket="my.bucket-1",
        prefix="deep/prefix/",
        endpoint="http://127.0.0.1:9000",
        region="eu-west-3",
        path_style=True,
        checksum="SHA256",
        access_key="AK",
        secret_key="s/k+",
    )


def test_a_bucket_name_is_enough():
    assert parse_bucket_uri("s3://bucket") == S3Location(bucket="bucket")


@pytest.mark.parametrize(("text", "value"), [("true", True), ("False", False), ("", None)])
def test_path_style(text, value):
    location = parse_bucket_uri(f"s3://bucket?pathStyle={text}")
    assert isinstance(location, S3Location)
    assert location.path_style is value


def test_automq_s_name_of_the_checksum():
    location = parse_bucket_uri("s3://bucket?checksumAlgorithm=SHA256")
    assert location == parse_bucket_uri("s3://bucket?checksum=SHA256")
    assert location != parse_bucket_uri("s3://bucket")


def test_the_bucket_id_in_front_is_optional():
    assert parse_bucket_uri("12@s3://bucket") == parse_bucket_uri("s3://bucket")
    assert parse_bucket_uri("0@file:///x") == parse_bucket_uri("file:///x")


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///var/lib/bucket", "/var/lib/bucket"),
        ("file://bucket", "bucket"),
        ("file://data/bucket", "data/bucket"),
        ("file:///with%20space", "/with space"),
    ],
)
def test_directories(uri, path):
    assert parse_bucket_uri(uri) == FileLocation(path)


def test_memory():
    assert parse_bucket_uri("mem://") == MemoryLocation()


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("", "is not scheme://"),
        ("bucket", "is not scheme://"),
        ("gs://bucket", "scheme"),
        ("s3://", "names no bucket"),
        ("s3://a", "not a bucket name"),
        ("s3://buck_et!", "not a bucket name"),
        ("s3://bucket?regoin=x", "unknown options"),
        ("s3://bucket?pathStyle=yes", "pathStyle"),
        ("s3://bucket?checksum=CRC32", "checksum=CRC32, which is not SHA256"),
        ("s3://bucket?accessKey=a", "give both or none"),
        ("s3://bucket?secretKey=a", "give both or none"),
        ("s3://bucket?endpoint=127.0.0.1:9000", "endpoint that is not http://host"),
        ("s3://bucket#part", "has a '#'"),
        ("file://", "names no directory"),
        ("file:///a?b=c", "known: none"),
        ("mem://x", "takes nothing"),
    ],
)
def test_what_is_no_bucket_uri_is_refused(uri, message):
    with pytest.raises(ValueError, match=message):
        parse_bucket_uri(uri)


def test_secrets_appear_neither_in_values_nor_in_errors():
    location = parse_bucket_uri("s3://bucket?accessKey=AKIA&secretKey=hush")
    assert "hush" not in repr(location)
    assert "AKIA" not in repr(location)
    with pytest.raises(ValueError, match="unknown options") as caught:
        parse_bucket_uri("s3://bucket?accessKey=AKIA&secretKey=hush&x=y")
    assert "hush" not in str(caught.value)
