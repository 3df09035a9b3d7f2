"""A cluster under load, and what must hold after each fault and at the end."""

from pathlib import Path

from headrace.metadata.image import MetadataImage
from headrace.metadata.offline import read_offline
from headrace.metadata.snapshot import canonical_bytes
from tests.cluster.admin_load import AdminLoad
from tests.cluster.client_errors import SeenErrors
from tests.cluster.cluster import Cluster
from tests.cluster.java_load import JavaLoad
from tests.cluster.node import Node
from tests.cluster.probe import Probe
from tests.cluster.record_load import RecordLoad


class Scene:
    """Everything that runs against one cluster."""

    def __init__(self, cluster: Cluster, seed: int, *, java: bool = True) -> None:
        self.cluster = cluster
        self.seen = SeenErrors()
        self.probe = Probe(cluster)
        self.admin = AdminLoad(cluster, self.seen, seed)
        self.records = RecordLoad(cluster, self.seen, seed)
        self.java = JavaLoad(cluster, self.seen, cluster.directory / "java") if java else None

    def start(self) -> None:
        """Start all clients and wait until records flow."""
        self.admin.start()
        self.records.start()
        if self.java:
            self.java.start()
        self.wait_for_progress()

    def wait_for_progress(self) -> None:
        """Wait until records sent from now on come through everywhere."""
        self.records.wait_for_progress()
        if self.java:
            self.java.wait_for_progress()

    def settle(self) -> None:
        """End all faults, and check that everything goes on and nothing acknowledged is missing."""
        self.cluster.heal()
        self.wait_for_progress()
        self.records.check_ends()
        self.seen.check()

    def finish(self) -> int:
        """End the load and check all of it; return the number of records that were found."""
        self.cluster.heal()
        self.stop()
        self.seen.check()
        count = self.records.check_everything()
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
        if self.java:
            self.java.stop()

    def end(self) -> None:
        """Kill what is left of the load."""
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
