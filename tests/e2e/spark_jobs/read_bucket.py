"""A job for spark-submit: reads a topic from the bucket, once and by a stream that goes on where it was.

    spark-submit read_bucket.py BUCKET TOPIC DIRECTORY

The stream copies what is new in the topic to Parquet files. The last line of its output is a JSON document.
"""

import json
import sys

from pyspark.sql import SparkSession

bucket, topic, directory = sys.argv[1:]
spark = SparkSession.builder.getOrCreate()
where = {"bucket": bucket, "subscribe": topic, "startingOffsets": "earliest"}

frame = spark.read.format("headrace").options(**where).load()
frame.where("partition = 1").select("value").explain()
totals = frame.groupBy("partition").agg({"*": "count", "offset": "max"}).collect()
((checksum,),) = frame.selectExpr("sum(crc32(value))").collect()

stream = spark.readStream.format("headrace").options(**where).load()
query = (
    stream.writeStream.format("parquet")
    .option("path", f"{directory}/rows")
    .option("checkpointLocation", f"{directory}/checkpoint")
    .trigger(availableNow=True)
    .start()
)
query.awaitTermination()
told = {
    "spark": spark.version,
    "master": spark.sparkContext.master,
    "counts": {row.partition: row["count(1)"] for row in totals},
    "last": {row.partition: row["max(offset)"] for row in totals},
    "checksum": checksum,
}
spark.stop()
print(json.dumps(told))
