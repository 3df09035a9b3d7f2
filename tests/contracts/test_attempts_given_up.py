"""`s3://`: an attempt whose request hangs, any of them, and is given up, changes nothing that a later one published.

Of `file://` the same is in tests/unit/storage/object_store/test_attempts_given_up.py.
"""

import asyncio
import contextlib
import random
from collections.abc import Awaitable, Callable
from functools import partial

import pytest

from headrace.storage.errors import ObjectStoreError
from headrace.storage.object_store import s3, s3_multipart
from headrace.storage.object_store.factory import ensure_bucket, open_object_store
from headrace.storage.object_store.retrying import RetryPolicy
from headrace.storage.ports import CopiedRange, ObjectStore
from tests.contracts.holding_proxy import HoldingProxy
from tests.contracts.object_stores import PART_BYTES, s3_uri
from tests.integration.s3_fault_server import FaultServer

MIB = 1024 * 1024
KEY = "00/c/7"
MAX_REQUESTS = 30  # of one attempt
ENDS_BYTES = 200  # less than any part
SMALL_PART_BYTES = 64 * 1024  # in place of the 5 MiB that S3 wants


async def chunks(parts: list[bytes]):
    for part in parts:
        yield [part]


Write = Callable[[ObjectStore, list[bytes], int], Awaitable[object]]


async def put(store: ObjectStore, parts: list[bytes], _: int) -> None:
    await store.put(KEY, tuple(parts))


async def put_stream(store: ObjectStore, parts: list[bytes], _: int) -> None:
    await store.put_stream(KEY, chunks(parts))


async def compose(store: ObjectStore, parts: list[bytes], part_bytes: int) -> None:
    await store.compose(KEY, [CopiedRange("source", 0, part_bytes), *parts])


# How it is written, whether its first part is as large as a request's, and how many of these the largest request takes.
WRITES: dict[str, tuple[Write, bool, int]] = {
    "small": (put, False, 1),
    "single": (put, True, 12),
    "parts": (put, True, 1),
    "streamed": (put_stream, False, 1),
    "streamed in parts": (put_stream, True, 1),
    "composed": (compose, False, 1),
}


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> int:
    """Have objects in several parts that are small."""
    monkeypatch.setattr(s3, "MIN_PART_BYTES", SMALL_PART_BYTES)
    monkeypatch.setattr(s3, "MIN_LARGE_BYTES", SMALL_PART_BYTES)
    small = partial(s3_multipart.plan_parts, min_part_bytes=SMALL_PART_BYTES)
    monkeypatch.setattr(s3_multipart, "plan_parts", small)
    return SMALL_PART_BYTES


async def ends_of(store: ObjectStore, size: int) -> tuple[bytes, bytes]:
    """Read what tells one attempt's bytes from another's: something of the first part and of the last."""
    length = min(size, ENDS_BYTES)
    ranges = ((0, length), (size - length, size))
    first, last = [bytes(await store.get_range(KEY, *it)) for it in ranges]
    return first, last


async def second_attempt(
    endpoint: str, nth: int, kind: str, part_bytes: int, *, is_same: bool
) -> tuple[bool, object, object]:
    """Give an attempt up when its n-th request hangs, write again, let the first request arrive.

    Returns:
        Whether it hung, the ends of what was published when the second had succeeded, and of what is there at last.
    """
    write, is_large, count = WRITES[kind]
    parts = [random.Random(it).randbytes(it) for it in (part_bytes if is_large else 700, 300)]
    async with HoldingProxy(endpoint) as proxy:
        uri = s3_uri(proxy.endpoint)
        policy = RetryPolicy(max_attempts=2, backoff_ms_initial=1)
        store, other = (
            open_object_store(
                uri, rng=random.Random(0), part_bytes=count * part_bytes, policy=policy
            )
            for _ in range(2)
        )
        if kind == "composed":
            await store.put("source", (random.Random(0).randbytes(part_bytes),))
        proxy.hold(nth)
        # Other bytes than the second's, to tell them apart, where the service is asked to refuse them.
        late = parts if is_same else [part[::-1] for part in parts]
        attempt = asyncio.ensure_future(write(store, late, part_bytes))
        held = asyncio.create_task(proxy.is_holding.wait())
        await asyncio.wait((attempt, held), return_when=asyncio.FIRST_COMPLETED)
        hung = proxy.is_holding.is_set()
        proxy.hold_no_more()
        held.cancel()
        attempt.cancel()
        await asyncio.gather(attempt, held, return_exceptions=True)
        with contextlib.suppress(ObjectStoreError):  # refused: the first had published already
            await write(other, parts, part_bytes)
        before = dict(await other.list(""))
        size = before[KEY]
        published = await ends_of(other, size)
        await proxy.land()
        found = await ends_of(other, size)
        assert dict(await other.list("")) == before
        await asyncio.gather(store.close(), other.close())
    return hung, published, found


def hang_in_each(endpoint: str, kind: str, part_bytes: int, *, is_same: bool) -> int:
    """Let one request after the other hang; tell how many there were."""
    for nth in range(1, MAX_REQUESTS):
        hung, published, found = asyncio.run(
            second_attempt(endpoint, nth, kind, part_bytes, is_same=is_same)
        )
        assert found == published, f"hung in request {nth}"
        if not hung:
            return nth - 1
    raise AssertionError("an attempt takes more requests than it should")


@pytest.mark.parametrize(
    ("kind", "conditions"),
    [
        *((kind, "known") for kind in WRITES),
        *((kind, "ignored") for kind in ("small", "parts", "composed")),
        *((kind, "refused") for kind in ("small", "parts")),  # asked once, and then left out
    ],
)
def test_whatever_request_it_hung_in(kind: str, conditions: str, small_parts: int) -> None:
    """Without conditions a late request writes the same bytes once more."""
    with FaultServer() as server:
        server.bucket.conditions = conditions
        server.bucket.min_part_bytes = small_parts
        asyncio.run(ensure_bucket(s3_uri(server.endpoint)))
        requests = hang_in_each(server.endpoint, kind, small_parts, is_same=conditions != "known")
        assert requests >= (1 if kind in ("small", "single", "streamed") else 4)
        if conditions == "known":
            written = [it.key for it in server.bucket.truth]
            assert len(written) == len(set(written)), "a published key was written again"


@pytest.mark.slow
@pytest.mark.s3
@pytest.mark.parametrize("kind", WRITES)
def test_whatever_request_it_hung_in_of_a_real_server(kind: str, minio) -> None:
    asyncio.run(ensure_bucket(s3_uri(minio.endpoint)))
    assert hang_in_each(minio.endpoint, kind, PART_BYTES, is_same=False) >= 1


@pytest.mark.parametrize("size", [0, 1000, 6 * MIB])
def test_a_key_with_another_content_is_refused(size: int) -> None:
    async def scenario(endpoint: str) -> None:
        uri = s3_uri(endpoint)
        store = open_object_store(
            uri,
            rng=random.Random(0),
            part_bytes=PART_BYTES,
            policy=RetryPolicy(max_attempts=2, backoff_ms_initial=1),
        )
        first = random.Random(0).randbytes(size)
        await store.put(KEY, (first,))
        await store.put(KEY, (first[:500], first[500:]))
        for other in (first[:-1] + b"?", first + b"?"):
            for write in (
                store.put(KEY, (other,)),
                store.put_stream(KEY, chunks([other])),
                store.compose(KEY, [other]),
            ):
                with pytest.raises(ObjectStoreError):
                    await write
        await store.close()

    with FaultServer() as server:
        asyncio.run(scenario(server.endpoint))
        assert len(server.bucket.truth) == 1
        assert server.bucket.uploads == {}


def test_a_service_that_refuses_conditions_is_asked_once() -> None:
    async def scenario(endpoint: str) -> None:
        store = open_object_store(s3_uri(endpoint), rng=random.Random(0), part_bytes=PART_BYTES)
        for number in range(3):
            await store.put(f"small/{number}", (b"x",))
            await store.put(f"single/{number}", (bytes(4 * MIB),))
            await store.put_stream(f"parts/{number}", chunks([bytes(PART_BYTES), b"end"]))
        assert store.statistics.retries == 0
        assert not await store.list("none")
        await store.close()

    with FaultServer() as server:
        server.bucket.conditions = "refused"
        asyncio.run(scenario(server.endpoint))
        asked = [it for it in server.bucket.requests if "if-none-match" in it.headers]
        assert len(asked) == 1
        assert len(server.bucket.objects) == 9
