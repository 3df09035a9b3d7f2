"""Whole nodes whose bucket answers with what cannot be parsed: it ends none, and is told."""

import asyncio
import contextlib
import dataclasses
import json
import random
import urllib.error
import urllib.request

from headrace.config.node import MIB
from tests.integration.s3_fault_server import Answer, FaultServer
from tests.integration.test_bucket_housekeeping import PATIENCE_S, busy_config, running

# Botocore parses these, and raises ValueError.
LIES = (
    ("GET", "list-type", Answer(rewritten=(rb"<LastModified>[^<]*<", b"<LastModified>n/a<"))),
    ("GET", "uploads", Answer(rewritten=(rb"<IsTruncated>", b"<MaxUploads>?</MaxUploads><IsTruncated>"))),
    ("PUT", "", Answer(header=("x-amz-object-size", "zz"))),
    ("HEAD", "", Answer(header=("x-amz-mp-parts-count", "zz"))),
)  # fmt: skip
VALUES = [random.Random(n).randbytes(900_000) for n in range(10)]
FAILURES = "headrace_object_store_failures_total"


async def until(happened, what):
    async with asyncio.timeout(PATIENCE_S):
        while not await happened():
            await asyncio.sleep(0.1)


def test_a_bucket_that_lies_ends_no_node(tmp_path, monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "a")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "b")

    async def main(server):
        settings = busy_config(tmp_path / "node", f"s3://bucket?endpoint={server.endpoint}")
        # Blocks of more than 4 MiB: boto3 sends them.
        storage = dataclasses.replace(
            settings.storage, upload_threshold_bytes=6 * MIB, upload_interval_ms=1_500
        )
        settings = dataclasses.replace(settings, storage=storage)
        async with running(settings, tmp_path / "node") as node, node.client() as client:

            async def counted(name):
                found = await node.metrics()
                return sum(it for key, it in found.items() if key.startswith(name))

            async def bucket_check():
                def ask():
                    try:
                        with urllib.request.urlopen(f"{node.address.admin_url}/readyz") as answer:
                            text = answer.read()
                    except urllib.error.HTTPError as error:
                        text = error.read()
                    return next(it for it in json.loads(text)["checks"] if it["name"] == "bucket")

                return await asyncio.to_thread(ask)

            async def produce(values):
                for value in values:
                    error, _ = await client.produce(value, topic="kept")
                    assert error == 0

            await produce(VALUES[:5])
            with contextlib.ExitStack() as lies:
                for method, query, answer in LIES:
                    lies.enter_context(server.bucket.always(answer, method, query=query))
                await produce(VALUES[5:])

                async def told():
                    check = await bucket_check()
                    return "put has failed" in check["reason"] and "ValueError" in check["reason"]

                await until(told, "readiness")

                async def failed():
                    swept = await counted("headrace_sweep_failures_total")
                    return swept >= 4 and await counted(FAILURES) >= 2

                await until(failed, "failures")
                assert await counted("headrace_sweep_rounds_total") in (0, 1)
            laps = await counted("headrace_sweep_rounds_total")

            async def healed():
                if await counted("headrace_log_cache_unuploaded_bytes"):
                    return False
                return await counted("headrace_sweep_rounds_total") > laps

            await until(healed, "everything is done")
            found = []
            while len(found) < len(VALUES):
                found += await client.values(len(found), topic="kept")
            assert found == VALUES
            assert (await bucket_check())["ok"]

    with FaultServer() as server:
        asyncio.run(main(server))
        server.bucket.check_truth()
