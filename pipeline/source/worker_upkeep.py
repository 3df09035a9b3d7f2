"""What Spark's Python worker does between two tasks is kept short.

After each task it collects all garbage, which walks through every object there is: numba and pyarrow alone bring a
hundred thousand. Before each task it has all importers look at their archives again: some fifteen read the whole list
of `pyspark.zip`, one after the other. Each takes about 0.1 s of a processor, as much as decoding a million records.

Source: daemon.py and worker_util.py of Apache Spark 4.0; zipimport of Python 3.11.
"""

import gc
import os
import sys
from typing import Final
from zipimport import zipimporter

from pyspark import TaskContext
from pyspark.core.broadcast import _broadcastRegistry

_SPARKS: Final = ("pyspark", "py4j")  # packages that a worker loads from archives of Spark's

# The module of the decoder's loops, which ends so; its package has another name in the wheel for Spark.
_DECODER: Final = ".columns.loops"

_frozen: list[int] = []  # nothing yet, or how many objects


def shorten_upkeep() -> None:
    """Called at the end of a task that has loaded all that it needs; elsewhere than in a worker it does nothing."""
    if TaskContext.get() is None:
        return
    _forget_importers()
    if not _frozen and _may_freeze():
        gc.collect()  # what is garbage now would stay for ever
        gc.freeze()
        _frozen.append(gc.get_freeze_count())


def _may_freeze() -> bool:
    """Whether the worker serves further tasks, has loaded the decoder, and holds no foreign broadcast.

    A broadcast that is frozen would not be freed when it is given up.
    """
    if "SPARK_REUSE_WORKER" not in os.environ or _broadcastRegistry:
        return False
    return any(it.endswith(_DECODER) for it in sys.modules)


def _forget_importers() -> None:
    """Forget the importers of Spark's archives, which do not change: the next import makes one without reading."""
    loaders = (getattr(sys.modules.get(name), "__loader__", None) for name in _SPARKS)
    archives = {it.archive for it in loaders if isinstance(it, zipimporter)}
    for path, finder in list(sys.path_importer_cache.items()):
        if isinstance(finder, zipimporter) and finder.archive in archives:
            del sys.path_importer_cache[path]
