"""Mistakes in the opening of partitions: what damage costs, and what is believed of what cannot be read."""

from tests.seeded.bug import SeededBug, Simulated

_UNIT = "tests/unit/broker/partition"
_OPENING = f"{_UNIT}/test_opening.py"

BUGS = (
    SeededBug(
        "partition-01",
        "a checkpoint whose object is gone or damaged keeps its partition closed",
        "broker/partition/opening.py",
        "_newest_checkpoint",
        "(*DAMAGE, partition_checkpoint.CorruptCheckpointError)",
        "partition_checkpoint.CorruptCheckpointError",
        f"{_OPENING}::test_a_checkpoint_that_storage_cannot_read_costs_time_only",
    ),
    SeededBug(
        "partition-02",
        "producers that were known before damage are taken for known behind it",
        "broker/partition/state.py",
        "PartitionState.skip",
        "self.producers.lose(now_ms)",
        "pass",
        f"{_OPENING}::test_a_producer_that_is_not_known_after_damage_must_begin_anew",
    ),
    SeededBug(
        "partition-03",
        "damaged records are taken for as old as those before them, and deleted with them",
        "broker/partition/opening.py",
        "_Replay._end_skipping",
        """
            self._state.skip(self._skipped_from, offset, newest_ms=newest_ms, now_ms=self._now_ms)
        """,
        """
            self._state.skip(self._skipped_from, offset, newest_ms=0, now_ms=self._now_ms)
        """,
        f"{_OPENING}::test_damaged_records_are_as_old_as_what_follows_them",
    ),
    SeededBug(
        "partition-04",
        "after damage was passed over no checkpoint is written, so that each start meets it again",
        "broker/partition/opening.py",
        "Restored.must_checkpoint",
        "self.is_ahead or self.is_damaged",
        "self.is_ahead",
        f"{_UNIT}/test_leadership.py"
        "::test_a_partition_opens_past_damage_with_a_checkpoint_that_is_durable_before_it_serves",
    ),
    SeededBug(
        "partition-05",
        "the loss of producers is forgotten with the next start",
        "broker/partition/checkpoint.py",
        "restore",
        "state.producers.restore(checkpoint.producers, checkpoint.producers_lost_ms)",
        "state.producers.restore(checkpoint.producers)",
        f"{_OPENING}::test_that_producers_were_lost_is_known_until_they_would_have_expired",
    ),
    SeededBug(
        "partition-06",
        "what a client asks for waits until everything before it is open",
        "broker/partition/registry.py",
        "PartitionRegistry.find",
        "self.on_missed((image.topic_id, index))",
        "pass",
        f"{_UNIT}/test_leadership.py"
        "::test_each_partition_is_served_as_it_opens_and_what_is_asked_for_opens_before_the_rest",
    ),
    SeededBug(
        "partition-07",
        "each stream is opened by a request, and an entry of the metadata log, of its own",
        "broker/adapters/stream_batches.py",
        "StreamBatches._next_batch",
        "len(batch) < MAX_STREAMS",
        "not batch",
        "tests/unit/broker/adapters/test_stream_batches.py"
        "::test_what_is_asked_for_meanwhile_goes_with_the_next_request",
    ),
    SeededBug(
        "partition-08",
        "clients are not served before the last partition is open",
        "broker/node/broker_role.py",
        "BrokerRole._serve",
        """
            await listener.serve(dispatcher)
            with suppress(StoppedEarlyError):
                await unless_stopped(stop, parts.partitions.wait_attempted())
                admin.stage = SERVING
                self.has_served = True
                ready(client.image.cluster_id, self._address(bound, parts))
                await stop.wait()
        """,
        """
            with suppress(StoppedEarlyError):
                await unless_stopped(stop, parts.partitions.wait_attempted())
                await listener.serve(dispatcher)
                admin.stage = SERVING
                self.has_served = True
                ready(client.image.cluster_id, self._address(bound, parts))
                await stop.wait()
        """,
        "tests/integration/test_node_stop.py"
        "::test_partitions_are_served_while_another_is_still_being_opened_also_when_stopped_then",
    ),
    SeededBug(
        "partition-09",
        "a request names a stream twice, and is refused whole",
        "broker/adapters/stream_batches.py",
        "StreamBatches._next_batch",
        """
            if waiting.stream.stream_id in batch:
                later.append(waiting)
            else:
                batch[waiting.stream.stream_id] = waiting
        """,
        "batch[len(batch)] = waiting",
        "tests/unit/broker/adapters/test_stream_batches.py::test_a_request_names_no_stream_twice",
    ),
    SeededBug(
        "partition-10",
        "what an idempotent producer sent behind a refused batch overtakes it",
        "broker/api/produce.py",
        "ProduceHandler._unless_behind",
        "first and producers.lacks(header.producer_id, first.epoch, first.sequence)",
        "first and not producers.lacks(header.producer_id, first.epoch, first.sequence)",
        "tests/unit/broker/api/test_produce.py"
        "::test_what_was_sent_behind_a_refused_batch_is_refused_alike_until_that_is_sent_again",
        simulated=Simulated("new producers"),
    ),
    SeededBug(
        "partition-11",
        "a batch that was given up by its producer holds up what follows it",
        "broker/partition/refused_batches.py",
        "RefusedBatches.before",
        "found is None or found.behind == header.base_sequence",
        "found is None",
        "tests/unit/broker/partition/test_refused_batches.py"
        "::test_it_will_not_come_if_what_followed_it_comes_again_without_it",
    ),
)
