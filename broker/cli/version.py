"""`headrace version`."""

import sys
from pathlib import Path

import click

from headrace.broker.cli.options import output_option
from headrace.broker.cli.output import emit_object


@click.command()
@output_option
def version(output: str) -> None:
    """Show the version of this program, and of what it runs on."""
    from importlib import metadata

    def installed(name: str) -> str:
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            return ""

    emit_object(
        {
            "headrace": program_version(),
            "python": sys.version.split()[0],
            "kafka_python": installed("kafka-python"),
            "uvloop": installed("uvloop"),
        },
        output=output,
    )


def program_version() -> str:
    """Return our own version, of the installed distribution or of this checkout."""
    from importlib import metadata

    try:
        return metadata.version("headrace")
    except metadata.PackageNotFoundError:
        return _checkout_version()


def _checkout_version() -> str:
    import tomllib  # only in a checkout

    project = Path(__file__).resolve().parents[2] / "pyproject.toml"
    try:
        version = tomllib.loads(project.read_text())["project"]["version"]
    except (OSError, KeyError):
        return "unknown"
    return f"{version} (checkout)"
