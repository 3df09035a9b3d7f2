"""`headrace bucket ls`: what lies in a bucket."""

import json
from typing import TYPE_CHECKING

import click

from headrace.broker.cli.bucket_argument import (
    cluster_option,
    opened,
    require_cluster,
    run_async,
    url_argument,
)
from headrace.broker.cli.options import output_option
from headrace.broker.cli.output import emit_object, emit_rows, talk
from headrace.broker.cli.progress import tally
from headrace.readable import format_time, size_text

if TYPE_CHECKING:
    from headrace.storage.audit.inventory import Inventory, KeyMeaning, ListedObject


@click.command()
@url_argument
@cluster_option
@click.option(
    "--long", "is_long", is_flag=True, help="Every object; JSON is one object per line then."
)
@output_option
def ls(url: str, cluster: str | None, is_long: bool, output: str) -> None:
    """List clusters, kinds of objects and their sizes, or every object.

    Keys are decoded into kind, cluster and object id: objects of streams, objects of a write-ahead
    log in a bucket, and others.
    """
    inventory = run_async(_list(url, cluster, is_long=is_long, output=output), url=url)
    if is_long:
        return
    rows = _rows(inventory)
    if output != "table":
        total = {"objects": inventory.objects, "bytes": inventory.bytes}
        emit_object({"totals": rows, **total}, output=output)
        return
    emit_rows(rows, output="table")
    if inventory.objects:
        talk(f"{inventory.objects} objects, {size_text(inventory.bytes)}")
    else:
        talk("the bucket is empty")


async def _list(url: str, cluster: str | None, *, is_long: bool, output: str) -> "Inventory":
    """Count everything and print each object as it comes, if it is asked for."""
    from headrace.storage.audit.inventory import Inventory, meaning_of

    inventory = Inventory()
    clusters: set[str] = set()
    with tally("listing") as count:
        async with opened(url) as place:
            async for page in place.lister.pages():
                count(len(page))
                meanings = [(one, meaning_of(one.key)) for one in page]
                clusters.update(meaning.cluster_id for _, meaning in meanings if meaning.cluster_id)
                chosen = [it for it in meanings if cluster in (None, it[1].cluster_id)]
                inventory.add(one for one, _ in chosen)
                if is_long:
                    for one, meaning in chosen:
                        _print(one, meaning, output=output)
    require_cluster(clusters, cluster)
    return inventory


def _print(one: "ListedObject", meaning: "KeyMeaning", *, output: str) -> None:
    row = {
        "kind": meaning.kind.value,
        "cluster": meaning.cluster_id,
        "object_id": meaning.object_id if meaning.object_id >= 0 else None,
        "bytes": one.size_bytes,
        "modified": format_time(one.modified_ms) if one.modified_ms else None,
        "key": one.key,
    }
    if output != "table":
        click.echo(json.dumps(row))
    else:
        shown = "-" if row["object_id"] is None else row["object_id"]
        click.echo(
            f"{row['kind']:<9}  {shown:>12}  {one.size_bytes:>14}  {row['modified'] or '-':<24}  {one.key}"
        )


def _rows(inventory: "Inventory") -> list[dict[str, object]]:
    return [
        {
            "cluster": cluster_id,
            "kind": kind.value,
            "objects": totals.objects,
            "bytes": totals.bytes,
            "largest_bytes": totals.largest_bytes,
            "oldest": format_time(totals.oldest_ms) if totals.oldest_ms else None,
            "newest": format_time(totals.newest_ms) if totals.newest_ms else None,
        }
        for (cluster_id, kind), totals in sorted(
            inventory.totals.items(), key=lambda it: (it[0][0], it[0][1].value)
        )
    ]
