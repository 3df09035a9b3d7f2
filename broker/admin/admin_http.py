"""Admin HTTP endpoint: its address, and what its pages show. `headrace.broker.admin.pages` answers.

The pages need a web framework, which takes as long to load as the opening of very many partitions. So they are loaded
later than the address is bound, and in a thread: until then requests wait in the backlog.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from prometheus_client.registry import Collector

from headrace.broker.telemetry.readiness import Readiness
from headrace.daemon_threads import import_in_thread
from headrace.network import ListeningAddress, Network

if TYPE_CHECKING:
    from headrace.broker.admin.balance_http import AskBalance
    from headrace.broker.admin.compaction_http import Compaction
    from headrace.broker.admin.pages import Pages
    from headrace.broker.admin.wal_resize_http import Resize
    from headrace.metadata.follower.log_admin import LogAdmin

PAGES = "headrace.broker.admin.pages"


class AdminServer:
    """Serves operators and scrapers beside the Kafka listener. Order of use: `bind`, `serve`, `shutdown`."""

    def __init__(self, readiness: Readiness, network: Network) -> None:
        self.readiness = readiness
        self._network = network
        self.collectors: list[tuple[Collector, Callable[[], None] | None]] = []
        self.resize: Resize | None = None  # once the WAL is open
        self.compaction: Compaction | None = None  # once there is a compactor
        self.logs: LogAdmin | None = None  # once there are metadata
        self.balance: AskBalance | None = None  # likewise
        self._listening: Sequence[ListeningAddress] = ()
        self._pages: Pages | None = None

    def expose(self, collector: Collector, take: Callable[[], None] | None = None) -> None:
        """Add metrics, which are collected on the loop, so that nothing changes meanwhile.

        With `take`, which is called on the loop instead, they are collected in a thread: from nothing but what it took.
        """
        self.collectors.append((collector, take))

    def withdraw(self, collector: Collector) -> None:
        """Take metrics back."""
        self.collectors = [it for it in self.collectors if it[0] is not collector]

    async def bind(self, host: str, port: int) -> int:
        """Listen without answering yet, and return the port.

        Raises:
            OSError: the address is in use, or not an address of this machine.
        """
        self._listening = await self._network.listen(host, port)
        return self._listening[0].port

    async def serve(self) -> None:
        """Load the pages, and answer requests with them from then on."""
        await import_in_thread("admin-pages", PAGES)
        from headrace.broker.admin.pages import Pages  # noqa: PLC0415  # takes 0.15 s

        self._pages = Pages(self)
        await self._pages.serve(self._listening)

    async def shutdown(self) -> None:
        """Close the endpoint."""
        for listening in self._listening:
            listening.close()
        if self._pages is not None:
            await self._pages.shutdown()
