"""`headrace stream describe`: a stream's ranges over objects, in offset order."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from headrace.broker.cli.bucket_argument import (
    EXIT_FOUND,
    cluster_option,
    run_async,
)
from headrace.broker.cli.failures import CommandFailedError
from headrace.broker.cli.metadata_source import IN_BUCKET, metadata_option
from headrace.broker.cli.options import output_option
from headrace.broker.cli.output import emit_object, emit_rows, heading, talk

if TYPE_CHECKING:
    from headrace.broker.cli.bucket.stream_sources import DescribedStream


@click.command()
@click.argument("url", metavar="[URL]", required=False)
@metadata_option(required=False)
@click.option("--stream", "stream_id", type=click.IntRange(0), help="Only this stream.")
@click.option("--topic", metavar="NAME", help="Only streams of this topic; needs --metadata.")
@click.option("--partition", type=click.IntRange(0), help="Only of this partition of the topic.")
@cluster_option
@output_option
def describe(
    url: str | None,
    metadata: str | None,
    stream_id: int | None,
    topic: str | None,
    partition: int | None,
    cluster: str | None,
    output: str,
) -> int:
    """Show streams: one line each or, with --stream, --topic or -o json, their objects as well.

    With --metadata, streams are shown as the metadata describes them; with URL as well, the indexes
    of their objects are read and compared with it. With URL alone, streams are derived from the
    indexes of all objects in the bucket: topics then have no names, and overlaps are normal, since
    compaction deletes the objects that it replaced later.

    Exit code: 0 nothing is missing, 1 there are gaps, or objects lack data that they should have, 2
    wrong usage.
    """
    if url is None and metadata in (None, IN_BUCKET):
        raise click.UsageError("Name a bucket by URL, or a metadata directory with --metadata.")
    if metadata is None and topic is not None:
        raise click.UsageError("Only the metadata has names of topics: add --metadata.")
    if partition is not None and topic is None:
        raise click.UsageError("--partition needs --topic.")
    from headrace.broker.cli.bucket.stream_sources import Selection, from_bucket, from_metadata

    wanted = Selection(stream_id, topic, partition)
    if metadata is not None:
        described = from_metadata(metadata, cluster, url, wanted)
        streams = run_async(described, url=url or metadata)
    else:
        assert url is not None
        streams = run_async(from_bucket(url, cluster, wanted), url=url)
    if not streams and (stream_id is not None or topic is not None):
        raise CommandFailedError(
            "there is no such stream", hint="Leave --stream and --topic out to see all."
        )
    if output != "table":
        emit_object({"streams": [_document(it) for it in streams]}, output=output)
    elif wanted.is_everything:
        emit_rows([_row(it) for it in streams], output="table")
        talk(f"{len(streams)} streams")
    else:
        _print(streams)
    return EXIT_FOUND if any(it.is_wrong for it in streams) else 0


def _row(found: "DescribedStream") -> dict[str, object]:
    laid = found.coverage
    row: dict[str, object] = {"stream": found.stream_id}
    if found.known is not None:
        row |= found.known
    return row | {
        "start_offset": found.start_offset,
        "end_offset": found.end_offset,
        "objects": len(laid.pieces),
        "gaps": len(laid.gaps),
        "overlaps": len(laid.overlaps),
        "contradictions": len(found.contradictions),
    }


def _document(found: "DescribedStream") -> dict[str, object]:
    return {
        **_row(found),
        "writers": found.writers,
        "pieces": _pieces(found),
        "gaps": found.coverage.gaps,
        "overlaps": found.coverage.overlaps,
        "contradictions": [
            {"object_id": object_id, "what": what}
            for object_id, what in sorted(found.contradictions.items())
        ],
    }


def _pieces(found: "DescribedStream") -> list[dict[str, object]]:
    return [
        {
            "start_offset": piece.start_offset,
            "end_offset": piece.end_offset,
            "object_id": piece.object_id,
            "kind": found.objects[piece.object_id].kind,
            "object_bytes": found.objects[piece.object_id].size_bytes,
            "state": found.contradictions.get(piece.object_id, "ok"),
        }
        for piece in found.coverage.pieces
    ]


def _print(streams: "Iterable[DescribedStream]") -> None:
    for found in streams:
        heading(f"stream {found.stream_id}")
        for name, value in list(_row(found).items())[1:]:
            click.echo(f"  {name.replace('_', ' ')}: {'-' if value is None else value}")
        for writer in found.writers:
            click.echo(
                f"  epoch {writer['epoch']} by node {writer['node']} from {writer['start_offset']}"
            )
        emit_rows(_pieces(found), output="table")
        for start, end in found.coverage.gaps:
            talk(f"gap: no object holds offsets {start} to {end}")
        for start, end in found.coverage.overlaps:
            talk(f"overlap: more than one object holds offsets {start} to {end}")
        click.echo()
