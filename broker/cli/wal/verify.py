"""`headrace wal verify`: the recovery scan, without recovering anything."""

from pathlib import Path

import click

from headrace.broker.cli.output import emit_object, talk
from headrace.broker.cli.wal.log_argument import (
    EXIT_USAGE,
    explained,
    is_bucket,
    json_option,
    location_options,
    wal_path,
)

_EXIT_CODES = {"sound": 0, "blank": 0, "damaged": 1, "in use": 3}


@click.command()
@location_options
@json_option
def verify(path: str | None, file: Path | None, as_json: bool) -> int:
    """Scan a WAL as recovery does, and say whether it is sound.

    Beside a broker that writes, the answer is about the moment of the scan; what looks like damage
    is looked at again, and counts when it stays in its place.

    Exit code: 0 sound or blank, 1 damaged, 2 wrong usage or no WAL, 3 written to too fast to tell.
    """
    import asyncio  # noqa: PLC0415 - not for help

    from headrace.broker.cli.wal.report import verification_report  # noqa: PLC0415 - not for help
    from headrace.wal.tools.verification import Soundness  # noqa: PLC0415 - not for help
    from headrace.wal.tools.verification import verify as verify_log  # noqa: PLC0415 - not for help

    path = wal_path(path, file)
    if is_bucket(path):
        from headrace.broker.cli.wal.object_logs import show_verification  # noqa: PLC0415 - not for help

        return show_verification(path, as_json=as_json)
    with explained(path, exit_code=EXIT_USAGE):
        found = asyncio.run(verify_log(path))
    emit_object(verification_report(path, found), output="json" if as_json else "table")
    if found.soundness is Soundness.DAMAGED:
        talk(f"error: {found.error}")
    if found.soundness is Soundness.IN_USE:
        talk(
            f"{path} was written to during each of {found.attempts} scans: stop its writer, or try again"
        )
    return _EXIT_CODES[found.soundness.value]
