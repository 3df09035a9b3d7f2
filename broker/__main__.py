"""Entry point of `headrace` and of `python -m headrace.broker`."""

import sys


def main() -> None:
    """Run the command line and exit with its code."""
    from headrace.broker.cli.root import run  # noqa: PLC0415 - `import headrace.broker.__main__` stays free of effects

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
