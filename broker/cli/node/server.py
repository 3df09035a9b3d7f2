"""`headrace server`: one node of a cluster from a properties file, for production."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from headrace.broker.node.address import BrokerAddress, NodeAddress


@click.command()
@click.option(
    "-c",
    "--config",
    "file",
    type=click.Path(path_type=Path),
    envvar="HEADRACE_CONFIG",
    show_envvar=True,
    help="Properties file, such as a Kafka server.properties; without one, only the environment "
    "is used.",
)
@click.option("--override", "overrides", multiple=True, metavar="KEY=VALUE", help="Beats the file.")
def server(*, file: Path | None, overrides: tuple[str, ...]) -> int:
    """Run a node until it gets SIGTERM or Ctrl-C: a controller, a broker or both (process.roles).

    Settings come from the file, then from variables such as KAFKA_LOG_RETENTION_MS or
    HEADRACE_LOG_LEVEL, then from --override. Log lines go to standard error: text on a terminal,
    JSON elsewhere. `headrace config check FILE` shows the values that would be used.

    Exit codes: 0 stopped as asked, 1 failed, 2 wrong configuration, 3 fenced: another process runs
    with its node id, or its session had expired; after a restart it registers again.
    """
    from headrace.broker.cli.node.serving import configuration_failure, serve
    from headrace.config.load import load
    from headrace.config.problems import ConfigError

    try:
        loaded = load(file=file, overrides=overrides)
    except ConfigError as error:
        raise configuration_failure(error) from error
    return serve(loaded, _announce)


def _announce(address: "NodeAddress") -> None:
    import logging

    place = address.broker
    logging.getLogger("headrace").info(
        "ready",
        extra={
            "roles": " and ".join(address.roles),
            **({"controller": address.controller} if address.controller else {}),
            **({} if place is None else _broker_fields(place)),
            "admin": address.admin_url,
            "cluster": address.cluster_id,
        },
    )


def _broker_fields(place: "BrokerAddress") -> dict[str, str]:
    return {
        "kafka": f"{place.kafka_host}:{place.kafka_port}",
        "bucket": place.bucket,
        "wal": place.wal,
        "wal_medium": place.wal_medium.name.lower(),
    }
