"""What Spark finds by its name: `format("headrace")` reads topics from the bucket, and nobody has to register it.

Spark 4.0 imports each package whose name begins with `pyspark_`, and registers its `DefaultSource`. The wheel of this
folder has all that it needs (docs/adr/0012-a-wheel-for-spark.md); in a checkout it is that of the checkout.
"""

from headrace.pipeline.source.data_source import HeadraceDataSource as DefaultSource

__all__ = ["DefaultSource"]
