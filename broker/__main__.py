"""Entry point of `headrace` and of `python -m headrace.broker`."""

import gc
import sys
from typing import Final

from headrace.entered_packages import enter_packages

# What a command imports stays, and looking at it again and again takes a seventh of the time of the imports.
# A node sets its own bounds: see `headrace.broker.telemetry.runtime_tuning`.
GC_THRESHOLD: Final = 200_000


def main() -> None:
    """Run the command line and exit with its code."""
    gc.set_threshold(GC_THRESHOLD)
    enter_packages()
    from headrace.broker.cli.root import run  # noqa: PLC0415 - `import headrace.broker.__main__` stays free of effects

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
