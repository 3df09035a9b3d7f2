"""Brokers for the tests of other software: unchanged ones, in the process of the test.

```python
from headrace.testing import Broker, Cluster

with Broker() as broker:
    producer = KafkaProducer(bootstrap_servers=broker.bootstrap)

with Cluster(3) as cluster:
    cluster.stop(1)   # in an orderly way: its partitions move to the others
    cluster.start(1)
```

A broker is ready within some tens of milliseconds. Clients connect over TCP on loopback. The brokers and a controller
run on one event loop, in a thread that ends with the cluster. Their data are in memory: the bucket is an object of the
process, the write-ahead logs and the metadata are files below /dev/shm where that has room for them (96 MiB for each
broker), and in the directory for temporary files elsewhere. `close`, or the end of the `with` block, stops the nodes
and removes all of it. `start` after `stop` finds the data again.

What is not as in a process of its own: all nodes, and the test, share the processor and the interpreter's lock; a
broker cannot be killed; nothing is logged unless the test configures `logging` ("headrace").
"""

from headrace.testing.cluster import Broker, Cluster
from headrace.testing.nodes import BrokerFailedError

__all__ = ["Broker", "BrokerFailedError", "Cluster"]
