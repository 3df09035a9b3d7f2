"""`headrace wal resize`: give the write-ahead log of a running node another capacity."""

from typing import Any, Final

import click

from headrace.broker.cli.admin_listener import AdminRefusedError, ask_admin, refused
from headrace.broker.cli.options import admin_option, output_option
from headrace.broker.cli.output import emit_object, talk
from headrace.broker.cli.sizes import SizeType, size_text

# Longer than the node takes at the longest: two minutes of uploading, the pause, and a device that is slow.
ANSWER_TIMEOUT_S = 300
_AS_IT_WAS: Final = "The WAL is as it was."


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
    try:
        return ask_admin(
            admin,
            "POST",
            "/wal/resize",
            {"capacity_bytes": size},
            timeout_s=ANSWER_TIMEOUT_S,
            after_silence="; if it stopped during the resize, the WAL has the old capacity or the new one",
        )
    except AdminRefusedError as error:
        hint = "The WAL is as it was: try again later." if error.status == 503 else _AS_IT_WAS
        raise refused(error, admin, "a resize", hint=hint) from error
