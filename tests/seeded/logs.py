"""Mistakes with logs: who owns one, who drains it, and who may act in its name."""

from tests.seeded.bug import SeededBug, Simulated

_UNIT = "tests/unit/metadata/controller"
_ACTING = f"{_UNIT}/test_drains.py::TestActingForALog"
_ASSIGNING = f"{_UNIT}/test_drains.py::TestAssigning"
_REBUILDING = "tests/unit/metadata/test_rebuilding.py::TestEpochs"
_FINISHING = f"{_UNIT}/test_drains.py::TestFinishing"

BUGS = (
    SeededBug(
        "logs-01",
        "a drain commits after the log's owner has registered",
        "metadata/controller/brokers.py",
        "_ended_drain",
        "return [LogReleasedRecord(log.log_id, log.drain.epoch)]",
        "return []",
        f"{_ACTING}::test_not_once_the_owner_has_registered",
        simulated=Simulated("drains"),
    ),
    SeededBug(
        "logs-02",
        "a drainer's repeated commit is refused when its object has been compacted",
        "metadata/controller/object_commits.py",
        "_is_forgotten",
        "stream.node_id != writer",
        "stream.node_id != output.node_id",
        f"{_ACTING}::test_a_repetition_succeeds_though_its_object_was_compacted_and_deleted",
        simulated=Simulated("long drains"),
    ),
    SeededBug(
        "logs-03",
        "a log is drained by two brokers at once",
        "metadata/controller/acting.py",
        "require_drain",
        "log.state != LogState.DRAINING or log.drain != drain",
        "log.state != LogState.DRAINING",
        f"{_ACTING}::test_not_once_another_one_drains",
        simulated=Simulated("two drainers"),
    ),
    SeededBug(
        "logs-04",
        "a drain ends before its last commit",
        "metadata/controller/drains.py",
        "finish_drain",
        """
            _require_committed(request.ends, image)
            return _drained(log, request.position, image, inputs)
        """,
        "return _drained(log, request.position, image, inputs)",
        f"{_FINISHING}::test_not_before_everything_in_the_log_is_committed",
        simulated=Simulated("hasty drainers"),
    ),
    SeededBug(
        "logs-05",
        "partitions get new leaders while their streams are open on the old one",
        "metadata/controller/handover.py",
        "hand_over",
        "stream.opened and stream.node_id == log.owner",
        "False",
        f"{_FINISHING}::test_one_entry_closes_the_streams_and_names_new_leaders",
        simulated=Simulated("brokers lost"),
    ),
    SeededBug(
        "logs-06",
        "a broker is unregistered although its log is not drained",
        "metadata/controller/brokers.py",
        "unregister_broker",
        "opened = any(it.opened and it.node_id == request.node_id for it in image.streams.values())",
        "opened = False",
        f"{_UNIT}/test_logs.py::TestUnregistering"
        "::test_a_broker_whose_log_is_not_drained_is_not_forgotten",
    ),
    SeededBug(
        "logs-07",
        "a restarted drainer goes on with the drain of the process before",
        "metadata/controller/acting.py",
        "require_drain",
        "log.drain != drain",
        "log.drain is None or log.drain.epoch != drain.epoch",
        f"{_ASSIGNING}::test_a_drainer_that_comes_back_does_not_go_on_with_its_drain",
    ),
    SeededBug(
        "logs-08",
        "a log is assigned to a broker that is still starting",
        "metadata/controller/drains.py",
        "_drainer",
        "not it.fenced",
        "True",
        f"{_ASSIGNING}::test_a_starting_broker_drains_nothing",
    ),
    SeededBug(
        "logs-09",
        "the log of a broker that may still write is assigned",
        "metadata/controller/drains.py",
        "_waits",
        "not has_ended(brokers, log.owner)",
        "False",
        f"{_ASSIGNING}::test_nothing_is_assigned_while_the_owner_may_act",
        simulated=Simulated("brokers lost"),
    ),
    SeededBug(
        "logs-10",
        "a log stays with a drainer that has ended",
        "metadata/controller/drains.py",
        "_waits",
        "return log.drain is None or has_ended(brokers, log.drain.node_id, log.drain.node_epoch)",
        "return log.drain is None",
        f"{_ASSIGNING}::test_the_log_of_a_drainer_that_has_ended_is_assigned_again",
        simulated=Simulated("drainers killed"),
    ),
    SeededBug(
        "logs-11",
        "a broker that cannot read a log is asked for ever, and no other one",
        "metadata/controller/drains.py",
        "refuse_drain",
        "_next(log, image, inputs.now_ms, refusing=request.node_id)",
        "_next(log, image, inputs.now_ms)",
        f"{_UNIT}/test_drains.py::TestRefusing::test_another_broker_is_tried",
    ),
    SeededBug(
        "logs-12",
        "the loss of one generation is taken for that of any",
        "metadata/controller/logs.py",
        "accept_log_loss",
        "log.generation != request.generation",
        "False",
        f"{_UNIT}/test_logs.py::TestLoss::test_only_the_generation_that_is_named_is_given_up",
    ),
    SeededBug(
        "logs-13",
        "a drain that has ended ends the process of the drainer",
        "metadata/controller/acting.py",
        "_ended",
        "ErrorCode.FENCED_LEADER_EPOCH",
        "ErrorCode.STALE_BROKER_EPOCH",
        f"{_ACTING}::test_not_once_the_owner_has_registered",
    ),
    SeededBug(
        "logs-14",
        "rebuilt metadata take a log for empty that was written to after the snapshot",
        "metadata/offline/rebuilding.py",
        "_records",
        "sorted(image.logs.values(), key=lambda it: it.log_id)",
        "()",
        "tests/unit/metadata/test_rebuilding.py"
        "::test_every_log_may_hold_what_was_written_after_the_snapshot",
    ),
    SeededBug(
        "logs-16",
        "a rebuild adopts the stopped owner's late object",
        "metadata/offline/rebuilding.py",
        "rebuild",
        "{it: _joined(held[it]) for it in held if it not in outdated}",
        "{it: _joined(held[it]) for it in held}",
        f"{_REBUILDING}::test_a_late_object_of_an_epoch_that_had_ended_is_not_adopted",
    ),
    SeededBug(
        "logs-17",
        "a rebuild adopts a late object where the new leader's records are in its WAL only",
        "metadata/offline/rebuilding.py",
        "_outdated",
        "note(stream.stream_id, piece.epoch, piece.start_offset)",
        "pass",
        f"{_REBUILDING}::test_an_epoch_that_only_the_snapshot_knows",
    ),
    SeededBug(
        "logs-18",
        "a rebuild takes a late object for outdated only if it begins with the new leader's epoch",
        "metadata/offline/rebuilding.py",
        "_outdated",
        "any(end > ends[stream_id, epoch] for stream_id, epoch, _, end in runs)",
        "any(start == ends[stream_id, epoch] for stream_id, epoch, start, _ in runs)",
        f"{_REBUILDING}::test_a_late_object_of_an_epoch_that_had_ended_is_not_adopted",
    ),
    SeededBug(
        "logs-19",
        "a rebuild takes what was recovered into rebuilt metadata for outdated",
        "metadata/offline/rebuilding.py",
        "_epochs",
        "yield StreamStateRecord(stream_id, epoch, StreamState.OPENED, node_id)",
        """
        from headrace.metadata.records.streams import RangeRecord

        end = image.streams[stream_id].end_offset
        yield RangeRecord(stream_id, epoch, epoch, node_id, end)
        yield StreamStateRecord(stream_id, epoch, StreamState.OPENED, node_id)
        """,
        f"{_REBUILDING}::test_what_a_broker_recovered_into_rebuilt_metadata_is_adopted",
    ),
    SeededBug(
        "logs-20",
        "partitions move to a broker that is about to end",
        "metadata/controller/placement.py",
        "active_brokers",
        "[it for it in staying if image.brokers[it].reach] or staying or found",
        "found",
        f"{_UNIT}/test_drains.py::TestNewLeaders::test_a_broker_that_is_about_to_end_gets_none",
    ),
    SeededBug(
        "logs-21",
        "a log waits for the next look at the deadlines although a broker has finished its drain",
        "metadata/leader/supervision.py",
        "BrokerSupervision.follow",
        """
            if is_drain_over(old, new):
                self._may_be_due.set()
        """,
        "",
        "tests/unit/metadata/test_supervision.py"
        "::test_a_log_that_waits_for_a_drainer_is_assigned_as_soon_as_one_is_free",
    ),
    SeededBug(
        "logs-22",
        "clients are sent to a leader whose epoch has ended",
        "broker/cluster/cluster_view.py",
        "live_leader",
        "NO_LEADER if leader is None or leader.fenced else partition.leader",
        "partition.leader",
        "tests/unit/broker/api/test_current_leaders.py::test_a_leader_that_is_not_alive_is_none",
    ),
    SeededBug(
        "logs-23",
        "a log that nobody reads does not say why",
        "metadata/offline/described_logs.py",
        "_why_waiting",
        '"; ".join(told) or "those that reach it drain others"',
        '"those that reach it drain others"',
        "tests/unit/metadata/test_described_logs.py"
        "::test_a_log_that_is_drained_tells_by_whom_and_who_could_not",
    ),
    SeededBug(
        "logs-24",
        "the partitions of one topic all move to the broker that leads fewest",
        "metadata/controller/handover.py",
        "hand_over",
        """
                led.update(leaders)
                of_topic.update(leaders)
        """,
        "led.update(leaders)",
        f"{_UNIT}/test_drains.py::TestNewLeaders::test_what_is_moved_in_parts_is_spread_as_a_whole",
    ),
    SeededBug(
        "logs-25",
        "a log is assigned again although its drainer lives",
        "metadata/controller/drains.py",
        "_waits",
        "return log.drain is None or has_ended(brokers, log.drain.node_id, log.drain.node_epoch)",
        "return log.drain is None or has_ended(brokers, log.owner)",
        f"{_ASSIGNING}::test_the_log_of_a_broker_that_has_ended_is_assigned",
        simulated=Simulated("drains"),
    ),
    SeededBug(
        "logs-26",
        "a commit that never took effect is taken for done, as its stream has gone on in another epoch",
        "metadata/controller/object_commits.py",
        "_is_forgotten",
        """(
            stream.node_id != writer
            or stream.epoch != piece.epoch
            or stream.end_offset < piece.end_offset
        )""",
        "stream.node_id != writer or stream.end_offset < piece.end_offset",
        "tests/unit/metadata/controller/test_object_commits.py"
        "::test_objects_that_expired_and_are_forgotten_were_never_committed",
    ),
)
