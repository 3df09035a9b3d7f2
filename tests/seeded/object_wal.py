"""Mistakes in the write-ahead log that is made of objects."""

from tests.seeded.bug import SeededBug, Simulated

_RACE = (
    "tests/property/test_object_wal_race.py::test_what_was_acknowledged_is_found_by_the_successor"
)
_UNIT = "tests/unit/wal/objects"

BUGS = (
    SeededBug(
        "object-01",
        "acknowledged out of order",
        "wal/objects/commit.py",
        "ObjectCommit.settled",
        """
            while self._writing and self._writing[0].settled:
                self._confirm(self._writing.popleft())
        """,
        """
            self._writing.remove(outgoing)
            self._confirm(outgoing)
        """,
        f"{_UNIT}/test_commit.py::test_confirmed_in_the_order_of_numbers",
        simulated=Simulated("WALs in a stormy bucket"),
    ),
    SeededBug(
        "object-02",
        "whatever is in an object's way is taken for it",
        "wal/objects/writer.py",
        "ObjectWriter._put",
        "require_own(existing.header, outgoing.content[0], key)",
        "pass",
        _RACE,
    ),
    SeededBug(
        "object-03",
        "the numbers behind the fence are left to the old owner",
        "wal/objects/takeover.py",
        "Takeover.take_window",
        "range(walk.number + 1, walk.number + WINDOW)",
        "range(0)",
        _RACE,
    ),
    SeededBug(
        "object-04",
        "the new owner's numbers begin among those of the old one",
        "wal/objects/takeover.py",
        "Takeover.take_window",
        "return walk.number + WINDOW",
        "return walk.number + 1",
        _RACE,
    ),
    SeededBug(
        "object-05",
        "a fence that lost its race is taken for created",
        "wal/objects/takeover.py",
        "Takeover._step",
        """
            if existing is None or bytes(existing.header or b"") == content:
                walk.created()
            else:
                walk.lost_race()
        """,
        """
            if existing is None or bytes(existing.header or b"") == content:
                walk.created()
            else:
                walk.created()
        """,
        _RACE,
    ),
    SeededBug(
        "object-06",
        "nobody looks whether the owner had been where the fence is",
        "wal/objects/walk.py",
        "Walk.listed",
        "self._claims.released > self.number or self._passed_stray_fence()",
        "self._passed_stray_fence()",
        _RACE,
    ),
    SeededBug(
        "object-07",
        "a fence that stopped nobody voids what is behind it",
        "wal/objects/walk.py",
        "Walk._passed_stray_fence",
        "fence is not None and fence < head <= self._void_to",
        "False",
        f"{_UNIT}/test_walk.py::test_a_stray_fence_of_somebody_else_voids_nothing",
    ),
    SeededBug(
        "object-08",
        "what lies behind a fence is recovered",
        "wal/objects/walk.py",
        "Walk._is_void",
        "not writer.owns(header)",
        "False",
        f"{_UNIT}/test_walk.py::test_void_behind_a_fence",
    ),
    SeededBug(
        "object-09",
        "a hole in what was confirmed is taken for the end",
        "wal/objects/walk.py",
        "Walk.found",
        "self.number in self._listed or self._seems_lost",
        "False",
        f"{_UNIT}/test_walk.py::test_a_hole_below_what_was_confirmed_is_refused",
    ),
    SeededBug(
        "object-10",
        "numbers run further ahead than a successor fences",
        "wal/objects/commit.py",
        "ObjectCommit._may_go",
        """
            (
                not self._halted
                and self._has_content
                and self.inflight < self._limits.max_inflight
                and self._next_number < self.confirmed_number + REACH
            )
        """,
        "(not self._halted and self._has_content and self.inflight < self._limits.max_inflight)",
        f"{_UNIT}/test_commit.py::test_no_number_goes_further_than_the_window_beyond_the_first_unconfirmed",
    ),
    SeededBug(
        "object-11",
        "released objects are deleted before that is durable",
        "wal/objects/commit.py",
        "ObjectCommit.next_object",
        """
            self._told_confirmed = outgoing.header.confirmed
            self._refresh_wanted = False
        """,
        """
            self.durable_head = outgoing.header.released
            self._told_confirmed = outgoing.header.confirmed
            self._refresh_wanted = False
        """,
        f"{_UNIT}/test_commit.py::test_what_is_released_is_told_and_then_free",
    ),
    SeededBug(
        "object-12",
        "released one object too many",
        "wal/objects/commit.py",
        "ObjectCommit._stamp",
        """
            ObjectHeader(
                kind=Kind.DATA if batch.records else Kind.TRIM,
                cluster_id=generation.cluster_id,
                node_id=generation.node_id,
                node_epoch=generation.node_epoch,
                generation_id=generation.generation_id,
                number=self._next_number,
                released=self.confirmed_number if head is None else head.number,
                confirmed=self.confirmed_number,
                trim_offset=self.trim_offset,
                base_offset=batch.base_offset,
                length=batch.length,
                capacity_bytes=generation.capacity_bytes,
                records=batch.records,
            )
        """,
        """
            ObjectHeader(
                kind=Kind.DATA if batch.records else Kind.TRIM,
                cluster_id=generation.cluster_id,
                node_id=generation.node_id,
                node_epoch=generation.node_epoch,
                generation_id=generation.generation_id,
                number=self._next_number,
                released=self.confirmed_number if head is None else head.number + 1,
                confirmed=self.confirmed_number,
                trim_offset=self.trim_offset,
                base_offset=batch.base_offset,
                length=batch.length,
                capacity_bytes=generation.capacity_bytes,
                records=batch.records,
            )
        """,
        _RACE,
    ),
    SeededBug(
        "object-13",
        "fences are deleted while requests may be under way",
        "wal/objects/deletion.py",
        "Deletion._sweep",
        "asyncio.sleep(FENCE_RETENTION_S)",
        "asyncio.sleep(1)",
        f"{_UNIT}/test_log.py::test_fences_are_kept_as_long_as_requests_may_be_under_way",
    ),
    SeededBug(
        "object-14",
        "what was recovered is deleted before the reset is durable",
        "wal/objects/writer.py",
        "ObjectWriter.begin",
        """
            await self._until_quiet()
            self._deletion.add(unneeded)
            self._deletion.start()
        """,
        """
            self._deletion.add(unneeded)
            self._deletion.start()
            await self._until_quiet()
        """,
        f"{_UNIT}/test_log.py::test_what_was_recovered_is_deleted_once_the_reset_is_durable",
    ),
    SeededBug(
        "object-15",
        "two who take over at one epoch both go on",
        "wal/objects/fencing.py",
        "require_void",
        "header is None or owner.is_behind(header) or _competes(header, owner)",
        "header is None or owner.is_behind(header)",
        f"{_UNIT}/test_walk.py::test_somebody_else_who_takes_over",
    ),
    SeededBug(
        "object-16",
        "a store that replaces objects is accepted",
        "wal/objects/takeover.py",
        "Takeover._probe",
        "await self._requests.create(self._keys.probe, [_PROBE], may_give_up=True)",
        "True or await self._requests.create(self._keys.probe, [_PROBE], may_give_up=True)",
        f"{_UNIT}/test_log.py::test_a_store_that_replaces_objects_is_refused",
    ),
    SeededBug(
        "object-17",
        "another fence ahead, out of the window of the first",
        "wal/objects/walk.py",
        "Walk.lost_race",
        "self._claims.barrier < self.number",
        "True",
        f"{_UNIT}/test_walk.py::test_a_barrier_is_not_followed_by_one_that_is_out_of_its_window",
    ),
    SeededBug(
        "object-18",
        "nothing tells what was confirmed last",
        "wal/objects/writer.py",
        "ObjectWriter._refresh",
        "commit.want_refresh()",
        "",
        f"{_UNIT}/test_log.py::test_an_idle_log_tells_what_was_confirmed_so_that_the_last_record_is_missed",
    ),
)
