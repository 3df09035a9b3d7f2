"""The batch logic of the job, on small data frames."""

import json
from collections.abc import Sequence

import pytest
from pyspark.sql import DataFrame, SparkSession

from headrace.pipeline.fields import FieldChoice
from headrace.pipeline.package_sizes import add_up, parse_documents, table

pytestmark = pytest.mark.spark

SIZES = FieldChoice("section", "installed_size")


def records(spark: SparkSession, values: Sequence[bytes | None]) -> DataFrame:
    """Records as the Kafka source gives them, without the columns that the job does not read."""
    return spark.createDataFrame([(value,) for value in values], "value binary")


def document(**fields: object) -> bytes:
    """One record's value."""
    return json.dumps(fields).encode()


def totals(
    spark: SparkSession, values: Sequence[bytes | None], fields: FieldChoice
) -> dict[str | None, tuple]:
    """What the job makes of these values: the totals of each group."""
    rows = add_up(parse_documents(records(spark, values), fields), fields).collect()
    assert len({row[0] for row in rows}) == len(rows)
    return {row[0]: tuple(row)[1:] for row in rows}


def test_documents_are_counted_and_added_up(spark: SparkSession) -> None:
    values = [
        document(section="games", installed_size=10, package="a"),
        document(section="net", installed_size=5),
        document(section="games", installed_size=32),
    ]
    assert totals(spark, values, SIZES) == {"games": (2, 42.0), "net": (1, 5.0)}


def test_what_lacks_a_field_is_counted_all_the_same(spark: SparkSession) -> None:
    values = [
        document(section="games"),
        document(section="games", installed_size=1.5),
        document(section="games", installed_size="12"),
        document(section="games", installed_size="unknown"),
        document(section="net", installed_size=None),
        document(installed_size=7),
    ]
    assert totals(spark, values, SIZES) == {None: (1, 7.0), "games": (4, 13.5), "net": (1, None)}


def test_what_is_no_document_is_counted_under_null(spark: SparkSession) -> None:
    values = [b"no json", b"[1, 2]", b"\xff\xfe", b"", None, document(section="games")]
    assert totals(spark, values, SIZES) == {None: (5, None), "games": (1, None)}


def test_odd_field_names(spark: SparkSession) -> None:
    fields = FieldChoice("a.b c", "n`umber")
    values = [document(**{"a.b c": "x", "n`umber": 1}), document(**{"a.b c": "x", "n`umber": 2})]
    assert totals(spark, values, fields) == {"x": (2, 3.0)}


def test_without_a_number_documents_are_only_counted(spark: SparkSession) -> None:
    values = [document(kind="a"), document(kind="a"), document(kind="b")]
    assert totals(spark, values, FieldChoice("kind", None)) == {"a": (2,), "b": (1,)}


def test_the_table_shows_the_largest_groups(spark: SparkSession) -> None:
    rows = [("games", 2, 4200.0), ("net", 10, 1.5), (None, 1, None)]
    frame = spark.createDataFrame(rows, "section string, documents long, installed_size double")
    assert table(frame, SIZES, rows=2).splitlines() == [
        "section  documents  installed_size",
        "-------  ---------  --------------",
        "games            2           4,200",
        "net             10             1.5",
        "... and 1 more",
    ]
