"""A cluster under load, and what must hold after each fault and at the end."""

import time
from collections.abc import Sequence
from pathlib import Path

from headrace.metadata.image import MetadataImage
from headrace.metadata.offline.directory import read_offline
from headrace.metadata.snapshot import canonical_bytes
from tests.cluster.admin_load import AdminLoad
from tests.cluster.client_errors import SeenErrors
from tests.cluster.cluster import Cluster
from tests.cluster.java_load import JavaLoad
from tests.cluster.logs import Logs
from tests.cluster.node import Node
from tests.cluster.probe import Probe
from tests.cluster.python_load import PythonLoad
from tests.cluster.record_load import RecordLoad


class Scene:
    """Everything that runs against one cluster."""

    def __init__(self, cluster: Cluster, seed: int, *, java: bool = True) -> None:
        self.cluster = cluster
        self.seen = SeenErrors()
        self.logs = Logs(cluster)
        self.probe = Probe(cluster)
        self.admin = AdminLoad(cluster, self.seen, seed)
        self.records = RecordLoad(cluster, self.seen, seed)
        self.python = PythonLoad(cluster, self.seen)
        self.double_faults = 0  # as the tests count them
        self.java = JavaLoad(cluster, self.seen, cluster.directory / "java") if java else None

    def start(self) -> None:
        """Start all clients and wait until records flow."""
        self.admin.start()
        self.records.start()
        self.python.start()
        if self.java:
            self.java.start()
        self.wait_for_progress()

    def wait_for_progress(self) -> None:
        """Wait until records sent from now on come through everywhere."""
        self.records.wait_for_progress()
        self.python.wait_for_progress()
        if self.java:
            self.java.wait_for_progress()

    def busiest(self, of: Sequence[Node] = ()) -> Node:
        """Return the broker that leads the most partitions, of some or of all."""
        return max(of or self.cluster.brokers, key=lambda it: len(self.records.led_by(it)))

    def check_others_serve(self, *lost: Node) -> None:
        """Records flow everywhere, and nothing acknowledged is missing, while some brokers are away."""
        begun = time.monotonic()
        self.wait_for_progress()
        took_s = time.monotonic() - begun
        self.records.check_ends()
        self.seen.check()
        for broker in lost:
            waiting = self.records.led_by(broker)
            assert not waiting, f"{waiting} wait for {broker.name}\n{self.cluster.log_tails()}"
        names = ", ".join(f"{it.name} (log: {self.cluster.wal_medium(it).value})" for it in lost)
        print(f"\nwithout {names or 'nobody'}: all flows after {took_s:.1f} s", flush=True)

    def settle(self) -> None:
        """End all faults, and check that everything goes on and nothing acknowledged is missing."""
        self.cluster.heal()
        self.wait_for_progress()
        self.python.wait_until_all_brokers_are_known()
        self.records.check_ends()
        self.seen.check()

    def finish(self) -> int:
        """End the load and check all of it; return the number of records that were found."""
        self.cluster.heal()
        self.stop()
        self.seen.check()
        count = self.records.check_everything() + self.python.check_everything()
        if self.java:
            count += self.java.check_everything()
            self.seen.check()
        self.admin.check()
        self.check_controllers_agree()
        return count

    def stop(self) -> None:
        """End the load; what is under way is answered first."""
        self.admin.stop()
        self.records.stop()
        self.python.stop()
        if self.java:
            self.java.stop()

    def end(self) -> None:
        """Kill what is left of the load."""
        self.python.end()
        if self.java:
            self.java.end()

    def check_controllers_agree(self) -> None:
        """The logs of all controllers lead to the same metadata. The load is over."""
        images: list[MetadataImage] = []

        def same_end() -> bool:
            images[:] = [image_of(node) for node in self.cluster.controllers]
            return len({(image.index, image.term) for image in images}) == 1

        self.cluster.wait_until(same_end, "all controllers' logs end at the same entry")
        contents = {canonical_bytes(image) for image in images}
        assert len(contents) == 1, "controllers hold different metadata at the same index"


def image_of(controller: Node) -> MetadataImage:
    """Return the metadata to which the log of a controller leads, read beside it."""
    return read_offline(Path(controller.settings["metadata.log.dir"])).image
