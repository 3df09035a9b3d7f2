"""The tools against a real S3 server: every missing right by its name, pages, and what they remove."""

import asyncio
import json
import random
from pathlib import Path

import boto3
import pytest

from headrace.broker.cli.root import run
from headrace.storage.audit.lister import S3Lister, find_object
from headrace.storage.audit.probe import probe_bucket
from headrace.storage.audit.rights import Status
from headrace.storage.errors import ObjectStoreError
from headrace.storage.object_store.retrying import RequestRefusedError
from headrace.storage.object_store.s3_access import resolve_access
from headrace.storage.object_store.uri import parse_bucket_uri
from tests.environment.minio import ACCESS_KEY, SECRET_KEY
from tests.unit.broker.cli.bucket_scene import BucketScene

pytestmark = pytest.mark.s3

BUCKET = "tools"
RIGHTS = (
    "s3:PutObject",
    "s3:GetObject",
    "s3:ListBucket",
    "s3:DeleteObject",
    "s3:AbortMultipartUpload",
    "s3:ListBucketMultipartUploads",
)
ROOT_KEYS = {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY}


@pytest.fixture(scope="module")
def minio(minio):
    client_of(minio).create_bucket(Bucket=BUCKET)
    return minio


def client_of(server, service="s3"):
    keys = {"aws_access_key_id": ACCESS_KEY, "aws_secret_access_key": SECRET_KEY}
    return boto3.client(service, endpoint_url=server.endpoint, region_name="us-east-1", **keys)


@pytest.fixture
def place(minio, request):
    """A prefix of its own in the bucket: (URL without credentials, prefix)."""
    prefix = request.node.name.translate(str.maketrans("[]:", "---"))
    return f"s3://{BUCKET}/{prefix}?endpoint={minio.endpoint}&region=us-east-1", f"{prefix}/"


def restricted_to(server, actions):
    """Credentials of a session that may do nothing else."""
    policy = {
        "Version": "2012-10-17",
        "Statement": [{"Effect": "Allow", "Action": list(actions), "Resource": "arn:aws:s3:::*"}],
    }
    answer = client_of(server, "sts").assume_role(
        RoleArn="arn:minio:iam:::role/none",
        RoleSessionName="restricted",
        Policy=json.dumps(policy),
        DurationSeconds=900,
    )["Credentials"]
    return {
        "AWS_ACCESS_KEY_ID": answer["AccessKeyId"],
        "AWS_SECRET_ACCESS_KEY": answer["SecretAccessKey"],
        "AWS_SESSION_TOKEN": answer["SessionToken"],
    }


def probe(url, environment):
    return asyncio.run(probe_bucket(url, rng=random.Random(), environment=environment))


def keys_below(server, prefix):
    found = client_of(server).list_objects_v2(Bucket=BUCKET, Prefix=prefix)
    return [it["Key"] for it in found.get("Contents", ())]


def test_everything_works_for_those_who_may_do_everything(minio, place):
    url, prefix = place
    report = probe(url, ROOT_KEYS)
    assert [it for it in report.outcomes if it.status != Status.OK] == []
    assert len(report.outcomes) == 13
    assert (report.missing_actions, report.left_behind) == ([], [])
    assert keys_below(minio, prefix) == []


@pytest.mark.parametrize("missing", RIGHTS)
def test_a_missing_right_is_named(minio, place, missing):
    url, prefix = place
    environment = restricted_to(minio, [it for it in RIGHTS if it != missing])
    report = probe(url, environment)
    assert report.missing_actions == [missing]
    assert keys_below(minio, prefix) == sorted(
        prefix + key for key in report.left_behind if "(upload" not in key
    )
    assert bool(report.left_behind) == (missing in ("s3:DeleteObject", "s3:AbortMultipartUpload"))


def test_all_that_is_missing_is_named(minio, place):
    report = probe(place[0], restricted_to(minio, ["s3:PutObject", "s3:DeleteObject"]))
    assert set(report.missing_actions) == set(RIGHTS) - {"s3:PutObject", "s3:DeleteObject"}


def test_what_will_not_be_used_may_fail(minio, place, capsys, monkeypatch):
    rights = [it for it in RIGHTS if it != "s3:ListBucketMultipartUploads"]
    for name, value in restricted_to(minio, rights).items():
        monkeypatch.setenv(name, value)
    assert run(["bucket", "verify", place[0]]) == 1
    assert "missing permission: s3:ListBucketMultipartUploads" in capsys.readouterr().err
    assert run(["bucket", "verify", place[0], "--without", "sweep"]) == 0


def test_what_a_probe_that_was_killed_has_left_is_removed_by_the_next(minio, capsys, monkeypatch):
    for name, value in ROOT_KEYS.items():
        monkeypatch.setenv(name, value)
    s3, bucket = client_of(minio), "left-by-probes"
    s3.create_bucket(Bucket=bucket)
    url = f"s3://{bucket}?endpoint={minio.endpoint}&region=us-east-1"
    s3.put_object(Bucket=bucket, Key="headrace-probe/0123456789abcdef/put", Body=b"left")
    s3.put_object(Bucket=bucket, Key="headrace-probes/put", Body=b"not a probe's")
    s3.create_multipart_upload(Bucket=bucket, Key="headrace-probe/0123456789abcdef/aborted")
    others = s3.create_multipart_upload(Bucket=bucket, Key="somebody/elses")

    def verify():
        assert run(["bucket", "verify", url, "--json"]) == 0
        return json.loads(capsys.readouterr().out)["leftovers_removed"]

    assert verify() == 0  # they may be those of a probe that runs
    monkeypatch.setattr("headrace.broker.cli.bucket.leftovers.LEFT_MS", -60_000)
    assert verify() == 2
    assert [it["Key"] for it in s3.list_objects_v2(Bucket=bucket)["Contents"]] == [
        "headrace-probes/put"
    ]
    uploads = s3.list_multipart_uploads(Bucket=bucket)["Uploads"]
    assert [it["UploadId"] for it in uploads] == [others["UploadId"]]


def test_credentials_that_are_none(minio, place, capsys, monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", ACCESS_KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    assert run(["bucket", "verify", place[0], "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["missing_actions"] == []
    assert any("AWS_SECRET_ACCESS_KEY" in it["advice"] for it in found["operations"])
    assert run(["bucket", "ls", place[0]]) == 1
    assert "`headrace bucket verify" in capsys.readouterr().err


def test_a_bucket_that_does_not_exist(minio, capsys, monkeypatch):
    for name, value in ROOT_KEYS.items():
        monkeypatch.setenv(name, value)
    url = f"s3://nowhere?endpoint={minio.endpoint}"
    assert run(["bucket", "verify", url]) == 1
    assert "no such bucket" in capsys.readouterr().err
    assert run(["bucket", "ls", url]) == 1
    assert "NoSuchBucket" in capsys.readouterr().err


def test_nobody_answers():
    report = probe(f"s3://{BUCKET}?endpoint=http://127.0.0.1:1", ROOT_KEYS)
    assert report.outcomes[0].status == Status.FAILED
    assert "endpoint" in report.outcomes[0].advice
    assert {it.status for it in report.outcomes[1:]} == {Status.SKIPPED}


def lister_of(url, environment=ROOT_KEYS, **options):
    location = parse_bucket_uri(url)
    return S3Lister(resolve_access(location, environment), location.prefix, **options)


def test_pages_are_followed_and_prefixes_are_not_taken_for_folders(minio, place):
    url, prefix = place
    client = client_of(minio)
    keys = [f"9e/c/{number}" for number in range(25)]
    for key in keys:
        client.put_object(Bucket=BUCKET, Key=prefix + key, Body=key.encode())

    async def collect(lister, below):
        return [page async for page in lister.pages(below)]

    lister = lister_of(url, max_page_objects=10)
    pages = asyncio.run(collect(lister, ""))
    assert [len(page) for page in pages] == [10, 10, 5]
    found = {one.key: one for page in pages for one in page}
    assert sorted(found) == sorted(keys)
    assert found["9e/c/7"].size_bytes == 6
    assert found["9e/c/7"].modified_ms > 1_700_000_000_000
    (page,) = asyncio.run(collect(lister, "9e/c/2"))
    assert sorted(one.key for one in page) == sorted(it for it in keys if it.startswith("9e/c/2"))
    assert asyncio.run(find_object(lister, "9e/c/2")).key == "9e/c/2"


def test_a_listing_that_is_refused(minio, place):
    async def collect(environment):
        return [page async for page in lister_of(place[0], environment).pages()]

    with pytest.raises(RequestRefusedError, match="AccessDenied"):
        asyncio.run(collect(restricted_to(minio, ["s3:PutObject"])))


def test_a_listing_that_nobody_answers():
    async def collect():
        url = "s3://bucket?endpoint=http://127.0.0.1:1"
        return [page async for page in lister_of(url).pages()]

    with pytest.raises(ObjectStoreError):
        asyncio.run(collect())


@pytest.fixture
def scene(minio, place, tmp_path, monkeypatch):
    """Two committed objects and a leaked one in S3, and their metadata."""
    for name, value in ROOT_KEYS.items():
        monkeypatch.setenv(name, value)
    made = BucketScene(tmp_path)
    made.commit()
    made.commit()
    made.put(made.forgotten())
    made.save()
    upload(minio, made.bucket, place[1])
    yield made
    made.close()


def upload(server, directory: Path, prefix):
    for path in directory.rglob("*"):
        if path.is_file():
            key = prefix + path.relative_to(directory).as_posix()
            client_of(server).put_object(Bucket=BUCKET, Key=key, Body=path.read_bytes())


def test_fsck_and_gc_on_s3(minio, place, scene, capsys):
    url, prefix = place

    def fsck():
        code = run(["bucket", "fsck", url, "--metadata", str(scene.metadata), "--deep", "--json"])
        return code, json.loads(capsys.readouterr().out)

    def gc(*options):
        command = ["bucket", "gc", url, "--metadata", str(scene.metadata), "--json", *options]
        assert run(command) == 0
        return json.loads(capsys.readouterr().out)

    code, found = fsck()
    assert (code, found["counts"]) == (0, {"unknown": 1})
    assert gc("--yes")["too_young"] == 1  # it was put a moment ago
    assert gc("--older-than", "0s")["removable"] == 1
    assert len(keys_below(minio, prefix)) == 3
    assert gc("--older-than", "0s", "--yes")["removed"] == 1
    assert len(keys_below(minio, prefix)) == 2
    code, found = fsck()
    assert (code, found["exact"], found["settled"]) == (0, True, True)
    client_of(minio).delete_object(Bucket=BUCKET, Key=keys_below(minio, prefix)[0])
    code, found = fsck()
    assert (code, found["counts"]) == (1, {"missing": 1})


def test_objects_are_read_in_ranges_from_s3(place, scene, capsys):
    url, _ = place
    assert run(["object", "dump", url, "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["index"][0]["start_offset"] == 3
    # The leaked object is no object at all.
    assert run(["object", "verify", url, "--all", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["objects"], found["damaged"], found["batches"]) == (3, 1, 6)
    assert run(["stream", "describe", url, "--metadata", str(scene.metadata)]) == 0
