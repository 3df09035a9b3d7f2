"""`headrace bucket cost`: what a bucket costs, with the figures that it was computed from."""

from typing import TYPE_CHECKING

import click

from headrace.broker.cli.bucket_argument import (
    cluster_option,
    opened,
    require_cluster,
    run_async,
    url_argument,
)
from headrace.broker.cli.failures import CommandFailedError
from headrace.broker.cli.options import output_option
from headrace.broker.cli.output import emit_object, emit_rows, heading, talk
from headrace.broker.cli.progress import tally
from headrace.readable import size_text

if TYPE_CHECKING:
    from headrace.storage.audit.cost import Prices, RequestCost
    from headrace.storage.audit.inventory import Inventory

ADMIN_TIMEOUT_S = 10.0
MAX_METRICS_BYTES = 64 * 1024 * 1024
_REQUESTS = "headrace_object_store_requests_total"
_INGESTED = "headrace_appends_confirmed_bytes_total"


@click.command()
@url_argument
@cluster_option
@click.option(
    "--put-per-1000",
    type=click.FloatRange(0),
    default=0.005,
    show_default=True,
    help="Price of a thousand PUT, COPY, POST or LIST requests.",
)
@click.option(
    "--get-per-1000",
    type=click.FloatRange(0),
    default=0.0004,
    show_default=True,
    help="Price of a thousand GET or HEAD requests.",
)
@click.option(
    "--gb-month",
    type=click.FloatRange(0),
    default=0.023,
    show_default=True,
    help="Price of 2**30 bytes per month.",
)
@click.option(
    "--admin",
    metavar="HOST:PORT",
    help="Admin listener of a running broker: also price its requests since its start.",
)
@output_option
def cost(
    url: str,
    cluster: str | None,
    put_per_1000: float,
    get_per_1000: float,
    gb_month: float,
    admin: str | None,
    output: str,
) -> None:
    """Show what the stored objects cost per month and, for a running broker, its requests.

    The default prices are those of Amazon S3 Standard in us-east-1, in dollars; give your own for
    another service. Requests are counted as the broker makes them: repeated requests of the client
    library, and the parts of a multipart upload, are not included. Deletions are free.
    """
    from headrace.storage.audit.cost import Prices

    prices = Prices(put_per_1000=put_per_1000, get_per_1000=get_per_1000, gb_month=gb_month)
    samples = _samples(admin) if admin else None
    inventory = run_async(_count(url, cluster), url=url)
    document: dict[str, object] = {
        "prices": {
            "put_per_1000": put_per_1000,
            "get_per_1000": get_per_1000,
            "gb_month": gb_month,
        },
        "storage": _storage(inventory, prices),
    }
    if samples is not None:
        document["requests"] = _requests(samples, prices)
    if output != "table":
        emit_object(document, output=output)
    else:
        _print(document)


async def _count(url: str, cluster: str | None) -> "Inventory":
    from headrace.storage.audit.inventory import Inventory, meaning_of

    inventory = Inventory()
    clusters: set[str] = set()
    with tally("listing") as count:
        async with opened(url) as place:
            async for page in place.lister.pages():
                count(len(page))
                meanings = [(one, meaning_of(one.key).cluster_id) for one in page]
                clusters.update(found for _, found in meanings if found)
                inventory.add(one for one, found in meanings if cluster in (None, found))
    require_cluster(clusters, cluster)
    return inventory


def _storage(inventory: "Inventory", prices: "Prices") -> list[dict[str, object]]:
    from headrace.storage.audit.cost import storage_price

    rows: list[dict[str, object]] = [
        {
            "cluster": cluster_id,
            "kind": kind.value,
            "objects": totals.objects,
            "bytes": totals.bytes,
            "price_per_month": round(storage_price(totals.bytes, prices), 6),
        }
        for (cluster_id, kind), totals in sorted(
            inventory.totals.items(), key=lambda it: (it[0][0], it[0][1].value)
        )
    ]
    total = {
        "cluster": "",
        "kind": "total",
        "objects": inventory.objects,
        "bytes": inventory.bytes,
        "price_per_month": round(storage_price(inventory.bytes, prices), 6),
    }
    return [*rows, total]


def _requests(samples: "_Samples", prices: "Prices") -> dict[str, object]:
    from headrace.storage.audit.cost import request_costs

    ingested = int(samples.get(_INGESTED, {}).get("", 0))
    counts = {operation: int(count) for operation, count in samples[_REQUESTS].items()}
    costs = request_costs(counts, ingested, prices)
    return {
        "ingested_bytes": ingested,
        "operations": [_request_row(it) for it in costs],
        "price": round(sum(it.price for it in costs), 6),
        "price_per_gib": round(sum(it.price_per_gib for it in costs), 6),
    }


def _request_row(found: "RequestCost") -> dict[str, object]:
    return {
        "operation": found.operation,
        "requests": found.requests,
        "per_gib": round(found.per_gib, 2),
        "price": round(found.price, 6),
        "price_per_gib": round(found.price_per_gib, 6),
    }


# Metric -> operation ("" where the metric has none) -> value.
_Samples = dict[str, dict[str, float]]


def _samples(admin: str) -> _Samples:
    """Read a running broker's counters.

    Raises:
        CommandFailedError: there is no answer, or it is not a broker of ours.
    """
    from urllib.error import URLError
    from urllib.request import urlopen

    from prometheus_client.parser import text_string_to_metric_families

    try:
        with urlopen(f"http://{admin}/metrics", timeout=ADMIN_TIMEOUT_S) as answer:
            text = answer.read(MAX_METRICS_BYTES).decode()
        found: _Samples = {}
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                by_operation = found.setdefault(sample.name, {})
                by_operation[sample.labels.get("operation", "")] = sample.value
    except (URLError, OSError, ValueError) as error:
        raise CommandFailedError(
            f"no broker answers at {admin} ({error})",
            hint="Name the address of headrace.admin.listener, such as 127.0.0.1:9644.",
        ) from error
    if _REQUESTS not in found:
        raise CommandFailedError(
            f"{admin} has no metrics of a bucket",
            hint="Check that this is the admin listener, and that the broker has finished its "
            "start.",
        )
    return found


def _print(document: dict[str, object]) -> None:
    prices = document["prices"]
    assert isinstance(prices, dict)
    shown = ", ".join(f"{name.replace('_', ' ')} {price:g}" for name, price in prices.items())
    talk(f"prices: {shown}")
    storage = document["storage"]
    assert isinstance(storage, list)
    emit_rows(storage, output="table")
    requests = document.get("requests")
    if isinstance(requests, dict):
        click.echo()
        heading(f"requests since the start, {size_text(requests['ingested_bytes'])} ingested")
        emit_rows(requests["operations"], output="table")
        talk(f"{requests['price']:g} in total, {requests['price_per_gib']:g} for each GiB ingested")
