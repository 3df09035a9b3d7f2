"""Counters of an object store, for the metrics endpoint."""

from dataclasses import dataclass


@dataclass(slots=True)
class StoreStatistics:
    """Counted since the store was opened. Requests are calls of the port, however often retried."""

    put_requests: int = 0
    put_bytes: int = 0
    get_requests: int = 0
    get_bytes: int = 0
    delete_requests: int = 0
    deleted_objects: int = 0
    list_requests: int = 0
    retries: int = 0
    errors: int = 0  # requests that failed after their retries; "not found" is none
    not_found: int = 0
    get_seconds: float = 0.0  # of successful requests, retries included
    put_seconds: float = 0.0
    requests_in_flight: int = 0
