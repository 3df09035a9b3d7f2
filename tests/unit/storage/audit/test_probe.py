"""What a probe makes of stores that keep their promises, and of some that do not."""

import asyncio
import os
import random

import pytest

from headrace.storage.audit import rights
from headrace.storage.audit.probe import _conditional_steps, _Probe, probe_bucket, refusal_of
from headrace.storage.audit.rights import Status
from headrace.storage.errors import ObjectStoreError
from headrace.storage.object_store.memory import MemoryObjectStore
from headrace.storage.object_store.retrying import RequestRefusedError


def probe_file(directory, **options):
    return asyncio.run(
        probe_bucket(f"file://{directory}", rng=random.Random(0), environment={}, **options)
    )


def test_a_directory(tmp_path):
    told = []
    report = probe_file(tmp_path, on_outcome=told.append)
    assert [it.step for it in report.outcomes] == [
        rights.CONDITIONAL_PUT,
        rights.RACE,
        rights.CLIENT,
        rights.DELETE_MANY,
    ]
    assert {it.status for it in report.outcomes} == {Status.OK}
    assert told == report.outcomes
    assert list(tmp_path.rglob("*")) == []


def test_what_a_directory_holds_stays_as_it_was(tmp_path):
    (tmp_path / ".tmp").mkdir()
    left = tmp_path / ".tmp" / "1-2-3"
    left.write_bytes(b"half")
    os.utime(left, (0, 0))
    probe_file(tmp_path)
    assert sorted(tmp_path.rglob("*")) == [tmp_path / ".tmp", left]


def test_another_probe_s_keys_are_left_alone(tmp_path):
    other = tmp_path / "headrace-probe" / "other" / "put"
    other.parent.mkdir(parents=True)
    other.write_text("x")
    probe_file(tmp_path)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [other]


class Overwriting(MemoryObjectStore):
    """Ignores the condition."""

    async def create(self, key, parts):
        self.objects[key] = b"".join(parts)
        return True


class Careless(MemoryObjectStore):
    """Looks before it writes, which is not enough."""

    async def create(self, key, parts):
        taken = key in self.objects
        await asyncio.sleep(0)
        if not taken:
            self.objects[key] = b"".join(parts)
        return not taken


class Lying(MemoryObjectStore):
    """Tells the right one that it has won, and keeps what the last one wrote."""

    async def create(self, key, parts):
        won = key not in self.objects
        self.objects[key] = b"".join(parts)
        return won


class Refusing(MemoryObjectStore):
    """Has no right to write."""

    async def create(self, key, parts):
        raise RequestRefusedError("403 Forbidden: <Code>AccessDenied</Code><Message>no</Message>")


def conditional(store):
    async def main():
        probe = _Probe(store, random.Random(0), 8, lambda _: None, is_directory=False)
        await _conditional_steps(probe)
        return probe.report.outcomes

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("store", "statuses", "text"),
    [
        (MemoryObjectStore, (Status.OK, Status.OK), "1 of 8 won"),
        (Overwriting, (Status.FAILED, Status.SKIPPED), "If-None-Match is ignored"),
        (Careless, (Status.OK, Status.FAILED), "8 of 8 conditional puts"),
        (Lying, (Status.FAILED, Status.SKIPPED), "overwrote the object"),
        (Refusing, (Status.DENIED, Status.SKIPPED), "AccessDenied: no"),
    ],
)
def test_conditional_puts(store, statuses, text):
    outcomes = conditional(store())
    assert tuple(it.status for it in outcomes) == statuses
    assert any(text in it.detail for it in outcomes)


def test_a_directory_that_cannot_be_written_is_no_question_of_rights():
    async def main():
        probe = _Probe(MemoryObjectStore(), random.Random(0), 8, lambda _: None, is_directory=True)

        async def fail():
            raise ObjectStoreError("bucket directory: [Errno 28] No space left on device")

        await probe.attempt(rights.CLIENT, lambda: probe.ask(rights.PUT_OBJECT, fail()))
        return probe.report

    report = asyncio.run(main())
    assert report.missing_actions == []
    assert report.outcomes[0].status == Status.FAILED
    assert "No space left" in report.outcomes[0].detail


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (
            RequestRefusedError(
                "put: Client error with status 403 Forbidden: <Code>AccessDenied</Code>"
            ),
            403,
            "AccessDenied",
        ),
        (
            ObjectStoreError("x: status 503 Service Unavailable: <Code>SlowDown</Code>"),
            503,
            "SlowDown",
        ),
        (
            ObjectStoreError("delete: failed for key k: Access Denied. (code: AccessDenied)"),
            403,
            "AccessDenied",
        ),
        (ObjectStoreError("no answer within 30 s"), 0, "ObjectStoreError"),
    ],
)
def test_what_the_client_tells_is_understood(error, status, code):
    refusal = refusal_of(error)
    assert (refusal.http_status, refusal.code) == (status, code)
