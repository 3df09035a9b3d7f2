"""`headrace server`: one node from a properties file, for production."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from broker.node import NodeAddress


@click.command()
@click.option(
    "-c",
    "--config",
    "file",
    type=click.Path(path_type=Path),
    envvar="HEADRACE_CONFIG",
    show_envvar=True,
    help="Properties file, such as a Kafka server.properties; without one, the environment counts.",
)
@click.option("--override", "overrides", multiple=True, metavar="KEY=VALUE", help="Beats the file.")
def server(*, file: Path | None, overrides: tuple[str, ...]) -> int:
    """Run a node until it gets SIGTERM or Ctrl-C.

    Settings come from the file, then from variables such as KAFKA_LOG_RETENTION_MS or
    HEADRACE_LOG_LEVEL, then from --override. Log lines go to standard error: text on a terminal,
    JSON elsewhere. `headrace config check FILE` shows what would be in force.
    """
    from broker.cli.serving import configuration_failure, serve  # noqa: PLC0415 - not for help
    from config.load import load  # noqa: PLC0415 - not for help
    from config.problems import ConfigError  # noqa: PLC0415 - not for help

    try:
        loaded = load(file=file, overrides=overrides)
    except ConfigError as error:
        raise configuration_failure(error) from error
    return serve(loaded, _announce)


def _announce(address: "NodeAddress") -> None:
    import logging  # noqa: PLC0415 - not for help

    logging.getLogger("headrace").info(
        "ready",
        extra={
            "kafka": f"{address.kafka_host}:{address.kafka_port}",
            "admin": address.admin_url,
            "cluster": address.cluster_id,
            "bucket": address.bucket,
            "wal": address.wal,
            "wal_medium": address.wal_medium.name.lower(),
        },
    )
