"""The state of the fault-injecting S3 server: objects, uploads, the faults to come, and what truly happened.

Nothing here knows HTTP. All methods are called with `lock` held by the server's threads, or by a
test while no request is under way.
"""

import random
import re
import threading
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

MIN_PART_BYTES = 5 * 1024 * 1024  # of all parts but the last


@dataclass(frozen=True)
class Answer:
    """What a request gets instead of its own answer."""

    status: int = 0  # 0: the connection is cut
    code: str = ""
    done: bool = False  # whether the request takes effect nevertheless
    late: bool = False  # it takes effect later: at `Bucket.land`
    silent: bool = False  # nothing is answered until the client goes away
    reset: bool = False  # cut by a reset, not by an end
    redirect: bool = False  # with a Location, to the same place
    body: bytes | None = None  # instead of an error's; with status 200
    # Of the request's own answer, which it gets otherwise:
    body_cut_at: int | None = None  # how much of the body is sent before the connection is cut
    short_by: int = 0  # the body lacks its end, and says nothing of that
    flipped_bit: int | None = None  # of the body
    etag: str | None = None
    header: tuple[str, str] | None = None  # one more, or another value
    rewritten: tuple[bytes, bytes] | None = (
        None  # of the body: a pattern, and what stands there instead
    )
    delay_ms: int = 0  # before the first byte
    pieces: int = 1  # the body comes in so many
    piece_delay_ms: int = 0

    @property
    def keeps_answer(self) -> bool:
        """Whether the request is done, and answered by what is its own, more or less."""
        told = self.silent or self.late or self.done or self.status
        return not told and self not in (CUT, RESET)


class Effect(NamedTuple):
    """One entry of the truth: what happened to a key, answered or not."""

    kind: str  # "put" or "delete"
    key: str
    size_bytes: int = 0
    crc: int = 0


class Request(NamedTuple):
    """What was asked."""

    method: str
    key: str
    query: str
    headers: dict[str, str]


@dataclass
class _Rule:
    method: str
    query: str
    key: str
    answer: Answer

    def matches(self, method: str, key: str, query: str) -> bool:
        return self.method in ("", method) and self.query in query and self.key in key


CUT = Answer()
RESET = Answer(reset=True)
CUT_AFTER = Answer(done=True)
SILENT = Answer(silent=True)
SILENT_AFTER = Answer(silent=True, done=True)
SILENT_LATE = Answer(silent=True, late=True)
SLOW_DOWN = Answer(503, "SlowDown")
INTERNAL_ERROR = Answer(500, "InternalError")
ACCESS_DENIED = Answer(403, "AccessDenied")
TOKEN_EXPIRED = Answer(400, "ExpiredToken")
OK_WITH_ERROR = Answer(
    200, body=b"<?xml version='1.0'?>\n<Error><Code>InternalError</Code><Message/></Error>"
)


@dataclass
class Bucket:
    """Faults are consumed by the requests that they match; `always` ones stay until they are lifted."""

    objects: dict[str, bytes] = field(default_factory=dict)
    uploads: dict[str, dict[int, bytes]] = field(default_factory=dict)
    upload_keys: dict[str, str] = field(default_factory=dict)
    faults: deque[_Rule] = field(default_factory=deque)
    standing: list[_Rule] = field(default_factory=list)
    undeletable: list[str] = field(default_factory=list)  # each fails once in a batch
    undeletable_rate: float = 0.0  # of any other key
    injected: int = 0  # faults so far
    on_remove: Callable[[str], object] = field(default=lambda key: None)
    log: list[str] = field(default_factory=list)  # method and query of every request
    requests: list[Request] = field(default_factory=list)
    truth: list[Effect] = field(default_factory=list)
    page_size: int = 1000
    min_part_bytes: int = MIN_PART_BYTES
    clock_offset_s: float = 0.0
    conditions: str = "known"  # or "ignored", or "refused": what is done with If-None-Match
    region: str = ""  # signatures for another are refused; empty: any will do
    lock: threading.RLock = field(default_factory=threading.RLock)
    _late: list[Callable[[], object]] = field(default_factory=list)
    _rates: list[tuple[float, _Rule]] = field(default_factory=list)
    _rng: random.Random = field(default_factory=random.Random)

    # Faults.

    def fail(self, method: str, *answers: Answer, query: str = "", key: str = "") -> None:
        """Give the next requests of that method, with these texts in query and key, these answers."""
        with self.lock:
            self.faults.extend(_Rule(method, query, key, answer) for answer in answers)

    @contextmanager
    def always(
        self, answer: Answer, method: str = "", *, query: str = "", key: str = ""
    ) -> Iterator[None]:
        """Give every such request this answer meanwhile."""
        rule = _Rule(method, query, key, answer)
        with self.lock:
            self.standing.append(rule)
        try:
            yield
        finally:
            with self.lock:
                self.standing.remove(rule)

    def fail_at_random(
        self, rng: random.Random, rates: Sequence[tuple[float, str, str, Answer]]
    ) -> None:
        """From now on fail requests with these probabilities: (probability, method, query, answer)."""
        with self.lock:
            self._rng = rng
            self._rates = [
                (rate, _Rule(method, query, "", it)) for rate, method, query, it in rates
            ]

    def heal(self) -> None:
        """No faults from now on."""
        with self.lock:
            self.faults.clear()
            self.standing.clear()
            self._rates = []
            self.undeletable.clear()
            self.undeletable_rate = 0.0

    def land(self) -> int:
        """Let what is late take effect now; tell how much it was."""
        with self.lock:
            late, self._late = self._late, []
            for act in late:
                act()
            return len(late)

    def fault_for(self, method: str, key: str, query: str) -> Answer | None:
        """The fault of a request, if it has one."""
        answer = self._fault_for(method, key, query)
        self.injected += answer is not None
        return answer

    def _fault_for(self, method: str, key: str, query: str) -> Answer | None:
        for rule in self.faults:
            if rule.matches(method, key, query):
                self.faults.remove(rule)
                return rule.answer
        for rule in self.standing:
            if rule.matches(method, key, query):
                return rule.answer
        for rate, rule in self._rates:
            if rule.matches(method, key, query) and self._rng.random() < rate:
                return rule.answer
        return None

    def postpone(self, act: Callable[[], object]) -> None:
        self._late.append(act)

    def keeps(self, key: str) -> bool:
        """Whether a key of a batch is to stay, with an error of its own."""
        if key in self.undeletable:
            self.undeletable.remove(key)
            return True
        kept = self._rng.random() < self.undeletable_rate
        self.injected += kept
        return kept

    # Truth.

    def store(self, key: str, content: bytes) -> None:
        self.objects[key] = content
        self.truth.append(Effect("put", key, len(content), zlib.crc32(content)))

    def remove(self, key: str) -> None:
        self.on_remove(key)
        if self.objects.pop(key, None) is not None:
            self.truth.append(Effect("delete", key))

    def check_truth(self) -> None:
        """No key ever held two different contents, and what is there is what was put last."""
        contents: dict[str, Effect] = {}
        present: dict[str, Effect] = {}
        for effect in self.truth:
            if effect.kind == "delete":
                del present[effect.key]
                continue
            assert contents.setdefault(effect.key, effect) == effect, f"{effect.key} was rewritten"
            present[effect.key] = effect
        found = {
            key: Effect("put", key, len(it), zlib.crc32(it)) for key, it in self.objects.items()
        }
        assert found == present

    def deletions(self) -> list[str]:
        """Keys in the order in which they went."""
        return [effect.key for effect in self.truth if effect.kind == "delete"]

    # Multipart uploads.

    def begin_upload(self, key: str) -> str:
        upload_id = f"upload-{len(self.log)}"
        self.uploads[upload_id] = {}
        self.upload_keys[upload_id] = key
        return upload_id

    def complete(self, upload_id: str, wanted: Sequence[tuple[int, str]]) -> str:
        """Make the object; return the code of what is wrong, if anything is."""
        parts = self.uploads.get(upload_id)
        if parts is None:
            return "NoSuchUpload"
        if any(etag_of(parts.get(number, b"-")) != etag for number, etag in wanted):
            return "InvalidPart"
        contents = [parts[number] for number, _ in sorted(wanted)]
        if any(len(content) < self.min_part_bytes for content in contents[:-1]):
            return "EntityTooSmall"
        self.store(self.upload_keys[upload_id], b"".join(contents))
        self.abort(upload_id)
        return ""

    def abort(self, upload_id: str) -> None:
        self.uploads.pop(upload_id, None)
        self.upload_keys.pop(upload_id, None)


def etag_of(content: bytes) -> str:
    """What is said of some content."""
    return f'"{zlib.crc32(content):08x}"'


def flip(content: bytes, bit: int) -> bytes:
    """Return content with one bit changed."""
    damaged = bytearray(content)
    bit %= len(damaged) * 8
    damaged[bit // 8] ^= 1 << bit % 8
    return bytes(damaged)


def range_of(header: str | None, size: int) -> tuple[int, int] | None:
    """[start, end) of a Range header; None when the object has no such bytes."""
    if header is None:
        return 0, size
    found = re.fullmatch(r"bytes=(\d+)-(\d*)", header)
    assert found is not None, header
    start = int(found[1])
    end = min(int(found[2]) + 1, size) if found[2] else size
    return (start, end) if start < size else None
