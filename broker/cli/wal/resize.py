"""`headrace wal resize`: give the write-ahead log of a running node another capacity."""

import json
import urllib.error
import urllib.request
from typing import Any

import click

from headrace.broker.cli.failures import CommandFailedError
from headrace.broker.cli.options import ADMIN_DEFAULT, admin_option, output_option
from headrace.broker.cli.output import emit_object, talk
from headrace.broker.cli.sizes import SizeType, size_text

# Longer than the node takes at the longest: two minutes of uploading, the pause, and a device that is slow.
ANSWER_TIMEOUT_S = 300


@click.command()
@click.argument("size", type=SizeType())
@admin_option
@output_option
def resize(*, size: int, admin: str, output: str) -> None:
    """Give the WAL of a running node the capacity SIZE, larger or smaller.

    SIZE is in bytes, or a whole number with KiB, MiB, GiB or TiB: 4GiB. It is the capacity in
    s3.wal.path, superblocks included. A file grows or shrinks with it; a device must be that large.

    Producers continue: the WAL's records are uploaded first, then producers wait a moment while the
    empty ring is replaced. No record is lost, and none is refused. If the bucket is too slow or
    unreachable, nothing changes and the command fails: run it again later.

    The next start uses the configuration: the command shows what to set there.
    """
    answer = _ask(admin, size)
    place = answer.pop("configuration", {})
    talk(
        f"resized from {size_text(answer['old'])} to {size_text(answer['new'])}; "
        f"producers waited for {answer['pause_ms']} ms"
    )
    emit_object({**answer, "configuration": place}, output=output)
    for key, value in place.items():
        talk(f"To keep it, set this in the configuration before the next start:\n{key}={value}")


def _ask(admin: str, size: int) -> dict[str, Any]:
    """Have the node resize, and return its answer.

    Raises:
        CommandFailedError: it cannot be asked, or did not.
    """
    request = urllib.request.Request(
        f"http://{_checked(admin)}/wal/resize",
        data=json.dumps({"capacity_bytes": size}).encode(),
        headers={"Content-Type": "application/json"},
        method="POST",
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=ANSWER_TIMEOUT_S) as response:
            answer: dict[str, Any] = json.load(response)
    except urllib.error.HTTPError as error:
        raise _refusal(error, admin) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise CommandFailedError(
            f"no node answers at {admin} ({reason})",
            hint="Name its admin listener with --admin HOST:PORT (headrace.admin.listener); "
            "if it stopped during the resize, the WAL has the old capacity or the new one.",
        ) from error
    return answer


def _checked(admin: str) -> str:
    host, separator, port = admin.rpartition(":")
    if not separator or not host or not port.isascii() or not port.isdigit() or "/" in host:
        raise click.BadParameter(
            f"{admin!r} is not HOST:PORT, such as {ADMIN_DEFAULT}.", param_hint="--admin"
        )
    return admin


def _refusal(error: urllib.error.HTTPError, admin: str) -> CommandFailedError:
    """Explain why the node refused."""
    try:
        reason = str(json.load(error)["error"])
    except (OSError, ValueError, KeyError, TypeError):
        return CommandFailedError(
            f"{admin} answers {error.code} to a resize",
            hint="Check that this is the admin listener of a node of this version.",
        )
    if error.code == 503:
        return CommandFailedError(reason, hint="The WAL is as it was: try again later.")
    return CommandFailedError(reason, hint="The WAL is as it was.")
