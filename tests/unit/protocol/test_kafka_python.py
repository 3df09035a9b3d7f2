"""The package of kafka-python is run when it is asked for something, and not for its messages."""

import subprocess
import sys

SCRIPT = """
import sys
from headrace.protocol.kafka_python import enter_package
enter_package()
import headrace.protocol.messages
clients = ("kafka.admin", "kafka.consumer", "kafka.producer")
print([name for name in clients if name in sys.modules])
import kafka
print(kafka.__file__ is not None, "kafka.consumer" in sys.modules)
from kafka import KafkaProducer, errors
print(KafkaProducer.__name__, errors.KafkaError.__name__, kafka.__version__ != "")
try:
    kafka.no_such_name
except AttributeError as error:
    print(error)
"""

IMPORTED_BEFORE = """
import kafka
from headrace.protocol.kafka_python import enter_package
enter_package()
import headrace.protocol.messages
print(kafka.KafkaConsumer.__name__, hasattr(kafka, "__getattr__"))
"""


FAILED_ONCE = """
import sys
from headrace.protocol.kafka_python import enter_package
enter_package()
import kafka
sys.modules["kafka.consumer"] = None
try:
    from kafka import KafkaConsumer
except ImportError as error:
    print(type(error).__name__)
del sys.modules["kafka.consumer"]
from kafka import KafkaConsumer
print(KafkaConsumer.__name__)
"""


def output_of(script: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout.splitlines()


def test_messages_are_loaded_without_the_clients():
    assert output_of(SCRIPT) == [
        "[]",
        "True False",
        "KafkaProducer KafkaError True",
        "module 'kafka' has no attribute 'no_such_name'",
    ]


def test_a_package_that_was_imported_before_stays_as_it_is():
    assert output_of(IMPORTED_BEFORE) == ["KafkaConsumer False"]


def test_a_package_that_could_not_be_run_is_tried_again():
    assert output_of(FAILED_ONCE) == ["ModuleNotFoundError", "KafkaConsumer"]
