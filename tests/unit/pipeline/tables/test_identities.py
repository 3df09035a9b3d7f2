"""Topics that are deleted and created again: noticed before anything of the new one is committed."""

import logging
from collections.abc import Mapping, Sequence

import pytest

from headrace.pipeline.tables.dead_letters import Letter, headers_of
from headrace.pipeline.tables.end_offsets import NoEndsError
from headrace.pipeline.tables.errors import TableError
from headrace.pipeline.tables.identities import MAX_ASKED, TopicIdentities
from headrace.pipeline.tables.rows import BadRecord
from headrace.pipeline.tables.table_state import (
    TableState,
    offsets_missing,
    topic_ids_of_source,
)

OLD, NEW = {"t": "old"}, {"t": "new"}


class Brokers:
    """What they answer, one after the other; None is no answer."""

    def __init__(self, *answers: Mapping[str, str] | None) -> None:
        self._answers = list(answers)

    def ask(self, topics: Sequence[str]) -> Mapping[str, str]:
        assert list(topics) == ["t"]
        answer = self._answers.pop(0)
        if answer is None:
            raise NoEndsError("nobody is there")
        return answer


def identities(*answers: Mapping[str, str] | None) -> TopicIdentities:
    return TopicIdentities("shop.t", ("t",), Brokers(*answers).ask, lambda _: None)


def test_a_table_adopts_the_id_that_was_there_before_and_after_its_records_were_read() -> None:
    known = identities(OLD, OLD)
    known.begin(TableState())
    assert known.confirm(TableState(), {}) == OLD


def test_a_topic_that_is_another_one_when_the_job_starts() -> None:
    with pytest.raises(TableError, match="topic t was deleted and created again"):
        identities(NEW).begin(TableState(topic_ids=OLD))


def test_a_topic_that_becomes_another_one_while_its_records_are_read() -> None:
    known = identities(OLD, NEW)
    known.begin(TableState())
    with pytest.raises(TableError, match="was deleted and created again"):
        known.confirm(TableState(), {})


def test_a_topic_that_was_not_there_is_adopted_the_second_time() -> None:
    known = identities({}, OLD, OLD)
    known.begin(TableState())
    assert known.confirm(TableState(), {}) == {}
    assert known.confirm(TableState(), {}) == OLD


def test_a_source_that_tells_ids_itself_is_believed() -> None:
    text = '{"#metadata": {"topicIds": {"t": "new"}}, "t": {"0": 3}}'
    told = topic_ids_of_source(text)
    known = identities(NEW)
    known.begin(TableState())
    assert known.confirm(TableState(), told) == NEW
    with pytest.raises(TableError, match="was deleted and created again"):
        known.confirm(TableState(topic_ids=OLD), told)
    assert topic_ids_of_source('{"t": {"0": 3}}') == {}


def test_brokers_that_never_answer_stop_nothing_and_those_that_did_have_to(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        silent = identities(None)
        silent.begin(TableState(topic_ids=OLD))
    assert "the ids of its topics are not known" in caplog.text
    assert silent.confirm(TableState(topic_ids=OLD), {}) == {}
    known = identities(OLD, *[None] * MAX_ASKED)
    known.begin(TableState())
    with pytest.raises(TableError, match="nobody is there; the next run goes on here"):
        known.confirm(TableState(), {})


def test_brokers_that_are_away_for_some_minutes_stop_nothing() -> None:
    slept: list[float] = []
    answers = Brokers(OLD, *[None] * (MAX_ASKED - 1), OLD, None, NEW)
    known = TopicIdentities("shop.t", ("t",), answers.ask, slept.append)
    known.begin(TableState())
    assert known.confirm(TableState(topic_ids=OLD), {}) == OLD
    assert sum(slept) >= 120
    with pytest.raises(TableError, match="was deleted and created again"):
        known.confirm(TableState(topic_ids=OLD), {})


def test_the_reason_of_a_query_that_failed_since_its_topic_is_another_one() -> None:
    known = identities(OLD, NEW, OLD, None)
    known.begin(TableState())
    assert "was deleted and created again" in known.why(TableState(topic_ids=OLD))
    assert known.why(TableState(topic_ids=OLD)) == ""
    assert known.why(TableState(topic_ids=OLD)) == ""


def test_letters_of_an_earlier_topic_do_not_hide_those_of_the_new_one() -> None:
    record = BadRecord("t", 0, 7, 0, None, b"x", "why")
    earlier, later = Letter(record, "old"), Letter(record, "new")
    assert later.key == "t-0-7-new"
    assert not later.is_among({earlier.key, "t-0-7"})
    assert later.is_among({later.key})
    assert dict(headers_of(later))["headrace.topic-id"] == b"new"
    # Written by an older version, by a job that died before its commit:
    assert Letter(record, "new", is_adopted=True).is_among({"t-0-7"})
    assert Letter(record).key == "t-0-7"


def test_a_table_that_lacks_what_its_checkpoint_has_behind_it() -> None:
    state = TableState(offsets={"t": {0: 5}})
    assert offsets_missing(state, {"t": {0: 5, 1: 0}}) is None
    assert offsets_missing(state, {"t": {0: 5, 1: 2}}) == ("t", 1, 0)
    assert offsets_missing(TableState(offsets={"t": {}}), {"t": {0: 1}}) == ("t", 0, 0)
    assert offsets_missing(state, {"no longer": {0: 1}}) is None
