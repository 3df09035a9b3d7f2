"""`headrace cluster`: nodes and settings of a running cluster."""

from typing import Any

import click

from broker.cli.clients import admin_client
from broker.cli.options import bootstrap_option, output_option
from broker.cli.output import emit_object, emit_rows


@click.group()
def cluster() -> None:
    """Nodes and settings of a cluster."""


@cluster.command()
@bootstrap_option
@output_option
def describe(bootstrap: str, output: str) -> None:
    """Show the cluster's id, controller, and how much it holds."""
    with admin_client(bootstrap) as admin:
        described, topics = admin.describe_cluster(), admin.describe_topics()
    emit_object(
        {
            "cluster_id": described["cluster_id"],
            "controller": described["controller_id"],
            "brokers": len(described["brokers"]),
            "topics": sum(not entry["is_internal"] for entry in topics),
            "partitions": sum(
                len(entry["partitions"]) for entry in topics if not entry["is_internal"]
            ),
        },
        output=output,
    )


@cluster.command()
@bootstrap_option
@output_option
def nodes(bootstrap: str, output: str) -> None:
    """List the brokers, with the partitions that each leads."""
    with admin_client(bootstrap) as admin:
        described, topics = admin.describe_cluster(), admin.describe_topics()
    led: dict[int, int] = {}
    for entry in topics:
        for partition in entry["partitions"]:
            led[partition["leader_id"]] = led.get(partition["leader_id"], 0) + 1
    emit_rows(
        [
            {
                "node": broker["broker_id"],
                "address": f"{broker['host']}:{broker['port']}",
                "rack": broker.get("rack") or "",
                "controller": broker["broker_id"] == described["controller_id"],
                "fenced": bool(broker.get("is_fenced", False)),
                "leads": led.get(broker["broker_id"], 0),
            }
            for broker in sorted(described["brokers"], key=lambda broker: broker["broker_id"])
        ],
        output=output,
    )


@cluster.command()
@click.argument("keys", nargs=-1, metavar="[KEY]...")
@click.option("--node", type=click.IntRange(0), help="Node to ask; by default the lowest number.")
@click.option("--all", "show_all", is_flag=True, help="Also settings that have their default.")
@bootstrap_option
@output_option
def configs(
    keys: tuple[str, ...], node: int | None, show_all: bool, bootstrap: str, output: str
) -> None:
    """Show the settings that a node runs with, and where each was set."""
    with admin_client(bootstrap) as admin:
        if node is None:
            node = min(broker["broker_id"] for broker in admin.describe_cluster()["brokers"])
        entries = _node_configs(admin, node, keys)
    rows = [
        {
            "key": name,
            "value": entry["value"],
            "source": str(entry["config_source"]).lower().removesuffix("_config").replace("_", " "),
            "read_only": entry["read_only"],
        }
        for name, entry in sorted(entries.items())
        if keys or show_all or entry["config_source"] != "DEFAULT_CONFIG"
    ]
    emit_rows(rows, output=output, columns=("key", "value", "source"))


def _node_configs(admin: Any, node: int, keys: tuple[str, ...]) -> dict[str, Any]:
    from kafka.admin import ConfigResource  # noqa: PLC0415 - the client is loaded by now

    resource = ConfigResource("broker", str(node), list(keys) or None)
    answer = admin.describe_configs([resource], config_filter="all")
    entries = answer.get("broker", {}).get(str(node), {})
    assert isinstance(entries, dict)
    return entries
