"""Credentials that a program prints: whatever it prints, it is asked again."""

import asyncio
import random

import pytest

from headrace.storage.errors import FailureKind, ObjectStoreError
from headrace.storage.object_store.factory import ensure_bucket, open_object_store
from headrace.storage.object_store.retrying import RetryPolicy
from headrace.storage.sweep.swept_bucket import open_swept_bucket
from tests.integration.s3_fault_server import FaultServer

GOOD = (
    '{"Version": 1, "AccessKeyId": "a", "SecretAccessKey": "b", "SessionToken": "c",'
    ' "Expiration": "2999-01-01T00:00:00Z"}'
)
LARGE = bytes(5 << 20)
OPERATIONS = [
    lambda store: store.put("9e/c/1", [b"x"]),
    lambda store: store.put("9e/c/2", [LARGE]),
    lambda store: store.get_range("9e/c/1", 0, 1),
    lambda store: store.list(""),
    lambda store: store.delete(["9e/c/1"]),
]


@pytest.fixture
def printed(tmp_path, monkeypatch):
    """The program's output; no program if it is removed."""
    output, config = tmp_path / "output", tmp_path / "config"
    config.write_text(f"[default]\ncredential_process = /bin/cat {output}\n")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setattr("boto3.DEFAULT_SESSION", None)
    output.write_text(GOOD)
    return output


@pytest.mark.parametrize(
    "nonsense",
    ["<html>log in first</html>", "", "{}", '{"Version": 1, "AccessKeyId": "a"}', None],
)
def test_a_program_that_fails_is_asked_again(printed, nonsense):
    """By each part of the store, from its opening on."""

    async def main(uri):
        if nonsense is None:
            printed.unlink()
        else:
            printed.write_text(nonsense)
        with pytest.raises(ObjectStoreError):
            await ensure_bucket(uri)
        policy = RetryPolicy(max_attempts=2, backoff_ms_initial=1)
        store = open_object_store(uri, rng=random.Random(0), environment={}, policy=policy)
        for operate in OPERATIONS:
            with pytest.raises(ObjectStoreError):
                await operate(store)
        assert store.statistics.retries == len(OPERATIONS)
        assert store.statistics.failures[FailureKind.CREDENTIALS] >= 6
        place = open_swept_bucket(uri, {})
        for listing in (place.lister.pages(), place.uploads.pages()):
            with pytest.raises(ObjectStoreError):
                await anext(listing)
        printed.write_text(GOOD)
        await ensure_bucket(uri)
        for operate in OPERATIONS:
            await operate(store)
        await store.close()

    with FaultServer() as server:
        asyncio.run(main(f"s3://bucket?endpoint={server.endpoint}"))


def test_nobody_who_provides_any_is_told_at_once(printed):
    printed.with_name("config").write_text("")
    with pytest.raises(ValueError, match="no S3 credentials: set AWS_ACCESS_KEY_ID"):
        open_object_store("s3://bucket", rng=random.Random(0), environment={})
