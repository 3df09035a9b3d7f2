"""What the stream engine counts, for metrics and for reports."""

from dataclasses import dataclass


@dataclass(slots=True)
class UploadCounters:
    """Counted by uploads; totals since the process started."""

    blocks_total: int = 0  # committed
    objects_total: int = 0  # committed
    bytes_total: int = 0  # of committed objects
    retries_total: int = 0  # attempts at the bucket or the control plane that will be repeated
    expired_total: int = 0  # uploads repeated under new ids since their preparation had expired


@dataclass(slots=True)
class AppendCounters:
    """Counted by appends and reads; totals since the process started."""

    confirmed_total: int = 0  # records
    confirmed_bytes_total: int = 0  # of their payloads
    cache_hits_total: int = 0  # reads that LogCache served alone
    cache_misses_total: int = 0


@dataclass(slots=True)
class ResizeCounters:
    """Counted by resizes of the WAL."""

    resizes_total: int = 0  # since the process started
    last_pause_ms: float = 0.0  # while appends were parked


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineStats:
    """A snapshot. Totals since the process started; everything else at this moment."""

    wal_capacity_bytes: int
    wal_used_bytes: int
    wal_resizes_total: int
    wal_resize_last_pause_ms: float
    log_cache_capacity_bytes: int
    log_cache_bytes: int
    log_cache_hits_total: int
    log_cache_misses_total: int
    unuploaded_bytes: int
    oldest_unuploaded_age_ms: int  # 0 when everything is uploaded
    open_streams: int
    open_appends: int
    confirmed_total: int
    confirmed_bytes_total: int
    admission_waiting: int
    admission_refused_total: int
    uploads_inflight: int  # blocks
    uploaded_blocks_total: int
    uploaded_objects_total: int
    uploaded_bytes_total: int
    upload_retries_total: int
    upload_expired_total: int
    failed: bool  # nothing is acknowledged any more
