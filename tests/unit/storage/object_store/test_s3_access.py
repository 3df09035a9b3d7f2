"""Where endpoint, region and credentials come from."""

from headrace.storage.object_store.s3_access import resolve_access
from headrace.storage.object_store.uri import S3Location

ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "env-key",
    "AWS_SECRET_ACCESS_KEY": "env-secret",
    "AWS_SESSION_TOKEN": "env-token",
    "AWS_REGION": "eu-north-1",
    "AWS_ENDPOINT_URL": "https://s3.example.org/",
}


def test_the_uri_goes_before_the_environment():
    location = S3Location(
        bucket="b",
        endpoint="http://h:1",
        region="r-1",
        access_key="uri-key",
        secret_key="uri-secret",
    )
    access = resolve_access(location, ENVIRONMENT)
    assert (access.endpoint, access.region) == ("http://h:1", "r-1")
    assert (access.access_key, access.secret_key, access.session_token) == (
        "uri-key",
        "uri-secret",
        "",
    )


def test_the_environment_completes_the_uri():
    access = resolve_access(S3Location(bucket="b"), ENVIRONMENT)
    assert (access.endpoint, access.region) == ("https://s3.example.org", "eu-north-1")
    assert (access.access_key, access.secret_key) == ("env-key", "env-secret")
    assert access.session_token == "env-token"


def test_the_service_s_own_endpoint_variable_goes_first():
    environment = {**ENVIRONMENT, "AWS_ENDPOINT_URL_S3": "https://only-s3.example.org"}
    assert (
        resolve_access(S3Location(bucket="b"), environment).endpoint
        == "https://only-s3.example.org"
    )


def test_defaults_are_those_of_aws():
    access = resolve_access(S3Location(bucket="b"), {})
    assert (access.endpoint, access.region, access.path_style) == ("", "us-east-1", False)
    assert access.access_key == ""  # left to botocore's chain


def test_an_endpoint_means_path_style_unless_told_otherwise():
    assert resolve_access(S3Location(bucket="b", endpoint="http://h"), {}).path_style
    virtual = resolve_access(S3Location(bucket="b", endpoint="http://h:9/x", path_style=False), {})
    assert not virtual.path_style
    assert virtual.bucket_endpoint == "http://b.h:9/x"


def test_secrets_are_not_shown():
    shown = repr(resolve_access(S3Location(bucket="b"), ENVIRONMENT))
    assert "env-" not in shown
