"""The proxy before the bucket, on a bucket in this process."""

import http.client
import shutil
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from tests.cluster.bucket_proxy import BucketProxy, Faults
from tests.integration.s3_fault_server import FaultServer

CONTENT = bytes(range(256)) * 4_000
CODES = {"failed": {500, 503}, "denied": {403}}
ROUNDS = 10


class Bucket:
    """The bucket behind the proxy, as its clients ask for it."""

    def __init__(self, server: FaultServer, proxy: BucketProxy) -> None:
        self.objects = server.bucket.objects
        self.tell = proxy.tell
        self._address = urlsplit(proxy.endpoint).netloc

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self._address, timeout=30)

    def ask(
        self, method: str, key: str, body: bytes | None = None
    ) -> tuple[int, bytes] | Exception:
        """Ask on a connection of its own; return the answer, or how it ended."""
        connection = self.connect()
        try:
            connection.request(method, f"/bucket/{key}", body)
            answer = connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException) as error:
            return error
        finally:
            connection.close()


@pytest.fixture(scope="module")
def proxied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bucket]:
    directory = tmp_path_factory.mktemp("proxy")
    with FaultServer() as server:
        port = urlsplit(server.endpoint).port
        assert port
        proxy = BucketProxy("127.0.0.1", port, directory / "log", lambda it: list(map(str, it)))
        try:
            proxy.start()
            yield Bucket(server, proxy)
            assert not (directory / "log").read_text()
        finally:
            proxy.end()
            shutil.rmtree(directory)


@pytest.fixture
def bucket(proxied: Bucket) -> Bucket:
    proxied.tell(Faults())
    proxied.objects.clear()
    return proxied


def test_without_faults_everything_is_passed_on(bucket: Bucket) -> None:
    connection = bucket.connect()  # one for all
    for number in range(ROUNDS):
        connection.request("PUT", f"/bucket/{number}", CONTENT)
        assert connection.getresponse().read() == b""
        connection.request("GET", f"/bucket/{number}")
        assert connection.getresponse().read() == CONTENT
    connection.close()
    assert len(bucket.objects) == ROUNDS
    assert not bucket.tell(Faults())


@pytest.mark.parametrize("way", ["failed", "denied"])
def test_what_is_refused_is_answered_by_an_error_and_not_carried_out(
    bucket: Bucket, way: str
) -> None:
    bucket.tell(Faults(**{way: 1}))
    for number in range(ROUNDS):
        answer = bucket.ask("PUT", str(number), CONTENT)
        assert isinstance(answer, tuple)
        assert answer[0] in CODES[way]
        assert answer[1].startswith(b"<Error><Code>")
    assert not bucket.objects
    assert bucket.tell(Faults()) == {way: ROUNDS}


def test_what_is_not_heard_of_is_carried_out_and_answered_by_an_error(bucket: Bucket) -> None:
    bucket.tell(Faults(unheard=1))
    answer = bucket.ask("PUT", "a", CONTENT)
    assert isinstance(answer, tuple)
    assert answer[0] in CODES["failed"]
    assert bucket.objects == {"a": CONTENT}
    assert bucket.tell(Faults()) == {"unheard": 1}


def test_what_is_cut_is_neither_written_nor_read(bucket: Bucket) -> None:
    bucket.objects["there"] = CONTENT
    bucket.tell(Faults(cut=1))
    for _ in range(ROUNDS):
        assert isinstance(bucket.ask("PUT", "a", CONTENT), Exception)
        assert isinstance(bucket.ask("GET", "there"), Exception)
    assert bucket.tell(Faults()) == {"cut": 2 * ROUNDS}
    assert bucket.objects == {"there": CONTENT}


def test_what_is_slow_is_done(bucket: Bucket) -> None:
    bucket.tell(Faults(slow=1, slow_ms=20))
    assert bucket.ask("PUT", "a", CONTENT) == (200, b"")
    assert bucket.ask("GET", "a") == (200, CONTENT)
    assert bucket.tell(Faults()) == {"slow": 2}


def test_each_share_is_drawn(bucket: Bucket) -> None:
    bucket.tell(Faults(*[0.2] * 5, slow_ms=1))
    for number in range(100):
        bucket.ask("PUT", str(number), b"few")
    assert bucket.tell(Faults()).keys() == {"failed", "denied", "unheard", "cut", "slow"}
