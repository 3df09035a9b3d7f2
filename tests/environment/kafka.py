"""Apache Kafka from Maven: its command-line tools, and one KRaft node to compare ours with."""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.environment.java import (
    class_path,
    fetch_jars,
    java_environment,
    java_home,
    temporary_files,
)
from tests.environment.ports import free_port
from tests.environment.processes import ServerProcess

KAFKA_VERSION = "4.4.0"

_KAFKA = (
    f"org.apache.kafka:kafka_2.13:{KAFKA_VERSION}",
    f"org.apache.kafka:kafka-tools:{KAFKA_VERSION}",
    "org.apache.logging.log4j:log4j-core:2.25.1",
    "org.apache.logging.log4j:log4j-slf4j-impl:2.25.1",
    "org.apache.logging.log4j:log4j-1.2-api:2.25.1",
)
_LOGGING = """Configuration:
  status: warn
  Appenders:
    Console:
      name: console
      target: SYSTEM_ERR
      PatternLayout:
        pattern: "%d %p %c: %m%n"
  Loggers:
    Root:
      level: {level}
      AppenderRef:
        ref: console
"""
_CLUSTER_ID = "aGVhZHJhY2UtdGVzdHMtMA"
# The JIT compiler's quick tier only: a tool lives for a second or two.
_TOOL_OPTIONS = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto")


def kafka_jars() -> Path:
    """Return the directory that holds Kafka's jars."""
    return fetch_jars(f"kafka-{KAFKA_VERSION}", _KAFKA, transitive=True)


def tool_command(main_class: str, *arguments: str) -> list[str]:
    """Return the command line that runs one of Kafka's tools."""
    logging = _logging_file("error")
    options = [*_TOOL_OPTIONS, "-Xmx256m", temporary_files()]
    options.append(f"-Dlog4j2.configurationFile={logging}")
    return [
        *(str(java_home() / "bin" / "java"), *options),
        *("-cp", class_path(kafka_jars()), main_class, *arguments),
    ]


def run_tool(
    main_class: str,
    *arguments: str,
    stdin: str | None = None,
    timeout_s: float = 60,
    check: bool = True,
) -> subprocess.CompletedProcess[str]:
    """Run one of Kafka's tools to its end, and return its output.

    Raises:
        AssertionError: it failed and `check` is set; the message carries its output.
    """
    ran = subprocess.run(
        tool_command(main_class, *arguments),
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
        env=java_environment(),
    )
    if check and ran.returncode != 0:
        called = f"{main_class} {' '.join(arguments)}"
        msg = f"{called} ended with {ran.returncode}:\n{ran.stdout}{ran.stderr}"
        raise AssertionError(msg)
    return ran


def _logging_file(level: str) -> Path:
    path = kafka_jars() / f"log4j2-{level}.yaml"
    if not path.exists():
        path.write_text(_LOGGING.format(level=level))
    return path


class ApacheKafka:
    """One KRaft node, formatted and started in `directory`, on a port of the loopback interface.

    It is a broker with its own controller, unless overrides say otherwise. Use `with`, or `start` and
    `stop`; a stopped node starts again on its data.
    """

    def __init__(
        self,
        directory: Path,
        *,
        overrides: Mapping[str, str] | None = None,
        heap_mib: int = 1024,
        port: int | None = None,
    ) -> None:
        """Choose a free port, unless one is given: that on which its first listener is."""
        self.port = free_port() if port is None else port
        self.bootstrap = f"127.0.0.1:{self.port}"
        self._directory = directory
        self._properties = directory / "server.properties"
        self._settings = {**self._default_settings(), **(overrides or {})}
        self._memory = (f"-Xmx{heap_mib}m", f"-Xms{heap_mib}m", "-XX:+UseG1GC")
        self.process = ServerProcess(
            self._java("kafka.Kafka", str(self._properties)),
            log=directory / "kafka.log",
            environment=java_environment(),
        )

    def start(self) -> None:
        """Start the node, and wait until it listens."""
        self.begin()
        self.process.wait_for_port(self.port, timeout_s=90)

    def begin(self) -> None:
        """Format a new data directory, start the node, and wait for nothing."""
        self._directory.mkdir(parents=True, exist_ok=True)
        data = self._directory / "data"
        if not data.exists():
            lines = [f"{key}={value}" for key, value in self._settings.items()]
            self._properties.write_text("\n".join([*lines, ""]))
            arguments = ("format", "--cluster-id", _CLUSTER_ID, "--config", str(self._properties))
            run_tool("kafka.tools.StorageTool", *arguments)
        self.process.start()

    def stop(self) -> None:
        """Shut the node down in an orderly way."""
        self.process.terminate(timeout_s=60)

    def restart(self) -> None:
        """Stop the node and start it again on the same data and port."""
        self.stop()
        self.start()

    def __enter__(self) -> Self:
        """Start the node."""
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the node."""
        if self.process.is_running:
            self.stop()

    def _java(self, main_class: str, *arguments: str) -> list[str]:
        logging = f"-Dlog4j2.configurationFile={_logging_file('warn')}"
        java = str(java_home() / "bin" / "java")
        return [
            java,
            *self._memory,
            temporary_files(),
            logging,
            "-cp",
            class_path(kafka_jars()),
            main_class,
            *arguments,
        ]

    def _default_settings(self) -> dict[str, str]:
        controller = f"127.0.0.1:{free_port()}"
        return {
            "process.roles": "broker,controller",
            "node.id": "1",
            "controller.quorum.voters": f"1@{controller}",
            "listeners": f"PLAINTEXT://{self.bootstrap},CONTROLLER://{controller}",
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "log.dirs": str(self._directory / "data"),
            "offsets.topic.replication.factor": "1",
            "transaction.state.log.replication.factor": "1",
            "transaction.state.log.min.isr": "1",
            "share.coordinator.state.topic.replication.factor": "1",
            "share.coordinator.state.topic.min.isr": "1",
        }
