"""`headrace object dump`: shows what an object holds."""

import json
from typing import TYPE_CHECKING

import click

from headrace.broker.cli.bucket_argument import (
    EXIT_FOUND,
    cluster_option,
    opened,
    run_async,
    url_argument,
)
from headrace.broker.cli.options import output_option
from headrace.broker.cli.output import emit_object, emit_rows, heading, talk
from headrace.broker.cli.record_format import as_text
from headrace.readable import format_time, size_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headrace.storage.audit.audited_bucket import AuditedBucket
    from headrace.storage.audit.block_scan import Damage
    from headrace.storage.audit.object_check import ObjectReport
    from headrace.storage.objects.index_block import IndexEntry
    from headrace.storage.record_batch import StreamRecordBatch

MAX_BLOCK_BYTES = 256 * 1024 * 1024  # a larger block is named, and not shown
MAX_DECOMPRESSED_BYTES = 256 * 1024 * 1024
VALUE_SHOWN_BYTES = 60
KAFKA_MAGIC_AT = 16


@click.command()
@url_argument
@click.argument("name", metavar="KEY_OR_ID")
@cluster_option
@click.option("--stream", "stream_id", type=click.IntRange(0), help="Only blocks of this stream.")
@click.option(
    "--records",
    is_flag=True,
    help="Also batches, and the records in those of Kafka; JSON is one object per line then.",
)
@output_option
def dump(
    url: str, name: str, cluster: str | None, stream_id: int | None, records: bool, output: str
) -> int:
    """Show the footer and index of an object, and what its blocks hold.

    Exit code: 0 shown, 1 the object is damaged or missing, 2 wrong usage.
    """
    return run_async(
        _dump(url, name, cluster, stream_id=stream_id, records=records, output=output), url=url
    )


async def _dump(
    url: str,
    name: str,
    cluster: str | None,
    *,
    stream_id: int | None,
    records: bool,
    output: str,
) -> int:
    from headrace.broker.cli.bucket.named_objects import find_named
    from headrace.storage.audit.object_check import Watch, check_object

    entries: list[IndexEntry] = []

    def keep(entry: "IndexEntry") -> None:
        if stream_id in (None, entry.stream_id):
            entries.append(entry)

    async with opened(url) as place:
        found = await find_named(place, name, cluster)
        report = await check_object(
            place.reader, found.key, found.size_bytes, blocks=False, watch=Watch(on_entry=keep)
        )
        damage = list(report.damage)
        if records:
            for entry in entries:
                damage += await _show_block(place, found.key, entry, output=output)
        elif output != "table":
            emit_object(_document(report, entries), output=output)
        else:
            _print(report, entries)
    for it in damage:
        talk(f"damaged at byte {it.position}: {it.what}")
    return EXIT_FOUND if damage else 0


def _entry_row(entry: "IndexEntry") -> dict[str, object]:
    return {
        "stream": entry.stream_id,
        "start_offset": entry.start_offset,
        "end_offset": entry.end_offset,
        "batches": entry.record_count,
        "position": entry.position,
        "bytes": entry.size,
    }


def _head(report: "ObjectReport") -> dict[str, object]:
    footer = report.footer
    return {
        "key": report.key,
        "bytes": report.size_bytes,
        "index_position": footer.index_position if footer else None,
        "index_bytes": footer.index_length if footer else None,
        "index_crc": f"{footer.index_crc:#010x}" if footer else None,
        "blocks": report.blocks,
        "streams": report.streams,
        "unindexed_bytes": report.unindexed_bytes,
        "index_is_whole": report.index_is_whole,
    }


def _document(report: "ObjectReport", entries: "list[IndexEntry]") -> dict[str, object]:
    return {
        **_head(report),
        "index": [_entry_row(it) for it in entries],
        "damage": [it._asdict() for it in report.damage],
    }


def _print(report: "ObjectReport", entries: "list[IndexEntry]") -> None:
    emit_object(_head(report), output="table")
    click.echo()
    emit_rows([_entry_row(it) for it in entries], output="table")


async def _show_block(
    place: "AuditedBucket", key: str, entry: "IndexEntry", *, output: str
) -> "list[Damage]":
    """Print the batches of a block, as far as they can be read; return its damage."""
    from headrace.storage.audit.block_scan import Damage
    from headrace.storage.errors import CorruptObjectError
    from headrace.storage.objects.data_block import iterate_batches, verify_block

    if entry.size > MAX_BLOCK_BYTES:
        talk(f"block at {entry.position}: {size_text(entry.size)} are too much to show")
        return []
    end = entry.position + entry.size
    try:
        _, data = verify_block(await place.reader.get_range(key, entry.position, end))
        for batch in iterate_batches(data):
            _show_batch(batch, output=output)
    except CorruptObjectError as error:
        return [Damage(entry.position, str(error))]
    return []


def _show_batch(batch: "StreamRecordBatch", *, output: str) -> None:
    row = {
        "stream": batch.stream_id,
        "epoch": batch.epoch,
        "base_offset": batch.base_offset,
        "end_offset": batch.end_offset,
        "payload_bytes": len(batch.payload),
    }
    records = list(_records(batch.payload))
    if output != "table":
        click.echo(json.dumps(row | {"records": records}, ensure_ascii=False))
        return
    heading(
        f"stream {batch.stream_id}  offsets {batch.base_offset} to {batch.end_offset}  "
        f"epoch {batch.epoch}  {len(batch.payload)} bytes"
    )
    for record in records:
        click.echo("  " + "  ".join(_short(record[name]) for name in record))


def _records(payload: memoryview) -> "Iterator[dict[str, object]]":
    """Yield the records of a payload that is a Kafka batch; of any other nothing, or what it is."""
    from headrace.protocol.records.batch import MAGIC, check_crc, parse_header
    from headrace.protocol.records.errors import CorruptBatchError
    from headrace.protocol.records.record import decode_records

    if len(payload) <= KAFKA_MAGIC_AT or payload[KAFKA_MAGIC_AT] != MAGIC:
        return
    try:
        if parse_header(payload).size_bytes != len(payload) or not check_crc(payload):
            return  # a record of a meta stream that looks like it
        for record in decode_records(payload, MAX_DECOMPRESSED_BYTES):
            yield {
                "offset": record.offset,
                "timestamp": format_time(record.timestamp_ms) if record.timestamp_ms >= 0 else None,
                "key": as_text(record.key),
                "value": as_text(record.value),
            }
    except CorruptBatchError as error:
        yield {"error": str(error)}


def _short(value: object) -> str:
    shown = "-" if value is None else value["base64"] if isinstance(value, dict) else str(value)
    line = json.dumps(shown, ensure_ascii=False)[1:-1]
    return line if len(line) <= VALUE_SHOWN_BYTES else line[: VALUE_SHOWN_BYTES - 3] + "..."
