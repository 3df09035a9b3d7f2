"""A service that says nothing does not keep a process from ending."""

import subprocess
import sys

# A service that takes connections and says nothing; the store's call is given up and it is closed.
SILENT_SERVICE = """
import asyncio, socket, sys
from headrace.storage.object_store.s3 import S3ObjectStore
from headrace.storage.object_store.uri import parse_bucket_uri
from headrace.storage.ports import CopiedRange
service = socket.create_server(("127.0.0.1", 0))
uri = parse_bucket_uri(f"s3://bucket?endpoint=http://127.0.0.1:{service.getsockname()[1]}")
keys = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}
async def main():
    store = S3ObjectStore(uri, environment=keys, part_bytes=5 << 20)
    copying = store.compose("00/c/1", [CopiedRange("00/c/2", 0, 10 << 20)])
    putting = store.put("00/c/3", [bytes(6 << 20), b"end"])
    tasks = [asyncio.create_task(it) for it in (copying, putting)]
    loop = asyncio.get_running_loop()
    for _ in tasks:
        await loop.run_in_executor(None, service.accept)
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    await store.close()
asyncio.run(main())
print("at the end", flush=True)
"""


def test_a_silent_service_does_not_keep_the_process():
    ended = subprocess.run(
        [sys.executable, "-c", SILENT_SERVICE],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert ended.stdout == "at the end\n"
