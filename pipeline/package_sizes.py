"""Counts the documents of a topic and sums one of their numbers, per value of a field.

With Debian's package index: the number of packages per section, and their installed size. One
Structured Streaming query reads the topic with the stock Kafka connector up to its current end and
stops; the running totals are in its checkpoint, so the next run adds only new records.

Input, the topic's records:

    | column | type   | null | meaning                                               |
    |--------|--------|------|-------------------------------------------------------|
    | value  | binary | yes  | one JSON object in UTF-8; two of its top-level fields |
    |        |        |      | are read: one to group by, one number to sum          |

Output, Parquet in `<output>/totals`, one row per distinct value (key: `<group_by>`):

    | column     | type   | null | meaning                                                    |
    |------------|--------|------|------------------------------------------------------------|
    | <group_by> | string | yes  | the field's value; null: a document without it, or a       |
    |            |        |      | record that is not a JSON object                           |
    | documents  | bigint | no   | records                                                    |
    | <number>   | double | yes  | sum of the number, in its own unit; null: no document of   |
    |            |        |      | this group has it; the column is absent if no number was   |
    |            |        |      | chosen                                                     |

Run it with `python -m headrace.pipeline.package_sizes --bootstrap HOST:PORT --topic TOPIC --output DIR
--group-by FIELD [--number FIELD]`, or this file by spark-submit, which then chooses master and packages. DIR is a
path of a file system that all workers share, or a URI.
"""

import argparse
import sys
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col, count, expr, from_json, lit
from pyspark.sql.functions import sum as sum_of
from pyspark.sql.types import StringType, StructField, StructType

from headrace.config.spark_reader import reader_options
from headrace.pipeline.fields import FieldChoice
from headrace.pipeline.session import create_session

DOCUMENTS = "documents"
ROWS_SHOWN = 20
_RECORDS_PER_BATCH = 1_000_000


def parse_documents(records: DataFrame, fields: FieldChoice) -> DataFrame:
    """Parse records (`value`: binary) into rows of the chosen fields.

    A field is null if the record is not a JSON object, or lacks the field.
    """
    # A number is decoded as text first: "12" counts too, and an invalid value does not void its row.
    names = [fields.group_by] if fields.number is None else [fields.group_by, fields.number]
    columns = [StructField(name, StringType()) for name in names]
    document = from_json(col("value").cast("string"), StructType(columns)).alias("document")
    rows = records.select(document).select("document.*")
    if fields.number is None:
        return rows
    number = expr(f"try_cast({_quoted(fields.number)} as double)")
    return rows.select(col(_quoted(fields.group_by)), number.alias(fields.number))


def add_up(documents: DataFrame, fields: FieldChoice) -> DataFrame:
    """Count the rows of each group, and sum its numbers."""
    totals = [count(lit(1)).alias(DOCUMENTS)]
    if fields.number is not None:
        totals.append(sum_of(col(_quoted(fields.number))).alias(fields.number))
    return documents.groupBy(col(_quoted(fields.group_by))).agg(*totals)


def run(
    session: SparkSession, bootstrap: str, topic: str, fields: FieldChoice, output: str | Path
) -> DataFrame:
    """Aggregate the topic up to its current end, and return the rows of `<output>/totals`.

    Each micro-batch, of a million records, replaces all totals: an interrupted run leaves none or
    old ones, and the next run writes them.
    """
    totals = f"{output}/totals"

    def write(batch: DataFrame, batch_id: int) -> None:
        del batch_id  # each batch writes complete totals, so writing it twice changes nothing
        batch.coalesce(1).write.mode("overwrite").parquet(totals)

    records = (
        session.readStream.format("kafka")
        .options(**reader_options(bootstrap))
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", _RECORDS_PER_BATCH)
        .load()
    )
    query = (
        add_up(parse_documents(records, fields), fields)
        .writeStream.outputMode("complete")
        .foreachBatch(write)
        .option("checkpointLocation", f"{output}/checkpoint")
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return session.read.parquet(totals)


def table(totals: DataFrame, fields: FieldChoice, rows: int = ROWS_SHOWN) -> str:
    """Format the largest groups as a text table, by number if there is one, else by documents."""
    order = fields.number or DOCUMENTS
    largest = totals.orderBy(col(_quoted(order)).desc_nulls_last()).limit(rows).collect()
    cells = [totals.columns, *([_cell(value) for value in row] for row in largest)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(totals.columns))]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()
        for row in cells
    ]
    lines.insert(1, "  ".join("-" * width for width in widths))
    left = totals.count() - len(largest)
    return "\n".join([*lines, f"... and {left} more"] if left > 0 else lines)


def _cell(value: object) -> str:
    match value:
        case None:
            return "(none)"
        case float() if value.is_integer():
            return f"{int(value):,}"
        case int() | float():
            return f"{value:,}"
        case _:
            return str(value)


def _quoted(name: str) -> str:
    """Quote a field name, which may have dots and spaces, as a column name."""
    return "`" + name.replace("`", "``") + "`"


def main() -> int:
    """Run the job from the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m headrace.pipeline.package_sizes", description=__doc__
    )
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--bootstrap", default="127.0.0.1:9092", help="host:port of a broker")
    parser.add_argument("--topic", required=True)
    parser.add_argument("--output", required=True, help="directory for the totals: a path or a URI")
    parser.add_argument("--group-by", required=True, help="top-level field of the documents")
    parser.add_argument("--number", help="top-level field to sum")
    parser.add_argument(
        "--connector-jars",
        type=Path,
        help="directory with the connector's jars, without spark-submit; Spark downloads them otherwise",
    )
    arguments = parser.parse_args()
    fields = FieldChoice(arguments.group_by, arguments.number)
    session = create_session("package sizes", connector_jars=arguments.connector_jars)
    totals = run(session, arguments.bootstrap, arguments.topic, fields, arguments.output)
    print(table(totals, fields))
    session.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
