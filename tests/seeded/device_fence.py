"""Mistakes with fences of WAL devices: who may take one, what that ends, and when it is done."""

from tests.seeded.bug import SeededBug

_UNIT = "tests/unit/wal/fence/test_reservation.py"
_NODE = "tests/unit/broker/node/test_device_fence.py"
_ANY_ORDER = "tests/property/test_device_fence.py"
_FOREIGN = "tests/unit/broker/adapters/test_taking_a_log.py"
_COMMAND = "tests/unit/wal/fence/test_command.py"

BUGS = (
    SeededBug(
        "devfence-01",
        "an older broker that was paused takes the device back from a newer one",
        "wal/fence/reservation_rules.py",
        "_require_older",
        "newest > epoch",
        "False",
        f"{_UNIT}::test_an_older_one_learns_who_has_it_and_changes_nothing",
    ),
    SeededBug(
        "devfence-02",
        "a write that the former holder has inflight lands after the device was taken",
        "wal/fence/reservation_calls.py",
        "perform",
        "request = PREEMPT_ABORT",
        "request = 0x401870CB",
        f"{_UNIT}::test_writes_of_the_former_holder_that_are_inflight_do_not_land",
    ),
    SeededBug(
        "devfence-03",
        "the key of the victim is given as the own one",
        "wal/fence/reservation_calls.py",
        "perform",
        "argument = PREEMPTION.pack(command.key, command.victim, WRITE_EXCLUSIVE, 0)",
        "argument = PREEMPTION.pack(command.victim, command.key, WRITE_EXCLUSIVE, 0)",
        f"{_UNIT}::test_commands_are_sent_byte_by_byte_so",
    ),
    SeededBug(
        "devfence-04",
        "a device counts as taken once this machine has registered",
        "wal/fence/reservation_rules.py",
        "taking",
        """
            if report.holder == mine:
                return
        """,
        """
            if mine in report.keys:
                return
        """,
        f"{_ANY_ORDER}::test_an_older_machine_never_writes_after_a_newer_has_taken_the_device",
    ),
    SeededBug(
        "devfence-05",
        "a node does not take its device before it writes to it",
        "broker/adapters/write_ahead_log.py",
        "LogLocation.take",
        """
            if not self.is_bucket:
                await self.fence.take(self._config.path, node_epoch, owner=node_id)
        """,
        "pass",
        f"{_NODE}::test_a_node_whose_device_was_taken_by_a_newer_epoch_writes_nothing_and_says_why",
    ),
    SeededBug(
        "devfence-06",
        "the exit code of the operator's command does not count",
        "wal/fence/command.py",
        "CommandFence.take",
        'problem = f"it ended with exit code {code}" if code else ""',
        'problem = ""',
        f"{_COMMAND}::test_an_exit_code_is_a_failure_and_its_output_is_told",
    ),
    SeededBug(
        "devfence-07",
        "a device that another process of this machine writes to is taken",
        "wal/fence/reservation.py",
        "ReservationFence.take",
        "os.O_EXCL if is_foreign else 0",
        "0",
        f"{_UNIT}::test_the_device_of_another_node_is_opened_exclusively_and_the_own_is_not",
    ),
    SeededBug(
        "devfence-08",
        "a newer one that has registered, and not reserved yet, is overtaken",
        "wal/fence/reservation_rules.py",
        "_require_older",
        "(epoch_of(key) or 0 for key in (*report.keys, report.holder))",
        "(epoch_of(key) or 0 for key in (report.holder,))",
        f"{_UNIT}::test_a_newer_one_that_has_only_registered_is_not_overtaken",
    ),
    SeededBug(
        "devfence-09",
        "a drainer reads a device that its owner may still write to",
        "broker/adapters/foreign_log.py",
        "LogOnDevice.start",
        "await self._logs.fence.take(self._place, self._log.drain.epoch, owner=self._log.owner)",
        "pass",
        f"{_FOREIGN}::test_a_log_that_cannot_be_taken_is_not_read",
    ),
    SeededBug(
        "devfence-10",
        "a drainer goes by the superblock that it has read before it took the device",
        "broker/adapters/foreign_log.py",
        "LogOnDevice.start",
        """
            await self._logs.fence.take(self._place, self._log.drain.epoch, owner=self._log.owner)
            await self._reader.reload()
        """,
        "await self._logs.fence.take(self._place, self._log.drain.epoch, owner=self._log.owner)",
        f"{_FOREIGN}::test_what_the_owner_writes_until_it_is_taken_counts",
    ),
    SeededBug(
        "devfence-11",
        "a drainer takes whatever device has the name on its machine",
        "broker/adapters/foreign_log.py",
        "LogOnDevice.start",
        """
            await self._reader.start()
            self._check()
            assert self._log.drain is not None
        """,
        """
            await self._reader.start()
            assert self._log.drain is not None
        """,
        f"{_FOREIGN}::test_a_device_that_holds_something_else_is_not_taken_from_anybody",
    ),
)
