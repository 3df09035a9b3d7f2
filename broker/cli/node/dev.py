"""`headrace dev`: a whole cluster in one process, on this machine, with no set-up.

Data lies in `$XDG_DATA_HOME/headrace/dev` (by default ~/.local/share/headrace/dev): the same
cluster comes back wherever the command is started, and no project's working directory is
littered. Another --data-dir is another cluster.
"""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from headrace.broker.node.address import NodeAddress

KAFKA_PORT = 9092
ADMIN_PORT = 9644


@click.command()
@click.option(
    "-p", "--port", type=click.IntRange(0, 65_535), help="Default: 9092, or the next free port."
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--admin-port",
    type=click.IntRange(0, 65_535),
    help="Port for health and metrics. Default: 9644, or the next free port.",
)
@click.option(
    "--data-dir",
    type=click.Path(file_okay=False, path_type=Path),
    envvar="HEADRACE_DATA_DIR",
    show_envvar=True,
    help="Directory of all data. Default: ~/.local/share/headrace/dev.",
)
@click.option("--override", "overrides", multiple=True, metavar="KEY=VALUE", help="Any setting.")
def dev(
    *,
    port: int | None,
    host: str,
    admin_port: int | None,
    data_dir: Path | None,
    overrides: tuple[str, ...],
) -> int:
    """Run a broker on this machine, no set-up needed.

    Controller and broker in one process; the write-ahead log is a file, the bucket a directory.
    Data survives restarts. Stop it with Ctrl-C.
    """
    from headrace.broker.cli.node.dev_host import (
        Banner,
        default_data_dir,
        hold_data_dir,
    )
    from headrace.broker.cli.node.ports import choose_port
    from headrace.broker.cli.node.serving import configuration_failure, serve
    from headrace.config.load import load
    from headrace.config.presets import DEV_PRESETS
    from headrace.config.problems import ConfigError

    directory = (data_dir or default_data_dir()).expanduser().absolute()
    with ExitStack() as stack:
        lock = stack.enter_context(hold_data_dir(directory))
        kafka_port = choose_port(host, port, KAFKA_PORT, "--port")
        chosen_admin = choose_port(host, admin_port, ADMIN_PORT, "--admin-port")
        presets = {
            **{preset.key: preset.value for preset in DEV_PRESETS},
            "log.dirs": str(directory),
            "listeners": f"PLAINTEXT://{_bracketed(host)}:{kafka_port}",
            "headrace.admin.listener": f"{_bracketed(host)}:{chosen_admin}",
        }
        try:
            loaded = load(base=presets, base_source="headrace dev", overrides=overrides)
        except ConfigError as error:
            raise configuration_failure(error) from error
        banner = Banner(directory)

        def ready(address: "NodeAddress") -> None:
            assert address.broker is not None
            lock.note_address(f"{address.broker.kafka_host}:{address.broker.kafka_port}")
            banner.show(address)

        return serve(loaded, ready)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
