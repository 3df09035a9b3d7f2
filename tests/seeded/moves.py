"""Mistakes that lose, double or stop something when a partition moves from a broker that lives to another one."""

from tests.seeded.bug import SeededBug, Simulated

_MOVES = "tests/unit/metadata/controller/test_moves.py"
_LEAVING = "tests/unit/storage/upload/test_leaving.py"
_MOVING = "tests/unit/broker/partition/test_moving.py"
_DEPARTURES = "tests/unit/metadata/controller/test_leaving.py"
_IN_CLUSTERS = Simulated("moves")

BUGS = (
    SeededBug(
        "moves-01",
        "the leader changes when a move begins, before the old one has closed the partition",
        "metadata/controller/moves.py",
        "_begun",
        "return [PartitionMoveRecord(topic.topic_id, partition.partition, epoch, target)]",
        """
            del epoch
            return [
                PartitionChangeRecord(
                    topic.topic_id, partition.partition, target, partition.leader_epoch + 1
                )
            ]
        """,
        f"{_MOVES}::TestBeginning::test_a_move_changes_nothing_but_that_it_is_known",
        simulated=_IN_CLUSTERS,
    ),
    SeededBug(
        "moves-02",
        "a partition may leave before all of it is in the bucket",
        "metadata/controller/moves.py",
        "_require_committed",
        "it.end_offset != stream.end_offset",
        "it.end_offset < stream.end_offset",
        f"{_MOVES}::TestFinishing::test_what_is_not_all_in_the_bucket_stays[ends1]",
    ),
    SeededBug(
        "moves-03",
        "a request that was refused leaves the move under way, and takes effect when it arrives again",
        "metadata/controller/moves.py",
        "finish_move",
        "return Decision((_ended(move),), MoveFinished(error.message))",
        "return Decision((), MoveFinished(error.message))",
        f"{_MOVES}::TestFinishing::test_a_move_that_was_refused_once_is_over",
    ),
    SeededBug(
        "moves-04",
        "a block is committed, and the WAL trimmed, before what was taken out of it is in the bucket",
        "storage/upload/pipeline.py",
        "UploadPipeline._commit_in_order",
        "not await self.leaving.committed_before(upload.block)",
        "False",
        f"{_LEAVING}::test_a_block_is_committed_after_what_was_taken_out_of_it",
        simulated=Simulated("moves in a stormy bucket"),
    ),
    SeededBug(
        "moves-05",
        "what leaves is uploaded with the block as well",
        "storage/cache/log_cache.py",
        "CacheBlock.take",
        "({it: self.streams.pop(it) for it in found}, {it: self.sizes_bytes.pop(it) for it in found})",
        "({it: self.streams[it] for it in found}, {it: self.sizes_bytes.pop(it) for it in found})",
        f"{_LEAVING}::test_nothing_is_uploaded_again_with_the_block",
        simulated=_IN_CLUSTERS,
    ),
    SeededBug(
        "moves-06",
        "what leaves is committed before older blocks that hold records of it",
        "storage/upload/leaving.py",
        "LeavingStreams._bring",
        "await self._committed_with_blocks(archived_wal_end)\ncommit = await self._committer.commit(plan, uploaded)",
        "commit = await self._committer.commit(plan, uploaded)",
        f"{_LEAVING}::test_a_large_block_before_it_is_waited_for_but_none_behind",
    ),
    SeededBug(
        "moves-07",
        "a partition takes appends while its last records are uploaded",
        "broker/partition/moving.py",
        "PartitionMoves._freeze",
        """
            partition.set_frozen(frozen=True)
            freeze = self._frozen[key] = _Freeze(partition, begun_ms, loop_ms())
            self._registry.transit.hold(key)
        """,
        "freeze = self._frozen[key] = _Freeze(partition, begun_ms, loop_ms())",
        f"{_MOVING}::test_appends_wait_while_a_partition_is_frozen",
        simulated=_IN_CLUSTERS,
    ),
    SeededBug(
        "moves-08",
        "a partition is served again when its last request was not answered, although it may arrive",
        "broker/partition/moving.py",
        "PartitionMoves._finish",
        "answer = await client.change(request, MoveFinished)",
        "try:\n    answer = await client.change(request, MoveFinished)\nfinally:\n    self._thaw(key)",
        f"{_MOVING}::test_without_an_answer_it_stays_frozen_until_the_metadata_tell",
        simulated=Simulated("moves, lost answers"),
    ),
    SeededBug(
        "moves-09",
        "a move does not end when its partition gets another leader",
        "metadata/replay.py",
        "_Delta.change_partition",
        "self.moves.leave(record.topic_id, record.partition)",
        "pass",
        f"{_MOVES}::TestFinishing::test_one_entry_closes_both_streams_and_makes_the_target_the_leader",
        simulated=_IN_CLUSTERS,
    ),
    SeededBug(
        "moves-10",
        "moves that do not get on are never taken back",
        "metadata/controller/moves.py",
        "MoveDeadlines.overdue",
        "now_ms > self._due_ms(move, source, now_ms)",
        "False",
        f"{_MOVES}::TestDeadlines::test_a_move_that_does_not_get_on_is_overdue",
    ),
    SeededBug(
        "moves-11",
        "a partition that has left is served until it is closed once more",
        "broker/partition/moving.py",
        "PartitionMoves._image_changed",
        "if self._leads(new, key, self._frozen[key].partition):\n    self._thaw(key)\nelse:\n    self._let_go(key)",
        "if self._leads(new, key, self._frozen[key].partition):\n    self._thaw(key)",
        f"{_MOVING}::test_a_partition_is_let_go_with_the_entry_that_names_the_new_leader",
    ),
    SeededBug(
        "moves-12",
        "all partitions are looked at again and again while a broker that leaves leads nothing",
        "metadata/controller/leaving.py",
        "Departures.move_away",
        "self._nothing_in = _Seen(leaving, image.topics, image.moves, inputs.unable)",
        "pass",
        f"{_DEPARTURES}::TestNothingLeft::test_nothing_is_looked_at_again_until_something_changes",
    ),
    SeededBug(
        "moves-13",
        "a move is taken back while a large older block of its source is on its way to the bucket",
        "metadata/controller/moves.py",
        "MoveDeadlines._due_ms",
        "max(ended_ms, less_ms) + MOVE_MS + uploaded_ms",
        "ended_ms + MOVE_MS",
        f"{_MOVES}::TestDeadlines::test_what_is_uploaded_before_it_gives_it_time",
    ),
    SeededBug(
        "moves-15",
        "new partitions go to a broker that is drained",
        "metadata/controller/placement.py",
        "active_brokers",
        "staying = [it for it in found if it not in closed]",
        "staying = found",
        f"{_DEPARTURES}::TestDrained::test_its_partitions_move_and_new_ones_go_elsewhere",
        simulated=Simulated("drained brokers"),
    ),
    SeededBug(
        "moves-16",
        "a commit that comes while the coordinator's partition is being loaded is refused",
        "broker/coordinator/runtime.py",
        "GroupCoordinator._loaded",
        "await driver.loaded()",
        "pass",
        "tests/unit/broker/coordinator/test_runtime.py::test_a_commit_waits_for_a_partition_that_is_loaded",
    ),
    SeededBug(
        "moves-17",
        "a partition that moves keeps its leader epoch",
        "metadata/controller/moves.py",
        "_moved",
        "partition.leader_epoch + 1",
        "partition.leader_epoch",
        f"{_MOVES}::TestFinishing::test_one_entry_closes_both_streams_and_makes_the_target_the_leader",
        simulated=_IN_CLUSTERS,
    ),
    SeededBug(
        "moves-18",
        "a move closes one stream of its partition and leaves the other one open",
        "metadata/controller/moves.py",
        "_moved",
        """
            for it in request.streams:
                yield StreamStateRecord(it.stream_id, it.stream_epoch, StreamState.CLOSED, request.node_id)
        """,
        """
            for it in request.streams[:1]:
                yield StreamStateRecord(it.stream_id, it.stream_epoch, StreamState.CLOSED, request.node_id)
        """,
        f"{_MOVES}::TestFinishing::test_one_entry_closes_both_streams_and_makes_the_target_the_leader",
        simulated=_IN_CLUSTERS,
    ),
    SeededBug(
        "moves-19",
        "a partition moves to a broker that has ended meanwhile",
        "metadata/controller/moves.py",
        "_moved",
        "target is None or target.fenced",
        "target is None",
        f"{_MOVES}::TestFinishing::test_a_target_that_is_not_active_gets_nothing",
    ),
    SeededBug(
        "moves-20",
        "who asks for a partition that is just coming is refused",
        "broker/partition/moving.py",
        "PartitionMoves._hold_arriving",
        """
            if move.target == self._node_id and self._registry.get(key) is None:
                self._registry.transit.hold(key)
        """,
        "pass",
        f"{_MOVING}::TestArriving::test_who_asks_for_a_partition_that_is_coming_waits_until_it_is_open",
        simulated=_IN_CLUSTERS,
    ),
    SeededBug(
        "moves-21",
        "a broker that ends does not wait until its partitions are elsewhere",
        "broker/partition/moving.py",
        "PartitionMoves.emptied",
        "len(self._registry) and self._client.is_lease_valid() and self._can_leave()",
        "False",
        f"{_MOVING}::TestLeaving::test_it_waits_until_it_leads_nothing",
        simulated=Simulated("rolling restarts", seeds=16),
    ),
    SeededBug(
        "moves-22",
        "a partition moves to a broker that does not reach its bucket",
        "metadata/controller/moves.py",
        "_moved",
        "move.target in unable",
        "False",
        f"{_MOVES}::TestWhenSomebodyDies::test_a_target_that_cannot_open_partitions_gets_none",
        simulated=Simulated("moves, bucket out of a broker's reach", seconds=16.0),
    ),
    SeededBug(
        "moves-23",
        "a move that others of its source get ahead of never ends",
        "metadata/controller/moves.py",
        "MoveDeadlines.overdue",
        "now_ms > begun_ms + MAX_MOVE_MS",
        "False",
        f"{_MOVES}::TestDeadlines::test_it_ends_whatever_others_of_its_source_do",
    ),
    SeededBug(
        "moves-24",
        "a partition whose move was taken back takes no records any more",
        "broker/partition/moving.py",
        "PartitionMoves._thaw",
        "partition.set_frozen(frozen=False)",
        "pass",
        f"{_MOVING}::test_uploads_that_take_too_long_end_the_freeze_and_are_tried_again",
        simulated=_IN_CLUSTERS,
    ),
    SeededBug(
        "moves-25",
        "who sends records to a partition that is just leaving is refused",
        "broker/partition/moving.py",
        "PartitionMoves._freeze",
        """
            freeze = self._frozen[key] = _Freeze(partition, begun_ms, loop_ms())
            self._registry.transit.hold(key)
        """,
        "freeze = self._frozen[key] = _Freeze(partition, begun_ms, loop_ms())",
        f"{_MOVING}::test_appends_wait_while_a_partition_is_frozen",
        simulated=_IN_CLUSTERS,
    ),
    SeededBug(
        "moves-26",
        "a partition whose last request was refused is served until the next attempt",
        "broker/partition/moving.py",
        "PartitionMoves._finish",
        """
            try:
                answer = await client.change(request, MoveFinished)
            except (ControllerUnavailableError, RefusedError) as error:
                self._note_failure(partition, move, error)
                await asyncio.sleep(PAUSE_MS / 1000)
            else:
                if answer.taken_back is not None:
                    logger.warning(
                        "...",
                        extra={
                            "topic": partition.topic,
                            "partition": partition.index,
                            "target": move.target,
                            "reason": answer.taken_back,
                        },
                    )
        """,
        """
            try:
                answer = await client.change(request, MoveFinished)
            except (ControllerUnavailableError, RefusedError) as error:
                self._note_failure(partition, move, error)
                if isinstance(error, RefusedError):
                    self._thaw(key)
                    return
                await asyncio.sleep(PAUSE_MS / 1000)
            else:
                if answer.taken_back is not None:
                    logger.warning(
                        "...",
                        extra={
                            "topic": partition.topic,
                            "partition": partition.index,
                            "target": move.target,
                            "reason": answer.taken_back,
                        },
                    )
        """,
        f"{_MOVING}::test_without_an_answer_it_stays_frozen_until_the_metadata_tell",
    ),
    SeededBug(
        "moves-27",
        "a partition that has left and come back is served with the streams that were closed",
        "broker/partition/moving.py",
        "PartitionMoves._leads",
        "(led.leader, led.leader_epoch) == (self._node_id, partition.leader_epoch)",
        "led.leader == self._node_id",
        f"{_MOVING}::test_a_partition_that_has_left_and_come_back_at_once_is_opened_again",
    ),
    SeededBug(
        "moves-28",
        "a partition whose move was taken back during its uploads is frozen for ever",
        "broker/partition/moving.py",
        "PartitionMoves._attempt",
        """
            if not self._is_under_way(key, move, partition):
                return
            freeze = self._freeze(key, partition, begun_ms)
        """,
        "freeze = self._freeze(key, partition, begun_ms)",
        f"{_MOVING}::test_a_move_that_is_taken_back_during_its_uploads_freezes_nothing",
    ),
    SeededBug(
        "moves-29",
        "two moves of one partition are carried out at once when one replaces the other",
        "broker/partition/moving.py",
        "PartitionMoves._begin_due",
        "any((it.topic_id, it.partition) == key for it in self._running)",
        "False",
        f"{_MOVING}::test_a_move_that_replaces_another_begins_once_that_has_ended",
    ),
    SeededBug(
        "moves-30",
        "a partition that opens when its move is known stays until another move begins or ends",
        "broker/partition/moving.py",
        "PartitionMoves._opened",
        "if self._client.image.moves:\n    self._changed.set()",
        "pass",
        f"{_MOVING}::test_a_partition_that_opens_after_its_move_is_known_moves",
    ),
    SeededBug(
        "moves-31",
        "who asks for a partition that was coming when its broker began to serve is refused",
        "broker/partition/moving.py",
        "PartitionMoves.run",
        "self._hold_arriving(self._client.image)",
        "pass",
        f"{_MOVING}::test_moves_that_are_known_before_it_runs_are_carried_out",
    ),
    SeededBug(
        "moves-32",
        "who waits for a partition that is held once more is not told when it is let go",
        "broker/partition/transit.py",
        "PartitionsInTransit.hold",
        "key not in self._held",
        "True",
        "tests/unit/broker/partition/test_transit.py"
        "::test_who_waits_goes_on_though_it_was_held_once_more_meanwhile",
    ),
    SeededBug(
        "moves-33",
        "a move closes a stream whatever the epoch in which its sender has opened it",
        "metadata/controller/moves.py",
        "_require_committed",
        "require_writer(stream, request.node_id, it.stream_epoch)",
        "pass",
        f"{_MOVES}::TestFinishing::test_a_stream_that_another_epoch_has_opened_is_not_closed",
    ),
    SeededBug(
        "moves-34",
        "a partition moves although one of its streams is closed",
        "metadata/controller/moves.py",
        "_require_committed",
        "not stream.opened",
        "False",
        f"{_MOVES}::TestFinishing::test_a_stream_that_is_closed_is_not_closed_again",
    ),
    SeededBug(
        "moves-35",
        "a partition that has moved rests as if its move had been taken back",
        "metadata/controller/leaving.py",
        "Departures.follow",
        "key not in new.moves and topic and topic.partitions[key[1]].leader != move.target",
        "key not in new.moves and topic",
        f"{_DEPARTURES}::test_a_partition_that_has_moved_does_not_rest",
    ),
    SeededBug(
        "moves-36",
        "a partition is uploaded for a move without the older block that holds all of it",
        "storage/upload/leaving.py",
        "LeavingStreams.upload",
        """
            if last is not None:
                await asyncio.wait([last])
                if last.cancelled() or last.exception() is not None:
                    raise EngineFailedError("...")
            await self._committed_with_blocks(archived_wal_end)
        """,
        """
            if last is not None:
                await asyncio.wait([last])
                if last.cancelled() or last.exception() is not None:
                    raise EngineFailedError("...")
        """,
        f"{_LEAVING}::test_what_is_all_in_an_older_block_is_waited_for",
    ),
    SeededBug(
        "moves-37",
        "a broker that ends waits for moves that nobody can take",
        "broker/partition/moving.py",
        "PartitionMoves._can_leave",
        "not it.fenced and it.node_id != self._node_id and it.node_id not in ending",
        "it.node_id != self._node_id and it.node_id not in ending",
        f"{_MOVING}::TestLeaving::test_it_does_not_wait_where_nobody_can_take_them[the other one is fenced]",
    ),
    SeededBug(
        "moves-38",
        "what a move has waited for is told as waited for when it waits no longer",
        "storage/upload/leaving.py",
        "LeavingStreams._committed_with_blocks",
        """
            try:
                await self._blocks.committed(wal_end_offset)
            finally:
                self._waits.remove(wal_end_offset)
        """,
        "await self._blocks.committed(wal_end_offset)",
        f"{_LEAVING}::test_who_waits_no_longer_counts_no_more",
    ),
)
