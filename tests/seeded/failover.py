"""Mistakes that lose, double or withhold something when a broker dies and others take its partitions over."""

from tests.seeded.bug import SeededBug, Simulated

_DRAINS = "tests/unit/metadata/controller/test_drains.py"
_FINISHING = f"{_DRAINS}::TestFinishing::test_one_entry_closes_the_streams_and_names_new_leaders"
_LOG_DRAINS = (
    "tests/unit/broker/node/test_log_drains.py"
    "::test_what_a_dead_broker_has_acknowledged_is_brought_to_the_bucket_and_led_by_another"
)
_FOREIGN = "tests/unit/broker/adapters/test_foreign_log.py"
_LOST = Simulated("brokers lost")

BUGS = (
    SeededBug(
        "failover-01",
        "what is read of a log is not uploaded",
        "storage/recovery_plan.py",
        "RecoveryPlan.cut",
        "segment if segment.streams else None",
        "None",
        "tests/unit/storage/test_drain.py::test_commits_are_in_the_order_of_the_wal",
        simulated=_LOST,
    ),
    SeededBug(
        "failover-02",
        "a drain asks for the streams of the drainer, and takes those of the log for closed",
        "broker/adapters/drained_log.py",
        "DrainedLog.streams",
        "open_streams_of(self._client.image, self._log.owner)",
        "open_streams_of(self._client.image, self._client.node_id)",
        _LOG_DRAINS,
        simulated=_LOST,
    ),
    SeededBug(
        "failover-03",
        "the partitions of a log move before anybody has read it",
        "metadata/controller/drains.py",
        "settle_log",
        """
            if log.state == LogState.EMPTY:
                return _drained(log, NO_POSITION, image, inputs)
        """,
        """
            if log.state != LogState.DRAINING:
                return _drained(log, NO_POSITION, image, inputs)
        """,
        f"{_DRAINS}::TestAssigning::test_the_log_of_a_broker_that_has_ended_is_assigned",
        simulated=_LOST,
    ),
    SeededBug(
        "failover-04",
        "the partitions of a drained log stay with its owner",
        "metadata/controller/handover.py",
        "hand_over",
        "[it for it in topic.partitions if it.leader == log.owner]",
        "[]",
        _FINISHING,
        simulated=_LOST,
    ),
    SeededBug(
        "failover-05",
        "a drain commits in the name of the drainer's own log",
        "broker/adapters/drained_log.py",
        "DrainedLog.commit_stream_set_object",
        "commit_request(self._client, commit, self._log.log_id, self._epoch)",
        "commit_request(self._client, commit, *self._sender())",
        _LOG_DRAINS,
        simulated=_LOST,
    ),
    SeededBug(
        "failover-06",
        "of a log on a device only what its owner has uploaded is read",
        "broker/adapters/foreign_log.py",
        "LogOnDevice.recover",
        """
            async with aclosing(self._reader.recover()) as records:
                async for record in records:
                    yield record
            found = self._reader.superblock
        """,
        """
            async with aclosing(self._reader.recover()) as records:
                async for record in records:
                    if record.offset < self._log.uploaded_offset:
                        yield record
            found = self._reader.superblock
        """,
        f"{_FOREIGN}::test_what_was_confirmed_is_read_beside_an_owner_that_hangs",
        simulated=_LOST,
    ),
    SeededBug(
        "failover-07",
        "a new leader begins in the epoch of the leader that has died",
        "metadata/controller/handover.py",
        "hand_over",
        "it.leader_epoch + 1",
        "it.leader_epoch",
        _FINISHING,
        simulated=_LOST,
    ),
    SeededBug(
        "failover-08",
        "a link that is cut for a third of a session is taken for a death",
        "metadata/controller/sessions.py",
        "BrokerSessions.renew",
        "now_ms + known.timeout_ms",
        "now_ms + known.timeout_ms // 3",
        "tests/unit/metadata/controller/test_sessions.py"
        "::test_a_lease_ends_before_its_session_however_long_the_heartbeat_took",
        simulated=Simulated("cut links"),
    ),
    SeededBug(
        "failover-09",
        "the partitions of a log that was given up stay with its owner, and its streams open",
        "metadata/controller/logs.py",
        "_lose",
        "moved = yield from hand_over(log, image, inputs)",
        """
            yield from ()
            moved: list[Record] = []
        """,
        "tests/unit/metadata/controller/test_logs.py"
        "::TestLoss::test_the_partitions_go_on_elsewhere_without_what_the_log_held",
        simulated=Simulated("lost WALs"),
    ),
    SeededBug(
        "failover-10",
        "a new leader knows of the producers what the newest checkpoint says, and nothing after it",
        "broker/partition/opening.py",
        "_Replay._apply",
        "self._state.apply(header, decode_end(batch.payload) if header.is_control else None, "
        "header.base_offset, header.partition_leader_epoch, self._now_ms, self._segment_ms, "
        "self._latest_ms)",
        "self._state.times",
        "tests/unit/broker/partition/test_opening.py"
        "::test_the_log_is_read_from_the_last_checkpoint_on",
        simulated=Simulated("cut links", seeds=16),
    ),
    SeededBug(
        "failover-11",
        "a broker drains what is assigned when it starts, and nothing later",
        "broker/node/log_drains.py",
        "LogDrains.run",
        "self._client.subscribe(self._image_changed)",
        "pass",
        _LOG_DRAINS,
        simulated=_LOST,
    ),
    SeededBug(
        "failover-12",
        "a lock is seen free for the first time at each look, so sessions are waited for",
        "broker/node/ended_brokers.py",
        "EndedBrokers._note",
        "self._seen[node_id, broker.epoch] = looks",
        "pass",
        "tests/unit/broker/node/test_ended_brokers.py"
        "::test_a_free_lock_ends_the_epoch_at_the_second_look",
        simulated=Simulated("brokers lost, locks seen"),
    ),
    SeededBug(
        "failover-13",
        "the partitions of a broker that has died go to the targets of their moves, dead or not",
        "metadata/controller/handover.py",
        "_target",
        "move is not None and move.target in brokers",
        "move is not None",
        "tests/unit/metadata/controller/test_moves.py"
        "::TestWhenSomebodyDies::test_unless_the_target_is_dead_too",
    ),
)
