"""Whole nodes whose objects are merged and deleted all the time: reads stay the same, and nothing is left over."""

import asyncio
import contextlib
import dataclasses
import itertools
import json
import random
import sys
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import boto3
import pytest

from headrace.broker.node.environment import NodeEnvironment
from headrace.broker.node.node import Node, NodeAddress
from headrace.config.node import MIB, NodeConfig, TelemetryConfig
from headrace.metadata.offline.directory import OfflineMetadata, read_offline
from headrace.protocol import messages
from headrace.protocol.api_keys import ApiKey
from headrace.storage.compaction import plan
from headrace.storage.object_store.uri import parse_bucket_uri
from headrace.storage.objects.keys import object_key
from tests.environment.minio import ACCESS_KEY, SECRET_KEY
from tests.environment.paths import ROOT
from tests.integration.independent_bucket import contents_of, differences
from tests.integration.test_node import Client, config

MAX_LOAD_S = (
    120.0  # for as much as a test wants to see, on a machine that is busy with something else
)
PATIENCE_S = 30.0
LARGE, SMALL = "large", ("small-1", "small-2", "small-3")


@pytest.fixture(params=["file", pytest.param("s3", marks=pytest.mark.s3)])
def bucket_uri(request, tmp_path):
    if request.param == "file":
        return f"file://{tmp_path / 'bucket'}"
    return s3_uri(request.getfixturevalue("minio"), request.node.name)


def s3_uri(server, name):
    bucket = "".join(it if it.isalnum() else "-" for it in name.lower())[:50].strip("-")
    return (
        f"s3://{bucket}?endpoint={server.endpoint}&region=us-east-1"
        f"&accessKey={ACCESS_KEY}&secretKey={SECRET_KEY}"
    )


def busy_config(directory: Path, bucket_uri: str, **changes) -> NodeConfig:
    """Uploads ten times a second, compacts and deletes each second, keeps hardly anything in memory."""
    made = config(directory)
    storage = dataclasses.replace(
        made.storage,
        bucket_uri=bucket_uri,
        block_cache_bytes=8 * MIB,
        upload_interval_ms=100,
        stream_split_bytes=256 * 1024,
        stream_set_object_compaction_interval_ms=1_000,
        object_delete_retention_ms=0,
        sweep_interval_ms=1_000,
        **changes,
    )
    metadata = dataclasses.replace(made.metadata, snapshot_publish_interval_ms=1_000)
    telemetry = TelemetryConfig(admin_port=0)
    # The records are from long ago, and retention first looks after half a minute.
    log = dataclasses.replace(made.log, topic_defaults={"retention.ms": "-1"})
    return dataclasses.replace(
        made, storage=storage, metadata=metadata, telemetry=telemetry, log=log
    )


class Running:
    """A node that serves."""

    def __init__(self, address: NodeAddress, directory: Path, bucket_uri: str) -> None:
        self.address = address
        self.directory = directory
        self.bucket_uri = bucket_uri

    @asynccontextmanager
    async def client(self) -> AsyncIterator[Client]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.address.broker.kafka_port)
        try:
            yield Client(reader, writer)
        finally:
            writer.close()

    async def compaction(self, method: str = "GET") -> dict[str, Any]:
        def ask():
            headers = {"Content-Type": "application/json"}
            url = f"{self.address.admin_url}/compact"
            request = urllib.request.Request(
                url, b"{}" if method == "POST" else None, headers, method=method
            )
            with urllib.request.urlopen(request, timeout=10) as answer:
                return json.load(answer)

        return await asyncio.get_running_loop().run_in_executor(None, ask)

    async def metrics(self) -> dict[str, float]:
        await asyncio.sleep(1.1)  # a page is not rendered more often

        def ask():
            with urllib.request.urlopen(f"{self.address.admin_url}/metrics", timeout=10) as page:
                lines = page.read().decode().splitlines()
            return {
                name: float(value)
                for name, _, value in (it.rpartition(" ") for it in lines if it[0] != "#")
            }

        return await asyncio.get_running_loop().run_in_executor(None, ask)

    def known(self) -> OfflineMetadata:
        """What the metadata on disk know."""
        return read_offline(self.directory / "metadata")

    async def differences(self) -> list[str]:
        """Where the bucket is not what the metadata on disk know, by a lister of the tests' own."""

        def look():
            # The list first: what it has that these metadata have forgotten is really left.
            contents = contents_of(self.bucket_uri)
            known = self.known()
            return differences(contents, known.image, known.cluster_id)

        return await asyncio.to_thread(look)

    async def until_exact(self) -> None:
        """Look until the bucket holds exactly what the metadata know, in ids and sizes."""
        deadline_s = asyncio.get_running_loop().time() + PATIENCE_S
        while found := await self.differences():
            assert asyncio.get_running_loop().time() < deadline_s, found
            await asyncio.sleep(0.2)

    async def until_nothing_is_put(self) -> dict[str, float]:
        """Look until no request more has put anything, and return the metrics.

        Of the last deletions the metadata hear afterwards: a snapshot tells of them, when its interval is over.
        """
        deadline_s = asyncio.get_running_loop().time() + PATIENCE_S
        key = 'headrace_object_store_requests_total{operation="put"}'
        before, now = -1.0, await self.metrics()
        while now[key] != before:
            assert asyncio.get_running_loop().time() < deadline_s, "objects are put all the time"
            before, now = now[key], await self.metrics()
        return now


@asynccontextmanager
async def running(settings: NodeConfig, directory: Path) -> AsyncIterator[Running]:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    address: asyncio.Future[NodeAddress] = loop.create_future()
    node = loop.create_task(Node(settings, NodeEnvironment()).run(address.set_result, stop))
    await asyncio.wait([node, address], return_when=asyncio.FIRST_COMPLETED)
    if node.done():
        node.result()
    try:
        yield Running(address.result(), directory, settings.storage.bucket_uri)
    finally:
        stop.set()
        await node


class Load:
    """Writes topics, and reads them from their beginning again and again."""

    def __init__(self, node: Running) -> None:
        self.node = node
        self.written: dict[str, list[bytes]] = {topic: [] for topic in (LARGE, *SMALL)}
        self.acknowledged = dict.fromkeys(self.written, 0)
        self.passes = 0

    async def write_until(self, is_enough: Callable[[], Awaitable[bool]]) -> None:
        """Write until enough has happened."""
        enough = asyncio.create_task(self._wait_for(is_enough))
        rng = random.Random(1)
        async with self.node.client() as client:
            while not enough.done():
                for topic, written in self.written.items():
                    size = 150_000 if topic == LARGE else 2_000
                    value = rng.randbytes(size)
                    written.append(value)  # readers may have it before this client has its answer
                    assert await client.produce(value, topic=topic) == (0, len(written) - 1)
                    self.acknowledged[topic] = len(written)
                await asyncio.sleep(0.02)

        await enough

    async def _wait_for(self, is_enough: Callable[[], Awaitable[bool]]) -> None:
        async with asyncio.timeout(MAX_LOAD_S):
            while not await is_enough():
                pass

    async def read_on(self) -> None:
        async with self.node.client() as client:
            while True:
                await self.read(client)
                self.passes += 1
                await asyncio.sleep(0.01)

    async def read(self, client: Client) -> None:
        for topic, written in self.written.items():
            end = self.acknowledged[topic]
            offset = 0
            while offset < end:
                found = await client.values(offset, topic=topic)
                assert found, f"nothing at {offset} of {topic}, which ends at {end} or later"
                assert found == written[offset : offset + len(found)]
                offset += len(found)
                await asyncio.sleep(0)


def test_reads_are_the_same_while_everything_is_merged_and_deleted(
    bucket_uri, tmp_path, monkeypatch
):
    monkeypatch.setattr(plan, "MIN_COPIED_BYTES", 2 * MIB)
    monkeypatch.setattr(plan, "MIN_COPIED_GROUP_WIDTH", plan.MIN_GROUP_WIDTH)

    async def main():
        directory = tmp_path / "node"
        settings = busy_config(directory, bucket_uri)
        async with running(settings, directory) as node:
            load = Load(node)

            async def is_enough() -> bool:
                deleted = (await node.metrics())["headrace_deletion_objects_total"]
                told = await node.compaction()
                many = told["groups"] > 3 and told["copied_bytes"] > 2 * MIB
                return deleted > 50 and many and load.passes > 3

            async with asyncio.TaskGroup() as group:
                readers = [group.create_task(load.read_on()) for _ in range(3)]
                await load.write_until(is_enough)
                await node.compaction("POST")
                # Reads go on until all has been merged: then rounds have nothing more to do.
                still = -1
                while (found := await node.compaction())["groups"] != still or found["rounds"] < 5:
                    still = found["groups"]
                    asked = await node.compaction("POST")
                    while (await node.compaction())["rounds_finished"] <= asked["round"]:
                        await asyncio.sleep(0.1)
                for reader in readers:
                    reader.cancel()
            assert (found["failures"], found["damaged_objects"]) == (0, 0)

            # Nobody writes: within three more rounds not a byte goes to the bucket.
            await node.until_exact()
            before = await node.until_nothing_is_put()
            asked = await node.compaction("POST")
            while (await node.compaction())["rounds_finished"] < asked["round"] + 2:
                await asyncio.sleep(0.1)
            after = await node.metrics()
            for name in ("put", "copy", "delete"):
                key = f'headrace_object_store_requests_total{{operation="{name}"}}'
                assert after[key] == before[key], name
            async with node.client() as client:
                await load.read(client)

            # The command finds nothing to do, either.
            admin = node.address.admin_url.removeprefix("http://")
            command = ["-m", "headrace.broker", "bucket", "compact", "--admin", admin, "--json"]
            process = await asyncio.create_subprocess_exec(
                sys.executable, *command, cwd=ROOT, stdout=asyncio.subprocess.PIPE
            )
            said, _ = await process.communicate()
            assert (process.returncode, json.loads(said)["groups"]) == (0, 0)

    asyncio.run(main())


async def delete_topic(client: Client, name: str) -> None:
    request = messages.DeleteTopicsRequest(topic_names=[name], timeout_ms=5_000)
    response = await client.ask(ApiKey.DELETE_TOPICS, 4, request)
    assert response.responses[0].error_code == 0


@pytest.mark.s3
def test_after_deletion_and_delay_the_bucket_holds_what_the_metadata_know(minio, tmp_path):
    """Topics come and go; puts arrive late, uploads are never completed: in the end nothing is left."""

    async def main():
        directory = tmp_path / "node"
        uri = s3_uri(minio, "left-over")
        location = parse_bucket_uri(uri)
        settings = busy_config(directory, uri, object_prepare_ttl_ms=2_000)
        s3 = boto3.client(
            "s3",
            endpoint_url=minio.endpoint,
            region_name="us-east-1",
            aws_access_key_id=ACCESS_KEY,
            aws_secret_access_key=SECRET_KEY,
        )
        async with running(settings, directory) as node, node.client() as client:
            for n in itertools.count():
                for topic in ("kept", f"dropped-{n % 3}"):
                    error, _ = await client.produce(
                        random.Random(n).randbytes(300_000), topic=topic
                    )
                    assert error == 0
                if n % 3 == 2:
                    await delete_topic(client, f"dropped-{n % 3}")
                await asyncio.sleep(0.15)
                if n >= 11 and node.known().image.objects.next_object_id >= 12:
                    break  # on a busy machine fewer objects are made of as many records
            for n in range(2):
                await delete_topic(client, f"dropped-{n}")

            await node.until_exact()
            now = node.known()
            objects = now.image.objects
            forgotten = [it for it in range(objects.next_object_id) if it not in objects.by_id]
            keys = [object_key(now.cluster_id, it) for it in forgotten[:3]]
            # Two puts that took their time; an upload whose writer has died; what is not ours.
            for key in keys[:2]:
                s3.put_object(Bucket=location.bucket, Key=key, Body=b"late")
            upload = s3.create_multipart_upload(Bucket=location.bucket, Key=keys[2])
            s3.upload_part(
                Bucket=location.bucket,
                Key=keys[2],
                UploadId=upload["UploadId"],
                PartNumber=1,
                Body=bytes(5 * MIB),
            )
            others = s3.create_multipart_upload(Bucket=location.bucket, Key="somebody/elses")
            s3.put_object(Bucket=location.bucket, Key="somebody/elses", Body=b"not ours")
            assert await node.differences() == [f"{it} is left, forgotten" for it in forgotten[:2]]

            await node.until_exact()

            def uploads():
                found = s3.list_multipart_uploads(Bucket=location.bucket).get("Uploads", [])
                return [it["UploadId"] for it in found]

            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(PATIENCE_S):
                    while upload["UploadId"] in uploads():
                        await asyncio.sleep(0.2)
            assert uploads() == [others["UploadId"]]
            found = await node.metrics()
            assert found["headrace_sweep_removed_objects_total"] == 2
            assert found["headrace_sweep_aborted_uploads_total"] == 1
            assert found["headrace_sweep_failures_total"] == 0
            assert s3.get_object(Bucket=location.bucket, Key="somebody/elses")["ContentLength"] == 8
            kept = await client.values(topic="kept")
            assert kept == [random.Random(n).randbytes(300_000) for n in range(len(kept))]
            assert kept

    asyncio.run(main())
