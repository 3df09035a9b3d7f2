"""`file://`: an attempt that hangs in any system call, and is given up, changes nothing that a later one published."""

import asyncio
import contextlib
import errno
import os
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from headrace.storage.errors import ObjectStoreError
from headrace.storage.object_store import filesystem
from headrace.storage.object_store.direct_append import MIN_DIRECT_BYTES
from headrace.storage.object_store.filesystem import FileObjectStore
from headrace.storage.ports import CopiedRange

CALLS = (
    "close",
    "fsync",
    "link",
    "mkdir",
    "open",
    "pread",
    "rename",
    "stat",
    "unlink",
    "write",
    "writev",
)
KEY = "00/c/7"


class Hanging:
    """Holds up the n-th system call of the first thread that makes one, until it is let go."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, nth: int) -> None:
        self.hung = threading.Event()
        self.go_on = threading.Event()
        self.armed = False
        self._nth = nth
        self._count = 0
        for name in CALLS:
            monkeypatch.setattr(os, name, self._wrapped(getattr(os, name)))

    def _wrapped(self, call: Callable[..., object]) -> Callable[..., object]:
        def hanging(*arguments: object, **named: object) -> object:
            if self.armed and threading.current_thread().name.startswith("bucket-"):
                self._count += 1
                if self._count == self._nth:
                    self.armed = False
                    self.hung.set()
                    assert self.go_on.wait(30)
            return call(*arguments, **named)

        return hanging


async def chunks(parts: list[bytes]):
    for part in parts:
        yield [part]


Write = Callable[[FileObjectStore, list[bytes]], Awaitable[object]]
WRITES: dict[str, tuple[Write, int]] = {
    "small": (lambda store, parts: store.put(KEY, tuple(parts)), 1000),
    "large": (lambda store, parts: store.put(KEY, tuple(parts)), MIN_DIRECT_BYTES),
    "streamed": (lambda store, parts: store.put_stream(KEY, chunks(parts)), 1000),
    "composed": (
        lambda store, parts: store.compose(
            KEY, [CopiedRange("source", 0, len(parts[0])), *parts[1:]]
        ),
        1000,
    ),
}


async def second_attempt(
    root: Path, hanging: Hanging, write: Write, parts: list[bytes]
) -> tuple[bool, bytes, bytes]:
    """Give an attempt up where it hangs, write again, let the first go on.

    Returns:
        Whether it hung, what was published when the second had succeeded, and what is in the end.
    """
    store, other = FileObjectStore(root), FileObjectStore(root)
    await store.put("source", (parts[0],))
    hanging.armed = True
    # Other bytes than the second's, to tell them apart; but what it copies is one source.
    attempt = asyncio.create_task(write(store, [parts[0], *map(bytes.swapcase, parts[1:])]))
    loop = asyncio.get_running_loop()
    waiting = loop.run_in_executor(None, hanging.hung.wait, 30)
    await asyncio.wait((attempt, waiting), return_when=asyncio.FIRST_COMPLETED)
    hung = hanging.hung.is_set()
    hanging.armed = False
    hanging.hung.set()
    attempt.cancel()
    await asyncio.gather(attempt, return_exceptions=True)
    with contextlib.suppress(ObjectStoreError):  # refused, where the first had published already
        await write(other, list(parts))
    published = (root / KEY).read_bytes()
    hanging.go_on.set()
    for each in (store, other):
        for pool in (each._writers, each._background):
            await loop.run_in_executor(None, pool.shutdown)
        await each.close()
    return hung, published, (root / KEY).read_bytes()


def test_a_key_with_another_content_is_refused(tmp_path: Path) -> None:
    async def scenario() -> None:
        store = FileObjectStore(tmp_path)
        await store.put(KEY, (b"first",))
        with pytest.raises(ObjectStoreError, match="has another content"):
            await store.put(KEY, (b"other",))
        await store.put(KEY, (b"fir", b"st"))
        await store.close()

    asyncio.run(scenario())
    assert (tmp_path / KEY).read_bytes() == b"first"


@pytest.mark.parametrize("content", [b"first", b"other"])
def test_without_hard_links(content: bytes, tmp_path: Path, monkeypatch) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(errno.EPERM, "no hard links here")

    monkeypatch.setattr(Path, "hardlink_to", refused)

    async def scenario() -> None:
        store = FileObjectStore(tmp_path)
        await store.put(KEY, (b"first",))
        if content == b"first":
            await store.put(KEY, (content,))
        else:
            with pytest.raises(ObjectStoreError, match="has another content"):
                await store.put(KEY, (content,))
        await store.close()

    asyncio.run(scenario())
    assert (tmp_path / KEY).read_bytes() == b"first"


@pytest.mark.parametrize("kind", WRITES)
def test_whatever_call_it_hung_in(kind: str, tmp_path: Path, monkeypatch) -> None:
    write, part_bytes = WRITES[kind]
    parts = [letter * part_bytes for letter in (b"a", b"b", b"c")]
    whole = b"".join(parts)
    other = parts[0] + b"".join(parts[1:]).swapcase()
    hung_in = 0
    for nth in range(1, 100):
        with monkeypatch.context() as context:
            context.setattr(filesystem, "STEP_BYTES", MIN_DIRECT_BYTES)
            hanging = Hanging(context, nth)
            root = tmp_path / str(nth)
            hung, published, content = asyncio.run(second_attempt(root, hanging, write, parts))
        assert published in (whole, other), f"hung in call {nth}"
        assert content == published, f"hung in call {nth}"
        objects = [it for it in root.rglob("*") if it.is_file() and it.parent.name != ".tmp"]
        assert sorted(it.name for it in objects) == ["7", "source"]
        hung_in += hung
        if not hung:
            break
    assert hung_in >= 8, "each of its system calls was tried"
