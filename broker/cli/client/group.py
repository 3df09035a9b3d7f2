"""`headrace group`: consumer groups, how far they are, and setting them back or forward."""

from typing import Any

import click

from headrace.broker.cli.client.kafka_clients import admin_client, patiently
from headrace.broker.cli.failures import CommandFailedError, raise_all, refusal
from headrace.broker.cli.options import bootstrap_option, confirm, output_option, yes_option
from headrace.broker.cli.output import emit_rows, heading, talk
from headrace.broker.cli.times import TIME_HELP, parse_time


@click.group()
def group() -> None:
    """Consumer groups and their committed offsets."""


@group.command("list")
@bootstrap_option
@output_option
def list_groups(bootstrap: str, output: str) -> None:
    """List consumer groups."""
    with admin_client(bootstrap) as admin:
        groups = admin.list_groups()
    rows = [
        {
            "group": entry["group_id"],
            "state": entry.get("group_state", ""),
            "type": entry.get("group_type", ""),
            "protocol": entry.get("protocol_type", ""),
        }
        for entry in sorted(groups, key=lambda entry: str(entry["group_id"]))
    ]
    emit_rows(rows, output=output)
    if not rows:
        talk("There are no consumer groups.")


@group.command()
@click.argument("names", nargs=-1, required=True, metavar="GROUP...")
@bootstrap_option
@output_option
def describe(names: tuple[str, ...], bootstrap: str, output: str) -> None:
    """Show members, committed offsets and lag of groups."""
    with admin_client(bootstrap, about=f"group {', '.join(names)}") as admin:
        described = [_describe(admin, name) for name in names]
    if output == "table":
        for entry in described:
            _print_description(entry)
    else:
        emit_rows(described, output=output)


def _describe(admin: Any, name: str) -> dict[str, Any]:
    entry = patiently(admin.describe_groups, [name])[name]
    if entry["error"] or entry["group_state"] == "Dead":
        raise CommandFailedError(f"there is no group {name}", hint="See `headrace group list`.")
    committed = patiently(admin.list_group_offsets, name)[name]
    ends = _end_offsets(admin, [p for p, at in committed.items() if at.offset >= 0])
    owners = _owners(entry["members"])
    return {
        "group": name,
        "state": entry["group_state"],
        "protocol": entry["protocol_data"],
        "members": [
            {
                "member": member["member_id"],
                "client": member["client_id"],
                "host": member["client_host"],
                "instance": member.get("group_instance_id") or "",
            }
            for member in entry["members"]
        ],
        "offsets": [
            _offset_row(partition, at, ends, owners)
            for partition, at in sorted(committed.items())
            if at.offset >= 0
        ],
    }


def _end_offsets(admin: Any, partitions: list[Any]) -> dict[Any, int]:
    from kafka.admin import OffsetSpec

    if not partitions:
        return {}
    ends = admin.list_partition_offsets(dict.fromkeys(partitions, OffsetSpec.LATEST))
    return {partition: end.offset for partition, end in ends.items()}


def _owners(members: list[Any]) -> dict[tuple[str, int], str]:
    """Map partitions to the client that reads them; the client library decodes assignments."""
    owners = {}
    for member in members:
        assignment = member["member_assignment"]
        topics = assignment.get("assigned_partitions", ()) if isinstance(assignment, dict) else ()
        for assigned in topics:
            for number in assigned["partitions"]:
                owners[assigned["topic"], number] = member["client_id"]
    return owners


def _offset_row(
    partition: Any, at: Any, ends: dict[Any, int], owners: dict[tuple[str, int], str]
) -> dict[str, Any]:
    end = ends[partition]
    return {
        "topic": partition.topic,
        "partition": partition.partition,
        "offset": at.offset,
        "end_offset": end,
        "lag": max(0, end - at.offset),
        "client": owners.get((partition.topic, partition.partition), ""),
    }


def _print_description(entry: dict[str, Any]) -> None:
    lag = sum(row["lag"] for row in entry["offsets"])
    heading(f"{entry['group']}: {entry['state']}, {len(entry['members'])} members, lag {lag}")
    emit_rows(entry["members"], output="table")
    if entry["members"] and entry["offsets"]:
        click.echo()
    emit_rows(entry["offsets"], output="table")
    click.echo()


@group.command()
@click.argument("names", nargs=-1, required=True, metavar="GROUP...")
@yes_option
@bootstrap_option
@output_option
def delete(names: tuple[str, ...], yes: bool, bootstrap: str, output: str) -> None:
    """Delete groups without members, with their committed offsets."""
    confirm(f"Delete {', '.join(names)} with their offsets?", yes=yes)
    with admin_client(bootstrap) as admin:
        results = patiently(admin.delete_groups, list(names))
    deleted = sorted(name for name, outcome in results.items() if outcome == "OK")
    if output != "table":
        emit_rows([{"group": name, "result": "deleted"} for name in deleted], output=output)
    for name in deleted:
        talk(f"group {name}: deleted")
    raise_all(
        [
            refusal(outcome, None, about=f"group {name}")
            for name, outcome in sorted(results.items())
            if outcome != "OK"
        ]
    )


@group.command("reset-offsets")
@click.argument("name", metavar="GROUP")
@click.option(
    "-t", "--topic", "topics", multiple=True, help="Default: all topics that it has offsets for."
)
@click.option("--to-beginning", is_flag=True, help="To the oldest record.")
@click.option("--to-end", is_flag=True, help="To the end: only new records follow.")
@click.option("--to-offset", type=click.IntRange(0), help="To this offset in each partition.")
@click.option("--to-timestamp", metavar="TIME", help=TIME_HELP)
@click.option("--dry-run", is_flag=True, help="Only show what would be set.")
@bootstrap_option
@output_option
def reset_offsets(
    *,
    name: str,
    topics: tuple[str, ...],
    to_beginning: bool,
    to_end: bool,
    to_offset: int | None,
    to_timestamp: str | None,
    dry_run: bool,
    bootstrap: str,
    output: str,
) -> None:
    """Set the committed offsets of a group that has no members."""
    chosen = [to_beginning, to_end, to_offset is not None, to_timestamp is not None]
    if sum(chosen) != 1:
        raise click.UsageError("Give one of --to-beginning, --to-end, --to-offset, --to-timestamp.")
    timestamp_ms = parse_time(to_timestamp) if to_timestamp is not None else None
    with admin_client(bootstrap, about=f"group {name}") as admin:
        from kafka.admin import OffsetSpec, OffsetTimestamp

        if timestamp_ms is not None:
            target: object = OffsetTimestamp(timestamp_ms)
        elif to_offset is not None:
            target = to_offset
        else:
            target = OffsetSpec.EARLIEST if to_beginning else OffsetSpec.LATEST
        partitions = _partitions_to_reset(admin, name, topics)
        rows = _planned(admin, name, partitions, target)
        if not dry_run:
            _commit(admin, name, rows)
    emit_rows(rows, output=output)
    if dry_run:
        talk("Nothing was changed (--dry-run).")


def _partitions_to_reset(admin: Any, name: str, topics: tuple[str, ...]) -> list[Any]:
    from kafka import errors
    from kafka.structs import TopicPartition

    if not topics:
        partitions = list(patiently(admin.list_group_offsets, name)[name])
        if not partitions:
            raise CommandFailedError(
                f"group {name} has no committed offsets", hint="Name topics with --topic."
            )
        return partitions
    found = []
    for entry in admin.describe_topics(list(topics)):
        if entry["error_code"]:
            raise errors.for_code(entry["error_code"])(entry["name"])
        found += [TopicPartition(entry["name"], p["partition_index"]) for p in entry["partitions"]]
    return found


def _planned(admin: Any, name: str, partitions: list[Any], target: object) -> list[dict[str, Any]]:
    """Compute where each partition goes, within what it holds."""
    from kafka.admin import OffsetSpec

    def offsets(spec: object) -> Any:
        return admin.list_partition_offsets(dict.fromkeys(partitions, spec))

    first, last = offsets(OffsetSpec.EARLIEST), offsets(OffsetSpec.LATEST)
    plain = isinstance(target, int) and type(target) is int
    wanted = {} if plain else offsets(target)
    current = patiently(admin.list_group_offsets, {name: partitions})[name]
    rows = []
    for partition in sorted(partitions):
        low, high = first[partition].offset, last[partition].offset
        raw = target if plain else wanted[partition].offset
        assert isinstance(raw, int)
        rows.append(
            {
                "topic": partition.topic,
                "partition": partition.partition,
                "old_offset": current[partition].offset if partition in current else -1,
                # -1: no record is as young as the timestamp
                "new_offset": high if raw < 0 else min(max(raw, low), high),
            }
        )
    return rows


def _commit(admin: Any, name: str, rows: list[dict[str, Any]]) -> None:
    from kafka import errors
    from kafka.structs import OffsetAndMetadata, TopicPartition

    offsets = {
        TopicPartition(row["topic"], row["partition"]): OffsetAndMetadata(row["new_offset"], "", -1)
        for row in rows
    }
    for kind in admin.alter_group_offsets(name, offsets).values():
        if kind is not errors.NoError:
            raise kind
