"""A job for spark-submit: copies what is new in a topic to Parquet files, and writes two rows to another topic.

    spark-submit copy_topic.py BOOTSTRAP TOPIC DIRECTORY TARGET

It prints how many consumers and producers Spark keeps, as JMX has them: when it has read and written, and when it has
waited for those that are idle to be closed.
"""

import json
import sys
import time

from pyspark.sql import SparkSession

PATIENCE_S = 60.0
CONSUMERS = "org.apache.commons.pool2:type=GenericKeyedObjectPool,*"
PRODUCERS = "kafka.producer:type=producer-metrics,*"

bootstrap, topic, directory, target = sys.argv[1:]
spark = SparkSession.builder.getOrCreate()
gateway, jvm = spark.sparkContext._gateway, spark.sparkContext._jvm
beans = jvm.java.lang.management.ManagementFactory.getPlatformMBeanServer()
interface = jvm.java.lang.Class.forName("javax.management.MBeanServer")


def ask(method, *arguments):
    """Call a method of JMX's server by its interface: its class is not for everyone."""
    (found,) = (it for it in interface.getMethods() if it.getName() == method)
    given = gateway.new_array(jvm.java.lang.Object, 2)
    for number, argument in enumerate(arguments):
        given[number] = argument
    return found.invoke(beans, given)


def found(pattern):
    """JMX's beans whose names match."""
    return list(ask("queryNames", jvm.javax.management.ObjectName(pattern)))


def kept():
    """Consumers of the pool that has any, and producers."""
    idle = [int(ask("getAttribute", it, "NumIdle")) for it in found(CONSUMERS)]
    return {"pools": len(idle), "consumers": sum(idle), "producers": len(found(PRODUCERS))}


def write(value):
    """Write one row to the other topic."""
    rows = spark.createDataFrame([(value,)], "value string").write.format("kafka")
    rows.option("kafka.bootstrap.servers", bootstrap).option("topic", target).save()


query = (
    spark.readStream.format("kafka")
    .option("kafka.bootstrap.servers", bootstrap)
    .option("subscribe", topic)
    .option("startingOffsets", "earliest")
    .option("maxOffsetsPerTrigger", 6_000)
    .load()
    .select("partition", "offset", "value")
    .writeStream.format("parquet")
    .option("checkpointLocation", f"{directory}/checkpoint")
    .trigger(availableNow=True)
    .start(f"{directory}/rows")
)
query.awaitTermination()
write("first")
states = [kept()]
deadline = time.monotonic() + PATIENCE_S
while kept()["consumers"] or kept()["producers"]:
    assert time.monotonic() < deadline, kept()
    time.sleep(0.1)
states.append(kept())
write("second")
print(json.dumps(states))
