"""A job of Spark's stock Kafka connector: counts the documents of a topic by section, and sums their sizes.

    spark-submit add_up.py BOOTSTRAP TOPIC DIRECTORY

Its running totals are in the checkpoint in DIRECTORY, so the next run adds only what is new.
"""

import json
import sys

from pyspark.sql import SparkSession
from pyspark.sql.functions import col, count, from_json, lit
from pyspark.sql.functions import sum as sum_of

DOCUMENT = "section string, size long"


def add_up(spark, bootstrap, topic, directory):
    """Read the topic up to its current end, and return number and size of each section's documents."""

    def write(batch, _):
        batch.coalesce(1).write.mode("overwrite").parquet(f"{directory}/totals")

    query = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", bootstrap)
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .load()
        .select(from_json(col("value").cast("string"), DOCUMENT).alias("it"))
        .groupBy("it.section")
        .agg(count(lit(1)).alias("documents"), sum_of("it.size").alias("size"))
        .writeStream.outputMode("complete")
        .foreachBatch(write)
        .option("checkpointLocation", f"{directory}/checkpoint")
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    rows = spark.read.parquet(f"{directory}/totals").collect()
    return {row.section: (row.documents, row["size"]) for row in rows}


if __name__ == "__main__":
    session = SparkSession.builder.getOrCreate()
    print(json.dumps(add_up(session, *sys.argv[1:])))
    session.stop()
