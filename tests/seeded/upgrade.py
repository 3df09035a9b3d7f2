"""Mistakes with levels: what an older node is sent, who is asked before a level is raised, who is let in."""

from tests.seeded.bug import SeededBug, Simulated

_UNIT = "tests/unit/metadata"
_FEATURES = f"{_UNIT}/controller/test_features.py"
_QUORUM = f"{_UNIT}/quorum/test_upgrade.py"

BUGS = (
    SeededBug(
        "upgrade-01",
        "a record above the level of the cluster is written",
        "metadata/levels.py",
        "encode_at_level",
        """
            if level < kind.LEVEL:
                raise _too_early(kind.__name__, kind.LEVEL, level)
        """,
        "pass",
        f"{_UNIT}/test_commits.py"
        "::test_a_record_above_the_clusters_level_is_refused_and_nothing_else",
    ),
    SeededBug(
        "upgrade-02",
        "the level is raised although a broker that runs does not read it",
        "metadata/controller/features.py",
        "_unable_brokers",
        """
            if reads is None:
                yield f"broker {broker.node_id} has not said what it reads yet: try again"
            elif level not in reads:
                yield f"broker {broker.node_id} reads {reads}: upgrade it"
        """,
        """
            if reads is None:
                yield f"broker {broker.node_id} has not said what it reads yet: try again"
        """,
        f"{_FEATURES}::test_a_broker_that_does_not_read_the_level_stands_against_it",
    ),
    SeededBug(
        "upgrade-03",
        "a controller that does not know the question is taken for one that reads every level",
        "metadata/quorum/told_levels.py",
        "ask_levels",
        "answer.body.reads if isinstance(answer.body, LevelsTold) else None",
        "answer.body.reads if isinstance(answer.body, LevelsTold) else READ_HERE",
        f"{_QUORUM}::test_a_controller_that_does_not_know_the_question_tells_nothing",
    ),
    SeededBug(
        "upgrade-04",
        "a controller that does not answer counts as one that reads the level",
        "metadata/controller/features.py",
        "_unable_controllers",
        "readers.controllers.get(member.node_id)",
        "readers.controllers.get(member.node_id, READ_HERE)",
        f"{_QUORUM}::test_a_controller_that_is_away_keeps_the_level_where_it_is",
    ),
    SeededBug(
        "upgrade-05",
        "what an earlier process of a broker told counts for the one that runs",
        "metadata/controller/features.py",
        "_unable_brokers",
        "readers.brokers.get((broker.node_id, broker.epoch))",
        "next((it for (node, _), it in readers.brokers.items() if node == broker.node_id), None)",
        f"{_FEATURES}::test_what_an_earlier_process_of_a_broker_told_does_not_count",
    ),
    SeededBug(
        "upgrade-06",
        "a broker that does not read the level of the cluster is registered",
        "metadata/controller/brokers.py",
        "register_broker",
        "level not in request.reads",
        "False",
        f"{_FEATURES}::test_a_broker_that_is_not_running_does_not_stand_against_it",
    ),
    SeededBug(
        "upgrade-07",
        "a node is sent entries and snapshots that it cannot read",
        "metadata/leader/log_reads.py",
        "LogReads._require_reader",
        "level not in reads",
        "False",
        f"{_QUORUM}::test_nothing_is_sent_to_a_reader_of_lower_levels",
    ),
    SeededBug(
        "upgrade-08",
        "a level is lowered",
        "metadata/controller/features.py",
        "_reason_against",
        "update.level < current",
        "False",
        f"{_FEATURES}::test_no_level_is_lowered",
    ),
    SeededBug(
        "upgrade-09",
        "what is written at a level changes with a field that is added later",
        "metadata/levels.py",
        "encode_at_level",
        "later > level",
        "False",
        f"{_UNIT}/test_levels.py::test_a_later_field_is_not_written_below_its_level",
        simulated=Simulated("level raised"),
    ),
    SeededBug(
        "upgrade-10",
        "a snapshot of a later level is taken for a damaged one",
        "metadata/log/snapshot_format.py",
        "_decode_header",
        "require_read(level or _UNTOLD_LEVEL)",
        "",
        f"{_UNIT}/log/test_snapshot_format.py::test_a_snapshot_of_a_later_level_says_what_to_do",
    ),
    SeededBug(
        "upgrade-11",
        "a request whose answer was lost is refused when it is repeated, though it has taken effect",
        "metadata/controller/features.py",
        "_reason_against",
        "update.level == current",
        "False",
        f"{_FEATURES}::test_a_request_is_repeated_though_a_node_tells_nothing_any_more",
    ),
    SeededBug(
        "upgrade-12",
        "controllers are asked before the wait for brokers: what they told is seconds old at the decision",
        "metadata/leader/leadership.py",
        "Leadership.update_features",
        """
            await self._hear_from_brokers()
            members = [it.node_id for it in self._quorum.configuration.members]
            controllers = await told_levels(self._network, members, node_id=self._quorum.node_id)
        """,
        """
            members = [it.node_id for it in self._quorum.configuration.members]
            controllers = await told_levels(self._network, members, node_id=self._quorum.node_id)
            await self._hear_from_brokers()
        """,
        f"{_QUORUM}::test_controllers_are_asked_after_the_wait_for_brokers",
    ),
    SeededBug(
        "upgrade-13",
        "an entry is written as a later level than the cluster's has it",
        "metadata/leader/commits.py",
        "_entry",
        "encode_at_level(decision.records, level_of(image.features))",
        "encode_at_level(decision.records, 99)",
        f"{_UNIT}/test_commits.py"
        "::test_a_record_above_the_clusters_level_is_refused_and_nothing_else",
        simulated=Simulated("level raised"),
    ),
    SeededBug(
        "upgrade-14",
        "a snapshot of the level that is not read any more is taken for one of the oldest level",
        "metadata/log/snapshot_format.py",
        "_decode_header",
        "level or _UNTOLD_LEVEL",
        "level or 2",
        f"{_UNIT}/log/test_snapshot_format.py::test_a_snapshot_of_level_1_says_what_to_do",
    ),
)
