"""Creating the bucket, and who may."""

import asyncio
import random

import pytest

from headrace.storage.errors import ObjectStoreError
from headrace.storage.object_store.factory import ensure_bucket, open_object_store
from headrace.storage.object_store.retrying import RequestRefusedError, RetryPolicy
from headrace.storage.object_store.s3_access import resolve_access
from headrace.storage.object_store.s3_client import make_client
from headrace.storage.object_store.uri import S3Location, parse_bucket_uri
from headrace.storage.sweep.swept_bucket import open_swept_bucket
from tests.contracts.object_stores import PART_BYTES, moto_endpoint, s3_uri
from tests.environment.ports import free_port


@pytest.fixture(scope="module")
def moto():
    with moto_endpoint() as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def minio(minio):
    return minio.endpoint


@pytest.fixture(params=["moto", pytest.param("minio", marks=pytest.mark.s3)])
def endpoint(request):
    return request.getfixturevalue(request.param)


def test_a_bucket_is_created_once(endpoint):
    uri = s3_uri(endpoint, bucket="made-once")
    assert asyncio.run(ensure_bucket(uri)) is True
    assert asyncio.run(ensure_bucket(uri)) is False


def test_several_nodes_may_try_at_once(endpoint):
    uri = s3_uri(endpoint, bucket="made-by-many")

    async def main():
        return await asyncio.gather(*(ensure_bucket(uri) for _ in range(5)))

    assert any(asyncio.run(main()))
    assert asyncio.run(ensure_bucket(uri)) is False


def test_a_region_other_than_the_default(moto):
    uri = s3_uri(moto, bucket="far-away").replace("us-east-1", "eu-west-3")
    assert asyncio.run(ensure_bucket(uri)) is True


@pytest.mark.s3
def test_wrong_credentials_are_refused_at_once(minio):
    uri = s3_uri(minio, bucket="closed")
    asyncio.run(ensure_bucket(uri))
    wrong = s3_uri(minio, bucket="closed", secret="wrong")
    with pytest.raises(RequestRefusedError):
        asyncio.run(ensure_bucket(wrong))

    async def main():
        store = open_object_store(wrong, rng=random.Random(0))
        for call in (
            lambda: store.put("a", [b"x"]),
            lambda: store.get_range("a", 0, 1),
            lambda: store.list(""),
            lambda: store.delete(["a"]),
        ):
            with pytest.raises(RequestRefusedError):
                await call()
        assert store.statistics.retries == 0

    asyncio.run(main())


def test_a_missing_bucket_is_refused_and_no_missing_object(endpoint):
    async def main():
        store = open_object_store(s3_uri(endpoint, bucket="not-there"), rng=random.Random(0))
        with pytest.raises(RequestRefusedError, match="NoSuchBucket"):
            await store.put("a", [b"x"])
        with pytest.raises(RequestRefusedError, match="NoSuchBucket"):
            await store.get_range("a", 0, 1)

    asyncio.run(main())


def test_a_server_that_is_not_there(tmp_path):
    uri = s3_uri(f"http://127.0.0.1:{free_port()}")

    async def main():
        policy = RetryPolicy(max_attempts=3, backoff_ms_initial=1)
        store = open_object_store(uri, rng=random.Random(0), policy=policy)
        with pytest.raises(ObjectStoreError):
            await store.put("a", [b"x"])
        assert store.statistics.retries == 2
        with pytest.raises(ObjectStoreError):
            await ensure_bucket(uri)

    asyncio.run(main())


def test_credentials_of_the_environment(endpoint):
    uri = s3_uri(endpoint, bucket="by-environment")
    bare, _, keys = uri.partition("&accessKey=")
    access_key, _, secret_key = keys.partition("&secretKey=")
    environment = {"AWS_ACCESS_KEY_ID": access_key, "AWS_SECRET_ACCESS_KEY": secret_key}

    async def main():
        await ensure_bucket(bare, environment=environment)
        store = open_object_store(bare, rng=random.Random(0), environment=environment)
        await store.put("a", [b"abc"])
        assert bytes(await store.get_range("a", 0, 3)) == b"abc"

    asyncio.run(main())


def test_credentials_of_botocore_s_chain(endpoint, monkeypatch, tmp_path):
    """A profile in ~/.aws, which nothing of ours reads."""
    uri = s3_uri(endpoint, bucket="by-profile")
    asyncio.run(ensure_bucket(uri))
    bare, _, keys = uri.partition("&accessKey=")
    access_key, _, secret_key = keys.partition("&secretKey=")
    credentials = tmp_path / "credentials"
    credentials.write_text(
        f"[default]\naws_access_key_id = {access_key}\naws_secret_access_key = {secret_key}\n"
    )
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(credentials))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")

    async def main():
        store = open_object_store(bare, rng=random.Random(0))
        await store.put("a", [bytes(6_000_000)])
        assert len(await store.get_range("a", 0, 6_000_000)) == 6_000_000

    asyncio.run(main())
    credentials.write_text("")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    with pytest.raises(ValueError, match="no S3 credentials"):
        open_object_store(bare, rng=random.Random(0))


@pytest.mark.s3
def test_checksums_that_a_real_server_compares(minio):
    uri = s3_uri(minio, bucket="summed") + "&checksum=SHA256"

    async def main():
        await ensure_bucket(uri)
        store = open_object_store(uri, rng=random.Random(0), part_bytes=PART_BYTES)
        large = random.Random(1).randbytes(2 * PART_BYTES + 100)

        async def chunks():
            yield (large,)

        await store.put("small", [b"abc"])
        assert await store.create("created", [b"abc"])
        await store.put("large", [large])
        await store.put_stream("streamed", chunks())
        for key, content in (
            ("small", b"abc"),
            ("created", b"abc"),
            ("large", large),
            ("streamed", large),
        ):
            assert bytes(await store.get_range(key, 0, len(content))) == content
        await store.close()

    asyncio.run(main())


@pytest.mark.s3
def test_uploads_below_a_prefix_of_a_real_server(minio):
    uri = s3_uri(minio, bucket="uploads")
    asyncio.run(ensure_bucket(uri))
    location = parse_bucket_uri(uri)
    assert isinstance(location, S3Location)
    client = make_client(resolve_access(location, {}))
    keys = ["9e/c/1", "0a/c/2"]
    for key in ("a/1", *(location.prefix + it for it in keys), "zz/1"):
        client.create_multipart_upload(Bucket="uploads", Key=key)
    place = open_swept_bucket(uri, {})
    assert place is not None

    async def listed():
        return [it async for page in place.uploads.pages() for it in page]

    found = asyncio.run(listed())
    assert sorted(it.key for it in found) == sorted(keys)
    asyncio.run(place.uploads.abort(found))
    assert asyncio.run(listed()) == []
    left = client.list_multipart_uploads(Bucket="uploads")["Uploads"]
    assert sorted(it["Key"] for it in left) == ["a/1", "zz/1"]
    client.close()
