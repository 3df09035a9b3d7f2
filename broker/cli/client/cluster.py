"""`headrace cluster`: nodes and settings of a running cluster."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import click

from headrace.broker.cli.client.balance import balance
from headrace.broker.cli.client.drain import drain
from headrace.broker.cli.client.features import features, upgrade
from headrace.broker.cli.client.kafka_clients import admin_client
from headrace.broker.cli.client.logs import COLUMNS, accept_loss, logs_from, shown
from headrace.broker.cli.client.quorum import describe_quorum, quorum, send_change
from headrace.broker.cli.options import bootstrap_option, confirm, output_option, yes_option
from headrace.broker.cli.output import emit_for_programs, emit_object, emit_rows, heading, talk


@click.group()
def cluster() -> None:
    """Nodes and settings of a cluster."""


cluster.add_command(quorum)
cluster.add_command(features)
cluster.add_command(upgrade)
cluster.add_command(accept_loss)
cluster.add_command(drain)
cluster.add_command(balance)


@cluster.command()
@bootstrap_option
@click.option(
    "--admin",
    metavar="HOST:PORT",
    envvar="HEADRACE_ADMIN_SERVER",
    show_envvar=True,
    help="Admin listener of any node (headrace.admin.listener): also show the logs of the brokers.",
)
@output_option
def describe(bootstrap: str, admin: str | None, output: str) -> None:
    """Show the cluster's id, its leading controller, how much it holds, and with --admin its logs.

    Partitions without a leader are those of internal topics, too.
    """
    logs = None if admin is None else list(map(shown, logs_from(admin)))
    with admin_client(bootstrap) as client:
        described, topics = client.describe_cluster(), client.describe_topics()
        partition, _ = describe_quorum(client)
    fenced = sum(bool(broker.get("is_fenced", False)) for broker in described["brokers"])
    told = {
        "cluster_id": described["cluster_id"],
        "controller": partition["leader_id"],
        "controllers": len(partition["current_voters"]),
        "brokers": len(described["brokers"]) - fenced,
        "brokers_fenced": fenced,
        "topics": sum(not entry["is_internal"] for entry in topics),
        "partitions": sum(len(entry["partitions"]) for entry in topics if not entry["is_internal"]),
        "partitions_without_leader": sum(
            it["leader_id"] < 0 for entry in topics for it in entry["partitions"]
        ),
    }
    if output != "table":
        emit_object(told if logs is None else told | {"logs": logs}, output=output)
        return
    emit_object(told, output=output)
    if logs is None:
        talk(
            "The admin listener of a node also shows the logs of the brokers, and why partitions wait for a leader: "
            "--admin HOST:PORT"
        )
    elif logs:
        heading("\nLogs")
        emit_rows(logs, output=output, columns=COLUMNS)
        for log in logs:
            if log["waiting"]:
                talk(f"log {log['log_id']} {log['waiting']}")


@cluster.command()
@bootstrap_option
@output_option
def nodes(bootstrap: str, output: str) -> None:
    """List all brokers, also fenced ones, with the number of partitions that each leads or led last."""
    with admin_client(bootstrap) as admin:
        described, topics = admin.describe_cluster(), admin.describe_topics()
        partition, _ = describe_quorum(admin)
    emit_rows(
        node_rows(
            described, topics, {voter["replica_id"] for voter in partition["current_voters"]}
        ),
        output=output,
    )


@cluster.command()
@click.argument("node_id", metavar="ID", type=click.IntRange(0))
@yes_option
@bootstrap_option
@output_option
def unregister(node_id: int, yes: bool, bootstrap: str, output: str) -> None:
    """Unregister a broker that will not come back; it must be fenced and lead no partition."""
    about = f"broker {node_id}"
    confirm(f"Unregister {about}?", yes=yes)
    with admin_client(bootstrap, about=about) as admin:
        from headrace.broker.cli.client.added_messages import UnregisterBrokerRequest

        send_change(admin, UnregisterBrokerRequest(broker_id=node_id))
    emit_for_programs({"node": node_id, "result": "unregistered"}, output=output)
    talk(f"{about} is unregistered")


def node_rows(
    described: Mapping[str, Any], topics: Sequence[Mapping[str, Any]], controllers: Collection[int]
) -> list[dict[str, object]]:
    """One row for each broker."""
    led: Counter[int] = Counter()
    for entry in topics:
        # The leader is the only replica, and named as such while it is fenced, too.
        led.update(partition["replica_nodes"][0] for partition in entry["partitions"])
    return [
        {
            "node": broker["broker_id"],
            "address": f"{broker['host']}:{broker['port']}",
            "rack": broker.get("rack") or "",
            "controller": broker["broker_id"] in controllers,
            "fenced": bool(broker.get("is_fenced", False)),
            "leads": led[broker["broker_id"]],
        }
        for broker in sorted(described["brokers"], key=lambda broker: int(broker["broker_id"]))
    ]


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
    from kafka.admin import ConfigResource

    resource = ConfigResource("broker", str(node), list(keys) or None)
    answer = admin.describe_configs([resource], config_filter="all")
    entries = answer.get("broker", {}).get(str(node), {})
    assert isinstance(entries, dict)
    return entries
