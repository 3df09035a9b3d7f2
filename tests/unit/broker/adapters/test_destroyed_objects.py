"""DestroyedObjects beside a model of the bucket: publications that take their time, restarts, and the time itself."""

import copy
import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from headrace.broker.adapters.deletable_objects import MIN_LISTING_MS
from headrace.broker.adapters.destroyed_objects import DestroyedObjects
from headrace.metadata.leader.publishing import MAX_PUBLISH_S
from headrace.metadata.published import NO_SNAPSHOT

RETENTION_MS = 5_000


@dataclass
class Model:
    """A cluster with one broker; each object's id is the entry that destroys it."""

    index: int = 1
    now_ms: int = 0
    objects: DestroyedObjects = field(default_factory=lambda: DestroyedObjects(RETENTION_MS))
    destroyed: set[int] = field(default_factory=set)
    deleted: set[int] = field(default_factory=set)
    under_way: list[tuple[int, int]] = field(default_factory=list)  # (index, when it is given up)
    newest: int = NO_SNAPSHOT
    told: tuple[int, int] = (NO_SNAPSHOT, 0)  # newest snapshot and index of an earlier listing
    told_ms: int = 0

    def destroy(self, amount: int) -> None:
        for _ in range(amount % 3 + 1):
            self.index += 1
            self.destroyed.add(self.index)

    def begin_publication(self, _: int) -> None:
        self.under_way.append((self.index, self.now_ms + int(MAX_PUBLISH_S * 1000)))

    def end_publication(self, amount: int) -> None:
        """Any of those under way arrives, also of a leader that was deposed."""
        if self.under_way:
            index, _ = self.under_way.pop(amount % len(self.under_way))
            self.newest = max(self.newest, index)

    def pass_time(self, amount: int) -> None:
        self.now_ms += (1, MIN_LISTING_MS, RETENTION_MS, 60_000, 400_000)[amount % 5]
        self.under_way = [it for it in self.under_way if it[1] > self.now_ms]

    def restart(self, _: int) -> None:
        self.objects = DestroyedObjects(RETENTION_MS)

    def list_snapshots(self, _: int) -> None:
        self.told, self.told_ms = (self.newest, self.index), self.now_ms

    def delete(self, _: int) -> None:
        """As a round does: what the bucket told may be as old as the bound."""
        objects = self.objects
        objects.note(self.destroyed, self.index, self.now_ms)
        if self.now_ms - self.told_ms >= MIN_LISTING_MS:
            self.list_snapshots(0)
        objects.take_listing(*self.told)
        gone = {
            it
            for it in self.destroyed
            if not objects.is_retained(it, self.now_ms)
            and not objects.awaits_snapshot(it, self.now_ms)
        }
        self.destroyed -= gone
        self.deleted |= gone

    def check(self) -> None:
        """A rebuild of this moment names every object that the newest snapshot does not have as destroyed."""
        if self.newest != NO_SNAPSHOT:
            assert all(it <= self.newest for it in self.deleted)


ACTIONS = (
    Model.destroy,
    Model.begin_publication,
    Model.end_publication,
    Model.pass_time,
    Model.restart,
    Model.list_snapshots,
    Model.delete,
)


def histories(number: int) -> Iterator[Model]:
    """Each state of so many random histories."""
    for seed in range(number):
        rng, model = random.Random(seed), Model()
        for _ in range(60):
            rng.choice(ACTIONS)(model, rng.randrange(60))
            yield model


def test_a_rebuild_at_any_moment_finds_every_object_that_it_names() -> None:
    for model in histories(1_000):
        model.check()


def test_in_a_quiet_cluster_everything_goes_after_one_publication() -> None:
    for model in histories(20):
        later = copy.deepcopy(model)
        later.under_way.clear()
        later.delete(0)
        later.begin_publication(0)
        later.end_publication(0)
        later.pass_time(2)
        later.delete(0)
        assert not later.destroyed
