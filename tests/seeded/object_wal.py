"""Mistakes in the write-ahead log that is made of objects."""

from tests.seeded.bug import SeededBug

_RACE = (
    "tests/property/test_object_wal_race.py::test_what_was_acknowledged_is_found_by_the_successor"
)
_UNIT = "tests/unit/wal/objects"

BUGS = (
    SeededBug(
        "object-01",
        "acknowledged out of order",
        "wal/objects/commit.py",
        "        while self._writing and self._writing[0].settled:\n"
        "            self._confirm(self._writing.popleft())\n",
        "        self._writing.remove(outgoing)\n        self._confirm(outgoing)\n",
        f"{_UNIT}/test_commit.py::test_confirmed_in_the_order_of_numbers",
    ),
    SeededBug(
        "object-02",
        "whatever is in an object's way is taken for it",
        "wal/objects/writer.py",
        "                require_own(in_the_way.header, outgoing.content[0], key)\n",
        "                pass\n",
        _RACE,
    ),
    SeededBug(
        "object-03",
        "the numbers behind the fence are left to the old owner",
        "wal/objects/takeover.py",
        "behind = range(walk.number + 1, walk.number + WINDOW)",
        "behind = range(0)",
        _RACE,
    ),
    SeededBug(
        "object-04",
        "the new owner's numbers begin among those of the old one",
        "wal/objects/takeover.py",
        "        return walk.number + WINDOW\n",
        "        return walk.number + 1\n",
        _RACE,
    ),
    SeededBug(
        "object-05",
        "a fence that lost its race is taken for created",
        "wal/objects/takeover.py",
        "                    walk.lost_race()\n",
        "                    walk.created()\n",
        _RACE,
    ),
    SeededBug(
        "object-06",
        "nobody looks whether the owner had been where the fence is",
        "wal/objects/walk.py",
        "        if self._claims.released > self.number or self._passed_stray_fence():\n",
        "        if self._passed_stray_fence():\n",
        _RACE,
    ),
    SeededBug(
        "object-07",
        "a fence that stopped nobody voids what is behind it",
        "wal/objects/walk.py",
        "        return fence is not None and fence < head <= self._void_to\n",
        "        return False\n",
        f"{_UNIT}/test_walk.py::test_a_stray_fence_of_somebody_else_voids_nothing",
    ),
    SeededBug(
        "object-08",
        "what lies behind a fence is recovered",
        "wal/objects/walk.py",
        "        return not writer.owns(header)\n",
        "        return False\n",
        f"{_UNIT}/test_walk.py::test_void_behind_a_fence",
    ),
    SeededBug(
        "object-09",
        "a hole in what was confirmed is taken for the end",
        "wal/objects/walk.py",
        "            doubtful = self.number in self._listed or self._seems_lost\n",
        "            doubtful = False\n",
        f"{_UNIT}/test_walk.py::test_a_hole_below_what_was_confirmed_is_refused",
    ),
    SeededBug(
        "object-10",
        "numbers run further ahead than a successor fences",
        "wal/objects/commit.py",
        "            and self._next_number < self.confirmed_number + REACH\n",
        "",
        f"{_UNIT}/test_commit.py::test_no_number_goes_further_than_the_window_beyond_the_first_unconfirmed",
    ),
    SeededBug(
        "object-11",
        "released objects are deleted before that is durable",
        "wal/objects/commit.py",
        "        self._told_trim_offset = outgoing.header.trim_offset\n",
        "        self._told_trim_offset = outgoing.header.trim_offset\n"
        "        self.durable_head = outgoing.header.released\n",
        f"{_UNIT}/test_commit.py::test_what_is_released_is_told_and_then_free",
    ),
    SeededBug(
        "object-12",
        "released one object too many",
        "wal/objects/commit.py",
        "released=self.confirmed_number if head is None else head.number",
        "released=self.confirmed_number if head is None else head.number + 1",
        _RACE,
    ),
    SeededBug(
        "object-13",
        "fences are deleted while requests may be under way",
        "wal/objects/deletion.py",
        "            await asyncio.sleep(FENCE_RETENTION_S)\n",
        "            await asyncio.sleep(1)\n",
        f"{_UNIT}/test_log.py::test_fences_are_kept_as_long_as_requests_may_be_under_way",
    ),
    SeededBug(
        "object-14",
        "what was recovered is deleted before the reset is durable",
        "wal/objects/writer.py",
        "        await self._until_quiet()\n        self._deletion.add(unneeded)\n        self._deletion.start()\n",
        "        self._deletion.add(unneeded)\n        self._deletion.start()\n        await self._until_quiet()\n",
        f"{_UNIT}/test_log.py::test_what_was_recovered_is_deleted_once_the_reset_is_durable",
    ),
    SeededBug(
        "object-15",
        "two who take over at one epoch both go on",
        "wal/objects/fencing.py",
        "    if header is None or owner.is_behind(header) or _competes(header, owner):\n",
        "    if header is None or owner.is_behind(header):\n",
        f"{_UNIT}/test_walk.py::test_somebody_else_who_takes_over",
    ),
    SeededBug(
        "object-16",
        "a store that replaces objects is accepted",
        "wal/objects/takeover.py",
        "        for _ in range(2):\n            if await self._requests.create(self._keys.probe",
        "        for _ in range(2):\n            if True or await self._requests.create(self._keys.probe",
        f"{_UNIT}/test_log.py::test_a_store_that_replaces_objects_is_refused",
    ),
    SeededBug(
        "object-17",
        "another fence ahead, out of the window of the first",
        "wal/objects/walk.py",
        "            self._wants_barrier = self._claims.barrier < self.number\n",
        "            self._wants_barrier = True\n",
        f"{_UNIT}/test_walk.py::test_a_barrier_is_not_followed_by_one_that_is_out_of_its_window",
    ),
    SeededBug(
        "object-18",
        "nothing tells what was confirmed last",
        "wal/objects/writer.py",
        "        commit.want_refresh()\n        self._pump()\n",
        "        self._pump()\n",
        f"{_UNIT}/test_log.py::test_an_idle_log_tells_what_was_confirmed_so_that_the_last_record_is_missed",
    ),
)
