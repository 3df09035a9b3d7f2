"""What a waiting Fetch counts, and when it has enough."""

from headrace.broker.fetch.enough import Enough
from headrace.broker.fetch.session import FetchSession, SessionPartition
from headrace.broker.fetch.waiting import CountedBytes, WaitingFetch
from tests.unit.broker.fetch.session_scene import asks, session_of


class Scene:
    """A session of four partitions, whose bytes the test sets."""

    def __init__(self, enough_bytes: int = 100) -> None:
        self.session: FetchSession = session_of({"t": [asks(it) for it in range(4)]}, by_id=False)
        self.targets = self.session.look()
        self.sizes = dict.fromkeys(self.targets, 0)
        self.unknown: set[SessionPartition] = set()
        self.counted: list[int] = []
        enough = Enough(min_bytes=enough_bytes, max_bytes=1 << 20, may_wait=True)
        self.waiting = WaitingFetch(self.session, enough, self.count)

    def count(self, target: SessionPartition, before: CountedBytes | None) -> CountedBytes | None:
        self.counted.append(target.index)
        if target in self.unknown:
            return None
        start = before.end_offset if before else 0
        size_bytes = before.size_bytes if before else 0
        return CountedBytes(self.sizes[target], size_bytes + self.sizes[target] - start, None)

    def move(self, index: int, size_bytes: int) -> None:
        target = self.targets[index]
        self.sizes[target] += size_bytes
        self.session.partition_moved(target)


def test_it_adds_up_what_comes() -> None:
    scene = Scene()
    scene.waiting.begin()
    scene.waiting.add([(scene.targets[0], CountedBytes(0, 30, None))])
    for index, size_bytes, together in ((1, 30, 60), (1, 30, 90), (2, 9, 99), (3, 1, 100)):
        assert not scene.waiting.has_enough
        scene.move(index, size_bytes)
        assert not scene.waiting.count(10)
        assert scene.waiting.available_bytes == together
    assert scene.waiting.has_enough
    assert scene.counted == [1, 1, 2, 3]


def test_it_counts_no_more_than_it_is_told_at_a_time() -> None:
    scene = Scene()
    for index in range(4):
        scene.move(index, 1)
    assert scene.waiting.count(3)
    assert scene.waiting.available_bytes == 3
    assert not scene.waiting.count(3)
    assert scene.waiting.available_bytes == 4


def test_a_partition_that_must_be_read_ends_the_count() -> None:
    scene = Scene()
    scene.unknown.add(scene.targets[2])
    scene.move(2, 1)
    assert not scene.waiting.count(10)
    assert scene.waiting.must_read
    assert scene.session.look() == scene.targets
    scene.waiting.begin()
    assert not scene.waiting.must_read


def test_what_moves_while_it_is_read_is_counted_once_it_waits() -> None:
    """The read has found it empty, and its session is told of a move once."""
    scene = Scene()
    scene.move(1, 60)
    scene.waiting.begin()
    scene.waiting.add([(scene.targets[1], CountedBytes(0, 0, None))])
    scene.move(2, 40)  # while others of the read are added
    assert not scene.waiting.count(10)
    assert scene.waiting.has_enough
