"""Admin traffic at every broker at once: topics are created, deleted, described, and settings changed and read.

Each broker has a client of its own, which asks one thing at a time on a plain connection and notes what it was
answered, or that it will never know. Names are used for a while and then left, so that histories stay short.
"""

import random
import threading
from collections.abc import Callable
from uuid import UUID

from tests.cluster.client_errors import (
    NOT_CONTROLLER,
    RETRIABLE,
    TOPIC_ALREADY_EXISTS,
    UNKNOWN_TOPIC_OR_PARTITION,
    SeenErrors,
)
from tests.cluster.clock import now_ns
from tests.cluster.cluster import Cluster
from tests.cluster.history import History
from tests.cluster.linearizability import TOPIC, VALUE, Operation
from tests.cluster.node import Node
from tests.cluster.wire_calls import (
    create_topic,
    delete_topic,
    describe_topic,
    set_topic_config,
    topic_config,
)
from tests.e2e.wire import WireConnection

SETTINGS = ("retention.ms", "retention.bytes", "max.message.bytes", "delete.retention.ms")
_FIRST_VALUE = 700_000_000  # values of ours are larger than any default, and unique
_NAMES_AT_ONCE = 2
_CALLS_PER_NAME = 150
_CALLS_PER_SETTINGS_TOPIC = 1_500
_TIMEOUT_S = 4
_PAUSE_S = (0.0, 0.1)


class AdminLoad:
    """One client for each broker, from `start` to `stop`."""

    def __init__(self, cluster: Cluster, seen: SeenErrors, seed: int) -> None:
        self.topics = History(TOPIC)
        self.settings = History(VALUE)
        self._cluster = cluster
        self._seen = seen
        self._seed = seed
        self._calls = 0
        self._settings_topics = 0
        self._values = _FIRST_VALUE
        self._ids: dict[UUID, str] = {}
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Make the first topic whose settings are changed, and start the clients."""
        with self._cluster.connect(self._cluster.brokers[0]) as connection:
            self.settings_topic(connection)
        for broker in self._cluster.brokers:
            client = _Client(self, broker, random.Random(f"{self._seed} {broker.name}"))
            thread = threading.Thread(target=client.run, name=f"admin at {broker.name}")
            thread.daemon = True
            thread.start()
            self._threads.append(thread)

    def stop(self) -> None:
        """End the clients; calls under way are answered or given up first."""
        self._stopping.set()
        for thread in self._threads:
            thread.join(3 * _TIMEOUT_S)
            assert not thread.is_alive(), f"{thread.name} hangs"

    def check(self) -> int:
        """Judge both histories, and return how many operations that were."""
        return self.topics.check() + self.settings.check()

    @property
    def is_stopping(self) -> bool:
        """Whether clients shall end."""
        return self._stopping.is_set()

    def connect(self, broker: Node) -> WireConnection:
        """Connect a client to its broker."""
        return self._cluster.connect(broker, timeout_s=_TIMEOUT_S)

    def wait(self, pause_s: float) -> None:
        """Let a client pause, but not when it shall end."""
        self._stopping.wait(pause_s)

    def topic_name(self, rng: random.Random) -> str:
        """Return one of the names that are in use now."""
        with self._lock:
            self._calls += 1
            generation = self._calls // _CALLS_PER_NAME
        return f"register-{generation}-{rng.randrange(_NAMES_AT_ONCE)}"

    def settings_topic(self, connection: WireConnection) -> str:
        """Return the topic whose settings are changed now, which is another one after a while."""
        with self._lock:
            due = self._calls // _CALLS_PER_SETTINGS_TOPIC + 1
            if due > self._settings_topics:
                error, _ = create_topic(connection, f"settings-{due}")
                if error in (0, TOPIC_ALREADY_EXISTS):
                    self._settings_topics = due
            return f"settings-{self._settings_topics}"

    def next_value(self) -> str:
        """Return a value that no write had before."""
        with self._lock:
            self._values += 1
            return str(self._values)

    def note_created(self, name: str, topic_id: UUID) -> None:
        """Note a topic's id: no two topics have the same."""
        with self._lock:
            if topic_id in self._ids:
                self._seen.fault(f"{name} has the id {topic_id} of {self._ids[topic_id]}")
            self._ids[topic_id] = name

    def note_error(self, broker: Node, call: str, code: int) -> None:
        """Note an error that says nothing of the register."""
        self._seen.note_code(f"{call} at {broker.name}", code)

    def note_lost(self, broker: Node, call: str, error: Exception) -> None:
        """Note a connection that ended before its answer."""
        self._seen.note_connection(f"{call} at {broker.name}", error)


class _Client:
    """Asks one broker; its calls follow from the seed."""

    def __init__(self, load: AdminLoad, broker: Node, rng: random.Random) -> None:
        self._load = load
        self._broker = broker
        self._rng = rng
        self._connection: WireConnection | None = None

    def run(self) -> None:
        """Ask until the load is stopped."""
        calls: list[Callable[[WireConnection], None]] = [
            self._create,
            self._delete,
            self._describe,
            self._describe,
            self._write,
            self._read,
        ]
        while not self._load.is_stopping:
            try:
                if self._connection is None:
                    self._connection = self._load.connect(self._broker)
                self._rng.choice(calls)(self._connection)
            except (OSError, ValueError):
                self._connection = None
                self._load.wait(0.1)
            self._load.wait(self._rng.uniform(*_PAUSE_S))

    def _create(self, connection: WireConnection) -> None:
        name = self._load.topic_name(self._rng)
        self._create_topic(connection, name)
        self._look_at_times(self._describe_topic, connection, name)

    def _delete(self, connection: WireConnection) -> None:
        name = self._load.topic_name(self._rng)
        self._delete_topic(connection, name)
        self._look_at_times(self._describe_topic, connection, name)

    def _write(self, connection: WireConnection) -> None:
        topic, key = self._load.settings_topic(connection), self._rng.choice(SETTINGS)
        self._write_setting(connection, topic, key)
        self._look_at_times(self._read_setting, connection, topic, key)

    def _describe(self, connection: WireConnection) -> None:
        self._describe_topic(connection, self._load.topic_name(self._rng))

    def _read(self, connection: WireConnection) -> None:
        topic, key = self._load.settings_topic(connection), self._rng.choice(SETTINGS)
        self._read_setting(connection, topic, key)

    def _look_at_times(self, look: Callable[..., None], *arguments: object) -> None:
        """Look at once at what was just changed: this broker must know of it, if the change was answered."""
        if self._rng.random() < 0.5:
            look(*arguments)

    def _create_topic(self, connection: WireConnection, name: str) -> None:
        begun_ns = now_ns()

        def ask() -> tuple[int, object]:
            code, topic_id = create_topic(connection, name)
            if code == 0 and topic_id is not None:
                self._load.note_created(name, topic_id)
                return code, str(topic_id)
            return (0, "exists") if code == TOPIC_ALREADY_EXISTS else (code, None)

        self._change(self._load.topics, name, "create", begun_ns, ask)

    def _delete_topic(self, connection: WireConnection, name: str) -> None:
        begun_ns = now_ns()

        def ask() -> tuple[int, object]:
            code = delete_topic(connection, name)
            if code == UNKNOWN_TOPIC_OR_PARTITION:
                return 0, "absent"
            return code, "deleted" if code == 0 else None

        self._change(self._load.topics, name, "delete", begun_ns, ask)

    def _write_setting(self, connection: WireConnection, topic: str, key: str) -> None:
        value = self._load.next_value()
        begun_ns = now_ns()

        def ask() -> tuple[int, object]:
            return set_topic_config(connection, topic, key, value), None

        self._change(self._load.settings, f"{topic} {key}", "write", begun_ns, ask, value)

    def _change(
        self,
        history: History,
        register: str,
        call: str,
        begun_ns: int,
        ask: Callable[[], tuple[int, object]],
        argument: str | None = None,
    ) -> None:
        """Ask for a change, and note what is known of it then."""

        def note(ended_ns: int | None, answer: object) -> None:
            operation = Operation(begun_ns, ended_ns, call, argument, answer, self._broker.name)
            history.add(register, operation)

        try:
            code, answer = ask()
        except (OSError, ValueError) as error:
            note(None, None)
            self._load.note_lost(self._broker, call, error)
            raise
        if code == 0:
            note(now_ns(), answer)
            return
        self._load.note_error(self._broker, call, code)
        if code != NOT_CONTROLLER and code in RETRIABLE:
            note(None, None)  # NOT_CONTROLLER says that nothing was changed: it must hold to that

    def _describe_topic(self, connection: WireConnection, name: str) -> None:
        def ask() -> tuple[int, str | None]:
            topic = describe_topic(connection, name)
            if topic.error == UNKNOWN_TOPIC_OR_PARTITION:
                return 0, None
            # A partition's leader may be away, the topic is there all the same.
            return 0 if topic.topic_id else topic.error, str(topic.topic_id)

        self._look(self._load.topics, name, "describe", ask)

    def _read_setting(self, connection: WireConnection, topic: str, key: str) -> None:
        def ask() -> tuple[int, str | None]:
            code, value = topic_config(connection, topic, key)
            ours = value is not None and value.isdigit() and int(value) > _FIRST_VALUE
            return code, value if ours else None

        self._look(self._load.settings, f"{topic} {key}", "read", ask)

    def _look(
        self, history: History, register: str, call: str, ask: Callable[[], tuple[int, str | None]]
    ) -> None:
        """Ask the broker's own copy, which may lag behind the truth, but never goes back."""
        begun_ns = now_ns()
        try:
            code, answer = ask()
        except (OSError, ValueError) as error:
            self._load.note_lost(self._broker, call, error)
            raise
        if code:
            self._load.note_error(self._broker, call, code)
            return
        name = self._broker.name
        history.add(register, Operation(begun_ns, now_ns(), call, None, answer, name, lags=True))
