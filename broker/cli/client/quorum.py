"""`headrace cluster quorum`: the controllers, how current each is, and taking them in and out."""

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any
from uuid import UUID

import click
from click.core import ParameterSource

from headrace.broker.cli.client.kafka_clients import admin_client, ask
from headrace.broker.cli.failures import CommandFailedError, refusal
from headrace.broker.cli.options import bootstrap_option, confirm, output_option, yes_option
from headrace.broker.cli.output import emit_for_programs, emit_object, emit_rows, talk

ADD_TIMEOUT_MS = 30_000
UNKNOWN = -1

_MEMBER = re.compile(r"(\d{1,9})@(.+):(\d{1,5})")
_KAFKA_ID = re.compile(r"[A-Za-z0-9_-]{22}")  # a UUID as Kafka's tools write it


@click.group(invoke_without_command=True)
@bootstrap_option
@output_option
@click.pass_context
def quorum(context: click.Context, bootstrap: str, output: str) -> None:
    """Show the controllers: leader, term, and how far behind each one is.

    LAG is the number of entries of the metadata log that a member lacks. LAST CONTACT MS is the
    time since the leader last heard from it, BEHIND MS the time since it last had everything that
    the leader has. Observers have no vote: brokers, and controllers that are being added.
    """
    if context.invoked_subcommand is not None:
        if context.get_parameter_source("bootstrap") is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"Give --bootstrap-server after {context.invoked_subcommand}.")
        return
    with admin_client(bootstrap) as admin:
        partition, addresses = describe_quorum(admin)
    summary = {
        "leader": partition["leader_id"],
        "term": partition["leader_epoch"],
        "high_watermark": partition["high_watermark"],
    }
    members = quorum_members(partition, addresses)
    if output == "table":
        emit_object(summary, output=output)
        click.echo()
        emit_rows(members, output=output)
    else:
        emit_object(summary | {"members": members}, output=output)


@quorum.command("add")
@click.argument("member", metavar="ID@HOST:PORT")
@click.option(
    "--directory-id",
    required=True,
    help="directory.id in the meta.properties of its metadata directory.",
)
@bootstrap_option
@output_option
def add_member(member: str, directory_id: str, bootstrap: str, output: str) -> None:
    """Add a controller to the quorum: it has a vote once it has caught up with the log.

    It must be running, with controller.quorum.bootstrap.servers naming the others.
    """
    node_id, host, port = _parse_member(member)
    directory = _parse_directory_id(directory_id)
    about = f"controller {node_id}"
    with admin_client(bootstrap, about=about) as admin:
        from headrace.broker.cli.client.added_messages import AddRaftVoterRequest

        request = AddRaftVoterRequest(
            cluster_id=admin.describe_cluster()["cluster_id"],
            timeout_ms=ADD_TIMEOUT_MS,
            voter_id=node_id,
            voter_directory_id=directory,
            listeners=[AddRaftVoterRequest.Listener(name="CONTROLLER", host=host, port=port)],
        )
        send_change(admin, request)
    emit_for_programs({"node": node_id, "result": "added"}, output=output)
    talk(f"{about} is now a voter")


@quorum.command("remove")
@click.argument("node_id", metavar="ID", type=click.IntRange(0))
@click.option("--directory-id", help="Of its metadata directory; by default as the quorum has it.")
@yes_option
@bootstrap_option
@output_option
def remove_member(
    node_id: int, directory_id: str | None, yes: bool, bootstrap: str, output: str
) -> None:
    """Remove a controller from the quorum; a majority of the others must be running."""
    about = f"controller {node_id}"
    directory = None if directory_id is None else _parse_directory_id(directory_id)
    confirm(f"Remove {about} from the quorum?", yes=yes)
    with admin_client(bootstrap, about=about) as admin:
        from headrace.broker.cli.client.added_messages import RemoveRaftVoterRequest

        request = RemoveRaftVoterRequest(
            cluster_id=admin.describe_cluster()["cluster_id"],
            voter_id=node_id,
            voter_directory_id=directory or _directory_of(admin, node_id),
        )
        send_change(admin, request)
    emit_for_programs({"node": node_id, "result": "removed"}, output=output)
    talk(f"{about} is removed from the quorum")


def describe_quorum(admin: Any) -> tuple[Mapping[str, Any], Mapping[int, str]]:
    """The quorum as its leader sees it (as DescribeQuorum has it), and controllers' addresses.

    Raises:
        CommandFailedError: it cannot be described.
    """
    answer = admin.describe_metadata_quorum()
    (partition,) = answer["topics"][0]["partitions"]
    if partition["error"]:
        raise CommandFailedError(str(partition["error"]))
    addresses = {
        node["node_id"]: f"{listener['host']}:{listener['port']}"
        for node in answer.get("nodes") or ()
        for listener in node["listeners"][:1]
    }
    return partition, addresses


def quorum_members(
    partition: Mapping[str, Any], addresses: Mapping[int, str]
) -> list[dict[str, object]]:
    """One row for each voter and observer. Times are relative to the leader's own clock."""
    leader_id = partition["leader_id"]
    leader = next((it for it in partition["current_voters"] if it["replica_id"] == leader_id), None)
    end = UNKNOWN if leader is None else leader["log_end_offset"]
    now_ms = UNKNOWN if leader is None else leader.get("last_caught_up_timestamp", UNKNOWN)
    rows: list[dict[str, object]] = []
    for role, members in (
        ("voter", partition["current_voters"]), ("observer", partition["observers"])
    ):  # fmt: skip
        rows += [
            {
                "node": member["replica_id"],
                "role": "leader" if member is leader else role,
                "address": addresses.get(member["replica_id"], "") if role == "voter" else "",
                "lag": _difference(end, member["log_end_offset"]),
                "last_contact_ms": None
                if member is leader
                else _difference(now_ms, member.get("last_fetch_timestamp", UNKNOWN)),
                "behind_ms": _difference(now_ms, member.get("last_caught_up_timestamp", UNKNOWN)),
                "directory_id": str(member.get("replica_directory_id") or ""),
            }
            for member in sorted(members, key=lambda it: int(it["replica_id"]))
        ]
    return rows


def send_change(admin: Any, request: Any) -> None:
    """Send a request that kafka-python's admin client has no method for.

    Refusals name the node themselves.

    Raises:
        CommandFailedError: the cluster refuses it.
    """
    from headrace.protocol.errors import ErrorCode

    answer = ask(admin, request)
    if answer.error_code:
        raise refusal(ErrorCode(answer.error_code).name, answer.error_message, about="")


def _directory_of(admin: Any, node_id: int) -> UUID | None:
    partition, _ = describe_quorum(admin)
    for member in (*partition["current_voters"], *partition["observers"]):
        if member["replica_id"] == node_id:
            found = member.get("replica_directory_id")
            return UUID(str(found)) if found else None
    return None  # the quorum says that it does not know it


def _difference(of_leader: int, of_member: int) -> int | None:
    """None where one of the two is not known."""
    return None if UNKNOWN in (of_leader, of_member) else max(0, of_leader - of_member)


def _parse_member(text: str) -> tuple[int, str, int]:
    found = _MEMBER.fullmatch(text)
    if found is None or not 0 < int(found[3]) < 1 << 16:
        raise click.BadParameter(f"{text!r} is not ID@HOST:PORT, such as 4@controller-4:9193.")
    return int(found[1]), found[2].strip("[]"), int(found[3])


def _parse_directory_id(text: str) -> UUID:
    try:
        if _KAFKA_ID.fullmatch(text):
            return UUID(bytes=base64.urlsafe_b64decode(f"{text}=="))
        return UUID(text)
    except (ValueError, binascii.Error):
        raise click.BadParameter(f"{text!r} is not a directory id.") from None
