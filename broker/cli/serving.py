"""What `dev` and `server` share: a loaded configuration becomes a running node.

The application is imported here and only here, so that help and wrong configurations answer fast.
"""

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from broker.cli.failures import CommandFailedError

if TYPE_CHECKING:
    from broker.app import NodeAddress
    from config.load import LoadedConfig
    from config.problems import ConfigError

EXIT_USAGE = 2

_ADVICE = {
    "EADDRINUSE": "Another program listens there: stop it, or choose another port.",
    "EACCES": "This user may not use it: change its owner or mode, or run as a user who may.",
    "EPERM": "This user may not use it: change its owner or mode, or run as a user who may.",
    "ENOSPC": "The disk is full: make room, or put the WAL and the bucket elsewhere.",
    "ENOENT": "It does not exist: check the path in the configuration.",
    "EADDRNOTAVAIL": "This machine does not have that address: check listeners.",
}


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
    """Run the node until it is told to stop; return the exit code.

    Raises:
        CommandFailedError: the operating system refused something that the node needs.
    """
    from broker.logs import start_logging  # noqa: PLC0415 - see the module's docstring

    config = loaded.config
    logs = start_logging(
        level=config.telemetry.log_level,
        log_format=config.telemetry.log_format,
        node_id=config.node_id,
        stream=sys.stderr,
        environment=os.environ,
    )
    try:
        from broker.app import run_node  # noqa: PLC0415 - see the module's docstring

        return run_node(config, ready=ready, warnings=loaded.warnings)
    except OSError as error:
        raise CommandFailedError(f"the node stopped: {error}", hint=_advice(error)) from error
    finally:
        logs.stop()


def _advice(error: OSError) -> str:
    import errno  # noqa: PLC0415 - only after a failure

    name = errno.errorcode.get(error.errno or 0, "")
    return _ADVICE.get(name, "")
