"""What the commands about write-ahead logs print: dictionaries whose keys are stable."""

from datetime import UTC, datetime

from headrace.storage.errors import CorruptObjectError
from headrace.storage.record_batch import decode_batch
from headrace.wal.errors import WalDeviceError, WalVersionError
from headrace.wal.layout import ShutdownType, Superblock
from headrace.wal.ring.superblock_store import require_whole
from headrace.wal.tools.inspection import Inspection, Slot
from headrace.wal.tools.ring_walk import BlockSeen, PagesSeen, RecordSeen
from headrace.wal.tools.verification import Verification

Report = dict[str, object]


def inspection_report(inspection: Inspection) -> Report:
    """Describe what `headrace.wal.tools.inspection.inspect` found."""
    content = inspection.content
    superblock = None if isinstance(content, WalVersionError) else content.superblock
    return {
        "path": inspection.path,
        "kind": "file" if inspection.is_file else "block device",
        "size_bytes": inspection.size_bytes,
        "sector_bytes": inspection.sector_bytes or None,
        "direct_io": inspection.is_direct,
        "in_memory": inspection.is_in_memory,
        "holds": _holds(inspection),
        "writer": _writer(inspection),
        **({} if superblock is None else _superblock(superblock)),
        "slots": [_slot(slot) for slot in inspection.slots],
    }


def _holds(inspection: Inspection) -> str:
    content = inspection.content
    if isinstance(content, WalVersionError):
        return f"a WAL of format version {content.found}"
    if content.superblock is not None:
        try:
            require_whole(content.superblock, inspection.size_bytes, inspection.path)
        except WalDeviceError as error:
            return f"{content.kind.value}, damaged: {error}"
    return f"{content.what} (at byte {content.position})" if content.what else content.kind.value


def _writer(inspection: Inspection) -> str:
    if inspection.writer is not None:
        return str(inspection.writer)
    return "none seen" if inspection.tells_writer else "unknown"


def _slot(slot: Slot) -> Report:
    report: Report = {"position": slot.position, "state": slot.state}
    if slot.superblock is not None:
        report["sequence"] = slot.superblock.sequence
    return report


def _superblock(superblock: Superblock) -> Report:
    graceful = superblock.shutdown is ShutdownType.GRACEFUL
    return {
        "cluster_id": superblock.cluster_id,
        "node_id": superblock.node_id,
        "node_epoch": superblock.node_epoch,
        "generation_id": f"{superblock.generation_id:016x}",
        "sequence": superblock.sequence,
        "capacity_bytes": superblock.capacity_bytes,
        "ring_bytes": superblock.ring.size_bytes,
        "window_bytes": superblock.window_bytes,
        "trim_offset": superblock.trim_offset,
        "head_offset": superblock.head_offset,
        "confirmed_offset": superblock.confirmed_offset,
        "shutdown": "graceful, empty" if graceful else "none or not graceful",
        "last_write": _time(superblock.last_write_ms),
    }


def _time(wall_ms: int) -> str | None:
    try:
        when = datetime.fromtimestamp(wall_ms / 1000, UTC)
    except (OverflowError, OSError, ValueError):
        return None
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def verification_report(path: str, verification: Verification) -> Report:
    """Describe what `headrace.wal.tools.verification.verify` found."""
    report: Report = {"path": path, "result": verification.soundness.value}
    superblock, summary, error = verification.superblock, verification.summary, verification.error
    if superblock is not None and summary is not None:
        report |= {
            "generation_id": f"{superblock.generation_id:016x}",
            "head_offset": superblock.head_offset,
            "confirmed_offset": summary.confirmed_offset,
            "end_offset": summary.end_offset,
            "records": summary.records,
            "bytes": summary.end_offset - superblock.head_offset,
            "blocks": summary.blocks,
            "gaps": summary.gaps,
            "earlier_lap_pages": summary.earlier_lap_pages,
            "other_generation_pages": summary.other_generation_pages,
        }
    if error is not None:
        report |= {
            "damaged_offset": error.offset if error.offset >= 0 else None,
            "damaged_position": error.position,
        }
    return report | {"attempts": verification.attempts}


def block_report(block: BlockSeen) -> Report:
    """Describe a block without its records."""
    header = block.header
    return {
        "what": "block",
        "offset": block.offset,
        "position": block.position,
        "length": header.length,
        "records": header.records,
        "previous_end": header.previous_end,
        "confirmed_offset": header.confirmed_offset,
        "superblock_sequence": header.superblock_sequence,
    }


def pages_report(pages: PagesSeen) -> Report:
    """Describe pages that are no block."""
    return {
        "what": pages.what,
        "offset": pages.offset,
        "position": pages.position,
        "pages": pages.pages,
    }


def record_report(record: RecordSeen, *, bodies: bool) -> Report:
    """Describe a record, and the batch in it."""
    report: Report = {
        "what": "record",
        "offset": record.offset,
        "position": record.position,
        "length": len(record.body),
        "state": record.state.value,
    } | batch_report(record.body)
    if bodies:
        report["body"] = record.body.hex()
    return report


def batch_report(body: memoryview) -> Report:
    """Decode the stream header; a damaged body may have any."""
    try:
        batch, _ = decode_batch(body, 0)
    except CorruptObjectError:
        return {}
    return {
        "stream_id": batch.stream_id,
        "epoch": batch.epoch,
        "base_offset": batch.base_offset,
        "count": batch.count,
    }


def report_line(report: Report) -> str:
    """Write a report of `dump` as one line for people."""
    what, offset, position = report["what"], report["offset"], report["position"]
    if what == "block":
        return (
            f"block   offset {offset}  position {position}  {report['length']} bytes  "
            f"{report['records']} records  confirmed {report['confirmed_offset']}"
        )
    if what != "record":
        return f"pages   offset {offset}  position {position}  {report['pages']} pages: {what}"
    line = (
        f"record  offset {offset}  position {position}  {report['length']} bytes  {report['state']}"
    )
    if "stream_id" in report:
        line += (
            f"  stream {report['stream_id']} epoch {report['epoch']} "
            f"base {report['base_offset']} count {report['count']}"
        )
    return f"{line}\n        {report['body']}" if "body" in report else line
