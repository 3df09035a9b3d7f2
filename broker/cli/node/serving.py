"""What `dev` and `server` share: a loaded configuration becomes a running node.

The application is imported here and only here, so that help and wrong configurations answer fast.
"""

import gc
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from headrace.broker.cli.failures import CommandFailedError
from headrace.broker.cli.node.ports import port_is_free

if TYPE_CHECKING:
    from headrace.broker.node.address import NodeAddress
    from headrace.config.load import LoadedConfig
    from headrace.config.node import NodeConfig
    from headrace.config.problems import ConfigError

EXIT_USAGE = 2


def configuration_failure(error: "ConfigError") -> CommandFailedError:
    """List everything that is wrong with a configuration."""
    count = len(error.problems)
    noun = "problem" if count == 1 else "problems"
    return CommandFailedError(
        f"the configuration has {count} {noun}:\n{error}",
        hint="`headrace config explain KEY` says what a key does.",
        exit_code=EXIT_USAGE,
    )


def serve(loaded: "LoadedConfig", ready: "Callable[[NodeAddress], None]") -> int:
    """Run the node until a signal stops it; return the exit code.

    Raises:
        CommandFailedError: an address is taken.
    """
    config = loaded.config
    _require_free(config)
    from headrace.broker.telemetry.log_output import start_logging

    logs = start_logging(
        level=config.telemetry.log_level,
        log_format=config.telemetry.log_format,
        node_id=config.node_id,
        stream=sys.stderr,
        environment=os.environ,
    )
    try:
        gc.disable()  # what an import makes stays: the collector need not look at it, now or later
        from headrace.broker.app import run_node

        gc.freeze()
        gc.enable()
        return run_node(config, ready=ready, warnings=loaded.warnings)
    finally:
        logs.stop()


def _require_free(config: "NodeConfig") -> None:
    """Find out early, and by name of the key, that an address is taken or not ours."""
    endpoints = (*config.network.listeners, *config.metadata.controller_listeners)
    listeners = [("listeners", endpoint.host, endpoint.port) for endpoint in endpoints]
    admin = config.telemetry
    if admin.admin_port > 0:
        listeners.append(("headrace.admin.listener", admin.admin_host, admin.admin_port))
    for key, host, port in listeners:
        if port and not port_is_free(host, port):
            raise CommandFailedError(
                f"{host or 'every address'}:{port} is taken ({key})",
                hint="Another program listens there: stop it, or change the key.",
            )
