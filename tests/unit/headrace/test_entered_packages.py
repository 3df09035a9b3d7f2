"""Packages are run when they are asked for something, and not for their parts."""

import subprocess
import sys

IMPORTED_BEFORE = """
import prometheus_client
from headrace.entered_packages import enter_packages
enter_packages()
print(prometheus_client.Counter.__name__, hasattr(prometheus_client, "__getattr__"))
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
import prometheus_client
sys.modules["prometheus_client.exposition"] = None
try:
    from prometheus_client import generate_latest
except ImportError as error:
    print(type(error).__name__)
del sys.modules["prometheus_client.exposition"]
from prometheus_client import generate_latest
print(generate_latest.__name__)
try:
    prometheus_client.no_such_name
except AttributeError as error:
    print(error)
"""


def output_of(script: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout.splitlines()


def test_metrics_are_made_without_the_server_that_could_show_them():
    assert output_of(METRICS) == ["[]", "headrace_of_a_test 7.0"]


def test_the_checksum_is_there_without_the_version_of_its_package():
    assert output_of(CHECKSUM) == ["0xe3069283 False", "True True"]


def test_a_package_that_was_imported_before_stays_as_it_is():
    assert output_of(IMPORTED_BEFORE) == ["Counter False"]


def test_a_package_that_could_not_be_run_is_tried_again():
    assert output_of(FAILED_ONCE) == [
        "ModuleNotFoundError",
        "generate_latest",
        "module 'prometheus_client' has no attribute 'no_such_name'",
    ]
