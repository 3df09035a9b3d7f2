"""`headrace wal verify`: the recovery scan, without recovering anything."""

from pathlib import Path

import click

from headrace.broker.cli.options import output_option
from headrace.broker.cli.output import emit_object, talk
from headrace.broker.cli.wal.log_argument import (
    EXIT_USAGE,
    explained,
    is_bucket,
    location_options,
    wal_path,
)

_EXIT_CODES = {"sound": 0, "blank": 0, "damaged": 1, "in use": 3}


@click.command()
@location_options
@output_option
def verify(path: str | None, file: Path | None, output: str) -> int:
    """Scan a WAL as recovery does, and show whether it is sound.

    While a broker writes, the result is about the moment of the scan. What looks like damage is
    scanned again, and counts only if it is still there.

    Exit code: 0 sound or blank, 1 damaged, 2 wrong usage or no WAL, 3 written to during every scan.
    """
    import asyncio

    from headrace.broker.cli.wal.report import verification_report
    from headrace.wal.tools.verification import Soundness
    from headrace.wal.tools.verification import verify as verify_log

    path = wal_path(path, file)
    if is_bucket(path):
        from headrace.broker.cli.wal.object_logs import show_verification

        return show_verification(path, output=output)
    with explained(path, exit_code=EXIT_USAGE):
        found = asyncio.run(verify_log(path))
    emit_object(verification_report(path, found), output=output)
    if found.soundness is Soundness.DAMAGED:
        talk(f"error: {found.error}")
    if found.soundness is Soundness.IN_USE:
        talk(
            f"{path} was written to during each of {found.attempts} scans: stop its writer, or "
            "try again"
        )
    return _EXIT_CODES[found.soundness.value]
