"""`headrace topic`: create, list, describe, alter and delete topics, and delete their oldest records."""

from collections.abc import Mapping
from typing import Any

import click

from headrace.broker.cli.client.kafka_clients import admin_client
from headrace.broker.cli.failures import CommandFailedError, raise_all, refusal
from headrace.broker.cli.options import (
    bootstrap_option,
    confirm,
    output_option,
    parse_settings,
    yes_option,
)
from headrace.broker.cli.output import emit_for_programs, emit_rows, heading, talk

_END = -1  # of each partition, as its broker knows it
_CONFIG_HELP = "Setting of the topic, such as retention.ms=3600000; repeat for more."


@click.group()
def topic() -> None:
    """Create, list, describe, alter and delete topics, or their oldest records."""


@topic.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option("-p", "--partitions", type=click.IntRange(1), help="Default: the broker's choice.")
@click.option("-c", "--config", "configs", multiple=True, metavar="KEY=VALUE", help=_CONFIG_HELP)
@click.option("--if-not-exists", is_flag=True, help="A topic that exists already is no error.")
@click.option("--dry-run", is_flag=True, help="Only check whether it could be created.")
@bootstrap_option
@output_option
def create(
    names: tuple[str, ...],
    partitions: int | None,
    configs: tuple[str, ...],
    if_not_exists: bool,
    dry_run: bool,
    bootstrap: str,
    output: str,
) -> None:
    """Create topics."""
    settings = parse_settings(configs)
    wanted = {name: {"num_partitions": partitions or -1, "configs": settings} for name in names}
    with admin_client(bootstrap) as admin:
        answer = admin.create_topics(wanted, validate_only=dry_run, raise_errors=False)
        rows, failures = _outcomes(answer["topics"], "created", exists_is_fine=if_not_exists)
        created = [row["topic"] for row in rows if row["result"] == "created"]
        if created and not dry_run:
            admin.wait_for_topics(created)
    if output != "table":
        emit_rows(rows, output=output)
    for row in rows:
        talk(f"topic {row['topic']}: {'could be created' if dry_run else row['result']}")
        if row["result"] == "created":
            _warn_of_what_is_not_applied(row["topic"], settings)
    raise_all(failures)


def _warn_of_what_is_not_applied(name: str, settings: Mapping[str, str]) -> None:
    """Say as a configuration file's check does what a setting asks for in vain."""
    from headrace.config.topic import not_applied

    for key, value in settings.items():
        why = not_applied(key, value)
        if why is not None:
            talk(f"warning: topic {name}: {key}={value} {why}")


def _outcomes(
    entries: list[Any], done: str, *, exists_is_fine: bool = False, missing_is_fine: bool = False
) -> tuple[list[dict[str, Any]], list[CommandFailedError]]:
    """Split the results of a request about topics into rows and failures."""
    from kafka import errors

    fine = {errors.NoError: done}
    if exists_is_fine:
        fine[errors.TopicAlreadyExistsError] = "exists already"
    if missing_is_fine:
        fine[errors.UnknownTopicOrPartitionError] = "does not exist"
    rows, failures = [], []
    for entry in entries:
        kind, name = errors.for_code(entry["error_code"]), entry["name"]
        if kind in fine:
            partitions = entry.get("num_partitions", -1)
            rows.append({"topic": name, "partitions": partitions, "result": fine[kind]})
        else:
            message = entry.get("error_message")
            failures.append(refusal(kind.__name__, message, about=f"topic {name}"))
    return rows, failures


@topic.command("list")
@click.option("--internal", is_flag=True, help="Also the topics that the broker itself uses.")
@bootstrap_option
@output_option
def list_topics(internal: bool, bootstrap: str, output: str) -> None:
    """List topics."""
    with admin_client(bootstrap) as admin:
        topics = admin.describe_topics()
    rows = [
        {
            "topic": entry["name"],
            "partitions": len(entry["partitions"]),
            "topic_id": str(entry.get("topic_id") or ""),
            "internal": entry["is_internal"],
        }
        for entry in sorted(topics, key=lambda entry: str(entry["name"]))
        if internal or not entry["is_internal"]
    ]
    emit_rows(rows, output=output, columns=("topic", "partitions", "topic_id"))
    if not rows:
        talk("There are no topics. Create one with `headrace topic create NAME`.")


@topic.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option("--all-configs", is_flag=True, help="Also settings that have their default.")
@bootstrap_option
@output_option
def describe(names: tuple[str, ...], all_configs: bool, bootstrap: str, output: str) -> None:
    """Show partitions, their offsets, and settings of topics."""
    with admin_client(bootstrap, about=_subject(names)) as admin:
        described = _describe(admin, names, config_filter="all" if all_configs else "modified")
    if output == "table":
        for entry in described:
            _print_description(entry)
    else:
        emit_rows(described, output=output)


def _subject(names: tuple[str, ...]) -> str:
    return f"topic {', '.join(names)}"


def _describe(admin: Any, names: tuple[str, ...], config_filter: str) -> list[dict[str, Any]]:
    from kafka import errors
    from kafka.admin import ConfigResource

    topics = admin.describe_topics(list(names))
    for entry in topics:
        if entry["error_code"]:
            raise errors.for_code(entry["error_code"])(entry["name"])
    start, end = _offsets(admin, topics)
    configs = admin.describe_configs(
        [ConfigResource("topic", entry["name"]) for entry in topics], config_filter=config_filter
    ).get("topic", {})
    return [
        {
            "topic": entry["name"],
            "topic_id": str(entry.get("topic_id") or ""),
            "internal": entry["is_internal"],
            "configs": {key: c["value"] for key, c in sorted(configs[entry["name"]].items())},
            "partitions": [
                _partition_row(entry["name"], partition, start, end)
                for partition in sorted(entry["partitions"], key=lambda p: p["partition_index"])
            ],
        }
        for entry in topics
    ]


def _offsets(admin: Any, topics: list[Any]) -> tuple[dict[Any, int], dict[Any, int]]:
    """First and next offset of each partition, but for those whose leader does not answer."""
    from kafka import errors
    from kafka.admin import OffsetSpec
    from kafka.structs import TopicPartition

    led: dict[int, list[Any]] = {}
    for entry in topics:
        for partition in entry["partitions"]:
            if partition["leader_id"] >= 0:
                place = TopicPartition(entry["name"], partition["partition_index"])
                led.setdefault(partition["leader_id"], []).append(place)
    start: dict[Any, int] = {}
    end: dict[Any, int] = {}
    away = (errors.KafkaConnectionError, errors.NodeNotReadyError, errors.KafkaTimeoutError)
    for leader_id, partitions in sorted(led.items()):
        try:
            first = admin.list_partition_offsets(dict.fromkeys(partitions, OffsetSpec.EARLIEST))
            after = admin.list_partition_offsets(dict.fromkeys(partitions, OffsetSpec.LATEST))
        except away:
            talk(f"broker {leader_id} does not answer: offsets of its partitions are unknown")
            continue
        start |= {place: found.offset for place, found in first.items()}
        end |= {place: found.offset for place, found in after.items()}
    return start, end


def _partition_row(
    name: str, partition: Any, start: dict[Any, int], end: dict[Any, int]
) -> dict[str, Any]:
    number = partition["partition_index"]
    first, last = start.get((name, number)), end.get((name, number))
    return {
        "partition": number,
        "leader": partition["leader_id"],
        "leader_epoch": partition["leader_epoch"],
        "start_offset": first,
        "end_offset": last,
        "records": None if first is None or last is None else last - first,
    }


def _print_description(entry: dict[str, Any]) -> None:
    heading(f"{entry['topic']}  ({entry['topic_id']})")
    for key, value in entry["configs"].items():
        click.echo(f"  {key}={value}")
    emit_rows(entry["partitions"], output="table")
    click.echo()


@topic.command()
@click.argument("name")
@click.option("-p", "--partitions", type=click.IntRange(1), help="New number; it can only grow.")
@click.option("-c", "--config", "configs", multiple=True, metavar="KEY=VALUE", help=_CONFIG_HELP)
@click.option(
    "--delete-config", "deleted", multiple=True, metavar="KEY", help="Back to the default."
)
@bootstrap_option
@output_option
def alter(
    *,
    name: str,
    partitions: int | None,
    configs: tuple[str, ...],
    deleted: tuple[str, ...],
    bootstrap: str,
    output: str,
) -> None:
    """Change settings of a topic, or give it more partitions."""
    settings = parse_settings(configs)
    changes: dict[str, Any] = {key: ("SET", value) for key, value in settings.items()}
    changes |= dict.fromkeys(deleted, ("DELETE", None))
    if partitions is None and not changes:
        raise click.UsageError("Nothing to change: give --partitions, --config or --delete-config.")
    with admin_client(bootstrap, about=f"topic {name}") as admin:
        if changes:
            _alter_configs(admin, name, changes)
            talk(f"topic {name}: {', '.join(changes)} changed")
            _warn_of_what_is_not_applied(name, settings)
        if partitions is not None:
            admin.create_partitions({name: partitions})
            talk(f"topic {name}: {partitions} partitions")
    result = {"topic": name, "changed": list(changes), "partitions": partitions}
    emit_for_programs(result, output=output)


def _alter_configs(admin: Any, name: str, changes: dict[str, Any]) -> None:
    from kafka.admin import ConfigResource

    result = admin.alter_configs([ConfigResource("topic", name, changes)], raise_on_unknown=False)
    outcome = result["topic"][name]
    if outcome != "OK":
        raise CommandFailedError(
            f"topic {name}: {outcome.partition(': ')[2] or outcome}",
            hint="`headrace config explain KEY` says what is allowed.",
        )


@topic.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option("--if-exists", is_flag=True, help="A topic that does not exist is no error.")
@yes_option
@bootstrap_option
@output_option
def delete(names: tuple[str, ...], if_exists: bool, yes: bool, bootstrap: str, output: str) -> None:
    """Delete topics with all their records."""
    confirm(f"Delete {', '.join(names)} with all records?", yes=yes)
    with admin_client(bootstrap) as admin:
        answer = admin.delete_topics(list(names), raise_errors=False)
    rows, failures = _outcomes(answer["topics"], "deleted", missing_is_fine=if_exists)
    if output != "table":
        emit_rows([{"topic": row["topic"], "result": row["result"]} for row in rows], output=output)
    for row in rows:
        talk(f"topic {row['topic']}: {row['result']}")
    raise_all(failures)


@topic.command("delete-records")
@click.argument("name")
@click.option(
    "--before", required=True, metavar="OFFSET|end", help="First offset to keep; end keeps none."
)
@click.option(
    "-P", "--partition", "chosen", type=click.IntRange(0), multiple=True, help="Default: all."
)
@yes_option
@bootstrap_option
@output_option
def delete_records(
    name: str, before: str, chosen: tuple[int, ...], yes: bool, bootstrap: str, output: str
) -> None:
    """Delete the oldest records of a topic, up to an offset, and show where it begins now."""
    offset = _first_to_keep(before)
    which = "all records" if offset == _END else f"the records before offset {offset}"
    where = f"{name}, partition {', '.join(map(str, chosen))}" if chosen else name
    confirm(f"Delete {which} of {where}?", yes=yes)
    with admin_client(bootstrap, about=f"topic {name}") as admin:
        rows, failures = _delete_records(admin, name, offset, chosen)
    emit_rows(rows, output=output)
    raise_all(failures)


def _first_to_keep(text: str) -> int:
    if text in ("end", str(_END)):
        return _END
    if text.isascii() and text.isdigit() and len(text) <= 18:
        return int(text)
    raise click.BadParameter(f"{text!r} is neither an offset nor 'end'.", param_hint="--before")


def _delete_records(
    admin: Any, name: str, offset: int, chosen: tuple[int, ...]
) -> tuple[list[dict[str, Any]], list[CommandFailedError]]:
    """Ask for one partition after the other, so that each has its own outcome."""
    from kafka import errors
    from kafka.structs import TopicPartition

    (entry,) = admin.describe_topics([name])
    if entry["error_code"]:
        raise errors.for_code(entry["error_code"])(name)
    if entry["is_internal"]:
        raise CommandFailedError(f"topic {name} is internal: its records cannot be deleted")
    numbers = sorted(partition["partition_index"] for partition in entry["partitions"])
    if not set(chosen) <= set(numbers):
        raise CommandFailedError(f"topic {name} has partitions 0 to {max(numbers)}")
    rows, failures = [], []
    said = {"PolicyViolationError": "cleanup.policy is only compact: its records cannot be deleted"}
    for number in sorted(set(chosen)) or numbers:
        place = TopicPartition(name, number)
        try:
            answer = admin.delete_records({place: offset})[place]
        except errors.BrokerResponseError as error:
            about, kind = f"topic {name}, partition {number}", type(error).__name__
            failures.append(refusal(kind, said.get(kind), about=about))
        else:
            rows.append({"partition": number, "start_offset": answer["low_watermark"]})
    return rows, failures
