"""How queries of tables start: with what options, and what a wrong setting of one does to the others."""

from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest
from confluent_kafka import KafkaException

from headrace.pipeline.tables import queries
from headrace.pipeline.tables.end_offsets import NoEndsError
from headrace.pipeline.tables.queries import read_stream, run_pipeline
from headrace.pipeline.tables.topic_ids import topic_ids
from tests.unit.pipeline.tables.table_scene import TableScene, config_of

WRONG = {"no.such.setting": "1"}


def test_a_topic_that_is_begun_again_is_read_from_its_first_record(tmp_path: Path) -> None:
    """Spark prefers a time to an offset, and does not tell names of options apart by case."""
    config = config_of(tmp_path)
    (table,) = config.tables
    given = {
        "startingTimestamp": "5",
        "STARTINGOFFSETSBYTIMESTAMP": "{}",
        "failOnDataLoss": "false",
    }
    source = replace(config.source, options=given)

    def options(*, is_again: bool) -> dict[str, str]:
        session = Mock()
        reader = session.readStream.format.return_value
        reader.option.return_value = reader
        read_stream(session, source, table, is_again=is_again)
        return {call.args[0]: call.args[1] for call in reader.option.mock_calls}

    again = options(is_again=True)
    assert again["startingOffsets"] == "earliest"
    assert "failOnDataLoss" in again
    assert [it for it in again if it.lower().startswith("starting")] == ["startingOffsets"]
    assert options(is_again=False).items() >= given.items()


def test_a_wrong_setting_of_the_client_is_told(tmp_path: Path) -> None:
    source = replace(config_of(tmp_path).source, client=WRONG)
    with pytest.raises(NoEndsError, match=r"no\.such\.setting"):
        topic_ids(source, ["orders"])


def test_a_client_that_cannot_be_made_stops_its_table_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = TableScene(tmp_path)
    other = replace(scene.configured, name="shop.other")
    config = replace(scene.config, tables=(scene.configured, other))

    def start(_: object, __: object, table: object, ___: object) -> Mock:
        if table is scene.configured:
            raise KafkaException("no client")
        return Mock()

    monkeypatch.setattr(queries, "start_query", start)
    stopped = run_pipeline(Mock(), config, lambda: 1)
    assert stopped == {"shop.orders": "no client"}
