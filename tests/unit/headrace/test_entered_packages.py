"""Packages are run when they are asked for something, and not for their parts."""

import subprocess
import sys

SCRIPT = """
import sys
from headrace.entered_packages import enter_packages
enter_packages()
from headrace.protocol.messages import MetadataRequest
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
from headrace.entered_packages import enter_packages
enter_packages()
from headrace.protocol.messages import MetadataRequest
print(kafka.KafkaConsumer.__name__, hasattr(kafka, "__getattr__"))
"""

METRICS = """
import sys
from headrace.entered_packages import enter_packages
enter_packages()
from headrace.broker.telemetry.families import gauge
server = ("prometheus_client.exposition", "http.server")
print([name for name in server if name in sys.modules])
from prometheus_client import CollectorRegistry, generate_latest
class Collector:
    def collect(self):
        yield gauge("of_a_test", "A test", 7)
registry = CollectorRegistry()
registry.register(Collector())
print(generate_latest(registry).decode().splitlines()[-1])
"""

CHECKSUM = """
import sys
from headrace.entered_packages import enter_packages
enter_packages()
from headrace.checksums import crc32c
print(hex(crc32c(b"123456789")), "importlib.metadata" in sys.modules)
import crc32c
print(crc32c.crc32c(b"123456789") == 0xE3069283, crc32c.__version__ != "")
"""


FAILED_ONCE = """
import sys
from headrace.entered_packages import enter_packages
enter_packages()
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


def test_metrics_are_made_without_the_server_that_could_show_them():
    assert output_of(METRICS) == ["[]", "headrace_of_a_test 7.0"]


def test_the_checksum_is_there_without_the_version_of_its_package():
    assert output_of(CHECKSUM) == ["0xe3069283 False", "True True"]


def test_a_package_that_was_imported_before_stays_as_it_is():
    assert output_of(IMPORTED_BEFORE) == ["KafkaConsumer False"]


def test_a_package_that_could_not_be_run_is_tried_again():
    assert output_of(FAILED_ONCE) == ["ModuleNotFoundError", "KafkaConsumer"]
