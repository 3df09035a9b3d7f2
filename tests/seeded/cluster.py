"""Mistakes that only a whole cluster shows, and that its simulation finds within a few seeds."""

from tests.seeded.bug import SeededBug, Simulated

BUGS = (
    SeededBug(
        "cluster-01",
        "recovery empties the WAL without an upload of what it holds",
        "storage/drain.py",
        "WalDrain._bring",
        "await self._committer.commit(upload, uploaded)",
        "pass",
        simulated=Simulated("kills"),
    ),
    SeededBug(
        "cluster-02",
        "records are acknowledged in the turn after they were appended, not when they are durable",
        "storage/append_path.py",
        "AppendPath.append",
        "self._open.add(append)",
        """
            self._open.add(append)
            asyncio.get_running_loop().call_soon(self.on_confirmed, wal_end_offset)
        """,
        simulated=Simulated("power cuts"),
    ),
    SeededBug(
        "cluster-03",
        "a lease is longer than the session that it relies on",
        "metadata/follower/lease.py",
        "lease_length_ms",
        "session_timeout_ms - session_timeout_ms // LEASE_MARGIN_DIVISOR",
        "2 * session_timeout_ms",
        simulated=Simulated("cut links"),
    ),
    SeededBug(
        "cluster-04",
        "the WAL is trimmed to what is acknowledged, not to what is committed",
        "storage/append_path.py",
        "AppendPath.on_confirmed",
        "self._confirmed_wal_end = confirmed[-1].wal_end_offset",
        """
            self._confirmed_wal_end = confirmed[-1].wal_end_offset
            self.wal.trim(self._confirmed_wal_end - 1)
        """,
        simulated=Simulated("kills"),
    ),
    SeededBug(
        "cluster-05",
        "a batch that a producer repeats is appended once more",
        "broker/partition/producer_state.py",
        "ProducerStates.check",
        "Check(SequenceCheck.DUPLICATE, batch)",
        "_APPEND",
        simulated=Simulated("lost answers"),
    ),
    SeededBug(
        "cluster-06",
        "a coordinator that starts again does not read the offsets of its groups",
        "broker/coordinator/runtime/loading.py",
        "replay_log",
        "replay(offset, producer_id, producer_epoch, decoded)",
        "count += 0",
        simulated=Simulated("kills"),
    ),
)
